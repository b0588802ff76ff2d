"""The worth of the answers about a row, cell by cell: the baseline's chance, the bits, and the bets on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.rounded_numbers import ratios, worths
from tabcontam.evidence.base import Query, Reading, Reply, ReplyState, Trial
from tabcontam.evidence.mixins import BettingTest, ReferredTest
from tabcontam.evidence.samples import by_query, is_sample
from tabcontam.reading.answer_text import is_mark, same_value, value_key
from tabcontam.reading.value_forms import FeatureValues
from tabcontam.statistics.eprocess import Stake
from tabcontam.tables.table import Cell

if TYPE_CHECKING:
    from tabcontam.statistics.power import Odds


@dataclass(frozen=True)
class AnsweredCell:
    """An answered cell: its column (or columns of one entity), its chance, and whether it is right.

    `outcomes` lists the bits that the answer can be worth, each with the baseline's chance of it: for all digits, for
    one digit fewer and so on. `bits` is what the answer is worth. `ratio` is the return of one unit staked on the
    answer, and `honest` the return of one unit staked on the silent predictor's answer.

    The silent predictor (decision trees) learned from all rows that are not asked, and names one value for each cell.
    `silent` is the worth in bits of its answer, `due` the worth that the baseline expects of it, and
    `luck` its variance under the baseline.
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
class AnsweredRow:
    """An answered row: its answered cells, whether all of its cells are right, and the chance that they are.

    `bet_on` is true if its query has a turn, its position among the bets on the table.
    """

    given: tuple[AnsweredCell, ...]
    hit: bool
    chance: float
    readable: bool
    bet_on: bool
    odds: "tuple[Odds, ...]"

    @property
    def stakes(self) -> list[Stake]:
        """The return of one unit staked on each cell, except cells of which the baseline is certain."""
        return [Stake(cell.lies_in, cell.ratio, cell.honest) for cell in self.given if cell.chance < 1]


@dataclass(frozen=True)
class AnswerWorth:
    """The worth of an answered cell, which may be right only in its first digits: see `AnsweredCell`."""

    bits: float
    ratio: float
    outcomes: tuple[tuple[float, float], ...]

    @classmethod
    def at(cls, chances: Sequence[float], place: int | None) -> "AnswerWorth":
        """Return the worth of an answer with `place` right digits fewer than all, or a wrong one if `place` is None."""
        bits_of = worths(chances)
        new = (chance - before for chance, before in zip(chances, (0.0, *chances), strict=False))
        outcomes = tuple(zip(bits_of, new, strict=True))
        return cls(0.0, 0.0, outcomes) if place is None else cls(bits_of[place], ratios(chances)[place], outcomes)


def answered_rows(trials: Sequence[Trial]) -> list[AnsweredRow]:
    """Return the rows of read trials. All samples of one query make one row."""
    samples = by_query(trial for trial in trials if is_sample(trial.query.id))
    once = [answered_row(trial) for trial in trials if not is_sample(trial.query.id)]  # recorded queries share ids
    return [*once, *map(_together, samples.values())]


def answered_row(trial: Trial) -> AnsweredRow:
    """Return the counted cells of a read trial, or a row without cells if its answer could not be read.

    A mark for a missing value counts as no answer, unless it is a value of the feature.
    """
    return _together([trial])


def _together(trials: Sequence[Trial]) -> AnsweredRow:
    """Return the row of trials that ask the same question. Each cell counts once, with its best answer.

    The chance that the best of several answers is right is the sum of the chances of the different answers. This holds
    for all digits and for fewer digits. So a model with many different answers gains little.
    """
    from tabcontam.statistics.power import Odds

    query = trials[0].query
    truth = dict(zip(query.asked, query.expected, strict=True))

    def odds(prediction: CellPrediction, cell: Cell) -> Odds:
        known, best = None if cell is None else prediction.chances(cell), prediction.likeliest
        likeliest = (min(1.0, prediction.surest),) if best is None else prediction.chances(best)
        right = same_value(best, cell)
        return Odds(known[0] if known else None, likeliest[0], right, known[1:] if known else (), likeliest[1:])

    given: dict[str, AnsweredCell] = {}
    for name, guess in query.chance.items():
        answers = [answer for trial in trials if trial.readable and (answer := _answer(trial, name, truth[name]))]
        if answers:
            distinct = {answer.key: answer.chances for answer in sorted(answers, key=lambda answer: answer.chances)}
            chances = tuple(min(1.0, sum(each)) for each in zip(*distinct.values(), strict=True))
            places = [answer.place for answer in answers if answer.place is not None]
            worth = AnswerWorth.at(chances, min(places, default=None))
            lies_in, right = query.features.lies_in.get(name, name), any(answer.right for answer in answers)
            silent = _silent(guess, truth[name])
            given[name] = AnsweredCell(lies_in, chances[0], right, worth.outcomes, worth.bits, worth.ratio, *silent)
    known = [name for name in query.chance if truth[name] is not None]
    return AnsweredRow(
        given=tuple(given.values()),
        hit=bool(known) and all(name in given and given[name].right for name in known),
        chance=prod(given[name].chance if name in given else 0.0 for name in known) if known else 0.0,
        readable=any(trial.readable for trial in trials),
        bet_on=query.bet.turn is not None,
        odds=tuple(odds(guess, truth[name]) for name, guess in query.chance.items()),
    )


