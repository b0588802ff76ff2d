"""New tables of a plan, prepared by other processors while this one writes the plan.

What takes seconds to find out about a table is kept in the user's cache folder. So a process that writes the table's
queries and throws them away saves the run the time: the run reads what was kept. The run begins with the first test of
the first table and a process with the last of the last; each finding is made by who asks for it first, until they meet.
Where a process fails, less is kept, and the run finds it out by itself.
"""

import gc
import json
import signal
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from threading import Event, Lock
from typing import Any

from tabcontam.asking.plan import Options, sheet_of
from tabcontam.evidence.base import Family, Test
from tabcontam.evidence.registry import by_id
from tabcontam.guesser.kept import folder_of, is_shipped, shared
from tabcontam.processes import begun, processors, send, starting
from tabcontam.tables.cards import Question
from tabcontam.tables.large.excerpt import Whole
from tabcontam.tables.planted import PlantedCell
from tabcontam.tables.serializers import Serializer, as_facts, from_facts
from tabcontam.tables.table import Table
from tabcontam.tables.texts import TextForm, TextTask

SMALL = 100  # rows of a single new table up to which a process would not be there before the run is done

START = starting("tabcontam.asking.preparing")
BEGIN, END, DONE = "begin", "end", "done"  # how a process begins its lines: it asks to begin, it has ended, all is done


