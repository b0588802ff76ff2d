"""The extracts that a report needs from each LLM's trials, read once. In a large run other processes make them.

If a process fails, this process makes the extract.
"""

import io
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast

from tabcontam.garbage_collection import disable_garbage_collector
from tabcontam.groups import grouped
from tabcontam.processes import code_to_run, processors, read_value, start_workers, typed, write_value
from tabcontam.report.recalled_cells import RecalledCellWriter
from tabcontam.report.trial_digest import PageResult, RunDigestFacts, TrialDigest, TrialDigester, results_by_llm
from tabcontam.report.trials_by_result import CachedTrial, Trial, TrialSource
from tabcontam.runs.folder_part import records_in
from tabcontam.runs.stored_trials import StoredTrials, conversion
from tabcontam.verdicts.columns import values_of
from tabcontam.verdicts.comparison import QueryOutcomes, answers_of, planned_alike
from tabcontam.verdicts.result_types import Result, ResultKey
from tabcontam.verdicts.results import RunResults

SMALL = 20_000  # with fewer trials, a process would start too late to be useful
FIELDS = (  # the columns of a result that reading its trials needs: to send all columns takes several times as long
    "llm", "dataset", "edition", "split", "serializer", "prompts", "test", "source",
    "kind", "verdict", "control", "queries", "null", "reference",
)  # fmt: skip
START = code_to_run("tabcontam.runs.llm_extracts")


@dataclass(frozen=True)
class LlmExtract:
    """The extract of an LLM's trials for a report: for the LLM's page, for recalled.csv, and for comparisons."""

    digest: TrialDigest
    recalled: str
    answers: Mapping[ResultKey, QueryOutcomes]


@dataclass(frozen=True)
class ExtractionJob:
    """The results of one LLM: all, those on its page, and those to compare. `by_id` is an argument of `answers_of`."""

    results: Sequence[Result]
    placed: Sequence[PageResult]
    compared: frozenset[ResultKey]
    facts: RunDigestFacts
    by_id: bool


@dataclass(frozen=True)
class StoredJob:
    """A job in values that JSON allows: results by some columns, other facts of results by the results' indices.

    `identity` is that of the file of trials, `places` has the places of each result's trials, and `of_references` those
    of the references' trials.
    """

    results: Sequence[Mapping[str, Any]]
    placed: Sequence[tuple[str, str, int]]
    compared: Sequence[int]
    facts: RunDigestFacts
    by_id: bool
    path: Path
    identity: tuple[int, int] | None
    places: Sequence[Sequence[int]]
    of_references: Sequence[tuple[ResultKey, Sequence[int]]]


@dataclass(frozen=True)
class StoredExtract:
    """An extract in values that JSON allows: `answers` has for each result whether it has trials, and hex digests."""

    digest: TrialDigest
    recalled: str
    answers: Sequence[tuple[ResultKey, bool, Sequence[str], Sequence[str]]]


@contextmanager
def llm_extracts(
    run_results: RunResults, shown: RunResults, trials: TrialSource, compared: frozenset[ResultKey]
) -> Iterator[Iterator[tuple[str, LlmExtract]]]:
    """Yield an iterator of (LLM, extract). Other processes begin at once.

    The pages use the results of `shown`, all other files the results of `run_results`. The extract of an LLM also
    contains the answers to its results that are `compared`.
    """
    results = shown.results if run_results.run.recorded else run_results.results
    facts, of_pages, by_id = RunDigestFacts.of(shown), results_by_llm(shown), planned_alike(run_results.run)
    jobs = {
        llm: ExtractionJob(own, of_pages.get(llm, ()), compared & frozenset(result.key for result in own), facts, by_id)
        for llm, own in grouped(results, lambda result: result.llm).items()
    }
    helped = shown is run_results and len(jobs) > 1 and processors() > 1 and sys.executable
    with ExitStack() as stack:
        extracts: Iterator[tuple[str, LlmExtract]]
        extracts = ((llm, make_extract(job, trials.trials_of)) for llm, job in jobs.items())
        if helped and isinstance(trials, StoredTrials) and len(trials) >= SMALL:
            workers = start_workers(START, 2, StoredJob, StoredExtract)
            with suppress(OSError):  # no process can be started
                extracts = _made_elsewhere(jobs, trials, stack.enter_context(workers))
        yield extracts


