"""A run from names to a folder: open the named models and tables, plan, ask, judge, record."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tabcontam.asking.batch_asker import going_on
from tabcontam.asking.estimate import Estimate
from tabcontam.asking.event_loops import interruptible, run_to_end
from tabcontam.asking.limiter import CEILING
from tabcontam.asking.preparing import fitted, prepare_in_background, takes_long
from tabcontam.asking.query_plan import PlannedResult, RunSource, check_reachable, plan, rows_shown, shuffled_shown
from tabcontam.asking.reply_store import Store
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.run_shards import part_of
from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import Journal, lock_run_folder, open_folder
from tabcontam.config import FORMS, RunConfig
from tabcontam.errors import Unavailable, UsageError, option, option_name
from tabcontam.evidence.base import OF_A_PAPER, RECALLED, Capability, Test
from tabcontam.evidence.mixins import ShareTest
from tabcontam.evidence.prompts import DEFAULT as DEFAULT_PROMPTS
from tabcontam.evidence.prompts import PromptSet, load_prompt_set
from tabcontam.evidence.registry import all_tests
from tabcontam.evidence.selection import asked_by, chooses, selected
from tabcontam.models.base import Model
from tabcontam.models.catalogue import by_name, name_of
from tabcontam.models.prices import Price, load_prices
from tabcontam.models.provider_record import MissingModel
from tabcontam.models.provider_registry import CONTROLS, LlmResolution, ModelSettings, resolve
from tabcontam.paths import check_own_files
from tabcontam.reading.word_decision import Dictionary, english
from tabcontam.report.trials_by_result import TrialSource
from tabcontam.runs import option_checks
from tabcontam.runs.choice_of_tests import check_fresh, check_rows, fewer_rows, put_to, split_asked_tests, with_given
from tabcontam.runs.continuation_checks import check_same_run, check_same_versions
from tabcontam.runs.folder import new_folder, record
from tabcontam.runs.folder_part import records_in
from tabcontam.runs.llm_reachability import reached_meanwhile
from tabcontam.runs.named_models import (
    at_cutoff,
    check_declared,
    check_known,
    check_searched,
    controls,
    read_declarations,
)
from tabcontam.runs.run_description import describe
from tabcontam.runs.run_part import RunPart, run_parts
from tabcontam.tables.dataset_splits import load_tables
from tabcontam.tables.known_rows import load_known, with_known
from tabcontam.tables.large.reading_progress import report_progress_to
from tabcontam.tables.readers.base import text_format
from tabcontam.tables.serializers import DEFAULT, Serializer, load_serializer, load_template
from tabcontam.tables.sources import without_queries
from tabcontam.tables.table import Table
from tabcontam.tables.unread_rows import with_fresh, with_withheld
from tabcontam.verdicts.document import write_results
from tabcontam.verdicts.result_building import build_results
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import TrainingDeclaration

DATASETS = ("iris", "wine")


@dataclass(frozen=True)
class Run:
    """A planned run: its subjects, tables and queries.

    `resolved` has the models that names mean. `left_out` are tests without queries for --queries paper. `known` are
    files of rows that the LLMs may know. `notices` are to be read before anything is sent. `parts` are those of
    extensions. `trained_on` has the corpora declared to be training data of an LLM. `grid` is the whole plan,
    if only a shard of it is asked.
    """

    config: RunConfig
    subjects: tuple[RunSource, ...]
    tables: tuple[Table, ...]
    serializers: tuple[Serializer, ...]
    prompts: tuple[PromptSet, ...]
    plan: tuple[PlannedResult, ...]
    dictionary: Dictionary
    prices: Mapping[str, Price]
    resolved: Mapping[str, LlmResolution] = field(default_factory=dict)
    left_out: tuple[Test, ...] = ()
    known: tuple[Table, ...] = ()
    notices: tuple[str, ...] = ()
    parts: tuple[RunPart, ...] = ()
    trained_on: tuple[TrainingDeclaration, ...] = ()
    grid: tuple[PlannedResult, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A completed run: its folder, its results, and the reason if no LLM under test gave a reply.

    `trials` are for a report (`shown_lines`). `seconds` is the time from the user's command until the report was
    written. `going_on` has a line for each batch that its provider has not finished.
    """

    folder: Path
    results: RunResults
    trials: TrialSource
    failure: str | None
    seconds: float
    going_on: tuple[str, ...] = ()

    @property
    def unreached(self) -> str:
        """A line that no subject under test gave a reply, with the reason; "" if one did."""
        if not self.failure:
            return ""
        searched = {result.llm for result in self.results.subjects} <= self.results.corpora
        return f"{'no documents could be searched' if searched else 'no LLM could be reached'}: {self.failure}"


