"""The division of work while new tables are prepared: tests that are left, and owners of stored facts.

A stored fact is a fact about a table that takes seconds to compute, and is stored on disk.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Event, Lock

from tabcontam.evidence.base import Test
from tabcontam.tables.table import Table

Key = tuple[int, str]  # the id() of a table and the id of a test


class PreparationQueue:
    """The tests of new tables that are not finished. This run takes them from the front, helpers from the back.

    A helper is another process of this machine and takes one test. It may also take the test that this run is writing;
    it then makes the test's facts from the last to the first. Another machine takes a whole table that no process has
    begun. A table may be offered to a machine that is still busy. Until that machine claims it, other processes may
    begin it.
    """

    def __init__(self, tables: Sequence[Table], tests: Sequence[Test]) -> None:
        self._lock = Lock()
        self._every = {id(table): {(id(table), test.id): (table, test) for test in tests} for table in tables}
        self._left = {key: each for own in self._every.values() for key, each in own.items()}
        # Large tables are not offered: the facts about all of their rows are on this machine.
        self._untouched = {id(table): table for table in tables if table.whole is None}
        self._offered: set[int] = set()
        self._offers: Counter[int] = Counter()
        self._writing: Key | None = None
        self._written: set[Key] = set()

    def __len__(self) -> int:
        """Return how many tests no helper has taken and this run has not finished."""
        return len(self._left)

    @property
    def untouched(self) -> int:
        """The number of tables that no process has begun."""
        return len(self._untouched)

    def write(self, test: Test, table: Table) -> None:
        """Note that this run now writes the queries of this test about this table, and has finished the test before."""
        with self._lock:
            if self._writing is not None:
                self._written.add(self._writing)
                self._left.pop(self._writing, None)
            self._writing = id(table), test.id
            self._untouched.pop(id(table), None)

    def take(self) -> tuple[Table, Test] | None:
        """Return the last test that is left. Tests of tables that other machines were offered come last."""
        with self._lock:
            key = next((key for key in reversed(self._left) if key[0] not in self._offered), None)
            key = key or next(reversed(self._left), None)
            if key is None:
                return None
            self._untouched.pop(key[0], None)
            return self._left.pop(key)

    # offers: how often a table may be offered; more than once, as a machine can be lost
    def offer(self, *, offers: int = 2) -> Table | None:
        """Return the last table that no process has begun and that is not offered already."""
        with self._lock:
            for place in reversed(self._untouched):
                if place not in self._offered and self._offers[place] < offers:
                    self._offered.add(place)
                    self._offers[place] += 1
                    return self._untouched[place]
            return None

    def claim(self, table: Table) -> bool:
        """Return whether the machine that was offered `table` may prepare it: only if no process has begun it since."""
        with self._lock:
            if self._untouched.pop(id(table), None) is None:
                return False
            for key in self._every[id(table)]:
                self._left.pop(key, None)
            return True

    def withdraw(self, table: Table) -> None:
        """Stop offering a table."""
        with self._lock:
            self._offered.discard(id(table))

    def give_back(self, table: Table) -> None:
        """Take back a claimed table that was not prepared, except the tests that this run has written meanwhile."""
        with self._lock:
            own = self._every.get(id(table), {})
            self._left |= {key: each for key, each in own.items() if key not in self._written}
            if self._writing is None or self._writing[0] != id(table):
                self._untouched[id(table)] = table

    def clear(self) -> None:
        """Drop all tests that are left, since the plan is written."""
        with self._lock:
            for held in (self._every, self._left, self._untouched):
                held.clear()


class StoredFactRegistry:
    """The stored facts of the run and its helpers. Each stored fact is made once, and has one owner, which makes it."""

    backwards = False  # True in a helper: it makes stored facts from the last to the first

    def __init__(self, check: Callable[[], None] = lambda: None) -> None:
        self._check = check
        self._stored_facts: dict[str, tuple[object, Event]] = {}  # the owner; an event: made or given up
        self._elsewhere: dict[str, Event] = {}
        self._lock = Lock()

    def begin(self, name: str, owner: object = None) -> bool:
        """Return whether `owner`, by default the run, must make a stored fact. If another makes it, wait for that."""
        if owner is None:
            self._check()
        if prepared := self._elsewhere.get(str(Path(name).parent)):
            prepared.wait()
        with self._lock:
            its_owner, ended = self._stored_facts.setdefault(name, (owner, Event()))
        if its_owner is owner:
            return True
        ended.wait()
        return False

    def end(self, name: str) -> None:
        """Note that a stored fact was made, or given up."""
        self._stored_facts[name][1].set()

    def prepare(self, folder: Path) -> None:
        """Note that another machine prepares the table of this folder. All that need its stored facts wait."""
        self._elsewhere[str(folder)] = Event()

    def prepared(self, folder: Path, names: Iterable[str]) -> None:
        """Note that the other machine has ended and has made the stored facts `names`."""
        for name in names:
            with self._lock:
                self._stored_facts.setdefault(name, (folder, Event()))[1].set()
        self._elsewhere.pop(str(folder)).set()

    def free(self, owner: object = None) -> None:
        """End the wait for all stored facts, or for the stored facts of one owner."""
        with self._lock:
            for its_owner, ended in self._stored_facts.values():
                if owner is None or its_owner is owner:
                    ended.set()
        if owner is None:
            for prepared in list(self._elsewhere.values()):
                prepared.set()