# ahead: the number of LLMs whose extracts may wait for this process, as they take memory
def _made_elsewhere(
    jobs: Mapping[str, ExtractionJob],
    trials: StoredTrials,
    answer: Callable[[object], "Future[Any]"],
    *,
    ahead: int = 4,
) -> Iterator[tuple[str, LlmExtract]]:
    """Yield each LLM with its extract, which other processes make if they can."""
    waiting = deque[tuple[str, "Future[Any]"]]()

    def first() -> tuple[str, LlmExtract]:
        llm, extract = waiting.popleft()
        with suppress(Exception):  # if this process meets the same error, the report ends with it
            return llm, read_extract(extract.result())
        return llm, make_extract(jobs[llm], trials.trials_of)

    for llm, job in jobs.items():
        if len(waiting) == ahead:
            yield first()
        waiting.append((llm, answer(stored_job(job, trials))))
    while waiting:
        yield first()


def stored_job(job: ExtractionJob, trials: StoredTrials) -> StoredJob:
    """Return a job with all that another process needs."""
    numbers = {id(result): number for number, result in enumerate(job.results)}
    keys = [result.key for result in job.results]
    said = trials.shown.reference_places(keys) if trials.shown else {}
    return StoredJob(
        [{name: values[name] for name in FIELDS} for values in map(values_of, job.results)],
        [(one.place, one.label, numbers[id(one.result)]) for one in job.placed],
        [number for number, key in enumerate(keys) if key in job.compared],
        job.facts,
        job.by_id,
        trials.path.resolve(),
        trials.identity,
        [list(trials.places.get(key, ())) for key in keys],
        [(key, list(places)) for key, places in said.items()],
    )


def make_stored_extract(stored: StoredJob) -> StoredExtract:
    """Return the extract of a job that another process sent. Raises OSError if the file of trials is another one."""
    results = typed(stored.results, list[Result])
    said, records = StoredTrials(stored.path, dict(stored.of_references)), _records(stored.path.parent)
    places = {result.key: own for result, own in zip(results, stored.places, strict=True) if own}
    trials = StoredTrials(stored.path, places, conversion(results, said, records))
    if trials.identity not in (stored.identity, None):
        raise OSError(f"another file has taken the place of {stored.path}")
    placed = [PageResult(place, label, results[number]) for place, label, number in stored.placed]
    compared = frozenset(results[number].key for number in stored.compared)
    made = make_extract(ExtractionJob(results, placed, compared, stored.facts, stored.by_id), trials.trials_of)
    answers = [
        (key, one.has_trials, [query.hex() for query in one.right], [query.hex() for query in one.others])
        for key, one in made.answers.items()
    ]
    return StoredExtract(made.digest, made.recalled, answers)


def read_extract(stored: StoredExtract) -> LlmExtract:
    """Return the extract that another process sent."""
    answers = {
        key: QueryOutcomes(there, *(frozenset(map(bytes.fromhex, own)) for own in (right, others)))
        for key, there, right, others in stored.answers
    }
    return LlmExtract(stored.digest, stored.recalled, answers)


_records = cache(lambda folder: records_in([folder]))


def make_extract(job: ExtractionJob, read: Callable[[ResultKey], Sequence[Trial]]) -> LlmExtract:
    """Return the extract of an LLM's trials; each trial is read once."""
    recalled, answers = io.StringIO(newline=""), dict[ResultKey, QueryOutcomes]()
    digester, writer = TrialDigester(job.facts, job.placed), RecalledCellWriter(recalled, head=False)
    for result in job.results:
        asked = read(result.key)
        by_query = {line["query"]: CachedTrial(line) for line in asked}
        digester.take(result, by_query)
        writer.take(result, by_query)
        if result.key in job.compared:
            answers[result.key] = answers_of(asked, job.by_id)
    return LlmExtract(digester.digest(), recalled.getvalue(), answers)


def main() -> None:
    """Write the extract for each job on standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the report handles Ctrl-C, and ends this process
    output, sys.stdout = cast(BinaryIO, sys.stdout.buffer), sys.stderr  # what a test of another package prints
    # the garbage collector is off, as no object here refers to itself, and a search for such objects takes long
    with disable_garbage_collector(), suppress(EOFError):
        while True:
            write_value(output, make_stored_extract(read_value(sys.stdin.buffer, StoredJob)), StoredExtract)