def prepare(config: RunConfig, progress: Progress | None = None, asks: bool = True) -> Run:
    """Open everything that the settings name and plan every query; nothing is sent or written yet.

    If the run `asks`, an LLM without its key, or one that is not available, is reported before slow steps. Raises
    `UsageError`.
    """
    progress = progress or Progress()
    if config.out is not None:
        check_own_files(config.out)
    config = config.replace(dataset=at_cutoff(config.dataset, config.llm))
    option_checks.check_options(config)
    parts = run_parts(config, progress)
    also = [test for test in all_tests() if config.memory_share and test.measure == RECALLED]
    picked = selected(all_tests(), config.tests, config.marks)
    chosen = config.own_tests or [test for test in all_tests() if test in (*picked, *also)]
    tests, left_out = split_asked_tests(with_given(chosen, config), config)
    papers = asked_by(OF_A_PAPER, tests, config.marks)
    config = config.replace(papers_too=papers, began=config.began or time.monotonic())
    load = load_template if config.own_tests else load_serializer
    serializers = tuple(load(name) for name in dict.fromkeys(config.serializer or (DEFAULT,)))
    prompts = tuple(load_prompt_set(name) for name in dict.fromkeys(config.prompts or (DEFAULT_PROMPTS,)))
    prices = load_prices(config.prices)
    settings = ModelSettings(
        config.max_connections or CEILING,
        serializers,
        config.batch_size,
        FORMS[0] if config.structured else config.form,
        needs=frozenset().union(*(test.needs for test in tests)),
        seed=config.seed,
    )
    named = by_name(config.llm or CONTROLS)
    declarations, corpora = read_declarations(config.trained_on, named)
    named |= corpora
    joined = controls(config.control, named, config.controls)
    with progress.doing("looking up the LLMs"):
        opened = {name: _opened(spec, settings) for name, spec in (joined | named).items()}
        check_declared(declarations, {name: model for name, (model, _) in opened.items()})
        references = _references(config.reference, opened, settings, config.control)
        opened |= references
        for part in parts:
            opened = {name: (part.model(model), how) for name, (model, how) in opened.items()}
    subjects = tuple(
        RunSource(model, name in joined, reference=name in references, further=name in list(references)[1:])
        for name, (model, _) in opened.items()
    )
    if not config.own_tests and not chooses(config.tests, config.marks):
        scored = any(map(_scores, subjects))
        tests = [test for test in tests if test in also or _by_default(test, scored, config)]
        left_out = tuple(test for test in left_out if test in also or _by_default(test, scored, config))
    tests, subjects, lines = put_to(tests, subjects, {one.llm for one in declarations})
    left_out = tuple(test for test in left_out if any(one.takes(test) for one in subjects if one.tested))
    check_searched(declarations, subjects, tests)
    check_fresh(config, tests)
    check_rows(config, tests)
    option_checks.check_corpora(config, subjects)
    option_checks.check_samples(config, tests)
    for part in parts:
        part.open(tests, settings, asks)
    lacking = _lacking(subjects) if asks else {}
    check_reachable(subjects, lacking)
    option_checks.check_plannable(config.shard, subjects)
    notices = (
        *lines,
        *option_checks.asked_once(config, tests, subjects),
        *(option_checks.check_batches(subjects) if config.batch_api else ()),
    )
    if config.max_cost is not None:
        further = [RunSource(model) for part in parts for model in part.models]
        option_checks.check_prices((*subjects, *further), prices)
    tables, known, notices = _tables(config, parts, progress, notices)
    controls_named = set(map(name_of, config.control))
    check_known("control", [one.model for one in subjects if one.joined and one.model.spec in controls_named], tables)
    option_checks.check_splits(subjects, tables)
    _tell_apart(tables, serializers, prompts)
    found = {spec: found for spec, (_, found) in opened.items() if found is not None}
    leave = config.send_rows or not any(table.private or table.withheld or table.fresh for table in tables)
    may_be_asked = asks and (leave or all(subject.model.local for subject in subjects))
    long = takes_long(tables, tests)
    early = subjects if may_be_asked and fitted(tests) else ()
    elsewhere = [work for part in parts if long and (work := part.elsewhere(subjects, lacking, asks))]
    reaching = reached_meanwhile(early, lambda spec: found[spec].open(settings), lacking)
    with (
        progress.doing("preparing the baseline") as tell,
        reaching as check,
        prepare_in_background(tables, serializers[0], tests, config, check, elsewhere) as ready,
    ):
        grid = tuple(plan(subjects, tables, serializers, tests, config, tell, ready, prompts))
    notices = (*notices, *fewer_rows(config, grid), *(line for part in parts for line in part.notices()))
    planned_results = tuple(part_of(grid, config.shard)) if config.shard else grid
    run = Run(
        config, subjects, tables, serializers, prompts, planned_results, english(), prices, found, left_out, known
    )
    return replace(run, notices=notices, parts=parts, trained_on=declarations, grid=grid)


