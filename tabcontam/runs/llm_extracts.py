"""The extracts that a report needs from each LLM's trials, read once. In a large run other processes help.

The extract of an LLM needs no other LLM's trials. Therefore this process and its helpers each make one extract after
another, without waiting for each other. If a helper fails, this process makes the extract.
"""

import gc
import io
import json
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import starmap
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, BinaryIO, TextIO

from tabcontam.asking.part_records import Records
from tabcontam.asking.stored_trial_index import StoredTrialIndex, Stretch, identity, lines_at
from tabcontam.evidence.base import EvidenceKind, Verdict
from tabcontam.groups import grouped
from tabcontam.processes import code_to_run, processors, send, start_process
from tabcontam.report.evidence import EvidenceLimits, PackedEvidence
from tabcontam.report.recalled_cells import RecalledCellWriter
from tabcontam.report.recalled_rows import RecallComparison, RowGroup
from tabcontam.report.trial_digest import PageResult, RunDigestFacts, TrialDigest, TrialDigester, results_by_llm
from tabcontam.report.trials_by_result import CachedTrial, Trial, TrialSource
from tabcontam.runs.folder_part import records_in
from tabcontam.runs.shown_trials import TrialConversion, references
from tabcontam.verdicts.columns import record_of, values_of
from tabcontam.verdicts.comparison import QueryOutcomes, answers_of, planned_alike
from tabcontam.verdicts.result_types import Result, ResultKey
from tabcontam.verdicts.results import RunResults

