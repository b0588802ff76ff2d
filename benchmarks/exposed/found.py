"""What is found of the snapshots, and the tables that say so."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.exposed.asked import LIKELIHOOD, SHARE, Study, forget, places
from benchmarks.exposed.snapshots import BASE, FORGETS, LAST, NONE, READERS, SNAPSHOTS
from benchmarks.exposed.tables import NAMES, OTHER, READ, TABLES
from benchmarks.real.asked import Place
from benchmarks.real.judging import DECIDED, trials_of
from benchmarks.real.record import Answers
from tabcontam.calibration.power_study import AnswererPlan, AnswererResults, Trials, judge
from tabcontam.evidence.base import Trial, Verdict
from tabcontam.evidence.twin_comparison import TwinComparison
from tabcontam.models.base import PromptForm
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.thresholds import ALPHA
from tests.golden.chances import Archive, stored

RECORD = Path(__file__).parent / "record"  # the one that is part of the project
ROW_TESTS = ("incomplete_completion", "full_completion", "feature_completion", "header")
# The ways of asking, each with a verdict of its own: the form, and the group of tests.
WAYS = {
    "log-probabilities and order": (PromptForm.COMPLETION, LIKELIHOOD),
    "answers in completion form": (PromptForm.COMPLETION, ""),
    "answers in chat form": (PromptForm.CHAT, ""),
}


@dataclass(frozen=True)
class Found:
    """What is found of a snapshot at a place, and the answers that it rests on."""

    snapshot: str
    place: Place
    trials: Trials
    judged: AnswererResults

    @property
    def table(self) -> str:
        """The name of the table without that of its part."""
        return self.place.table.rpartition("-")[0]

    @property
    def part(self) -> str:
        """The part of the table."""
        return self.place.table.rpartition("-")[2]

    @property
    def way(self) -> tuple[PromptForm, str]:
        """How it was asked."""
        return self.place.form, self.place.group

    @property
    def verdict(self) -> Verdict | None:
        """The table's verdict."""
        return self.judged.table.verdict if self.judged.table else None

    @property
    def contaminated(self) -> bool:
        """Whether the table's verdict is *contaminated*."""
        return self.verdict is Verdict.CONTAMINATED

    @property
    def memory(self) -> TwinComparison | None:
        """Memory's share, where it was asked and could be measured."""
        cell = self.judged.results.get("memory_share")
        return cell.evidence.memory if cell else None

    @property
    def right(self) -> tuple[int, int]:
        """How many cells row tests were answered right, of all that they asked for."""
        asked = sum(len(trial.query.asked) for trial in self._of_rows)
        return sum(len(trial.reading.right) for trial in self._of_rows if trial.reading), asked

    @property
    def read(self) -> tuple[int, int]:
        """How many answers of row tests could be read, of all."""
        return sum(trial.readable for trial in self._of_rows), len(self._of_rows)

    @property
    def _of_rows(self) -> Sequence[Trial]:
        return [trial for test in ROW_TESTS for trial in self.trials.get(test, ())]


def found(record: Path, study: Study, archive: Archive, names: Iterable[str] = NAMES) -> Iterator[Found]:
    """What is found about these parts of tables, of each snapshot wherever all its answers are recorded."""
    every = {one.name: Answers(record, one.name) for one in SNAPSHOTS}
    for name in names:
        forget()  # what was found out about a table by other chances
        with stored(study.table(name), archive):
            for snapshot, answers in every.items():
                for place in (place for together in places(snapshot) for place in together if place.table == name):
                    cells = study.planned(place)
                    trials = trials_of(cells, place.form, answers)
                    if trials is not None:
                        yield Found(snapshot, place, trials, judge(AnswererPlan(cells), trials, ALPHA))


def as_markdown(every: Sequence[Found]) -> list[str]:
    """Return the lines of four tables: the goals, findings by copies, right and read answers, and memory's share."""
    parts = (_goals(every), _by_copies(every), _answers(every), _shares(every))
    return [line for part in parts for line in (*part, "")][:-1]


def _is_unread(one: Found) -> bool:
    return one.part == OTHER or one.snapshot in (BASE, NONE)


def _goals(every: Sequence[Found]) -> list[str]:
    unread = [one for one in every if one.place.group != SHARE and _is_unread(one) and one.verdict in DECIDED]
    pairs, contaminated = (
        {(one.snapshot, one.place.table) for one in some}
        for some in (unread, [one for one in unread if one.contaminated])
    )
    shares = filter(None, (_difference(every, table) for table in TABLES))
    held = [lower <= made <= upper for lower, made, upper in shares]
    by_likelihood, in_completion, in_chat = WAYS
    return [
        "| | wanted | found |",
        "|---|---|---|",
        f"| (snapshot, half) pairs that were not read: *contaminated* in any way of asking | 0 "
        f"| {len(contaminated)} of {len(pairs)} |",
        f"| 16 copies, by {by_likelihood} | nine in ten | {_count(_of(every, '16'), by_likelihood)} |",
        f"| {LAST} copies, by {in_completion} | nine in ten | {_count(_of(every, LAST), in_completion)} |",
        f"| {LAST} copies, by {in_chat} | | {_count(_of(every, LAST), in_chat)} |",
        f"| memory's share: its interval holds the difference that was made | each | {sum(held)} of {len(held)} |",
    ]


