"""Every cell with every query, before anything is sent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from tabcontam.errors import Skip
from tabcontam.evidence.base import Query, Test
from tabcontam.evidence.prompts import PromptSet, default_prompts
from tabcontam.subjects.base import Model
from tabcontam.tables.draws import seeded
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table
from tabcontam.verdicts.cells import CellName
from tabcontam.verdicts.decisions import level
from tabcontam.verdicts.rules import ALPHA, CALIBRATED, PAPER


@dataclass(frozen=True)
class Subject:
    """An LLM of the run; `joined` says that it is a control beside the LLMs under test."""

    model: Model
    joined: bool = False


@dataclass(frozen=True)
class Sheet:
    """The queries of a test about a table, which are the same for every LLM, or the reason why there are none."""

    test: Test
    table: Table
    serializer: Serializer
    written: tuple[Query, ...] = ()
    unfit: str | None = None
    prompts: PromptSet = field(default_factory=default_prompts)


@dataclass(frozen=True, kw_only=True)
class PlannedCell(Sheet):
    """A sheet that is put to one LLM.

    `uninformative` says why the queries could not tell memory from guessing at `level`, if so: then none is asked.
    """

    subject: Subject
    uninformative: str | None = None
    level: float = ALPHA

    @cached_property
    def name(self) -> CellName:
        """What tells this cell from the others of the run."""
        spec, table = self.subject.model.spec, self.table
        return CellName(spec, table.name, table.edition, self.serializer.name, self.test.id, self.prompts.name)

    @property
    def skip(self) -> str | None:
        """Why nothing is asked: because of the table, or of what the LLM, once it is connected, is found to lack."""
        if self.unfit:
            return self.unfit
        model = self.subject.model
        needs = sorted(self.test.needs - model.capabilities)
        return f"{model.spec} cannot take part: the test needs {' and '.join(needs)}" if needs else None

    @property
    def queries(self) -> tuple[Query, ...]:
        """What is to be asked."""
        return () if self.skip or self.uninformative else self.written


@dataclass(frozen=True)
class Options:
    """How a session runs.

    `alpha`: the level of the run's verdicts; `connections`: requests at a time, None to find out; the most requests and
    dollars.
    """

    seed: int = 0
    rules: str = CALIBRATED
    alpha: float = ALPHA
    queries: int | None = None
    connections: int | None = None
    stop_at_first: bool = False
    retry_unanswered: bool = False
    most_requests: int | None = None
    most_dollars: Decimal | None = None


def plan(
    subjects: Sequence[Subject],
    tables: Sequence[Table],
    serializers: Sequence[Serializer],
    tests: Sequence[Test],
    options: Options,
    tell: Callable[[int, int], None] = lambda written, of: None,
    ready: Callable[[Test, Table], None] = lambda test, table: None,
    prompts: Sequence[PromptSet] = (),
) -> list[PlannedCell]:
    """Every cell with every query, before anything is sent. The same seed plans the same queries for every LLM.

    Tests that show no rows are planned once, under the first serializer, and those that word their own queries under
    the first of `prompts` (the default set, where none is given). `tell` is told for how many of how many combinations
    of a test, a table, a serializer and a prompt set the queries are written; `ready` is called before each.
    """
    places = [
        (test, table, serializer, words)
        for table in tables
        for number, serializer in enumerate(serializers)
        for other, words in enumerate(prompts or (default_prompts(),))
        for test in tests
        if (test.shows_rows or not number) and (test.worded or not other)
    ]
    sheets: list[Sheet] = []
    for place in places:
        tell(len(sheets), len(places))
        ready(*place[:2])
        sheets.append(sheet_of(*place[:3], options, place[3]))
    # The p-value that is sure to be a finding: alpha, divided by the cells of an LLM that get a verdict.
    at = level(options.alpha, sum(sheet.test.decides and sheet.unfit is None for sheet in sheets))
    reasons = [_uninformative(sheet, at, options) for sheet in sheets]
    return [
        PlannedCell(**vars(sheet), subject=subject, uninformative=reason, level=at)
        for subject in subjects
        for sheet, reason in zip(sheets, reasons, strict=True)
    ]


def sheet_of(
    test: Test, table: Table, serializer: Serializer, options: Options, prompts: PromptSet | None = None
) -> Sheet:
    """The queries of a test about a table. The same seed asks the same rows, whatever the serializer and the words."""
    rng, prompts = seeded(table, options.seed, test.id), prompts or default_prompts()
    try:
        queries = tuple(test.worded_by(prompts).planned(table, serializer, rng))[: options.queries]
        return Sheet(test, table, serializer, queries, prompts=prompts)
    except Skip as skip:
        return Sheet(test, table, serializer, (), str(skip), prompts)


def _uninformative(sheet: Sheet, at: float, options: Options) -> str | None:
    """Why a sheet is not worth asking. The published rules ask all the same."""
    if options.rules == PAPER or sheet.unfit or not sheet.test.decides:
        return None
    return sheet.test.uninformative(sheet.written, at)


def rows_shown(cells: Sequence[PlannedCell]) -> dict[tuple[str, str], int]:
    """For each (LLM, FILE) whose rows would leave this machine, how many distinct rows the prompts show."""
    rows: dict[tuple[str, str], set[int]] = {}
    for cell in cells:
        if cell.table.private and not cell.subject.model.local:
            shown = rows.setdefault((cell.name.llm, cell.name.dataset), set())
            shown.update(index for query in cell.queries for index in query.rows)
    return {key: len(shown) for key, shown in rows.items() if shown}
