"""The plan of a run: every result with all of its queries, before anything is sent."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from tabcontam.config import ALL, PAPER, RunConfig
from tabcontam.errors import Skip, UsageError, one_line, option_name
from tabcontam.evidence.answering import of_twin
from tabcontam.evidence.base import Capability, Family, Lookup, LookupMode, Query, Test
from tabcontam.evidence.bet_order import in_turns
from tabcontam.evidence.mixins import (
    BettingTest,
    InWordsTest,
    LearningTest,
    PooledTest,
    ResampledTest,
    ShortenedTest,
    SizedTest,
    WordedTest,
)
from tabcontam.evidence.prompts import PromptSet, default_prompts
from tabcontam.evidence.samples import repeated, without_cut_off
from tabcontam.evidence.shots import with_shots
from tabcontam.groups import grouped
from tabcontam.models.base import Model
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table
from tabcontam.verdicts.advice import LOG_PROBABILITIES
from tabcontam.verdicts.decisions import level
from tabcontam.verdicts.reference_correction import asked_of_reference
from tabcontam.verdicts.result_building import pool_parts
from tabcontam.verdicts.result_types import ResultKey
from tabcontam.verdicts.thresholds import ALPHA
from tabcontam.verdicts.wording import phrase

NONE_OF_PAPER = "none of its queries is the paper's own, and --queries paper asks only these"
LEFT_OUT = "all of its queries are the paper's own, which --until-decided leaves out (-m paper asks them)"
UNDECIDING = "it has no verdict, and --until-decided asks a control only what decides verdicts"
SPOILED = "the prompts of the other row tests show every row that it could ask about"
TOO_FEW = "too few queries: none has its comparison query; raise --queries"
IN_WORDS = {
    Capability.GENERATE: "an LLM that answers in words",
    Capability.CHAT: "a chat model",
    Capability.COMPLETION: "a model that goes on with a text",
    Capability.SCORE: LOG_PROBABILITIES,
    Capability.MOMENTS: "the whole distribution at each token",
    Capability.SEARCH: "documents that can be searched",
    Capability.SEED: "a model that takes a seed",
    Capability.SAMPLE: "an LLM that draws its answers at a temperature",
    Capability.INSTRUCTIONS: "an LLM that understands a question",
}


def in_words(capabilities: frozenset[Capability]) -> str | None:
    """Return these capabilities as a phrase for messages; None if there are none."""
    return phrase([words for capability, words in IN_WORDS.items() if capability in capabilities]) or None


@dataclass(frozen=True)
class RunSource:
    """A source of the run. `joined`: it is a control that runs next to the LLMs under test.

    `reference`: it is not under test, and an answer that it gives too is no sign that the LLM has read the rows.
    `further`: it is a reference that is used only for memory's share.
    """

    model: Model
    joined: bool = False
    reference: bool = False
    further: bool = False

    @property
    def tested(self) -> bool:
        """Return whether it is under test: an LLM or corpus that the user named, and no reference."""
        return not self.joined and not self.reference

    @property
    def sequential(self) -> bool:
        """Return whether it may be asked only until a table is decided: an LLM under test, or a control."""
        return not self.reference and not self.model.is_corpus

    def takes(self, test: Test) -> bool:
        """Return whether it gets a test: searches go only to sources with documents, and a corpus gets only searches.

        If the source cannot meet the test's other needs, the test is planned and then skipped.
        """
        if Capability.SEARCH in test.needs:
            return Capability.SEARCH in self.model.capabilities | self.model.may_have
        return not self.model.is_corpus


def check_reachable(subjects: Sequence[RunSource], lacking: Mapping[str, str]) -> None:
    """Raise `UsageError` if no LLM under test can be reached, or a reference cannot.

    `lacking`: by `spec`, why an LLM cannot be reached.
    """
    for subject in subjects:
        if subject.reference and (line := lacking.get(subject.model.spec)):
            raise UsageError(f"{option_name('reference')}: {line}")
    under_test = [subject.model.spec for subject in subjects if subject.tested]
    lines = [lacking[spec] for spec in under_test if spec in lacking]
    if under_test and len(lines) == len(under_test):
        raise UsageError("; ".join(dict.fromkeys(lines)))


@dataclass(frozen=True)
class QuerySheet:
    """The queries of a test about a table, equal for every LLM, or the reason why there are none.

    `beyond`: how many queries of the test are not asked because they are not the paper's own.
    """

    test: Test
    table: Table
    serializer: Serializer
    written: tuple[Query, ...] = ()
    unfit: str | None = None
    beyond: int = 0
    prompts: PromptSet = field(default_factory=default_prompts)

    def named(self, llm: str) -> ResultKey:
        """Return the key of an LLM's result with this sheet, which no other result of the run has."""
        table = self.table
        written, worded = self.serializer.name, self.prompts.name
        return ResultKey(llm, table.name, table.edition, written, self.test.id, worded, table.split)


