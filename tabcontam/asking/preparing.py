"""New tables of a plan, prepared by other processors while this one writes the plan.

What takes seconds to find out about a table is kept in the user's cache folder. So a process that writes the table's
queries and throws them away saves the run the time: the run reads what was kept. Where a process fails, less is kept,
and the run finds it out by itself.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from threading import Event
from typing import Any

from tabcontam.asking.plan import Options, sheet_of
from tabcontam.evidence.base import Family, Test
from tabcontam.evidence.registry import by_id
from tabcontam.guesser.kept import folder_of
from tabcontam.tables.cards import Question
from tabcontam.tables.serializers import Serializer, as_facts, from_facts
from tabcontam.tables.table import Table

LARGE = 2000  # rows of a single new table from which a second process, which has to be started, saves time

# A fresh interpreter with the same import path, and not a fork or a spawn: a fork may hang where a library computes in
# threads, and a spawn runs the caller's script once more where it has no `if __name__ == "__main__"`.
START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from tabcontam.asking.preparing import main; main()"


@contextmanager
def prepared_meanwhile(
    tables: Sequence[Table], serializer: Serializer, tests: Sequence[Test], options: Options
) -> Iterator[Callable[[Test, Table], None]]:
    """Have other processors prepare the new ones of these tables, the last test of the last table first.

    Yields a function to call before the queries of a test about a table are written: where a process prepares them, it
    waits for that. Who writes the plan begins with the first test of the first table, so that the two meet.
    """
    fitted = [test for test in tests if test.row_test or test.family is Family.SCORE]
    new = [table for table in tables if fitted and _new(table)]
    left = {(id(table), test.id): (table, test) for table in new for test in fitted}
    prepared = {place: Event() for place in left}
    pays = len(new) > 1 or any(len(table.rows) >= LARGE for table in new)
    workers = min(-(-len(left) // 3), _processors() - 1) if pays and sys.executable else 0
    processes: list[subprocess.Popen[bytes]] = []

    def work() -> None:
        known = None
        with suppress(OSError, KeyError), _process() as process:
            processes.append(process)
            while True:
                place, (table, test) = left.popitem()
                try:
                    _send(process, _job(None if table is known else table, serializer, test, options))
                    if not process.stdout or not process.stdout.readline():
                        return  # it died: what it did not find the run finds by itself
                finally:
                    prepared[place].set()
                known = table

    def ready(test: Test, table: Table) -> None:
        place = id(table), test.id
        if left.pop(place, None):  # no process has begun with it
            prepared[place].set()
        if place in prepared:
            prepared[place].wait()

    pool = ThreadPoolExecutor(max(1, workers))
    try:
        working = [pool.submit(work) for _ in range(workers)]
        yield ready
        for worker in working:
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


def _job(table: Table | None, serializer: Serializer, test: Test, options: Options) -> bytes:
    """What a process needs to know, as JSON; without the table where it is that of the job before."""
    job: dict[str, Any] = {"serializer": as_facts(serializer), "test": test.id, "seed": options.seed}
    if table:
        facts = {field.name: getattr(table, field.name) for field in fields(table) if field.init}
        facts |= {"missing": sorted(table.missing), "question": table.question and asdict(table.question)}
        job["table"] = facts | {"hints": table.hints and dict(table.hints)}
    return json.dumps(job).encode()


def _table(facts: Mapping[str, Any]) -> Table:
    """The table that `_job` took apart."""
    whole: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()}
    whole["rows"] = tuple(map(tuple, facts["rows"]))
    whole["known"] = tuple(tuple(map(tuple, rows)) for rows in facts["known"])
    whole["missing"] = frozenset(facts["missing"])
    whole["question"] = facts["question"] and Question(**facts["question"])
    whole["hints"] = facts["hints"] and {test: tuple(names) for test, names in facts["hints"].items()}
    return Table(**whole)


def main() -> None:
    """For each test that a line of standard input tells about, write its queries for the sake of what is kept."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the business of the run, which ends this process
    for line in sys.stdin.buffer:
        job = json.loads(line)
        if "table" in job:
            table = _table(job["table"])
            if folder := folder_of(table):
                folder.mkdir(parents=True, exist_ok=True)  # also where nothing is kept of it: it is prepared once
        sheet_of(by_id()[job["test"]], table, from_facts(job["serializer"]), Options(seed=job["seed"]))
        print(job["test"], flush=True)