class _CellAnswer(NamedTuple):
    """One answer about a cell: its key, the baseline's chances of it, and how many digits fewer than all are right."""

    key: str
    chances: tuple[float, ...]
    place: int | None
    right: bool


def _answer(trial: Trial, name: str, truth: Cell) -> _CellAnswer | None:
    """Return a read trial's answer about the cell `name`, or None if the trial has none."""
    reading, prediction = trial.reading, trial.query.chance.get(name)
    parsed = reading.parsed if reading and isinstance(reading.parsed, Mapping) else {}
    cell = None if prediction is None else answered_cell(prediction, parsed.get(name))
    if prediction is None or cell is None:
        return None
    right = reading is not None and name in reading.right
    return _CellAnswer(value_key(cell), prediction.chances(cell), _precision(prediction, cell, truth, right), right)


def _precision(prediction: CellPrediction, cell: str, truth: Cell, right: bool) -> int | None:
    """Return how many digits fewer than all are right in an answered cell, or None if it is wrong."""
    return 0 if right else None if truth is None else prediction.precision(cell, truth)


def answered_cell(prediction: CellPrediction, cell: Cell) -> Cell:
    """Return the answered cell, or None for a mark for a missing value that is not a value of the feature."""
    return None if cell is None or (is_mark(cell) and not FeatureValues(prediction.values).has(cell)) else cell


def _silent(prediction: CellPrediction, cell: Cell) -> tuple[float, float, float, float]:
    """Return the silent predictor's ratio, bits, expected bits and their variance; `cell` is the true cell."""
    if prediction.silent is None:
        return 1.0, 0.0, 0.0, 0.0
    place = _precision(prediction, prediction.silent, cell, same_value(prediction.silent, cell))
    worth = AnswerWorth.at(prediction.chances(prediction.silent), place)
    mean = sum(bits * chance for bits, chance in worth.outcomes)
    variance = sum(bits * bits * chance for bits, chance in worth.outcomes) - mean * mean
    return worth.ratio, worth.bits, mean, variance


class CellBets(BettingTest):
    """A test whose answers are bet on cell by cell."""

    def stakes(self, trial: Trial) -> Sequence[Stake]:
        """Return a stake for each answered cell at the baseline's chance, except cells that are certain or conceded."""
        return answered_row(trial).stakes

    def foreseen(self, query: Query) -> tuple[Trial, Trial]:
        """Return two trials: one with the row's true cells, the other with the baseline's likeliest values."""
        truth = {name: cell for name, cell in zip(query.asked, query.expected, strict=True) if cell is not None}
        likeliest = ((name, prediction.likeliest) for name, prediction in query.chance.items())
        predicted = {name: cell for name, cell in likeliest if cell is not None}
        return _answering(query, truth, truth), _answering(query, truth, predicted)


class CellReference(ReferredTest):
    """A test in which cells that a reference model also gives do not count."""

    def conceded(self, query: Query, reading: Reading) -> Query:
        """Return the query with chance 1 for each cell that the reference gave, right or wrong."""
        parsed = reading.parsed if isinstance(reading.parsed, Mapping) else {}
        answered = [(name, own, answered_cell(own, parsed.get(name))) for name, own in query.chance.items()]
        sure = {name: own.sure(cell) for name, own, cell in answered if cell is not None}
        return replace(query, chance={**query.chance, **sure})


def _answering(query: Query, truth: Mapping[str, Cell], cells: Mapping[str, str]) -> Trial:
    """Return the read trial of a model that answers with these cells."""
    right = tuple(name for name, cell in cells.items() if same_value(cell, truth.get(name)))
    reading = Reading(cells, hit=len(right) == len(truth), paper_hit=False, readable=True, right=right)
    return Trial(query, Reply("", ReplyState.OK), reading)