@dataclass(frozen=True, kw_only=True)
class PlannedResult(QuerySheet):
    """A query sheet for one LLM: one result of the plan.

    `uninformative`: why the queries cannot tell memory from prediction at `level`, else None; such queries are not
    asked. `table_level`: a p-value up to it makes a table contaminated, whatever other results show. `sequential`: it
    is asked in turns with the table's other tests that bet, until the table is decided. `deferred`: it is asked after
    the sequential tests, and only if they left the table undecided; of a control that joined, only if it is asked of an
    LLM under test. `otherwise`: the planned result that replaces this
    one if the LLM turns out to give no log-probabilities.
    """

    subject: RunSource
    uninformative: str | None = None
    level: float = ALPHA
    table_level: float = ALPHA
    sequential: bool = False
    deferred: bool = False
    otherwise: "PlannedResult | None" = None

    @cached_property
    def name(self) -> ResultKey:
        """The key of this result, which no other result of the run has."""
        return self.named(self.subject.model.spec)

    @property
    def lacks(self) -> str | None:
        """The needs of the test that the subject lacks for certain, in words; None if there are none."""
        return in_words(self._not_had - self.subject.model.may_have)

    @property
    def provided(self) -> str | None:
        """The needs of the test that the subject may turn out to have, in words; None if there are none."""
        return in_words(self._not_had & self.subject.model.may_have)

    @property
    def _not_had(self) -> frozenset[Capability]:
        return self.test.needs - self.subject.model.capabilities

    @property
    def skip(self) -> str | None:
        """The reason why nothing is asked, because of the table or of the subject's lacks; None if there is none."""
        if self.lacks:
            return f"{self.subject.model.spec} cannot take part: the test needs {self.lacks}"
        return self.unfit

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries to ask."""
        return () if self.skip or self.uninformative else self.askable

    @cached_property
    def askable(self) -> tuple[Query, ...]:
        """The queries written for this LLM. A corpus gets only the lookups that its kind of search can do."""
        finds = self.subject.model.finds
        if Capability.SEARCH not in self.test.needs or len(finds) == len(LookupMode):
            return self.written
        return tuple(one for one in self.written if not isinstance(one.question, Lookup) or one.question.by in finds)


def plan(
    subjects: Sequence[RunSource],
    tables: Sequence[Table],
    serializers: Sequence[Serializer],
    tests: Sequence[Test],
    options: RunConfig,
    tell: Callable[[int, int], None] = lambda written, of: None,
    ready: Callable[[Test, Table], None] = lambda test, table: None,
    prompts: Sequence[PromptSet] = (),
) -> list[PlannedResult]:
    """Return every planned result with all of its queries, before anything is sent. All LLMs get equal queries. Each
    subject gets only the tests that it can take (`RunSource.takes`). A reference gets only tests that use its answers.

    Tests that show no rows are planned once, under the first serializer. Tests that word their own queries are planned
    once, under the first of `prompts` (if empty, the default set). `ready` is called before the queries of each
    combination of test, table, serializer and prompt set are written. `tell` gets how many of these combinations are
    written, and their total.
    """
    places = [
        (test, table, serializer, words)
        for table in tables
        for number, serializer in enumerate(serializers)
        for other, words in enumerate(prompts or (default_prompts(),))
        for test in tests
        if (test.shows_rows or not number) and (isinstance(test, WordedTest) or not other)
    ]
    sheets: list[QuerySheet] = []
    for place in places:
        tell(len(sheets), len(places))
        ready(*place[:2])
        sheets.append(sheet_of(*place[:3], options, place[3]))
    # The p-value that suffices for a finding: alpha, divided by the cells of a family that share it.
    deciding = Counter(sheet.test.family for sheet in sheets if sheet.test.decides and sheet.unfit is None)
    asking = [sheet.test for sheet in sheets]
    at = {
        family: level(options.alpha, deciding[family] * _sharing(asking, family, subjects, options))
        for family in {test.family for test in asking}
    }
    worded = _in_words(subjects, sheets, options)
    written = {sheet.named(""): sheet.written for sheet in sheets}
    reasons = [_uninformative(sheet, written, at[sheet.test.family], options) for sheet in sheets]
    asked = [sheet for sheet, reason in zip(sheets, reasons, strict=True) if not (reason or sheet.unfit)]
    showing = {sheet.named("").of_table for sheet in asked if sheet.test.row_test}
    llms = sum(subject.tested and not subject.model.is_corpus for subject in subjects)
    tested = max(1, llms) if options.family_over == ALL else 1
    whole = in_turns = _with_turns(sheets, reasons)
    if options.until_decided:
        in_turns = _with_turns([_without_papers(sheet, options) for sheet in sheets], reasons)

    def planned_results(subject: RunSource) -> Iterator[PlannedResult]:
        for number, (sheet, reason) in enumerate(zip(whole, reasons, strict=True)):
            if not subject.takes(sheet.test):
                continue
            if subject.reference and not asked_of_reference(sheet.test, further=subject.further):
                continue
            in_turn = options.until_decided and subject.sequential and not reason
            sequential = (
                in_turn
                and isinstance(sheet.test, BettingTest)
                and any(query.row is not None for query in sheet.written)
            )
            own = in_turns[number] if in_turn else sheet
            own = _bet_on(own) if sequential else own
            needless = options.until_decided and subject.joined and not sheet.test.decides
            own = replace(own, written=(), unfit=own.unfit or UNDECIDING) if needless else own
            planned = PlannedResult(
                **vars(own),
                subject=subject,
                uninformative=reason,
                level=at[sheet.test.family],
                table_level=level(options.alpha, tested * len(showing)),
                sequential=sequential,
                deferred=in_turn and sheet.test.row_test and not sequential,
            )
            yield _resampled(planned if needless else _or_in_words(planned, worded.get(number), options), options)

    return [cell for subject in subjects for cell in planned_results(subject)]


def _sharing(tests: Sequence[Test], family: Family, subjects: Sequence[RunSource], options: RunConfig) -> int:
    """Return how many subjects share a family's error budget: 1, unless `family_over` names all of them."""
    if options.family_over != ALL:
        return 1
    own = [test for test in tests if test.family is family]
    return max(1, sum(subject.tested and any(map(subject.takes, own)) for subject in subjects))


