"""New tables of a plan, prepared by other processors while this one writes the plan.

Facts about a table that take seconds are stored in the user's folder. A helper process writes the table's queries and
throws them away: the run then reads the stored facts from the cache. The run begins with the first test of the first
table, the helper processes with the last test of the last table. The process that is the first to need a stored fact
makes it. If a process fails, the run makes its stored facts itself.
"""

import pickle
import platform
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from tabcontam.asking.event_loops import cancel, run_in_background
from tabcontam.asking.query_plan import sheet_of
from tabcontam.asking.work_division import PreparationQueue, StoredFactRegistry
from tabcontam.baseline.stored_facts import folder_of, is_shipped, libraries, share_stored_facts
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Family, Test
from tabcontam.evidence.registry import by_id
from tabcontam.garbage_collection import disable_garbage_collector
from tabcontam.processes import ObjectPipe, code_to_run, processors, start_process
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table
from tabcontam.version import __version__

Elsewhere = Callable[[PreparationQueue, StoredFactRegistry, Callable[[Table], bytes]], Coroutine[Any, Any, None]]
SMALL = 100  # rows of a single new table up to which a process starts too late to help

START = code_to_run("tabcontam.asking.preparing")
BEGIN, END, DONE = "begin", "end", "done"  # a process asks to begin a fact, has ended one, is done


@dataclass(frozen=True)
class PreparationJob:
    """The `tests` of a table, by their ids, to prepare. If `table` is None, it is that of the job before."""

    table: Table | None
    serializer: Serializer
    tests: tuple[str, ...]
    seed: int

    @classmethod
    def of(cls, table: Table | None, serializer: Serializer, tests: Sequence[Test], seed: int) -> "PreparationJob":
        """Return a job, with a table without its cached facts."""
        return cls(table and replace(table), serializer, tuple(test.id for test in tests), seed)

    def fill_cache(self, table: Table) -> None:
        """Write the queries of the tests about a table, only to fill the cache with the facts that they need."""
        for test in self.tests:
            sheet_of(by_id()[test], table, self.serializer, RunConfig(seed=self.seed))

    def sent(self) -> bytes:
        """Return the job for another machine, after what stored facts may depend on in addition to the table."""
        return pickle.dumps(made_with()) + pickle.dumps(self)


def made_with() -> dict[str, str]:
    """Return what stored facts may depend on in addition to the table: versions of libraries, kind of processor."""
    return {"tabcontam": __version__} | libraries() | {"processor": platform.machine()}


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
        lost = OSError, EOFError, ValueError, pickle.UnpicklingError  # then the run makes the missing stored facts
        with suppress(*lost), start_process(START) as process:
            processes.append(process)
            pipe = ObjectPipe.to(process)
            while taken := left.take():
                table, test = taken
                pipe.send(PreparationJob.of(None if table is known else table, serializer, [test], options.seed))
                _serve(pipe, found)
                known = table

    pool = ThreadPoolExecutor(max(1, workers))
    working: list[Future[None]] = []
    with ExitStack() as stack:
        try:
            for prepare_there in elsewhere if _long(new) else ():
                visit = prepare_there(
                    left, found, lambda table: PreparationJob.of(table, serializer, own, options.seed).sent()
                )
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


@dataclass(frozen=True)
class _StoredFactClient:
    """A helper process's side of the work: it asks the run before it makes a stored fact."""

    pipe: ObjectPipe
    backwards = True

    def begin(self, name: str) -> bool:
        """Return whether this process may make a stored fact, once the run has answered."""
        self.pipe.send((BEGIN, name))
        return bool(self.pipe.receive())

    def end(self, name: str) -> None:
        """Report to the run that a stored fact is made."""
        self.pipe.send((END, name))


def _serve(pipe: ObjectPipe, found: StoredFactRegistry) -> None:
    """Answer a process until its job is done. Raises an error if it dies before."""
    try:
        while (message := pipe.receive()) != DONE:
            what, name = message
            if what == BEGIN:
                pipe.send(found.begin(name, pipe))
            else:
                found.end(name)
    finally:
        found.free(pipe)


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
    """Fill the cache with the stored facts that the jobs of another process need."""
    pipe = ObjectPipe.to_parent()
    table: Table | None = None
    # the garbage collector is off, as in the run itself while it prepares
    with disable_garbage_collector(), share_stored_facts(_StoredFactClient(pipe)), suppress(EOFError):
        while job := pipe.receive():
            if job.table is not None:
                table = job.table
                if folder := folder_of(table):
                    folder.mkdir(parents=True, exist_ok=True)  # marks the table as prepared, even if nothing is cached
            if table is not None:
                job.fill_cache(table)
            pipe.send(DONE)