def _of(every: Iterable[Found], snapshot: str) -> list[Found]:
    """What is found of a snapshot about the halves that the others of its training have read."""
    return [one for one in every if one.snapshot == snapshot and one.part == READ]


def _by_copies(every: Sequence[Found]) -> list[str]:
    columns = {"0 copies": [one for one in every if _is_unread(one)]}
    for one in READERS:
        columns[f"{one.copies}, by an adapter" if one.lora else str(one.copies)] = _of(every, one.name)
    columns["16, then as much other text"] = _of(every, FORGETS)
    lines = [f"| *contaminated* at | {' | '.join(columns)} |", f"|{'---|' * (1 + len(columns))}"]
    for way in WAYS:
        cells = (cell for one in every if one.way == WAYS[way] for cell in one.judged.results.items())
        tests = dict.fromkeys(test for test, cell in cells if _decides(cell))
        for test in ("", *tests):
            name = f"`{test}`" if test else f"**{way}: the verdict**"
            lines.append(f"| {name} | {' | '.join(_count(own, way, test) for own in columns.values())} |")
    return lines


def _decides(cell: Result) -> bool:
    return cell.verdict not in (Verdict.SKIPPED, None)


def _count(some: Iterable[Found], way: str, test: str = "") -> str:
    """Return "k of n": of how many of these a test, or the table's verdict if none is named, is *contaminated*."""
    own = [one for one in some if one.way == WAYS[way]]
    cells = [one.judged.results[test] for one in own] if test else []
    verdicts = [cell.verdict for cell in cells if _decides(cell)] if test else [one.verdict for one in own]
    return f"{verdicts.count(Verdict.CONTAMINATED)} of {len(verdicts)}" if verdicts else "-"


def _answers(every: Sequence[Found]) -> list[str]:
    """How many cells are right on rows that were read and on others, and how many answers could be read."""
    lines = [
        "| snapshot | right cells in completion form, first halves | second halves | in chat form, first halves "
        "| second halves | answers read in chat form |",
        f"|{'---|' * 6}",
    ]
    for snapshot in (one.name for one in SNAPSHOTS):
        own = [one for one in every if one.snapshot == snapshot and one.place.group == ""]
        cells = [
            _share([one.right for one in own if (one.place.form, one.part) == (form, part)])
            for form in (PromptForm.COMPLETION, PromptForm.CHAT)
            for part in (READ, OTHER)
        ]
        cells.append(_share([one.read for one in own if one.place.form is PromptForm.CHAT]))
        lines.append(f"| {snapshot} | {' | '.join(cells)} |")
    return lines


def _share(counted: Sequence[tuple[int, int]]) -> str:
    some, of = (sum(numbers) for numbers in zip(*counted, strict=True)) if counted else (0, 0)
    return f"{some / of:.2f}" if of else "-"


def _difference(every: Iterable[Found], table: str) -> tuple[float, float, float] | None:
    """The lower end of a share's interval, the difference that was made, and the interval's upper end.

    The difference is by how much reading raised the accuracy on the first half, beyond what it did on the second: what
    the snapshot that has read as much of other rows gets is taken off. None where a share could not be measured.
    """
    own = {one.snapshot: one.memory for one in every if one.table == table and one.place.group == SHARE}
    last, none = own.get(LAST), own.get(NONE)
    if not (last and none):
        return None
    made = (last.accuracy - last.twin_accuracy) - (none.accuracy - none.twin_accuracy)
    return last.interval[0], made, last.interval[1]


def _shares(every: Sequence[Found]) -> list[str]:
    lines = [
        f"| table | accuracy on rows that were read {LAST} times | on others | the same rows, where neither was read "
        "| the others | difference that was made | memory's share | in its interval |",
        f"|{'---|' * 8}",
    ]
    for table in TABLES:
        own = {one.snapshot: one.memory for one in every if one.table == table and one.place.group == SHARE}
        last, none, made = own.get(LAST), own.get(NONE), _difference(every, table)
        if last and none and made:
            lower, difference, upper = made
            accuracies = (last.accuracy, last.twin_accuracy, none.accuracy, none.twin_accuracy)
            lines.append(
                f"| {table} | {' | '.join(f'{one:.2f}' for one in accuracies)} | {difference:+.2f} "
                f"| {last.share:.2f} ({lower:.2f} to {upper:.2f}) | {'yes' if lower <= difference <= upper else 'no'} |"
            )
        else:
            lines.append(f"| {table} | - | - | - | - | - | could not be measured | - |")
    return lines
