"""A measurement of the tests' power on a table: simulated answerers are asked as a model would be.

Prompts, readings and verdicts are those of a real run, and all verdicts of an answerer share one level. The result is
how often the tests detect answerers that know nothing of the rows, and answerers that know some rows.
"""

import asyncio
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import product
from time import perf_counter
from typing import Any, BinaryIO, cast

from tabcontam.asking.query_plan import PlannedResult, RunSource, plan
from tabcontam.asking.run_progress import Tell
from tabcontam.calibration.conclusion import Rate, conclusions
from tabcontam.calibration.thresholds import SEED_STEP
from tabcontam.config import CALIBRATED, RunConfig
from tabcontam.errors import NothingSelected
from tabcontam.evidence.base import Answer, Capability, Query, Reading, Test, Trial, Verdict, as_read
from tabcontam.evidence.prompts import DEFAULT as DEFAULT_PROMPTS
from tabcontam.evidence.prompts import PromptSet, load_prompt_set
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.evidence.selection import chooses, selected
from tabcontam.models.base import Model, ModelRequest
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.processes import code_to_run, processors, read_value, start_workers, typed, write_value
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.tables.dataset_splits import load_tables
from tabcontam.tables.known_rows import load_known, with_known
from tabcontam.tables.readers.base import FOUND_OUT, TextFormat
from tabcontam.tables.serializers import DEFAULT, Serializer, load_serializer
from tabcontam.tables.table import Table
from tabcontam.verdicts.columns import values_of
from tabcontam.verdicts.result_building import build_result, build_unjudged, conclude, pool_parts, tables
from tabcontam.verdicts.result_types import Result, ResultKey, TableVerdict
from tabcontam.verdicts.thresholds import ALPHA
from tabcontam.verdicts.wording import phrase

IGNORANT = ("mode", "guesser", "yes", "no", "rambler")  # know nothing of the table
EXPERT = "schema-expert"  # knows the card and no row
SHARES = (0.05, 0.1, 0.25, 0.5, 1.0)
MEMORISERS = {f"memoriser:{share:g}": share for share in SHARES}
ANSWERERS = (*IGNORANT, EXPERT, *MEMORISERS)
TOGETHER = "table"  # the verdict of all row tests together
START = code_to_run("tabcontam.calibration.power_study")
WORTH = 8.0  # seconds of remaining work above which more processes are started
Trials = dict[str, list[Trial]]  # by the test's id


@dataclass(frozen=True)
class AnswererResults:
    """The results of one answerer in one run, by test id, and the verdict on the table if row tests were asked."""

    results: Mapping[str, Result]
    table: TableVerdict | None
    row_tests: tuple[str, ...]

    @property
    def parts(self) -> Mapping[str, Mapping[str, Any]]:
        """The columns of each result by test id, and those of the verdict on the table under `TOGETHER`."""
        own = {test: values_of(result) for test, result in self.results.items()}
        return own | ({TOGETHER: values_of(self.table)} if self.table else {})

    def of(self, test: str) -> list[Result]:
        """Return the result of `test`; for `TOGETHER`, the results of all row tests."""
        return [self.results[one] for one in (self.row_tests if test == TOGETHER else (test,))]

    def queries(self, test: str) -> int:
        """Return how many queries were asked for `test`."""
        return sum(result.queries for result in self.of(test))

    def undecided(self, test: str) -> tuple[str, str | None]:
        """Return the verdict of a test that was not asked, and its reason."""
        verdict = self.parts[test]["verdict"]
        return str(verdict), next(result.decision.reason for result in self.of(test) if result.verdict is verdict)


@dataclass(frozen=True)
class AnswererPlan:
    """The plan of a run, shared by all answerers. `readings` stores each reading, so equal replies are read once."""

    cells: Sequence[PlannedResult]
    readings: dict[tuple[str, Answer], Reading] = field(default_factory=dict)

    def read(self, cell: PlannedResult, query: Query, reply: Answer) -> Reading:
        """Return the reading of a reply to a query of this plan."""
        key = (query.id, reply)
        if key not in self.readings:
            self.readings[key] = cell.test.read(query, as_read(reply), cell.serializer)
        return self.readings[key]


