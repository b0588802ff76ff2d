"""New tables of a plan, prepared side by side: each in a process of its own, which leaves what it finds on disk.

What takes seconds to find out about a table is kept in the user's cache folder. So a process that plans the table's
queries and throws them away saves the run the time: the run reads what was kept. Where a process fails, nothing is
kept, and the run finds it out by itself.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, fields
from typing import Any

from tabcontam.asking.plan import Options, sheet_of
from tabcontam.evidence.base import Family, Test
from tabcontam.evidence.registry import BY_ID
from tabcontam.guesser.kept import folder_of
from tabcontam.tables.cards import Question
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

# A fresh interpreter with the same import path, and not a fork or a spawn: a fork may hang where a library computes in
# threads, and a spawn runs the caller's script once more where it has no `if __name__ == "__main__"`.
START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from tabcontam.asking.preparing import main; main()"


def prepare_tables(
    tables: Sequence[Table],
    serializer: Serializer,
    tests: Sequence[Test],
    options: Options,
    tell: Callable[[int, int], None],
) -> None:
    """Prepare the new ones of these tables, where there are several of them and several processors.

    `tell` is told how many of how many tests have been written so far.
    """
    fitted = [test for test in tests if test.of_rows or test.family is Family.SCORE]
    new = [table for table in tables if fitted and _new(table)]
    workers = min(len(new), _processors())
    if workers < 2 or not sys.executable:
        return
    written, processes = 0, list[subprocess.Popen[bytes]]()

    def prepare(table: Table) -> None:
        nonlocal written
        for _ in _lines(_job(table, serializer, fitted, options), processes):
            written += 1  # of threads that take turns: a count that is off by one for a moment harms nobody
            tell(written, len(new) * len(fitted))

    pool = ThreadPoolExecutor(workers)
    try:
        list(pool.map(prepare, new))
    finally:  # also where the user pressed Ctrl-C
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()


def _new(table: Table) -> bool:
    """Whether nothing is kept of a table yet, and something can be."""
    folder = folder_of(table)
    if folder is None or folder.is_dir():
        return False
    with suppress(OSError):
        folder.mkdir(parents=True)
        folder.rmdir()
        return True
    return False


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _lines(job: bytes, processes: list["subprocess.Popen[bytes]"]) -> Iterator[bytes]:
    """A line for each test that a process has written; it ends with the process, however that ends."""
    command = [sys.executable, "-c", START, json.dumps(sys.path)]
    with suppress(OSError):
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own code
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        processes.append(process)
        with process:
            if process.stdin and process.stdout:  # they are, as pipes were asked for
                with suppress(BrokenPipeError):
                    process.stdin.write(job)
                    process.stdin.close()
                yield from process.stdout


def _job(table: Table, serializer: Serializer, tests: Sequence[Test], options: Options) -> bytes:
    """What a process needs to know, as JSON."""
    facts = {field.name: getattr(table, field.name) for field in fields(table) if field.init}
    facts |= {"missing": sorted(table.missing), "question": table.question and asdict(table.question)}
    facts["hints"] = table.hints and dict(table.hints)
    ids = [test.id for test in tests]
    return json.dumps({"table": facts, "serializer": asdict(serializer), "tests": ids, "seed": options.seed}).encode()


def _table(facts: Mapping[str, Any]) -> Table:
    """The table that `_job` took apart."""
    whole: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()}
    whole["rows"] = tuple(map(tuple, facts["rows"]))
    whole["missing"] = frozenset(facts["missing"])
    whole["question"] = facts["question"] and Question(**facts["question"])
    whole["hints"] = facts["hints"] and {test: tuple(names) for test, names in facts["hints"].items()}
    return Table(**whole)


def main() -> None:
    """Write the queries of one table, about which standard input tells, for the sake of what is kept."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the business of the run, which ends this process
    job = json.load(sys.stdin.buffer)
    table, serializer = _table(job["table"]), Serializer(**job["serializer"])
    for test in job["tests"]:
        sheet_of(BY_ID[test], table, serializer, Options(seed=job["seed"]))
        print(test, flush=True)
    if folder := folder_of(table):
        folder.mkdir(exist_ok=True)  # of a table that nothing is kept of: it is not prepared again