def _by_default(test: Test, scored: bool, config: RunConfig) -> bool:
    """Return whether a test is asked by default. `scored` is true if an LLM under test can score text for free.

    Tests that search documents are asked by default: a user who names a corpus wants it searched. Tests that compare
    with fresh rows are asked if such rows are given.
    """
    wanted = Capability.SEARCH in test.needs or (isinstance(test, ShareTest) and bool(config.fresh))
    return not test.on_request or (scored and test.scores_text) or wanted


def _scores(subject: RunSource) -> bool:
    """Return whether the subject is a local LLM under test that scores text: this costs only time."""
    model = subject.model
    return subject.tested and model.local and not model.control and Capability.SCORE in model.capabilities


def _tables(
    config: RunConfig, parts: Sequence[RunPart], progress: Progress, notices: tuple[str, ...]
) -> tuple[tuple[Table, ...], tuple[Table, ...], tuple[str, ...]]:
    """Return the tables without duplicates, the known files, and the notices. A `Table` has its own target and name."""
    named = {each if isinstance(each, str) else id(each): each for each in config.dataset or DATASETS}
    if config.target or config.name:
        for table in named.values():
            if isinstance(table, Table):
                raise UsageError(f"target and name apply only to files; set them on the table {table.name!r} itself")
    given = [
        each
        if isinstance(each, str | Table)
        else Table.from_frame(each, name=_name_of_frame(config), target=config.target)
        for each in named.values()
    ]
    text = text_format(config.delimiter, config.encoding, config.header, config.header_line)
    with report_progress_to(progress.note):
        tables, shared = load_tables(
            given,
            config.split_column,
            target=config.target,
            name=config.name,
            form=text,
            doing=lambda spec: progress.doing(f"reading {without_queries(spec)}"),
        )
    further = config.known or config.withheld or config.fresh
    with progress.doing("reading further rows") if further else contextlib.nullcontext():
        known = load_known(config.known, text)
        read: Sequence[Table] = with_known(tables, known)
        for part in parts:
            read = part.tables(read)
        found, lines = with_withheld(read, config.withheld, text)
        found, left_out = with_fresh(found, config.fresh, text)
    return found, known, (*notices, *filter(None, (table.sampled for table in found)), *shared, *lines, *left_out)


def _name_of_frame(config: RunConfig) -> str:
    if config.name is None:
        raise UsageError("a frame has no name; give it one, which the prompts show: name='…'")
    return config.name


def _opened(spec: str, settings: ModelSettings) -> tuple[Model, LlmResolution | None]:
    """Return an LLM and the meaning of its name. An unavailable LLM is a model that fails when it is reached."""
    try:
        resolved = resolve(spec)
    except Unavailable as error:
        return MissingModel(name_of(spec), error), None
    return resolved.open(settings), resolved


def _lacking(subjects: Sequence[RunSource]) -> dict[str, str]:
    """Return the reason for each LLM that is known to be unavailable without asking a server, by its spec."""
    lacking: dict[str, str] = {}
    for model in (subject.model for subject in subjects):
        try:
            model.check_at_hand()
        except UsageError as error:
            lacking[model.spec] = str(error)
    return lacking


def _references(
    specs: Sequence[str],
    opened: Mapping[str, tuple[Model, LlmResolution | None]],
    settings: ModelSettings,
    named: Sequence[str],
) -> dict[str, tuple[Model, LlmResolution | None]]:
    """Return the references. Raises `UsageError` for one that is tested, named twice, a control, or not available."""
    found: dict[str, tuple[Model, LlmResolution | None]] = {}
    for spec in specs:
        name, how = name_of(spec), resolve(spec)
        one = how.open(settings), how
        tested = next((other for other, known in opened.items() if other == name or _are_one(known, one)), None)
        before = next((other for other, known in found.items() if other == name or _are_one(known, one)), None)
        if one[0].is_corpus:
            wrong = "is a corpus, which cannot answer; name a model"
        elif name in map(name_of, named):  # as controls
            wrong = f"is a control of this run; leave {option('control', spec)} out"
        elif tested is not None:
            wrong = f"is {tested}, which is under test; name a model that has not read the table"
        elif one[0].control:
            wrong = "is a control; name a model that has not read the table"
        elif before is not None:
            wrong = f"is {before}, which is named already"
        else:
            found[name] = one
            continue
        raise UsageError(f"{option_name('reference')}: {spec} {wrong}")
    return found


