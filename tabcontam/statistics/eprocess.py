"""Bets against the baseline: evidence that may be looked at after every query, and stopped whenever it is enough.

One unit is staked on each answered cell before the true value is looked up. If the answer is right, the stake is
multiplied by one divided by the baseline's chance of that value. If it is wrong, the stake is lost. So a model that
predicts as well as the baseline wins nothing on average. E is the value of one unit after any number of queries; for
such a model its mean is at most one. By Ville's inequality (1939) the probability that E ever reaches 100 is then at
most one in a hundred, whenever the queries stop. E is an e-value (Wang and Ramdas 2022): several tables of an LLM are
corrected by Benjamini and Hochberg's procedure on 1 / E, as they propose.

The share of a table that is remembered is unknown, so a fifth of the unit is bet for each of five shares m. Of each
part, 1 - m is held back at every query, and m is staked: 0.7 of it on all cells of the query together, and 0.3 on each
cell separately. All logarithms in this module are to base two.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2, prod
from statistics import fmean

from tabcontam.statistics.number_types import Count, Number
from tabcontam.statistics.thresholds import (
    BET_SHARES,
    LARGEST_WEALTH,
    LEAST_EVIDENT_RETURN,
    LEAST_EVIDENT_ROWS,
    WHOLE_QUERY_STAKE,
)

ALL = ""  # key of the bets on all columns


@dataclass(frozen=True, slots=True)
class Stake:
    """The value of one unit after it was staked on an answered cell; if the answer is guessed, at most one on average.

    `lies_in` is the cell's column, or the columns of its entity. `honest` is the value of one unit that was staked on
    an honest predictor's answer. An honest predictor has learned from all rows that are not asked.
    """

    lies_in: str
    worth: float
    honest: float = 1.0


@dataclass(frozen=True, slots=True)
class Wealth:
    """The log2 of the final value of each unit bet on the answers to a test; docs/method.md explains how E follows."""

    memory: tuple[Number, ...] = (0.0,) * len(BET_SHARES)
    """One bet for each assumed share of remembered rows, from the smallest share."""
    honest: tuple[Number, ...] = (0.0,) * len(BET_SHARES)
    """The bets on the answers of an honest predictor, which learned from all rows that no query asks about."""
    rows: Count = 0
    """The number of rows that are evidence for memory."""

    @property
    def won(self) -> float:
        """log2 of the value of one unit, minus the same for an honest predictor if that is positive."""
        return min(log2(LARGEST_WEALTH), _mixed(self.memory) - max(0.0, _mixed(self.honest)))

    @property
    def bits(self) -> float:
        """log2 of E: equal to `won`, but at most 0 until enough rows are evidence for memory."""
        return self.won if self.rows >= LEAST_EVIDENT_ROWS else min(0.0, self.won)


Bets = Mapping[str, Wealth]  # by the column, or columns of one entity, that is left out; `ALL`: with all columns


def place_bets(stakes: Sequence[Stake]) -> dict[str, Wealth]:
    """Return the bets on the cells of one query: with all columns, and without each column."""
    groups = dict.fromkeys(stake.lies_in for stake in stakes)
    return {ALL: _wealth(stakes)} | {
        group: _wealth([stake for stake in stakes if stake.lies_in != group]) for group in groups
    }


def _wealth(stakes: Sequence[Stake]) -> Wealth:
    won, honest = _returned([stake.worth for stake in stakes]), _returned([stake.honest for stake in stakes])
    return Wealth(_bits(won), _bits(honest), int(won >= LEAST_EVIDENT_RETURN))


def _returned(worths: Sequence[float]) -> float:
    """Return the value of one unit after it was staked on the cells of a query; one if there are no cells."""
    if not worths:
        return 1.0
    return min(LARGEST_WEALTH, WHOLE_QUERY_STAKE * prod(worths) + (1 - WHOLE_QUERY_STAKE) * fmean(worths))


def _bits(returned: float) -> tuple[float, ...]:
    return tuple(log2(1 - share + share * returned) for share in BET_SHARES)


def join_bets(parts: Iterable[Bets]) -> dict[str, Wealth]:
    """Return the sum of bets placed one after another. Leaving out a column affects only bets on its cells."""
    own = [part for part in parts if part]
    groups = dict.fromkeys((ALL, *(group for part in own for group in part)))
    return {group: _sum([part.get(group, part[ALL]) for part in own]) for group in groups} if own else {}


def _sum(parts: Sequence[Wealth]) -> Wealth:
    memory = tuple(map(sum, zip(*(part.memory for part in parts), strict=True)))
    honest = tuple(map(sum, zip(*(part.honest for part in parts), strict=True)))
    return Wealth(memory, honest, sum(part.rows for part in parts))


def standing(bets: Bets) -> tuple[float, str]:
    """Return the least log2 of E over the bets with all columns and without each one, and the column that it lacks."""
    group = min(bets, key=lambda one: bets[one].bits, default=ALL)
    return (bets[group].bits, group) if bets else (0.0, ALL)


@lru_cache(maxsize=10_000)  # the same bets are evaluated several times
def _mixed(bits: tuple[float, ...]) -> float:
    """Return log2 of the mean wealth over the shares of memory."""
    most = max(bits)
    return most + log2(fmean([2.0 ** (one - most) for one in bits]))
