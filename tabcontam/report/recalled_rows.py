"""Which rows an LLM recalled, of those that row tests asked about; and how well it classifies them and the others.

A row is recalled where what an answer has right of it is worth ten bits or more: a guesser's chances of these cells
come to one in a thousand or less. It is not recalled where an answer could have shown as much, and none did. Of all
other rows nobody knows: no test asked about them, or no answer could have told, or none could be read.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, NamedTuple

from tabcontam.evidence.base import Kind
from tabcontam.evidence.sentences import signed
from tabcontam.groups import grouped
from tabcontam.report.csv_text import guarded
from tabcontam.report.query import bits_of
from tabcontam.report.trials import Trial, by_cell
from tabcontam.statistics.exact import clopper_pearson
from tabcontam.verdicts.cells import Result
from tabcontam.verdicts.memory import limits_in_words
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import text

LEAST = 10.0  # bits of an answer from which on its row was recalled
COLUMNS = ("llm", "dataset", "edition", "split", "row", "bits", "tests")
MODELS = ("supervised", "few-shot")  # the chances that models give the classes of a row, by their names in a query
TITLE = "Rows that were recalled, and rows that were not"
ABOUT = (
    "The accuracy of classification on rows that a row test found recalled (what is right in an answer is worth ten "
    "bits or more: to a guesser the chance of these cells is one in a thousand or less), and on rows that one asked "
    "about and that were not. Rows that an LLM recalls may be easier anyway: what models get that learned from other "
    "rows stands beside it. The difference has a 95% interval."
)


class About(NamedTuple):
    """An LLM and a table, however its rows were written."""

    llm: str
    dataset: str
    edition: str | None
    split: str | None


@dataclass
class Told:
    """What row tests told of a row: the most bits that an answer recalled, and the tests that recalled it."""

    bits: float = 0.0
    tests: dict[str, None] = field(default_factory=dict)

    @property
    def recalled(self) -> bool:
        """Whether it was recalled."""
        return self.bits >= LEAST


@dataclass(frozen=True)
class Group:
    """Some rows that were classified: how many, how many right, and the share that models get right of them."""

    rows: int
    hits: int
    learned: float | None

    @property
    def accuracy(self) -> float:
        """The share that is right."""
        return self.hits / self.rows

    def __str__(self) -> str:
        beside = "" if self.learned is None else f", models {self.learned:.2f}"
        return f"{self.accuracy:.2f} ({self.hits} of {self.rows}{beside})"


@dataclass(frozen=True)
class Compared:
    """The accuracy of one cell on rows that were recalled and on those that were not, each group with a row or more."""

    llm: str
    label: str
    test: str
    recalled: Group
    others: Group

    @property
    def difference(self) -> float:
        """How much higher the accuracy on recalled rows is."""
        return self.recalled.accuracy - self.others.accuracy

    @property
    def interval(self) -> tuple[float, float]:
        """Its 95 % interval, from the exact ones of both (Newcombe 1998, method 10, with Clopper and Pearson's)."""
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
        return f"{signed(self.difference)} ({limits_in_words(self.interval)})"


def told(view: RunResults, trials: Iterable[Trial]) -> dict[About, dict[int, Told]]:
    """What the row tests told of each row that they asked about, by the row's number from 0; of controls nothing."""
    found: dict[About, dict[int, Told]] = {}
    of_cells = by_cell(view.cells, trials)
    for cell in view.cells:
        if cell.test not in view.row_tests or cell.control:
            continue
        rows = found.setdefault(_about(cell), {})
        for trial in of_cells[cell.place].values():
            row = _row(trial)
            if row is None or not _could_tell(trial):
                continue
            one, bits = rows.setdefault(row, Told()), bits_of(trial)
            one.bits = max(one.bits, bits)
            if bits >= LEAST:
                one.tests[cell.test] = None
    return found


def compared(view: RunResults, trials: Sequence[Trial]) -> list[Compared]:
    """The cells of classification of which both kinds of rows were answered, in the order of the page."""
    rows, of_cells = told(view, trials), by_cell(view.cells, trials)
    found = []
    for block in view.blocks:
        for column in block.columns:
            for cell in column.cells.values():
                if cell.kind is not Kind.CLASSIFICATION or cell.control or cell.verdict is not None:
                    continue
                known = rows.get(_about(cell), {})
                answered = [
                    (known[row], trial) for row, trial in _classified(of_cells[cell.place].values()) if row in known
                ]
                groups = grouped(answered, lambda one: one[0].recalled)
                if len(groups) == 2:
                    own, others = (_group([trial for _, trial in groups[key]]) for key in (True, False))
                    found.append(Compared(cell.llm, column.label, view.test_titles[cell.test], own, others))
    return found


def merged(runs: Iterable[Mapping[About, Mapping[int, Told]]]) -> dict[About, dict[int, Told]]:
    """What the row tests of several runs told, as if it were one run: a row is recalled where one of them says so."""
    found: dict[About, dict[int, Told]] = {}
    for run in runs:
        for about, rows in run.items():
            own = found.setdefault(about, {})
            for row, one in rows.items():
                before = own.get(row, Told())
                own[row] = Told(max(before.bits, one.bits), before.tests | one.tests)
    return found


def render_excluded(found: Mapping[About, Mapping[int, Told]]) -> str:
    """The rows that were recalled, as CSV: what an evaluation of this LLM on this table leaves out.

    `row` is counted from 1 below the header. No cell of the table stands in it.
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


def context(view: RunResults, trials: Sequence[Trial]) -> dict[str, Any]:
    """What the page's template is given."""
    return {"recalled_rows": compared(view, trials), "recalled_title": TITLE, "recalled_about": ABOUT}


def _about(cell: Result) -> About:
    return About(cell.llm, cell.dataset, cell.edition, cell.split)


def _row(trial: Trial) -> int | None:
    row = trial.get("row")
    return row if isinstance(row, int) and not isinstance(row, bool) and row >= 0 else None


def _could_tell(trial: Trial) -> bool:
    """Whether an answer about cells of a row was read, and could have shown the row to be recalled."""
    expected = trial.get("expected")
    if not isinstance(expected, Mapping) or trial.get("decoy_of") or trial.get("readable") is not True:
        return False
    return bits_of({**trial, "parsed": expected}) >= LEAST


def _classified(trials: Iterable[Trial]) -> Iterator[tuple[int, Trial]]:
    """The answers about rows of the table, not their twins, that name a class."""
    for trial in trials:
        row = _row(trial)
        if row is not None and not trial.get("decoy_of") and trial.get("readable") is True:
            yield row, trial


def _group(trials: Sequence[Trial]) -> Group:
    learned = [share for trial in trials if (share := _learned(trial)) is not None]
    hits = sum(trial.get("hit") is True for trial in trials)
    return Group(len(trials), hits, fmean(learned) if len(learned) == len(trials) else None)


def _learned(trial: Trial) -> float | None:
    """The share of models that give a row's class; None where none was asked."""
    chance, expected = trial.get("chance"), trial.get("expected")
    for name in MODELS:
        guess = chance.get(name) if isinstance(chance, Mapping) else None
        values = guess.get("values") if isinstance(guess, Mapping) else None
        if isinstance(values, Mapping) and isinstance(expected, list) and expected:
            share = values.get(text(expected[0]), 0.0)
            return float(share) if isinstance(share, int | float) else None
    return None
