"""Bets against the baseline: evidence that may be looked at after every query, and stopped whenever it is enough.

One unit is staked on each answered cell before it is looked up. If the cell is right, the stake returns multiplied by
the fairest odds, which are one divided by the baseline's chance of the cell; if it is wrong, the stake is lost. So a
model that predicts as well as the baseline wins nothing on average, and E, the value of one unit after any number of
queries, is at most one on average. By Ville's inequality (1939) E ever reaches 100 with a probability of at most one in
a hundred, whatever stops the asking. E is an e-value (Wang and Ramdas 2022): several tables of an LLM are corrected by
Benjamini and Hochberg's procedure on 1 / E, as they propose.

The share of a table that is remembered is not known beforehand, so a fifth of the stake is bet for each of five shares
m: of one unit the rest, 1 - m, is held back, and m is put on the query, 0.7 on all of its cells together and 0.3 on
each cell separately. All logarithms here are to base two.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2, prod
from statistics import fmean
from typing import NamedTuple

from tabcontam.statistics.thresholds import LARGEST_WEALTH, LEAST_EVIDENT_RETURN, LEAST_EVIDENT_ROWS, WHOLE_QUERY_STAKE

MEMORY = (0.03, 0.07, 0.16, 0.38, 0.9)  # the shares of remembered rows that are bet on
ALL = ""  # the bets of which no column is left out


@dataclass(frozen=True, slots=True)
class Stake:
    """The value of one unit that is staked on an answered cell; on average at most one if it is guessed.

    `lies_in` is the cell's column, or the columns of its entity. `honest` is the value of the unit by the answer of an
    honest predictor, one that learned from all rows that are not asked.
    """

    lies_in: str
    worth: float
    honest: float = 1.0


class Wealth(NamedTuple):
    """The log-wealth in bits for each share of `MEMORY`, on the answers and on an honest predictor's answers.

    `rows` counts the queries, each about a row of its own, that are evidence for memory.
    """

    memory: tuple[float, ...] = (0.0,) * len(MEMORY)
    honest: tuple[float, ...] = (0.0,) * len(MEMORY)
    rows: int = 0

    @property
    def won(self) -> float:
        """log2 of the value of a unit, beyond that of an honest predictor's."""
        return min(log2(LARGEST_WEALTH), _mixed(self.memory) - max(0.0, _mixed(self.honest)))

    @property
    def bits(self) -> float:
        """log2 of E: the winnings, which count only once enough rows are evidence for memory."""
        return self.won if self.rows >= LEAST_EVIDENT_ROWS else min(0.0, self.won)


Bets = Mapping[str, Wealth]  # by the left-out column, or columns of one entity; `ALL` if none is


def place_bets(stakes: Sequence[Stake]) -> dict[str, Wealth]:
    """Return the bets on the cells of one query."""
    groups = dict.fromkeys(stake.lies_in for stake in stakes)
    return {ALL: _wealth(stakes)} | {
        group: _wealth([stake for stake in stakes if stake.lies_in != group]) for group in groups
    }


def _wealth(stakes: Sequence[Stake]) -> Wealth:
    won, honest = _returned([stake.worth for stake in stakes]), _returned([stake.honest for stake in stakes])
    return Wealth(_bits(won), _bits(honest), int(won >= LEAST_EVIDENT_RETURN))


def _returned(worths: Sequence[float]) -> float:
    """Return the value of a unit that is put on the cells of a query; it stays one if there are none."""
    if not worths:
        return 1.0
    return min(LARGEST_WEALTH, WHOLE_QUERY_STAKE * prod(worths) + (1 - WHOLE_QUERY_STAKE) * fmean(worths))


def _bits(returned: float) -> tuple[float, ...]:
    return tuple(log2(1 - share + share * returned) for share in MEMORY)


def join_bets(parts: Iterable[Bets]) -> dict[str, Wealth]:
    """Return bets that were placed one after the other. Leaving out a column changes no part without cells in it."""
    own = [part for part in parts if part]
    groups = dict.fromkeys((ALL, *(group for part in own for group in part)))
    return {group: _sum([part.get(group, part[ALL]) for part in own]) for group in groups} if own else {}


def _sum(parts: Sequence[Wealth]) -> Wealth:
    memory = tuple(map(sum, zip(*(part.memory for part in parts), strict=True)))
    honest = tuple(map(sum, zip(*(part.honest for part in parts), strict=True)))
    return Wealth(memory, honest, sum(part.rows for part in parts))


def standing(bets: Bets) -> tuple[float, str]:
    """Return log2 of the least E of all bets and of those without any one column, and the column left out."""
    group = min(bets, key=lambda one: bets[one].bits, default=ALL)
    return (bets[group].bits, group) if bets else (0.0, ALL)


@lru_cache(maxsize=10_000)  # the same bets are evaluated several times
def _mixed(bits: tuple[float, ...]) -> float:
    """Return log2 of the mean over the shares of memory."""
    most = max(bits)
    return most + log2(fmean([2.0 ** (one - most) for one in bits]))
