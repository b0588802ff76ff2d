"""Stored facts about a table that take seconds to compute: computed in one thread, stored on disk for later runs."""

import io
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tabcontam.baseline.failures import record, recording
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.editions import cache_folder
from tabcontam.tables.known_rows import known_digest
from tabcontam.tables.row_draws import by_content, identity
from tabcontam.tables.table import Table

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

StoredFact = TypeVar("StoredFact")
SHIPPED = files("tabcontam.baseline") / "shipped"  # an archive for each table: `python -m tests.shipped` makes them


class WorkSharing(Protocol):
    """The division of work among processes that need equal facts: the first process to begin a fact computes it.

    If `backwards`, this process works from the end: it begins with the last of several stored facts.
    """

    backwards: bool

    def begin(self, name: str) -> bool:
        """Return whether this process must compute the stored fact. If not, another process has stored it."""

    def end(self, name: str) -> None:
        """Notify the other processes that the stored fact can be read, or that this process could not compute it."""


_SHARING: ContextVar[WorkSharing | None] = ContextVar("sharing", default=None)
_COLLECTED: ContextVar[dict[str, str] | None] = ContextVar("collected", default=None)
LEFT_OUT, STORED_FACT = "left out", "stored fact"  # the JSON names in the file of a stored fact that lacks a predictor
NAME = re.compile(r"[0-9a-f]{16}/[0-9a-f]{32}\.json")  # folder of a table / file of a stored fact
DAMAGED = (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


def stored_fact(
    table: Table,
    question: object,
    find: Callable[[], StoredFact],
    write: Callable[[StoredFact], object],
    read: Callable[[Any], StoredFact],
) -> StoredFact:
    """Return the result of `find` about a table, or the cached result of an earlier run.

    The stored fact may depend on the table's title and cells and on the rows of known files. `question` is JSON with
    everything else that the fact depends on, including a version of the method. `write` turns a stored fact into JSON.
    `read` turns this JSON into the stored fact and raises an error for any other JSON: such a file is damaged or
    foreign, and is replaced. A folder that cannot be written is ignored. Stored facts refer to rows by their `ranks`,
    since another file may list equal rows in another order. Stored facts for the tables that a run uses by default are
    part of the package.
    """
    if (made := _shipped(table).get(_file_name(table, question, []))) is not None:
        return read(json.loads(made))
    file_name, folder = _file_name(table, question, list(libraries().values())), folder_of(table)
    if (together := _COLLECTED.get()) is not None:
        name = f"{_folder_name(table)}/{file_name}"  # with the folder: a twin of the table has an equal file name
        if name in together:
            return _read(table, together[name], read)
        found, failed = _computed(table, find)
        together[name] = _text(write(found), failed)
        return found
    path = folder / file_name if folder else None
    if not path:
        return _computed(table, find)[0]

    def earlier() -> StoredFact:
        return _read(table, path.read_bytes(), read)

    with suppress(*DAMAGED):
        return earlier()
    sharing, name = _SHARING.get(), str(path)
    if sharing and not sharing.begin(name):
        with suppress(*DAMAGED):
            return earlier()
    try:
        found, failed = _computed(table, find)
        _store(path, _text(write(found), failed))
        return found
    finally:
        if sharing:
            sharing.end(name)


def _computed(table: Table, find: Callable[[], StoredFact]) -> tuple[StoredFact, list[str]]:
    """Return the stored fact, and the predictors that failed while it was computed."""
    with one_thread(), recording(table) as failed:
        return find(), failed


def _text(written: object, failed: Sequence[str]) -> str:
    """Return the text of a stored fact's file. It also names the predictors that failed."""
    return json.dumps({LEFT_OUT: failed, STORED_FACT: written} if failed else written)


def _read(table: Table, text: str | bytes, read: Callable[[Any], StoredFact]) -> StoredFact:
    """Return the stored fact in a file's text. Predictors that failed when it was computed are recorded again."""
    stored = json.loads(text, parse_constant=_no_number)
    if not (isinstance(stored, dict) and stored.keys() == {LEFT_OUT, STORED_FACT}):
        return read(stored)
    if not all(isinstance(line, str) for line in stored[LEFT_OUT]):
        raise ValueError("a failed predictor is not named by a text")
    found = read(stored[STORED_FACT])
    record(table, stored[LEFT_OUT])
    return found


def is_shipped(table: Table) -> bool:
    """Return whether stored facts about a table are part of the package."""
    return bool(_shipped(table))


def _shipped(table: Table) -> Mapping[str, bytes]:
    """Return the package's stored facts about a table, by file name. Their names do not depend on library versions."""

    def find() -> Mapping[str, bytes]:
        archive = SHIPPED / f"{_folder_name(table)}.zip"
        if not archive.is_file():
            return {}
        with zipfile.ZipFile(io.BytesIO(archive.read_bytes())) as opened:
            return {name: opened.read(name) for name in opened.namelist()}

    return cached_fact(table, "shipped", find)


def _file_name(table: Table, question: object, libraries: Sequence[str]) -> str:
    whole = None if table.whole is None else table.whole.digest
    depends = [question, libraries, *filter(None, [known_digest(table), whole])]
    return f"{sha256(json.dumps(depends).encode()).hexdigest()[:32]}.json"


@contextmanager
def share_stored_facts(sharing: WorkSharing) -> Iterator[None]:
    """Share the stored facts of this context with other processes."""
    token = _SHARING.set(sharing)
    try:
        yield
    finally:
        _SHARING.reset(token)


def working_order(count: int) -> Sequence[int]:
    """Return the indices of `count` stored facts in the order in which this process computes them."""
    sharing = _SHARING.get()
    return range(count)[:: -1 if sharing and sharing.backwards else 1]


def ranks(table: Table) -> dict[int, int]:
    """Return for each row, by its place in the file, its place among the rows sorted by content."""
    return cached_fact(table, "ranks", lambda: {row: rank for rank, row in enumerate(by_content(table))})


def order_digest(table: Table) -> str:
    """Return a digest of the order in which the file lists the rows."""
    return cached_fact(table, "order", lambda: sha256(json.dumps(by_content(table)).encode()).hexdigest())


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute in one thread: sums then do not depend on the number of processors, and threads do not wait for each
    other. The limit applies only to libraries that are already loaded, so all computing libraries are loaded first.
    """
    with _computing_libraries().limit(limits=1):
        yield


@cache
def _computing_libraries() -> "ThreadpoolController":
    import sklearn.ensemble  # noqa: F401 - loads OpenMP, and the BLAS of numpy and scipy
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def folder_of(table: Table) -> Path | None:
    """Return the folder of a table's stored facts; None if the user's home is unknown."""
    try:
        return cache_folder().parent / "facts" / _folder_name(table)
    except RuntimeError:
        return None


def _folder_name(table: Table) -> str:
    return identity(table)[:16]


@contextmanager
def collect_stored_facts() -> Iterator[dict[str, str]]:
    """Collect the texts of stored facts in this context, by folder and file name, instead of writing files."""
    found: dict[str, str] = {}
    token = _COLLECTED.set(found)
    try:
        yield found
    finally:
        _COLLECTED.reset(token)


def store_facts(table: Table, stored_facts: Mapping[str, str]) -> list[str]:
    """Store the stored facts that another machine collected while it prepared a table, and return the files' paths.

    Raises `ValueError` for a name that the cache does not use, or a text that is not JSON: then nothing is written.
    """
    for name, text in stored_facts.items():
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of a stored fact's file")
        json.loads(text)
    folder = folder_of(table)
    if folder is None:
        return []
    with suppress(OSError):
        folder.mkdir(
            parents=True, exist_ok=True
        )  # even without stored facts: the folder shows that the table is prepared
    for name, text in stored_facts.items():
        _store(folder.parent / name, text)
    return [str(folder.parent / name) for name in stored_facts]


@cache
def libraries() -> dict[str, str]:
    """Return the versions of the libraries that compute: other versions may give other results."""
    return {name: version(name) for name in ("numpy", "scikit-learn", "scipy")}


def _no_number(name: str) -> float:
    raise ValueError(f"a stored fact holds {name}, which is not a finite number")


def _store(path: Path, text: str) -> None:
    """Write the file completely or not at all."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, made = tempfile.mkstemp(dir=path.parent)  # readable by this user alone
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(made, path)
        except BaseException:
            Path(made).unlink(missing_ok=True)
            raise
