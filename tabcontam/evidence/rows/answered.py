"""What the answers about a row are worth: its cells, each with the guesser's chance that the answer is right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from tabcontam.evidence.base import Trial
from tabcontam.evidence.samples import by_query, is_sample
from tabcontam.guesser.chance import Guess
from tabcontam.guesser.rounding import ratios, worths
from tabcontam.reading.columns import Sort
from tabcontam.reading.reading import is_mark, same_value, value_key
from tabcontam.statistics.eprocess import Stake
from tabcontam.tables.table import Cell

if TYPE_CHECKING:
    from tabcontam.statistics.power import Odds


@dataclass(frozen=True)
class Given:
    """An answered cell: the column, or columns of one entity, that it lies in, its chance, and whether it is right.

    `outcomes` are the bits that it can be worth, each with the guesser's chance: for all of its digits, for one fewer
    and so on. `bits` are those that it is worth, `ratio` is what a unit staked on it comes to, and `honest` the same of
    the silent predictor's answer.

    `silent` are the bits that the silent predictor got for the cell, `due` those that the guesser expects of it, and
    `luck` is their variance under the guesser.
    """

    lies_in: str
    chance: float
    right: bool
    outcomes: tuple[tuple[float, float], ...]
    bits: float
    ratio: float
    honest: float
    silent: float
    due: float
    luck: float


@dataclass(frozen=True)
class Answered:
    """A row as it was answered: the cells given, whether all of its cells are right, and the chance that they are.

    `bet_on` says whether its query has a turn.
    """

    given: tuple[Given, ...]
    hit: bool
    chance: float
    readable: bool
    bet_on: bool
    odds: "tuple[Odds, ...]"

    @property
    def stakes(self) -> list[Stake]:
        """What a unit comes to on each cell, but on those of which the guess is sure."""
        return [Stake(cell.lies_in, cell.ratio, cell.honest) for cell in self.given if cell.chance < 1]


@dataclass(frozen=True)
class Worth:
    """What an answered cell, which may be right in fewer digits, is worth: see `Given`."""

    bits: float
    ratio: float
    outcomes: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, guess: Guess, cell: str, truth: Cell, right: bool) -> "Worth":
        """The worth of a cell that was answered, of the true one, and whether they are the same."""
        return cls.at(guess.chances(cell), 0 if right else None if truth is None else guess.precision(cell, truth))

    @classmethod
    def at(cls, chances: Sequence[float], place: int | None) -> "Worth":
        """The worth of an answer that is right in so many digits fewer than all, as a place among its chances."""
        bits_of = worths(chances)
        new = (chance - before for chance, before in zip(chances, (0.0, *chances), strict=False))
        outcomes = tuple(zip(bits_of, new, strict=True))
        return cls(0.0, 0.0, outcomes) if place is None else cls(bits_of[place], ratios(chances)[place], outcomes)


def in_rows(trials: Sequence[Trial]) -> list[Answered]:
    """The rows of read trials: those of the samples of one query are one row, and make it together."""
    samples = by_query(trial for trial in trials if is_sample(trial.query.id))
    once = [answered(trial) for trial in trials if not is_sample(trial.query.id)]  # recorded queries share their names
    return [*once, *map(_together, samples.values())]


def answered(trial: Trial) -> Answered:
    """The cells of a read trial that count: none of an answer that could not be read.

    A missing mark that is none of the feature's values is no answer.
    """
    return _together([trial])


def _together(trials: Sequence[Trial]) -> Answered:
    """The cells of trials that ask the same: each cell counts once, by its best answer.

    The chance that the best of several answers is right is the sum of the chances of the different ones, in all digits
    as in fewer. So one who says something else each time names much, and shows little.
    """
    from tabcontam.statistics.power import Odds

    query = trials[0].query
    truth = dict(zip(query.asked, query.expected, strict=True))

    def odds(guess: Guess, cell: Cell) -> Odds:
        known = None if cell is None else guess.chances(cell)
        guessed = (min(1.0, guess.surest),) if guess.likeliest is None else guess.chances(guess.likeliest)
        right = same_value(guess.likeliest, cell)
        return Odds(known[0] if known else None, guessed[0], right, known[1:] if known else (), guessed[1:])

    given: dict[str, Given] = {}
    for name, guess in query.chance.items():
        found = [one for trial in trials if trial.readable and (one := _answer(trial, name, truth[name]))]
        if found:
            distinct = {one.key: one.chances for one in sorted(found, key=lambda one: one.chances)}
            chances = tuple(min(1.0, sum(each)) for each in zip(*distinct.values(), strict=True))
            places = [one.place for one in found if one.place is not None]
            worth = Worth.at(chances, min(places, default=None))
            lies_in, right = query.lies_in.get(name, name), any(one.right for one in found)
            honest, *silent = _silent(guess, truth[name])
            given[name] = Given(lies_in, chances[0], right, worth.outcomes, worth.bits, worth.ratio, honest, *silent)
    known = [name for name in query.chance if truth[name] is not None]
    return Answered(
        given=tuple(given.values()),
        hit=bool(known) and all(name in given and given[name].right for name in known),
        chance=prod(given[name].chance if name in given else 0.0 for name in known) if known else 0.0,
        readable=any(trial.readable for trial in trials),
        bet_on=query.turn is not None,
        odds=tuple(odds(guess, truth[name]) for name, guess in query.chance.items()),
    )


class _Said(NamedTuple):
    """One answer about a cell: its key, the guesser's chances of it, and in how many digits it is right."""

    key: str
    chances: tuple[float, ...]
    place: int | None
    right: bool


def _answer(trial: Trial, name: str, truth: Cell) -> _Said | None:
    """What a read trial says of a cell; None where it says nothing."""
    reading, guess = trial.reading, trial.query.chance.get(name)
    parsed = reading.parsed if reading and isinstance(reading.parsed, Mapping) else {}
    cell = None if guess is None else said_cell(guess, parsed.get(name))
    if guess is None or cell is None:
        return None
    right = reading is not None and name in reading.right
    place = 0 if right else None if truth is None else guess.precision(cell, truth)
    return _Said(value_key(cell), guess.chances(cell), place, right)


def said_cell(guess: Guess, cell: Cell) -> Cell:
    """The cell that was answered; None for a missing mark that is none of the feature's values: it is no answer."""
    return None if cell is None or (is_mark(cell) and not Sort(guess.values).has(cell)) else cell


def _silent(guess: Guess, cell: Cell) -> tuple[float, float, float, float]:
    """What a unit on the silent predictor's answer comes to, its bits, those that the guesser expects, and variance."""
    if guess.silent is None:
        return 1.0, 0.0, 0.0, 0.0
    worth = Worth.of(guess, guess.silent, cell, same_value(guess.silent, cell))
    mean = sum(bits * chance for bits, chance in worth.outcomes)
    variance = sum(bits * bits * chance for bits, chance in worth.outcomes) - mean * mean
    return worth.ratio, worth.bits, mean, variance
