"""New tables of a plan, prepared by other processors while this one writes the plan.

Facts about a table that take seconds are stored in the user's folder. A helper process writes the table's queries and
throws them away: the run then reads the stored facts from the cache. The run begins with the first test of the first
table, the helper processes with the last test of the last table. The process that is the first to need a stored fact
makes it. If a process fails, the run makes its stored facts itself.
"""

import gc
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from tabcontam.asking.event_loops import cancel, run_in_background
from tabcontam.asking.preparation_jobs import fill_cache, job_of, table_from
from tabcontam.asking.work_division import PreparationQueue, StoredFactRegistry
from tabcontam.baseline.stored_facts import folder_of, is_shipped, share_stored_facts
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Family, Test
from tabcontam.processes import code_to_run, processors, send, start_process
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table

Elsewhere = Callable[[PreparationQueue, StoredFactRegistry, Callable[[Table], bytes]], Coroutine[Any, Any, None]]
SMALL = 100  # rows of a single new table up to which a process starts too late to help

START = code_to_run("tabcontam.asking.preparing")
BEGIN, END, DONE = "begin", "end", "done"  # a process asks to begin a fact, has ended one, is done


@contextmanager
def prepare_in_background(
    tables: Sequence[Table],
    serializer: Serializer,
    tests: Sequence[Test],
    options: RunConfig,
    check: Callable[[], None] = lambda: None,
    elsewhere: Sequence[Elsewhere] = (),
) -> Iterator[Callable[[Test, Table], None]]:
    """Have other processors prepare the tables that no run has prepared, from the last table's last test back.

    Yields a function to call before the run writes a test's queries about a table: no process begins an earlier test
    afterwards, and one that begins that test makes its facts from the last to the first. `check` is called before each
    stored fact of the run; an error that it raises ends the plan. Work that is done `elsewhere`, on other machines,
    prepares whole tables.
    """
    new, own = _new(tables, tests), fitted(tests)
    left, found = PreparationQueue(new, own), StoredFactRegistry(check)
    workers = min(-(-len(left) // 3), processors() - 1) if _long(new) and sys.executable else 0
    processes: list[subprocess.Popen[bytes]] = []

    def work() -> None:
        known = None
        with suppress(OSError, ValueError), start_process(START) as process:
            processes.append(process)
            while taken := left.take():
                table, test = taken
                send(process, job_of(None if table is known else table, serializer, [test], options.seed))
                if not _served(process, found):
                    return  # the process died: the run makes the missing stored facts
                known = table

    pool = ThreadPoolExecutor(max(1, workers))
    working: list[Future[None]] = []
    with ExitStack() as stack:
        try:
            for prepare_there in elsewhere if _long(new) else ():
                visit = prepare_there(left, found, lambda table: job_of(table, serializer, own, options.seed))
                done, task = stack.enter_context(run_in_background(visit))
                working.append(done)
                stack.callback(cancel, task)
            working += [pool.submit(work) for _ in range(workers)]
            with share_stored_facts(found):
                yield left.write
        finally:  # also if the user pressed Ctrl-C
            left.clear()
            for process in processes:
                process.kill()
            found.free()
            pool.shutdown()
    for worker in working:
        worker.result()


class _StoredFactClient:
    """A helper process's side of the work: it asks the run before it makes a stored fact."""

    backwards = True

    def begin(self, name: str) -> bool:
        """Return whether this process may make a stored fact, once the run has answered."""
        _tell(BEGIN, name)
        return json.loads(sys.stdin.buffer.readline()) is True

    def end(self, name: str) -> None:
        """Report to the run that a stored fact is made."""
        _tell(END, name)


def _tell(what: str, name: str = "") -> None:
    print(json.dumps([what, name]), flush=True)


def _served(process: "subprocess.Popen[bytes]", found: StoredFactRegistry) -> bool:
    """Answer a process until its job is done; return False if it died before."""
    try:
        for line in process.stdout or ():
            what, name = json.loads(line)
            if what == BEGIN:
                send(process, json.dumps(found.begin(name, process)).encode())
            elif what == END:
                found.end(name)
            else:
                return True
        return False
    finally:
        found.free(process)


def takes_long(tables: Sequence[Table], tests: Sequence[Test]) -> bool:
    """Return whether preparing these tables for these tests takes seconds."""
    return _long(_new(tables, tests))


def fitted(tests: Sequence[Test]) -> list[Test]:
    """Return the tests that need stored facts about a table."""
    return [test for test in tests if test.row_test or test.family is Family.SCORE]


def _long(new: Sequence[Table]) -> bool:
    return len(new) > 1 or any(len(table.rows) > SMALL for table in new)


def _new(tables: Sequence[Table], tests: Sequence[Test]) -> list[Table]:
    """Return the tables that no run has prepared; none if no test needs stored facts."""
    return [table for table in tables if _nothing_cached(table)] if fitted(tests) else []


def _nothing_cached(table: Table) -> bool:
    """Return whether nothing is cached for a table yet, and its cache folder can be made."""
    folder = folder_of(table)
    if folder is None or folder.is_dir() or is_shipped(table):
        return False
    with suppress(OSError):
        folder.mkdir(parents=True)
        folder.rmdir()
        return True
    return False


def main() -> None:
    """Read jobs from standard input, one a line, and fill the cache with the stored facts that they need."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # after Ctrl-C the run ends this process
    gc.disable()  # as the run itself does while it prepares
    table: Table | None = None
    with share_stored_facts(_StoredFactClient()):
        while line := sys.stdin.buffer.readline():
            job = json.loads(line)
            if "table" in job:
                table = table_from(job["table"])
                if folder := folder_of(table):
                    folder.mkdir(parents=True, exist_ok=True)  # marks the table as prepared, even if nothing is cached
            if table is not None:
                fill_cache(job, table)
            _tell(DONE)
