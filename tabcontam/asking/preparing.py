"""New tables of a plan, prepared side by side in processes that leave on disk what they find out.

What takes seconds to find out about a table is kept in the user's cache folder. So a process that writes the table's
queries and throws them away saves the run the time: the run reads what was kept. Where a process fails, less is kept,
and the run finds it out by itself.
"""

import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, fields
from itertools import count
from typing import Any

from tabcontam.asking.plan import Options, sheet_of
from tabcontam.evidence.base import Family, Test
from tabcontam.evidence.registry import by_id
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
    fitted = [test for test in tests if test.row_test or test.family is Family.SCORE]
    new = [table for table in tables if fitted and _new(table)]
    workers = min(len(new), _processors())
    if workers < 2 or not sys.executable:
        return
    left = deque(new)
    written = count(1)
    processes: list[subprocess.Popen[bytes]] = []

    def work() -> None:
        with suppress(OSError, IndexError), _process() as process:
            processes.append(process)
            while True:
                _send(process, _job(left.popleft(), serializer, fitted, options))
                for _ in fitted:
                    if not process.stdout or not process.stdout.readline():
                        return  # it died: what it did not find the run finds by itself
                    tell(next(written), len(new) * len(fitted))

    pool = ThreadPoolExecutor(workers)
    try:
        for worker in [pool.submit(work) for _ in range(workers)]:
            worker.result()
    finally:  # also where the user pressed Ctrl-C
        left.clear()
        for process in processes:
            process.kill()
        pool.shutdown()


def _process() -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", START, json.dumps(sys.path)]
    return subprocess.Popen(  # noqa: S603 - our own interpreter and our own code
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def _send(process: "subprocess.Popen[bytes]", job: bytes) -> None:
    if process.stdin:
        process.stdin.write(job + b"\n")
        process.stdin.flush()


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
    """For each table that a line of standard input tells about, write its queries for the sake of what is kept."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the business of the run, which ends this process
    for line in sys.stdin.buffer:
        job = json.loads(line)
        table, serializer = _table(job["table"]), Serializer(**job["serializer"])
        if folder := folder_of(table):
            folder.mkdir(parents=True, exist_ok=True)  # also where nothing is kept of it: it is prepared once
        for test in job["tests"]:
            sheet_of(by_id()[test], table, serializer, Options(seed=job["seed"]))
            print(test, flush=True)