def planned(
    table: Table,
    tests: Sequence[Test],
    serializer: Serializer,
    seed: int,
    alpha: float,
    prompts: PromptSet | None = None,
    until_decided: bool = False,
) -> AnswererPlan:
    """Return the plan of a run with one prompt set. Each prompt is written once for all answerers."""
    subject = RunSource(SimulatedModel("oracle", seed))
    options, words = (
        RunConfig(seed=seed, alpha=alpha, until_decided=until_decided),
        () if prompts is None else (prompts,),
    )
    return written_once(plan([subject], [table], [serializer], tests, options, prompts=words))


def written_once(cells: Iterable[PlannedResult]) -> AnswererPlan:
    """Return the plan of these `cells`. Each question is written at its first use and cached."""

    def once(query: Query) -> Query:
        return replace(query, write=cache(query.write))

    return AnswererPlan([replace(cell, written=tuple(map(once, cell.written))) for cell in cells])


def ask(run: AnswererPlan, answerer: str, seed: int) -> Trials:
    """Return the trials of a planned run, by test id. Raises `UsageError` for an unknown answerer."""
    queries = [query for cell in run.cells for query in cell.queries]
    model = SimulatedModel(answerer, seed)
    return asyncio.run(asked_of(run, model.prepare(run.cells[0].table, queries) if run.cells else model))


async def asked_of(run: AnswererPlan, model: Model) -> Trials:
    """Return the trials of a planned run, by test id, asked of a model that is prepared for the run's table."""
    trials: Trials = {}
    for cell in run.cells:
        requests = [ModelRequest(query.question, query.max_tokens) for query in cell.queries]
        answers = await asyncio.gather(*map(model.answer, requests))
        pairs = zip(cell.queries, answers, strict=True)
        trials[cell.test.id] = [Trial(query, answer, run.read(cell, query, answer)) for query, answer in pairs]
    return trials


def judge(run: AnswererPlan, trials: Trials, alpha: float, rules: str = CALIBRATED) -> AnswererResults:
    """Return the results and the verdict on the table from the trials of a planned run."""
    facts = {cell.test.id: cell.test.facts for cell in run.cells}
    asked = {cell.name: trials[cell.test.id] for cell in run.cells}
    results = conclude([_result(cell, asked, rules) for cell in run.cells], rules, alpha, facts)
    together = tables(results, rules, alpha, facts)
    rows = tuple(test for test, known in facts.items() if known.row_test)
    return AnswererResults({cell.test: cell for cell in results}, together[0] if together else None, rows)


def _result(cell: PlannedResult, trials: Mapping[ResultKey, Sequence[Trial]], rules: str) -> Result:
    if cell.skip:
        return build_unjudged(cell.name, cell.test, Verdict.SKIPPED, cell.skip)
    if cell.uninformative:
        return build_unjudged(cell.name, cell.test, Verdict.UNINFORMATIVE, cell.uninformative)
    pooled, own = pool_parts(cell.name, cell.test, trials), trials[cell.name]
    return build_result(cell.name, cell.test, own, len(cell.queries), rules, cell.level, pooled_trials=pooled)


@dataclass(frozen=True)
class Study:
    """A specification of a measurement: `runs` runs of every answerer on each dataset, at level `alpha`."""

    datasets: tuple[str, ...]
    serializer: str = DEFAULT
    prompts: str = DEFAULT_PROMPTS
    expression: str | None = None
    marks: str | None = None
    alpha: float = ALPHA
    runs: int = 100
    seed: int = 0
    target: str | None = None
    name: str | None = None
    text: TextFormat = FOUND_OUT
    known: tuple[str, ...] = ()

    def tables(self) -> list[Table]:
        """Return the tables by name or file, with the rows that models are known to have read. Raises `UsageError`."""
        named = dict.fromkeys(self.datasets)
        tables, _ = load_tables(named, target=self.target, name=self.name, form=self.text)
        return list(with_known(tables, load_known(self.known, self.text)))

    def tests(self) -> list[Test]:
        """Return the chosen tests that have a verdict and that models can be asked.

        Raises `UsageError` if an expression cannot be read or matches no such test.
        """
        every = chooses(self.expression, self.marks)
        tests = [test for test in all_tests() if test.decides and not test.only_with and (every or not test.on_request)]
        chosen = selected(tests, self.expression, self.marks)
        asked = [test for test in chosen if Capability.SEARCH not in test.needs]
        if not asked:
            names = phrase([test.id for test in chosen])
            searching = f"{names} {'searches' if len(chosen) == 1 else 'search'} a corpus"
            raise NothingSelected(f"{searching}, but power is about models' answers; choose tests that ask models")
        return asked


