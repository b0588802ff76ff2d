"""The rows that an LLM recalled, and the LLM's accuracy in classifying these rows and the other rows.

A row is recalled if the right cells of one answer to a row test have ten recalled bits or more: under the baseline,
such an answer has a chance of one in a thousand or less. It is not recalled if an answer could have reached ten bits
and none did. Any other row is unknown.
"""

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

from tabcontam.evidence.base import EvidenceKind
from tabcontam.evidence.number_wording import format_signed
from tabcontam.groups import grouped
from tabcontam.report.csv_text import guarded
from tabcontam.report.query import bits_if_right, bits_of
from tabcontam.report.thresholds import RECALLED_ROW_BITS
from tabcontam.report.trials_by_result import Trial, TrialIndex, is_mapping
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.verdicts.memory_share_limit import limits_in_words
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import text

COLUMNS = ("llm", "dataset", "edition", "split", "row", "bits", "tests")
MODELS = ("supervised", "few-shot")  # predictors in a query, which records their chances of a row's classes
TITLE = "Recalled rows and other rows"
ABOUT = (
    "This compares the accuracy of classification on recalled rows with that on other rows that a row test asked "
    "about. A row is recalled if the right cells of an answer are worth ten bits or more: the baseline gives them a "
    "chance of one in a thousand or less. Recalled rows may be easier for any model, so next to each accuracy is that "
    "of models that learned from other rows. The difference has a 95% interval."
)


class LlmTable(NamedTuple):
    """An LLM and a table, whatever the serializer."""

    llm: str
    dataset: str
    edition: str | None
    split: str | None


@dataclass
class RowRecall:
    """The most bits that an answer recalled of one row, and the tests that recalled the row."""

    bits: float = 0.0
    tests: dict[str, None] = field(default_factory=dict)

    @property
    def recalled(self) -> bool:
        """Return whether the row was recalled."""
        return self.bits >= RECALLED_ROW_BITS


@dataclass(frozen=True)
class RowGroup:
    """A group of rows: how many the LLM classified, how many of them right, the learners' share of right answers."""

    rows: int
    hits: int
    learned: float | None

    @property
    def accuracy(self) -> float:
        """The share of rows that the LLM classified right."""
        return self.hits / self.rows

    def __str__(self) -> str:
        learners = "" if self.learned is None else f", models {self.learned:.2f}"
        return f"{self.accuracy:.2f} ({self.hits} of {self.rows}{learners})"


@dataclass(frozen=True)
class RecallComparison:
    """The accuracies of one result on recalled rows and on other rows. Each group has at least one row."""

    llm: str
    label: str
    test: str
    recalled: RowGroup
    others: RowGroup

    @property
    def difference(self) -> float:
        """The accuracy on recalled rows minus the accuracy on other rows."""
        return self.recalled.accuracy - self.others.accuracy

    @property
    def interval(self) -> tuple[float, float]:
        """The difference's 95 % interval by Newcombe 1998, method 10, from the two Clopper-Pearson intervals."""
        (low, high), (low_other, high_other) = (
            clopper_pearson(group.hits, group.rows) for group in (self.recalled, self.others)
        )
        own, other = self.recalled.accuracy, self.others.accuracy
        below = ((own - low) ** 2 + (high_other - other) ** 2) ** 0.5
        above = ((high - own) ** 2 + (other - low_other) ** 2) ** 0.5
        return self.difference - below, self.difference + above

    @property
    def gap(self) -> str:
        """The difference with its interval, in words."""
        return f"{format_signed(self.difference)} ({limits_in_words(self.interval)})"


def find_recalled_rows(view: RunResults, trials: Iterable[Trial]) -> dict[LlmTable, dict[int, RowRecall]]:
    """Return the recall of each row that row tests asked about, by the row's number from 0. Controls are skipped."""
    reading, trials_of = RecallCollector.of(view), TrialIndex(view.results, trials)
    for result in view.results:
        if reading.of_rows(result):
            reading.take(result, trials_of[result.place])
    return reading.recall