def _in_words(subjects: Sequence[RunSource], sheets: Sequence[QuerySheet], options: RunConfig) -> dict[int, QuerySheet]:
    """Return the sheets that ask for words, not log-probabilities, by the index of the sheet that each may replace."""
    found = {}
    for number, sheet in enumerate(sheets):
        test = sheet.test.in_words(options.samples) if isinstance(sheet.test, InWordsTest) else None
        if test and any(not subject.model.control and test.needs <= subject.model.capabilities for subject in subjects):
            found[number] = sheet_of(test, sheet.table, sheet.serializer, options, sheet.prompts)
    return found


def _or_in_words(planned: PlannedResult, worded: QuerySheet | None, options: RunConfig) -> PlannedResult:
    """Return `planned`, or the result with `worded`, the sheet in words, if the LLM gives no log-probabilities. If it
    is unknown whether the LLM gives them, they are asked for first, unless the user asks for samples.
    """
    model = planned.subject.model
    if worded is None or model.control or not worded.test.needs <= model.capabilities:
        return planned
    reason = _uninformative(worded, {}, planned.level, options)
    own = replace(planned, **vars(worded), uninformative=reason)
    lacking = not planned.test.needs <= model.capabilities
    return own if lacking and (planned.lacks or options.samples) else replace(planned, otherwise=own)


def _resampled(planned: PlannedResult, options: RunConfig) -> PlannedResult:
    """Return `planned` with several samples of each query, if the user wants that and the test and the LLM allow it."""
    count, at, model = options.samples, options.temperature, planned.subject.model
    if (
        not (count and at and isinstance(planned.test, ResampledTest))
        or model.control
        or Capability.SAMPLE not in model.capabilities
    ):
        return planned
    samples = [sample for query in planned.written for sample in repeated(query, count, at)]
    asked = _first(samples, None if options.queries == PAPER else options.queries, planned.test.decides)
    return replace(planned, written=asked, unfit=planned.unfit or (None if asked else TOO_FEW))


def _without_papers(sheet: QuerySheet, options: RunConfig) -> QuerySheet:
    """Return the sheet for asking until its table is decided: in the row family, it lacks the paper's own queries."""
    if options.papers_too or sheet.test.family is not Family.ROWS:
        return sheet
    own = tuple(query for query in sheet.written if not query.paper)
    return replace(sheet, written=own, unfit=sheet.unfit or (None if own else LEFT_OUT))


def _bet_on(sheet: QuerySheet) -> QuerySheet:
    """Return the sheet with only its queries that have a turn (a number in the order of asking), in this order."""
    own = [query for query in sheet.written if query.bet.turn is not None]
    unfit = sheet.unfit or (None if own else SPOILED)
    return replace(sheet, written=tuple(sorted(own, key=lambda query: query.bet.turn or 0)), unfit=unfit)