@contextmanager
def prepared_meanwhile(
    tables: Sequence[Table],
    serializer: Serializer,
    tests: Sequence[Test],
    options: Options,
    check: Callable[[], None] = lambda: None,
) -> Iterator[Callable[[Test, Table], None]]:
    """Have other processors prepare the new ones of these tables, the last test of the last table first.

    Yields a function to call before the queries of a test about a table are written: with those that were written
    before it no process begins any more. `check` is called before each finding of the run, and may end the plan.
    """
    new = _new(tables, tests)
    left = {(id(table), test.id): (table, test) for table in new for test in fitted(tests)}
    workers = min(-(-len(left) // 3), processors() - 1) if _long(new) and sys.executable else 0
    processes: list[subprocess.Popen[bytes]] = []
    found = _Found(check)

    def work() -> None:
        known = None
        with suppress(OSError, KeyError, ValueError), _process() as process:
            processes.append(process)
            while True:
                _, (table, test) = left.popitem()
                send(process, _job(None if table is known else table, serializer, test, options))
                if not _served(process, found):
                    return  # it died: what it did not find the run finds by itself
                known = table

    writing: tuple[int, str] | None = None

    def ready(test: Test, table: Table) -> None:
        nonlocal writing
        if writing is not None:
            left.pop(writing, None)
        writing = id(table), test.id

    pool = ThreadPoolExecutor(max(1, workers))
    working: list[Future[None]] = []
    try:
        working += [pool.submit(work) for _ in range(workers)]
        with shared(found):
            yield ready
    finally:  # also where the user pressed Ctrl-C
        left.clear()
        for process in processes:
            process.kill()
        found.free()
        pool.shutdown()
    for worker in working:
        worker.result()


@dataclass(frozen=True)
class _Finding:
    """Who makes a finding, and whether it is there by now, or they gave up."""

    owner: object
    ended: Event


class _Found:
    """What the run and its processes find, each of them once: the run's own side of sharing the work."""

    backwards = False

    def __init__(self, check: Callable[[], None] = lambda: None) -> None:
        self._check = check
        self._findings: dict[str, _Finding] = {}
        self._lock = Lock()

    def begin(self, name: str, owner: object = None) -> bool:
        """Whether the owner, by default the run, is to make a finding; waits where somebody else makes it."""
        if owner is None:
            self._check()
        with self._lock:
            finding = self._findings.setdefault(name, _Finding(owner, Event()))
        if finding.owner is owner:
            return True
        finding.ended.wait()
        return False

    def end(self, name: str) -> None:
        """A finding can be read, or was not made."""
        self._findings[name].ended.set()

    def free(self, owner: object = None) -> None:
        """End all findings, or those of one owner: nobody is to wait for them any longer."""
        with self._lock:
            for finding in self._findings.values():
                if owner is None or finding.owner is owner:
                    finding.ended.set()


class _Asking:
    """A process's side: it asks the run before it makes a finding."""

    backwards = True

    def begin(self, name: str) -> bool:
        """Ask whether to make a finding, and wait for the answer."""
        _tell(BEGIN, name)
        return json.loads(sys.stdin.buffer.readline()) is True

    def end(self, name: str) -> None:
        """Tell that a finding is made."""
        _tell(END, name)


def _tell(what: str, name: str = "") -> None:
    print(json.dumps([what, name]), flush=True)


def _served(process: "subprocess.Popen[bytes]", found: _Found) -> bool:
    """Answer a process until it is done with its job; False where it died before."""
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


def _process() -> "subprocess.Popen[bytes]":
    return begun(START)


def takes_long(tables: Sequence[Table], tests: Sequence[Test]) -> bool:
    """Whether it takes seconds to find out about these tables what the queries of these tests need."""
    return _long(_new(tables, tests))


def fitted(tests: Sequence[Test]) -> list[Test]:
    """The tests that need something found out about a table."""
    return [test for test in tests if test.row_test or test.family is Family.SCORE]


def _long(new: Sequence[Table]) -> bool:
    return len(new) > 1 or any(len(table.rows) > SMALL for table in new)


def _new(tables: Sequence[Table], tests: Sequence[Test]) -> list[Table]:
    """The tables about which something is to be found out."""
    return [table for table in tables if _nothing_kept(table)] if fitted(tests) else []


def _nothing_kept(table: Table) -> bool:
    """Whether nothing is kept of a table yet, and something can be."""
    folder = folder_of(table)
    if folder is None or folder.is_dir() or is_shipped(table):
        return False
    with suppress(OSError):
        folder.mkdir(parents=True)
        folder.rmdir()
        return True
    return False


def _job(table: Table | None, serializer: Serializer, test: Test, options: Options) -> bytes:
    """What a process needs to know, as JSON; without the table where it is that of the job before."""
    job: dict[str, Any] = {"serializer": as_facts(serializer), "test": test.id, "seed": options.seed}
    if table:
        facts = {field.name: getattr(table, field.name) for field in fields(table) if field.init}
        facts |= {"missing": sorted(table.missing), "question": table.question and asdict(table.question)}
        facts |= {"drawn_cells": [asdict(cell) for cell in table.drawn_cells]}
        facts |= {"text": table.text and asdict(table.text), "whole": table.whole and _whole_facts(table.whole)}
        job["table"] = facts | {"hints": table.hints and dict(table.hints)}
    return json.dumps(job).encode()


def _whole_facts(whole: Whole) -> dict[str, Any]:
    """What is known of all rows of a large file, as JSON can hold it."""
    facts = {field.name: getattr(whole, field.name) for field in fields(whole) if field.init}
    held = b64encode(whole.held).decode()
    return facts | {"distinct": dict(whole.distinct), "numeric": sorted(whole.numeric), "held": held}


def _whole(facts: Mapping[str, Any]) -> Whole:
    """What `_whole_facts` took apart."""
    distinct = {name: tuple(values) for name, values in facts["distinct"].items()}
    found = {"places": tuple(facts["places"]), "distinct": distinct, "held": b64decode(facts["held"])}
    found |= {name: tuple(map(tuple, facts[name])) for name in ("beside", "mates")}
    return Whole(**dict(facts) | found | {"numeric": frozenset(facts["numeric"])})


def _table(facts: Mapping[str, Any]) -> Table:
    """The table that `_job` took apart."""
    whole: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()}
    whole["rows"] = tuple(map(tuple, facts["rows"]))
    whole["known"] = tuple(tuple(map(tuple, rows)) for rows in facts["known"])
    whole |= {name: tuple(map(tuple, facts[name])) for name in ("withheld", "fresh")}
    whole["drawn_cells"] = tuple(
        PlantedCell(cell["row"], cell["column"], tuple(cell["alternatives"])) for cell in facts["drawn_cells"]
    )
    whole["missing"] = frozenset(facts["missing"])
    whole["text"] = facts["text"] and TextTask(
        **facts["text"] | {"form": TextForm(facts["text"]["form"]), "texts": tuple(facts["text"]["texts"])}
    )
    whole["question"] = facts["question"] and Question(**facts["question"])
    whole["whole"] = facts["whole"] and _whole(facts["whole"])
    whole["hints"] = facts["hints"] and {test: tuple(names) for test, names in facts["hints"].items()}
    return Table(**whole)


def main() -> None:
    """For each test that a line of standard input tells about, write its queries for the sake of what is kept."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the business of the run, which ends this process
    gc.disable()  # as the run itself does while it prepares
    table: Table | None = None
    with shared(_Asking()):
        while line := sys.stdin.buffer.readline():
            job = json.loads(line)
            if "table" in job:
                table = _table(job["table"])
                if folder := folder_of(table):
                    folder.mkdir(parents=True, exist_ok=True)  # also where nothing is kept of it: it is prepared once
            if table is not None:
                sheet_of(by_id()[job["test"]], table, from_facts(job["serializer"]), Options(seed=job["seed"]))
            _tell(DONE)