SMALL = 20_000  # with fewer trials, a helper would start too late to be useful
FIELDS = (  # the fields of a result that reading its trials needs; first its key
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


Ready = SimpleQueue[tuple[str, LlmExtract | None]]  # (LLM, its extract), or (LLM, None) if this process is to make it


@dataclass(frozen=True)
class ExtractionJob:
    """The results of one LLM: all results, the results on its page, and the results to compare."""

    results: Sequence[Result]
    placed: Sequence[PageResult]
    compared: frozenset[ResultKey]


@dataclass(frozen=True)
class ExtractionTerms:
    """The inputs that all LLMs of a run share; `by_id` is an argument of `answers_of`."""

    facts: RunDigestFacts
    by_id: bool


@contextmanager
def llm_extracts(
    run_results: RunResults, shown: RunResults, trials: TrialSource, compared: frozenset[ResultKey]
) -> Iterator[Iterator[tuple[str, LlmExtract]]]:
    """Yield an iterator of (LLM, extract), in the order in which they are ready. Other processes begin at once.

    The pages use the results of `shown`, all other files the results of `run_results`. The extract of an LLM also
    contains the answers to its results that are `compared`.
    """
    results = shown.results if run_results.run.recorded else run_results.results
    terms, of_pages = ExtractionTerms(RunDigestFacts.of(shown), planned_alike(run_results.run)), results_by_llm(shown)
    work = {
        llm: ExtractionJob(own, of_pages.get(llm, ()), compared & frozenset(result.key for result in own))
        for llm, own in grouped(results, lambda result: result.llm).items()
    }
    left, ready = deque(work), Ready()
    with _helped(terms, trials if shown is run_results else None, work, left, ready):
        nexts = (_next(left, ready) for _ in work)
        yield ((llm, own or take(terms, work[llm], trials.trials_of)) for llm, own in nexts)


def _next(left: deque[str], ready: Ready) -> tuple[str, LlmExtract | None]:
    """Return an LLM with its extract, or with None if this process is to make the extract."""
    with suppress(Empty):
        return ready.get_nowait()
    with suppress(IndexError):
        return left.popleft(), None
    return ready.get()


def take(terms: ExtractionTerms, work: ExtractionJob, read: Callable[[ResultKey], Sequence[Trial]]) -> LlmExtract:
    """Return the extract of an LLM's trials; each trial is read once."""
    recalled, answers = io.StringIO(newline=""), dict[ResultKey, QueryOutcomes]()
    telling, lines = TrialDigester(terms.facts, work.placed), RecalledCellWriter(recalled, head=False)
    for result in work.results:
        asked = read(result.key)
        by_query = {line["query"]: CachedTrial(line) for line in asked}
        telling.take(result, by_query)
        lines.take(result, by_query)
        if result.key in work.compared:
            answers[result.key] = answers_of(asked, terms.by_id)
    return LlmExtract(telling.digest(), recalled.getvalue(), answers)


@contextmanager
# most: the largest number of helpers: more would wait for this process, which writes the pages
def _helped(
    terms: ExtractionTerms,
    trials: TrialSource | None,
    work: Mapping[str, ExtractionJob],
    left: deque[str],
    ready: Ready,
    *,
    most: int = 2,
) -> Iterator[None]:
    """Start processes that make the extracts of LLMs in `left`, the last first, and put them into `ready`."""
    helpers = min(processors() - 1, most, len(left) - 1) if sys.executable else 0
    if (
        helpers < 1
        or not isinstance(trials, StoredTrialIndex)
        or not isinstance(trials.shown, TrialConversion)
        or len(trials) < SMALL
    ):
        yield
        return
    kept, shown, begin = trials, trials.shown, _beginning(trials, trials.shown, terms)
    processes: list[subprocess.Popen[bytes]] = []
    over = Event()

    def help_out() -> None:
        with suppress(OSError), _process() as process:
            processes.append(process)
            if over.is_set():  # the context had ended before this process began
                process.kill()
                return
            sent = deque[str]()
            try:
                with suppress(Exception):  # the report meets the same error when it makes the extract itself
                    send(process, json.dumps(begin).encode())
                    while _send_some(process, left, sent, lambda llm: _job(kept, shown, work[llm])):
                        if (found := _taken_by(process)) is None:
                            break
                        ready.put((sent.popleft(), found))
            finally:
                for llm in sent:
                    ready.put((llm, None))

    threads = [Thread(target=help_out, daemon=True) for _ in range(helpers)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:  # also after Ctrl-C
        over.set()
        left.clear()
        for process in list(processes):
            process.kill()
        for thread in threads:
            thread.join()


def _process() -> "subprocess.Popen[bytes]":
    return start_process(START)


# ahead: the number of LLMs that a process gets at once
def _send_some(
    process: "subprocess.Popen[bytes]",
    left: deque[str],
    sent: deque[str],
    job: Callable[[str], object],
    *,
    ahead: int = 2,
) -> bool:
    """Send LLMs in `left` to a process until it has `ahead` of them: then it need not wait for this process.

    Returns whether the process has any LLM. Raises `OSError`.
    """
    while len(sent) < ahead:
        try:
            sent.append(left.pop())
        except IndexError:
            break
        send(process, json.dumps(job(sent[-1])).encode())
    return bool(sent)


def _taken_by(process: "subprocess.Popen[bytes]") -> LlmExtract | None:
    """Return the extract that a process made for its first LLM; None if it died or printed anything else."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        if process.stdout and (line := process.stdout.readline()):
            return _taken(json.loads(line))
    return None


def _beginning(trials: StoredTrialIndex, shown: TrialConversion, terms: ExtractionTerms) -> dict[str, Any]:
    """Return the facts of the run that a process needs, as JSON values."""
    return {
        "path": str(trials.path.resolve()),
        "file": trials.identity,
        "looks": asdict(terms.facts.limits),
        "row_tests": sorted(terms.facts.row_tests),
        "titles": dict(terms.facts.titles),
        "by_id": terms.by_id,
    }


def _job(trials: StoredTrialIndex, shown: TrialConversion, work: ExtractionJob) -> dict[str, Any]:
    """Return the facts of an LLM that a process needs; results are named by their numbers."""
    numbers = {id(result): number for number, result in enumerate(work.results)}
    referred = {name: shown.references[name] for result in work.results if (name := result.key) in shown.references}
    return {
        "cells": [[values[name] for name in FIELDS] for values in map(values_of, work.results)],
        "placed": [(one.place, one.label, numbers[id(one.result)]) for one in work.placed],
        "lines": [_as_numbers(trials.stretches(result.key)) for result in work.results],
        "said": [(name, _as_numbers(shown.stretches(name))) for name in dict.fromkeys(referred.values())],
        "compared": [number for number, result in enumerate(work.results) if result.key in work.compared],
    }


def _as_numbers(stretches: Sequence[Stretch]) -> list[tuple[int, int, list[int]]]:
    return [(offset, number, list(lengths)) for offset, number, lengths in stretches]


def _result(values: Sequence[Any]) -> Result:
    """Return a result with only the fields that reading its trials needs."""
    fields = dict(zip(FIELDS, values, strict=True))
    verdict = fields["verdict"] and Verdict(fields["verdict"])
    return record_of(Result, **fields | {"kind": EvidenceKind(fields["kind"]), "verdict": verdict})


def _as_facts(extract: LlmExtract) -> dict[str, Any]:
    """Return an extract as JSON values."""
    answers = [
        (key, one.has_trials, [query.hex() for query in one.right], [query.hex() for query in one.others])
        for key, one in extract.answers.items()
    ]
    return {
        "packed": asdict(extract.digest.packed),
        "compared": [asdict(one) for one in extract.digest.compared],
        "recalled": extract.recalled,
        "answers": answers,
    }


def _taken(facts: Mapping[str, Any]) -> LlmExtract:
    """Return the extract from the form of `_as_facts`."""
    held = facts["packed"]
    packed = PackedEvidence({int(block): blob for block, blob in held["blobs"].items()}, held["shown"], held["left"])
    compared = [
        RecallComparison(**one | {name: RowGroup(**one[name]) for name in ("recalled", "others")})
        for one in facts["compared"]
    ]
    answers = {
        ResultKey(*key): QueryOutcomes(there, *(frozenset(map(bytes.fromhex, own)) for own in (right, others)))
        for key, there, right, others in facts["answers"]
    }
    return LlmExtract(TrialDigest(packed, compared), facts["recalled"], answers)


def main() -> None:
    """Print the extract of each LLM that a line of standard input describes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the report handles Ctrl-C, and ends this process
    gc.disable()  # no object here refers to itself, and a search for such objects would take longer than all other work
    output, sys.stdout = sys.stdout, sys.stderr  # text that a test of another package prints is not an answer
    begin = json.loads(sys.stdin.buffer.readline())
    terms, records = _begun(begin), records_in([Path(begin["path"]).parent])
    jobs, answers = SimpleQueue[bytes](), SimpleQueue[bytes]()
    threads = [Thread(target=_read_jobs, args=(jobs,)), Thread(target=_write_answers, args=(answers, output))]
    for thread in threads:
        thread.start()
    try:
        with open(begin["path"], "rb") as file:
            if identity(file.fileno()) != begin["file"]:
                raise OSError(f"another file has taken the place of {begin['path']}")
            while line := jobs.get():
                answers.put(json.dumps(_as_facts(_done(json.loads(line), file, terms, records))).encode() + b"\n")
    except Exception:
        answers.put(b"null\n")  # the report waits for an answer
        raise
    finally:
        answers.put(b"")


def _read_jobs(jobs: SimpleQueue[bytes]) -> None:
    """Read jobs as soon as they are sent, so the sender need not wait. An empty job is the last."""
    try:
        for line in sys.stdin.buffer:
            jobs.put(line)
    finally:
        jobs.put(b"")


def _write_answers(answers: SimpleQueue[bytes], output: TextIO) -> None:
    """Write answers until an empty answer comes. Writing blocks while the report does not read."""
    while answer := answers.get():
        output.buffer.write(answer)
        output.flush()


def _begun(begin: Mapping[str, Any]) -> ExtractionTerms:
    """Return the facts of the run from the form of `_beginning`."""
    facts = RunDigestFacts(EvidenceLimits(**begin["looks"]), frozenset(begin["row_tests"]), begin["titles"])
    return ExtractionTerms(facts, begin["by_id"])


def _done(job: Mapping[str, Any], file: BinaryIO, terms: ExtractionTerms, records: Records) -> LlmExtract:
    """Return the extract of the LLM of a job."""
    results = [_result(values) for values in job["cells"]]
    lines = dict(zip((result.key for result in results), job["lines"], strict=True))
    reference_places = {ResultKey(*name): stretches for name, stretches in job["said"]}
    shown = TrialConversion(
        references(results), lambda name: lines_at(file, starmap(Stretch, reference_places[name])), records
    )
    compared = frozenset(results[number].key for number in job["compared"])
    work = ExtractionJob(
        results, [PageResult(place, label, results[number]) for place, label, number in job["placed"]], compared
    )
    return take(terms, work, lambda name: shown(name, lines_at(file, starmap(Stretch, lines[name]))))
