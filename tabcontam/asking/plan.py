"""Every cell with every query, before anything is sent."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from tabcontam.errors import Skip
from tabcontam.evidence.base import Capability, Query, Test
from tabcontam.evidence.prompts import PromptSet, default_prompts
from tabcontam.subjects.base import Model
from tabcontam.tables.draws import seeded
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table
from tabcontam.verdicts.cells import CellName
from tabcontam.verdicts.decisions import level
from tabcontam.verdicts.judge import siblings
from tabcontam.verdicts.rules import ALL, ALPHA, CALIBRATED, LLM, PAPER, Over, Queries
from tabcontam.verdicts.wording import phrase

NONE_OF_PAPER = "none of its queries is the paper's own, and --queries paper asks these alone"
TOO_FEW = "so few queries that none has the one that it is to be compared with; raise --queries"
IN_WORDS = {
    Capability.GENERATE: "an LLM that answers in words",
    Capability.CHAT: "a chat model",
    Capability.COMPLETION: "a model that goes on with a text",
    Capability.SCORE: "log-probabilities",
    Capability.SEARCH: "documents that can be searched",
    Capability.SEED: "a model that takes a seed",
    Capability.INSTRUCTIONS: "an LLM that understands a question",
}


def in_words(capabilities: frozenset[Capability]) -> str | None:
    """What these are, as a phrase; None where there is none."""
    return phrase([words for capability, words in IN_WORDS.items() if capability in capabilities]) or None


@dataclass(frozen=True)
class Subject:
    """An LLM of the run; `joined` says that it is a control beside the LLMs under test.

    The `reference` is not under test either: what it answers, too, is no sign that rows were seen.
    """

    model: Model
    joined: bool = False
    reference: bool = False

    @property
    def tested(self) -> bool:
        """Whether it is an LLM under test."""
        return not self.joined and not self.reference


@dataclass(frozen=True)
class Sheet:
    """The queries of a test about a table, which are the same for every LLM, or the reason why there are none.

    `beyond` is how many more the test has, which are not the paper's own and are not asked for that reason.
    """

    test: Test
    table: Table
    serializer: Serializer
    written: tuple[Query, ...] = ()
    unfit: str | None = None
    beyond: int = 0
    prompts: PromptSet = field(default_factory=default_prompts)

    def named(self, llm: str) -> CellName:
        """What tells the cell of an LLM from the others of the run."""
        table = self.table
        return CellName(llm, table.name, table.edition, self.serializer.name, self.test.id, self.prompts.name)


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
        return self.named(self.subject.model.spec)

    @property
    def lacks(self) -> str | None:
        """What the test needs and the subject does not have; None where it has all, or may turn out to have it."""
        return in_words(self._not_had - self.subject.model.may_have)

    @property
    def provided(self) -> str | None:
        """What the test needs, and nobody knows yet whether the subject has it; None where that is known."""
        return in_words(self._not_had & self.subject.model.may_have)

    @property
    def _not_had(self) -> frozenset[Capability]:
        return self.test.needs - self.subject.model.capabilities

    @property
    def skip(self) -> str | None:
        """Why nothing is asked: because of the table, or of what the subject lacks."""
        if self.lacks:
            return f"{self.subject.model.spec} cannot take part: the test needs {self.lacks}"
        return self.unfit

    @property
    def queries(self) -> tuple[Query, ...]:
        """What is to be asked."""
        return () if self.skip or self.uninformative else self.written


@dataclass(frozen=True)
class Options:
    """How a session runs.

    `alpha`: the level of the run's verdicts, for each LLM or, by `family_over`, for all; `queries`: at most so many in
    each cell, or "paper" for the paper's own alone, of tests that have some; `connections`: requests at a time, None to
    find out; the most requests and dollars.
    """

    seed: int = 0
    rules: str = CALIBRATED
    alpha: float = ALPHA
    family_over: Over = LLM
    queries: Queries = None
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

    The reference has cells of those tests alone whose chances its answers change.

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
    # The p-value that is sure to be a finding: alpha, divided by the cells of a family that share it.
    deciding = Counter(sheet.test.family for sheet in sheets if sheet.test.decides and sheet.unfit is None)
    sharing = max(1, sum(subject.tested for subject in subjects)) if options.family_over == ALL else 1
    at = {sheet.test.family: level(options.alpha, sharing * deciding[sheet.test.family]) for sheet in sheets}
    written = {sheet.named(""): sheet.written for sheet in sheets}
    reasons = [_uninformative(sheet, written, at[sheet.test.family], options) for sheet in sheets]
    return [
        PlannedCell(**vars(sheet), subject=subject, uninformative=reason, level=at[sheet.test.family])
        for subject in subjects
        for sheet, reason in zip(sheets, reasons, strict=True)
        if sheet.test.referred or not subject.reference
    ]


def sheet_of(
    test: Test, table: Table, serializer: Serializer, options: Options, prompts: PromptSet | None = None
) -> Sheet:
    """The queries of a test about a table. The same seed asks the same rows, whatever the serializer and the words."""
    rng, prompts = seeded(table, options.seed, test.id), prompts or default_prompts()
    try:
        if options.queries == PAPER:
            queries = test.as_published().worded_by(prompts).planned(table, serializer, rng)
            own = tuple(query for query in queries if query.paper)
            unfit = None if own else NONE_OF_PAPER
            return Sheet(test, table, serializer, own, unfit, len(queries) - len(own), prompts)
        asked = _first(test.worded_by(prompts).planned(table, serializer, rng), options.queries, test.decides)
        return Sheet(
            test, table, serializer, asked, TOO_FEW if options.queries and not asked else None, prompts=prompts
        )
    except Skip as skip:
        return Sheet(test, table, serializer, (), str(skip), prompts=prompts)


def _first(queries: Sequence[Query], most: int | None, decides: bool) -> tuple[Query, ...]:
    """The first queries. A score of pairs needs both: a query whose decoys are all cut off is not asked for one."""
    asked = queries[:most]
    kept = {query.decoy_of for query in asked}
    cut_off = {query.decoy_of for query in queries[len(asked) :]} - kept - {""}
    return tuple(query for query in asked if decides or query.id not in cut_off)


def has_papers(test: Test) -> bool:
    """Whether a test can have queries of the paper's own: none has that has no published rule."""
    return test.published is not None


def _uninformative(
    sheet: Sheet, written: Mapping[CellName, Sequence[Query]], at: float, options: Options
) -> str | None:
    """Why a sheet is not worth asking, be it with others of its pool. The published rules ask all the same."""
    if options.rules == PAPER or sheet.unfit or not sheet.test.decides:
        return None
    alone = sheet.test.too_small(len(sheet.table.row_set)) or sheet.test.uninformative(sheet.written, at)
    if not alone or not sheet.test.pool:
        return alone
    pooled = [*sheet.written, *siblings(sheet.named(""), sheet.test, written)]
    return sheet.test.uninformative(pooled, at) and alone


def rows_shown(cells: Sequence[PlannedCell]) -> dict[tuple[str, str], int]:
    """For each (LLM, FILE) whose rows would leave this machine, how many distinct rows the prompts show."""
    rows: dict[tuple[str, str], set[int]] = {}
    for cell in cells:
        if cell.table.private and not cell.subject.model.local:
            shown = rows.setdefault((cell.name.llm, cell.name.dataset), set())
            shown.update(index for query in cell.queries for index in query.rows)
    return {key: len(shown) for key, shown in rows.items() if shown}
