"""The extracts that a report needs from each LLM's trials, read once. In a large run other processes make them.

If a process fails, this process makes the extract.
"""

import io
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tabcontam.garbage_collection import disable_garbage_collector
from tabcontam.groups import grouped
from tabcontam.processes import answer_jobs, code_to_run, processors, start_workers
from tabcontam.report.recalled_cells import RecalledCellWriter
from tabcontam.report.trial_digest import PageResult, RunDigestFacts, TrialDigest, TrialDigester, results_by_llm
from tabcontam.report.trials_by_result import CachedTrial, Trial, TrialSource
from tabcontam.runs.folder_part import records_in
from tabcontam.runs.stored_trials import StoredTrials, TrialPlaces, conversion
from tabcontam.verdicts.comparison import QueryOutcomes, answers_of, planned_alike
from tabcontam.verdicts.result_types import Result, ResultKey
from tabcontam.verdicts.results import RunResults

SMALL = 20_000  # with fewer trials, a process would start too late to be useful
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
    """A job, with the file of its trials, the file's identity, and the places of the trials and of the references'."""

    job: ExtractionJob
    path: Path
    identity: tuple[int, int] | None
    places: TrialPlaces
    of_references: TrialPlaces


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
            with suppress(OSError):  # no process can be started
                extracts = _made_elsewhere(jobs, trials, stack.enter_context(start_workers(START, 2)))
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
            return llm, extract.result()
        return llm, make_extract(jobs[llm], trials.trials_of)

    for llm, job in jobs.items():
        if len(waiting) == ahead:
            yield first()
        waiting.append((llm, answer(stored_job(job, trials))))
    while waiting:
        yield first()


def stored_job(job: ExtractionJob, trials: StoredTrials) -> StoredJob:
    """Return a job with all that another process needs."""
    places = {result.key: trials.places[result.key] for result in job.results if result.key in trials.places}
    said = trials.shown.reference_places(places) if trials.shown else {}
    return StoredJob(job, trials.path.resolve(), trials.identity, places, said)


def make_stored_extract(stored: StoredJob) -> LlmExtract:
    """Return the extract of a job that another process sent. Raises OSError if the file of trials is another one."""
    said, records = StoredTrials(stored.path, stored.of_references), _records(stored.path.parent)
    trials = StoredTrials(stored.path, stored.places, conversion(stored.job.results, said, records))
    if trials.identity not in (stored.identity, None):
        raise OSError(f"another file has taken the place of {stored.path}")
    return make_extract(stored.job, trials.trials_of)


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
    """Answer the jobs of a report with extracts."""
    with disable_garbage_collector():  # no object here refers to itself, and a search for such objects takes long
        answer_jobs(make_stored_extract)