def _are_one(first_one: tuple[Model, LlmResolution | None], other: tuple[Model, LlmResolution | None]) -> bool:
    (first, found), (second, also) = first_one, other
    if first.identity is not None and first.identity == second.identity:
        return True
    return found is not None and also is not None and found.stands_for == also.stands_for


def _tell_apart(tables: Sequence[Table], serializers: Sequence[Serializer], prompts: Sequence[PromptSet]) -> None:
    for kind, names in (
        ("datasets", ["{}@{}#{}".format(*table.key).removesuffix("#") for table in tables]),
        ("serializers", [serializer.name for serializer in serializers]),
        ("prompt sets", [words.name for words in prompts]),
    ):
        if twice := {name for name in names if names.count(name) > 1}:
            raise UsageError(f"two {kind} of one run are both named {min(twice)}; leave one out or rename it")


def rows_leaving(run: Run) -> dict[tuple[str, str], int]:
    """Return the number of private rows that would leave this machine, by LLM and dataset."""
    rows = rows_shown(run.plan)
    for part in run.parts:
        rows |= part.rows_leaving(run.plan)
    return rows


def check_rows_may_leave(run: Run) -> None:
    """Raise `UsageError` if a FILE's rows would leave this machine without permission."""
    for (llm, dataset), rows in rows_leaving(run).items():
        if not run.config.send_rows:
            others = " and others made of its cells" * ((llm, dataset) in shuffled_shown(run.plan))
            raise UsageError(
                f"{dataset}: {rows} rows{others} would be shown to {llm}; add {option('send_rows')} to allow that"
            )


def execute(run: Run, progress: Progress, tell: Callable[[str], object] = str) -> Outcome:
    """Ask everything and record it; no answer is lost. `tell` gets how each FILE was read. Raises `UsageError`."""
    check_rows_may_leave(run)
    started = datetime.now(UTC) - timedelta(seconds=_passed(run))
    folder = run.config.out or new_folder(started)
    check_same_run(folder, run)
    for table in run.tables:
        if table.read.how:
            tell(f"{table.named}: {table.read.how}")
    session, parts = _session(run, folder, progress), run.parts

    def judged(finished: bool) -> RunResults:
        facts = describe(run, started, session.used())
        about = replace(
            facts,
            seconds=_passed(run),
            finished=finished and session.limit() is None,
            interrupted=session.stopping,
            limit=session.limit(),
            durations=tuple(session.durations()),
            **{name: fact for part in parts for name, fact in part.facts().items()},
            notes=(*facts.notes, *session.notes()),
        )
        return build_results(about, session.results())

    with contextlib.ExitStack() as judging:
        for part in parts:
            judging.enter_context(part.judging())
        try:
            run_to_end(_ask(session, folder, judged, parts), session.stop)
        finally:
            session.journal.rescue()
            for part in parts:
                part.rescue()
        with progress.doing("writing the report"):
            final, trials = record(folder, judged(not session.stopping))
    return Outcome(folder, final, trials, session.failures(), _passed(run), tuple(going_on(session.batched)))


def _passed(run: Run) -> float:
    return round(time.monotonic() - run.config.began, 2)


def survey(run: Run, progress: Progress | None = None) -> list[Estimate]:
    """Return for each LLM an estimate of the queries left to ask, with the largest cost. No query is sent."""
    progress = progress or Progress()
    folder = run.config.out or new_folder(datetime.now(UTC))
    session = _session(run, folder, progress)

    async def look() -> list[Estimate]:
        try:
            with contextlib.suppress(UsageError):  # the line of each LLM that cannot be reached states this
                await session.connect()
                await session.hold(asks=False)
            with progress.doing("looking for stored answers"):
                session.recall()
                return [*session.estimates(), *[one for part in run.parts for one in await part.survey()]]
        finally:
            await session.close()
            session.store.close()

    return asyncio.run(look())


def _session(run: Run, folder: Path, progress: Progress) -> Session:
    store = Store.open() if run.config.cache else Store()
    session = Session(run.plan, run.config, Journal(folder), progress, store, run.prices)
    session.records = records_in([folder])
    for part in run.parts:
        part.begin(session, folder)
    return session


async def _ask(session: Session, folder: Path, judged: Callable[[bool], RunResults], parts: Iterable[RunPart]) -> None:
    try:
        await session.connect()
        await session.hold()
        for part in parts:
            await part.connect()
        check_same_versions(folder, session)
        open_folder(folder)
        with lock_run_folder(folder):
            with session.progress.doing("looking for stored answers"):
                session.recall()
            # After a crash `rescore` needs the planned results, so they are written before any answer.
            write_results(folder, judged(False))
            with interruptible(session.stop):
                await session.ask()
                for part in parts:
                    if not session.stopping:
                        await part.ask()
    finally:
        await session.close()
        for part in parts:
            await part.close()
        session.store.close()