ByAnswerer = dict[str, AnswererResults]
RunNumber = tuple[int, int]  # index of the table, and index of the run on this table


def measure(study: Study, progress: Tell) -> dict[str, object]:
    """Return the measured rates as JSON.

    Raises `UsageError`. `progress` is called with the number of runs that are done and the number of all runs.
    """
    tests, serializer, tables = study.tests(), load_serializer(study.serializer), study.tables()
    prompts = load_prompt_set(study.prompts)
    runs: dict[RunNumber, ByAnswerer] = {}
    for place, run in _runs(study, tables, tests, serializer, prompts):
        runs[place] = run
        progress(len(runs), len(tables) * study.runs)
    ordered = [[runs[place, number] for number in range(study.runs)] for place in range(len(tables))]
    return {
        "schema": 1,
        "alpha": study.alpha,
        "runs": study.runs,
        "seed": study.seed,
        "serializer": serializer.name,
        "prompts": prompts.name,
        "answerers": list(ANSWERERS),
        "datasets": [_dataset(table, tests, own) for table, own in zip(tables, ordered, strict=True)],
    }


def _runs(
    study: Study, tables: Sequence[Table], tests: Sequence[Test], serializer: Serializer, prompts: PromptSet
) -> Iterator[tuple[RunNumber, ByAnswerer]]:
    """Yield the number and the results of every run. Several processes share the runs if that saves time."""

    def run(of: RunNumber) -> ByAnswerer:
        place, number = of
        return run_once(tables[place], tests, serializer, study.seed * SEED_STEP + number, study.alpha, prompts)

    places = list(product(range(len(tables)), range(study.runs)))
    while places:
        place = places.pop(0)
        began = perf_counter()
        found = run(place)
        took = perf_counter() - began
        yield place, found
        # The first run of a table is slower: it also computes the baseline, which later runs reuse.
        if place[1] and took * len(places) > WORTH:
            yield from _side_by_side(study, tests, places, run)
            return


def run_once(
    table: Table,
    tests: Sequence[Test],
    serializer: Serializer,
    seed: int,
    alpha: float,
    prompts: PromptSet | None = None,
) -> ByAnswerer:
    """Return the results of every answerer on one plan."""
    plan_of_all = planned(table, tests, serializer, seed, alpha, prompts)
    return {answerer: judge(plan_of_all, ask(plan_of_all, answerer, seed), alpha) for answerer in ANSWERERS}


@dataclass(frozen=True)
class StudyJob:
    """A run of a study, for another process: the study, the ids of its tests, and the number of the run."""

    study: Study
    tests: tuple[str, ...]
    run: RunNumber


@dataclass(frozen=True)
class StoredResults:
    """The results of an answerer in values that JSON allows: those of tests and of the table, by their columns."""

    results: Mapping[str, Mapping[str, Any]]
    table: Mapping[str, Any] | None
    row_tests: tuple[str, ...]

    @classmethod
    def of(cls, own: AnswererResults) -> "StoredResults":
        """Return the stored form of results."""
        results = {test: dict(values_of(result)) for test, result in own.results.items()}
        return cls(results, None if own.table is None else dict(values_of(own.table)), own.row_tests)

    def results_of(self) -> AnswererResults:
        """Return the results."""
        table = None if self.table is None else typed(self.table, TableVerdict)
        return AnswererResults(typed(self.results, dict[str, Result]), table, self.row_tests)


def _side_by_side(
    study: Study, tests: Sequence[Test], places: Sequence[RunNumber], run: Callable[[RunNumber], ByAnswerer]
) -> Iterator[tuple[RunNumber, ByAnswerer]]:
    """Yield runs in the order in which they end, from one process per processor; no process outlives the call.

    This process makes a run whose process failed: if it meets the same error, the measurement ends with it.
    """
    ids = tuple(test.id for test in tests)
    with start_workers(START, min(len(places), processors()), StudyJob, dict[str, StoredResults]) as answer:
        runs = {answer(StudyJob(study, ids, place)): place for place in places}
        for done in as_completed(runs):
            failed = done.exception() is not None
            own = run(runs[done]) if failed else {name: one.results_of() for name, one in done.result().items()}
            yield runs[done], own