class RecallCollector:
    """A collector of recalled rows, result by result, from the trials of row tests and of classifications."""

    def __init__(self, row_tests: Collection[str], titles: Mapping[str, str]) -> None:
        self._row_tests, self._titles = row_tests, titles
        self.recall: dict[LlmTable, dict[int, RowRecall]] = {}
        self._classified: dict[tuple[str, ...], list[ClassAnswer]] = {}

    @classmethod
    def of(cls, view: RunResults) -> "RecallCollector":
        """Return an empty collector for a run with these results."""
        return cls(frozenset(view.row_tests), view.test_titles)

    def of_rows(self, result: Result) -> bool:
        """Return whether a result comes from a row test of an LLM under test."""
        return result.test in self._row_tests and not result.control

    def take(self, result: Result, asked: Mapping[str, Trial]) -> None:
        """Add the trials of a result; `asked` has them by query."""
        if self.of_rows(result):
            self._take_rows(result, asked.values())
        elif _is_classification(result) and (answered := list(_classified(asked.values()))):
            self._classified[result.place] = answered

    def _take_rows(self, result: Result, trials: Iterable[Trial]) -> None:
        rows = self.recall.setdefault(_about(result), {})
        for trial in trials:
            row = _row(trial)
            if row is None or not _is_informative(trial):
                continue
            one, bits = rows.setdefault(row, RowRecall()), bits_of(trial)
            one.bits = max(one.bits, bits)
            if bits >= RECALLED_ROW_BITS:
                one.tests[result.test] = None

    def compared(self, placed: Iterable[tuple[str, Result]]) -> list[RecallComparison]:
        """Return a comparison for each classification in `placed` with answers on recalled rows and on other rows."""
        found = []
        for label, result in placed:
            answered = self._classified.pop(result.place, ())
            known = self.recall.get(_about(result), {}) if answered else {}
            of_rows = [(one, known[one.row].recalled) for one in answered if one.row in known]
            own, others = ([one for one, recalled in of_rows if recalled is which] for which in (True, False))
            if own and others:
                found.append(
                    RecallComparison(result.llm, label, self._titles[result.test], _group(own), _group(others))
                )
        return found


class ClassAnswer(NamedTuple):
    """An answer that names a row's class: whether it is right, and the share of learners that name the true class."""

    row: int
    hit: bool
    learned: float | None


def compare_accuracies(view: RunResults, trials: Iterable[Trial]) -> list[RecallComparison]:
    """Return a comparison for each classification with answers on recalled and on other rows, in the page's order."""
    trials_of, found = TrialIndex(view.results, trials), []
    own = grouped(view.results, lambda cell: cell.llm)
    for block in view.blocks:
        if not any(map(_is_classification, block.results)):
            continue
        reading = RecallCollector.of(view)
        for cell in own[block.llm]:
            if reading.of_rows(cell) or _is_classification(cell):
                reading.take(cell, trials_of[cell.place])
        labelled = ((column.label, cell) for column in block.columns for cell in column.results.values())
        found += reading.compared(labelled)
    return found


def _is_classification(result: Result) -> bool:
    return result.kind is EvidenceKind.CLASSIFICATION and not result.control and result.verdict is None


def merge_recall(runs: Iterable[Mapping[LlmTable, Mapping[int, RowRecall]]]) -> dict[LlmTable, dict[int, RowRecall]]:
    """Merge the recall of rows over several runs. A row counts as recalled if it is recalled in any run."""
    found: dict[LlmTable, dict[int, RowRecall]] = {}
    for run in runs:
        for about, rows in run.items():
            own = found.setdefault(about, {})
            for row, one in rows.items():
                before = own.get(row, RowRecall())
                own[row] = RowRecall(max(before.bits, one.bits), before.tests | one.tests)
    return found


def render_excluded(found: Mapping[LlmTable, Mapping[int, RowRecall]]) -> str:
    """Return the recalled rows as CSV. An evaluation of the LLM on the table must leave these rows out.

    `row` is counted from 1 below the header. The CSV contains no cell of the table.
    """
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(COLUMNS)
    for about, rows in found.items():
        named = [guarded(text(name)) for name in about]
        for row, one in sorted(rows.items()):
            if one.recalled:
                writer.writerow([*named, row + 1, round(one.bits, 2), " ".join(one.tests)])
    return written.getvalue()


def _about(result: Result) -> LlmTable:
    return LlmTable(result.llm, result.dataset, result.edition, result.split)


def _row(trial: Trial) -> int | None:
    row = trial.get("row")
    return row if isinstance(row, int) and not isinstance(row, bool) and row >= 0 else None


def _is_informative(trial: Trial) -> bool:
    """Return whether an answer was read, and would have had ten bits if all its cells had been right."""
    if not is_mapping(trial.get("expected")) or trial.get("decoy_of") or trial.get("readable") is not True:
        return False
    return bits_if_right(trial) >= RECALLED_ROW_BITS


def _classified(trials: Iterable[Trial]) -> Iterator[ClassAnswer]:
    """Yield the answers that name the class of one of the table's rows. Twins of rows are left out."""
    for trial in trials:
        row = _row(trial)
        if row is not None and not trial.get("decoy_of") and trial.get("readable") is True:
            yield ClassAnswer(row, trial.get("hit") is True, _learned(trial))


def _group(answered: Sequence[ClassAnswer]) -> RowGroup:
    learned = [one.learned for one in answered if one.learned is not None]
    hits = sum(one.hit for one in answered)
    return RowGroup(len(answered), hits, fmean(learned) if len(learned) == len(answered) else None)


def _learned(trial: Trial) -> float | None:
    """Return the share of learners that name a row's true class; None if no learner was asked."""
    chance, expected = trial.get("chance"), trial.get("expected")
    for name in MODELS:
        prediction = chance.get(name) if is_mapping(chance) else None
        values = prediction.get("values") if is_mapping(prediction) else None
        if is_mapping(values) and isinstance(expected, list) and expected:
            share = values.get(text(expected[0]), 0.0)
            return float(share) if isinstance(share, int | float) else None
    return None