def _with_turns(sheets: Sequence[QuerySheet], reasons: Sequence[str | None]) -> list[QuerySheet]:
    """Return the sheets with turns for all queries that are bet on. Sheets with a reason not to be asked get none."""
    found = list(sheets)
    betting = [
        place for place, sheet in enumerate(sheets) if isinstance(sheet.test, BettingTest) and not reasons[place]
    ]
    for own in grouped(betting, lambda place: sheets[place].named("").of_table).values():
        for place, written in in_turns({place: sheets[place].written for place in own}).items():
            found[place] = replace(sheets[place], written=written)
    return found


def sheet_of(
    test: Test, table: Table, serializer: Serializer, options: RunConfig, prompts: PromptSet | None = None
) -> QuerySheet:
    """Return the queries of a test about a table. They ask about the same rows under all serializers and prompts."""
    rng, prompts = seeded(table, options.seed, test.draws_as or test.id), prompts or default_prompts()
    try:
        asking = test.about(options.rows) if options.rows and isinstance(test, SizedTest) else test
        if options.queries == PAPER and isinstance(asking, ShortenedTest):
            asking = asking.as_published()
        worded, shots = asking.worded_by(prompts) if isinstance(asking, WordedTest) else asking, options.shots or 0
        if options.queries == PAPER:
            queries = worded.planned(table, serializer, rng)
            own = tuple(query for query in queries if query.paper)
            own = with_shots(worded, own, table, serializer, options.seed, shots)
            unfit = None if own else NONE_OF_PAPER
            return QuerySheet(test, table, serializer, own, unfit, len(queries) - len(own), prompts)
        asked = _first(worded.planned(table, serializer, rng), options.queries, test.decides)
        asked = with_shots(worded, asked, table, serializer, options.seed, shots)
        unfit = TOO_FEW if options.queries and not asked else None
        return QuerySheet(test, table, serializer, asked, unfit, prompts=prompts)
    except Skip as skip:
        return QuerySheet(test, table, serializer, (), str(skip), prompts=prompts)
    except (ArithmeticError, ValueError, MemoryError) as error:  # a computation that the test needs failed
        unfit = f"{test.id} could not be prepared on {table.name}: {type(error).__name__}: {one_line(error)}"
        return QuerySheet(test, table, serializer, (), unfit, prompts=prompts)


def _first(queries: Sequence[Query], most: int | None, decides: bool) -> tuple[Query, ...]:
    """Return the first `most` queries. Without `decides`, drop a query, too, if all its decoys are cut off."""
    asked = without_cut_off(queries[:most], queries[most:] if most else ())
    kept = {query.decoy_of for query in asked}
    cut_off = {query.decoy_of for query in queries[len(asked) :]} - kept - {""}
    return tuple(query for query in asked if decides or query.id not in cut_off)


def _uninformative(
    sheet: QuerySheet, written: Mapping[ResultKey, Sequence[Query]], level_of_test: float, options: RunConfig
) -> str | None:
    """Return why a sheet, even pooled with others, is not worth asking. None means that it is worth asking, or that the
    published rules decide.
    """
    if options.rules == PAPER or sheet.unfit or not sheet.test.decides:
        return None
    small = sheet.test.too_small(len(sheet.table.row_set)) if isinstance(sheet.test, LearningTest) else None
    alone = small or sheet.test.uninformative(sheet.written, level_of_test)
    if not alone or not isinstance(sheet.test, PooledTest):
        return alone
    pooled = [*sheet.written, *pool_parts(sheet.named(""), sheet.test, written)]
    return sheet.test.uninformative(pooled, level_of_test) and alone


def rows_shown(planned_results: Sequence[PlannedResult]) -> dict[tuple[str, str], int]:
    """Return, by (LLM, dataset), how many distinct private rows the prompts would send away from this machine.

    All rows of a FILE are private. So are rows that were never published, even if their table is public. The rows of a
    shuffled twin are not rows of the table: `shuffled_shown` reports them.
    """
    rows: dict[tuple[str, str], set[int | str]] = {}
    for planned in planned_results:
        if not planned.subject.model.local:
            shown = rows.setdefault((planned.name.llm, planned.table.named), set())
            queries = (*planned.queries, *(planned.otherwise.queries if planned.otherwise else ()))
            shown.update(query.id for query in queries if query.withheld)
            if planned.table.private:
                shown.update(index for query in queries for index in query.rows)
    return {key: len(shown) for key, shown in rows.items() if shown}


def shuffled_shown(planned_results: Iterable[PlannedResult]) -> set[tuple[str, str]]:
    """Return the (LLM, dataset) pairs for which twins made of a private table's cells would be sent away."""
    return {
        (planned.name.llm, planned.table.named)
        for planned in planned_results
        if planned.table.private and not planned.subject.model.local
        for query in (*planned.queries, *(planned.otherwise.queries if planned.otherwise else ()))
        if query.decoy_of and of_twin(query)
    }