def main() -> None:
    """Receive jobs and send back the results of each run, in a process of its own, until it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process handles Ctrl-C, and ends this one
    given, output = sys.stdin.buffer, cast(BinaryIO, sys.stdout.buffer)
    sys.stdout = sys.stderr  # what other code prints is no answer
    tables = cache(Study.tables)
    with suppress(EOFError):
        while True:
            job: StudyJob = read_value(given, StudyJob)
            study, (place, number) = job.study, job.run
            tests, serializer = [by_id()[test] for test in job.tests], load_serializer(study.serializer)
            seed, prompts = study.seed * SEED_STEP + number, load_prompt_set(study.prompts)
            run = run_once(tables(study)[place], tests, serializer, seed, study.alpha, prompts)
            stored = {answerer: StoredResults.of(own) for answerer, own in run.items()}
            write_value(output, stored, dict[str, StoredResults])


def rate_of(found: int, runs: int) -> dict[str, float | int | None]:
    """Return the share of `runs` with a detection, and its exact upper limit at 95 % (Clopper and Pearson 1934)."""
    if not runs:
        return {"found": 0, "runs": 0, "rate": None, "upper": None}
    return {"found": found, "runs": runs, "rate": found / runs, "upper": clopper_pearson(found, runs, 0.9)[1]}


def rate(runs: Sequence[ByAnswerer], answerers: Sequence[str], test: str) -> dict[str, float | int | None]:
    """Return how often a test detects these answerers, over the runs in which the test was asked."""
    asked = [run[answerer].parts[test] for run in runs for answerer in answerers if run[answerer].queries(test)]
    return rate_of(sum(part["verdict"] is Verdict.CONTAMINATED for part in asked), len(asked))


def _rate_of(runs: Sequence[ByAnswerer], answerers: Sequence[str], tests: Sequence[str], together: bool) -> Rate:
    """Return how often at least one of `tests` detects an answerer, over the runs in which it was asked.

    If `together`, the verdict of all row tests together counts instead.
    """
    if together:  # runs in which no test of this family was asked say nothing about the family
        own = [run for run in runs if any(run[one].queries(test) for one in answerers for test in tests)]
        return rate(own, answerers, TOGETHER)
    asked = [[run[one].results[test] for test in tests if run[one].queries(test)] for run in runs for one in answerers]
    found = [any(result.verdict is Verdict.CONTAMINATED for result in results) for results in asked if results]
    return rate_of(sum(found), len(found))


def _dataset(table: Table, tests: Sequence[Test], runs: Sequence[ByAnswerer]) -> dict[str, object]:
    return {
        "dataset": table.name,
        "edition": table.edition,
        "split": table.split or None,
        "rows": len(table.rows),
        "columns": len(table.columns),
        "tests": [_measured(test.id, test.row_test, runs) for test in tests],
        "table": _measured(TOGETHER, True, runs) if any(test.row_test for test in tests) else None,
        "conclusions": conclusions(tests, IGNORANT, EXPERT, MEMORISERS, partial(_rate_of, runs)),
    }


def _measured(test: str, of_rows: bool, runs: Sequence[ByAnswerer]) -> dict[str, object]:
    """Return the rates of a test or of `TOGETHER`: row tests should detect memorisers, other tests the expert."""
    first = [next(iter(run.values())) for run in runs]
    idle = Counter(one.undecided(test) for one in first if not one.queries(test))
    ((verdict, reason), _), *_ = [*idle.most_common(1), ((None, None), 0)]
    ignorant = (*IGNORANT, EXPERT) if of_rows else IGNORANT
    power = {f"{share:g}": rate(runs, [answerer], test) for answerer, share in MEMORISERS.items()}
    return {
        "test": test,
        "of_rows": of_rows,
        "queries": max((one.queries(test) for one in first), default=0),
        "asked": len(first) - sum(idle.values()),
        "not_asked": verdict,
        "reason": reason,
        "false_positives": rate(runs, ignorant, test)
        | {"by": {answerer: rate(runs, [answerer], test)["found"] for answerer in ignorant}},
        "expert": None if of_rows else rate(runs, [EXPERT], test),
        "power": power if of_rows else None,
    }
