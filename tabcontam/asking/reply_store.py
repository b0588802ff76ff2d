"""The store of replies: a reply that was paid for is not asked for again, by any run.

The store is one SQLite file in the user's cache folder. The key of a reply is a hash of all that determines it. The
file contains no prompts and no API keys, and only its owner can read it. The store never stops a run. A damaged file is
renamed and a new one begun. If no file can be used, the run prints one line on standard error and goes on without the
store.
"""

import hashlib
import json
import os
import re
import sqlite3
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from tabcontam.asking.reply_file import (
    BUSY_SECONDS,
    free_name,
    identity_of,
    lock_store_folder,
    make_private,
    size_of,
    with_side_files,
)
from tabcontam.asking.trial_file import answer_fields, answer_held, looked_up, write_question
from tabcontam.evidence.base import Endings, Likelihoods, Lookup, Matches, Passage, Query, Scores, Usage
from tabcontam.evidence.questions import Answer, Prompt, Question, Reply, ReplyState
from tabcontam.models.base import Model, PromptForm
from tabcontam.tables.editions import cache_folder
from tabcontam.tables.table import Table

SCHEMA = 1
FILE = "replies.sqlite"
TABLES = (
    "CREATE TABLE replies (key BLOB PRIMARY KEY, llm TEXT NOT NULL, reply TEXT NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE forms (server BLOB PRIMARY KEY, form TEXT NOT NULL)",
    f"PRAGMA user_version = {SCHEMA}",
)
HASH = re.compile("[0-9a-f]{64}")
LONGEST = 2**27  # bytes; a longer reply is not read
# Unknown tables and columns count as damage too: the statements are ours, and the file's version promises the tables.
_BROKEN_FILE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_DAMAGE = _BROKEN_FILE | {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA}

Found = TypeVar("Found")


class StoreFacts(TypedDict):
    """The contents of a store. `size` is in bytes; `llms` has the number of replies of each LLM, the largest first."""

    path: str
    size: int
    replies: int
    llms: dict[str, int]


def key(
    identity: Mapping[str, str], version: str, form: PromptForm, question: Question, max_tokens: int, repeat: int = 0
) -> str:
    """Return the hash of exactly the facts that determine an answer. Samples of one prompt have different hashes.

    A prompt's hash is still what it was before other kinds of questions were added, so old replies are found.
    """
    request: dict[str, Any]
    match question:
        case Passage():
            request = {"question": "passage", "text": question.text}
        case Endings():
            request = {"question": "endings", "beginning": question.beginning, "endings": question.endings}
        case Lookup():
            request = {"question": "lookup", **looked_up(question)}
        case Prompt():
            sampling: dict[str, Any] = {"temperature": question.temperature or 0, "max_tokens": max_tokens}
            repeat = question.sample or repeat
            if form is PromptForm.COMPLETION:
                sampling["stop"] = list(question.stop)
            form = PromptForm.CHAT if form is PromptForm.STRUCTURED and not question.values else form
            request = {"form": form, "messages": write_question(question, form), "sampling": sampling}
    return _hashed(_server(identity, version) | request | {"repeat": repeat})


def _server(identity: Mapping[str, str], version: str) -> dict[str, Any]:
    named = {name: identity.get(name, "") for name in ("provider", "address", "model")}
    return {"schema": SCHEMA, **named, "version": version}


def _hashed(fields: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class Store:
    """A store that keeps replies between runs, in a file that `open` opens. Without an open file it stores nothing."""

    def __init__(self, path: Path = Path(FILE)) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None  # device and inode of the open file
        self._replaced = False

    @classmethod
    def open(cls, path: Path | None = None) -> "Store":
        """Return the store in the file `path`, or in the user's cache folder. A missing file is made.

        Raises nothing: an error is printed as one line on standard error.
        """
        try:
            store = cls(path or cache_folder().parent / FILE)
        except RuntimeError as error:  # the home of this user is unknown
            store = cls()
            store._give_up(error)
        else:
            store._begin()
        return store

    def get(self, keys: Iterable[str]) -> dict[str, Answer]:
        """Return the stored replies by their keys. A reply that cannot be read is left out, as is a joined key."""
        wanted = [bytes.fromhex(key) for key in dict.fromkeys(keys) if HASH.fullmatch(key)]
        found: dict[str, Answer] = {}
        self._do(lambda connection: found.update(_replies(connection, wanted)), None)
        return found

    def put(self, key: str, llm: str, reply: Answer) -> None:
        """Store a reply in place of an older one with its key. A failed reply is not stored."""
        if reply.state is ReplyState.FAILED:
            return
        digest, text = bytes.fromhex(key), _written(reply)
        name = llm.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair cannot be stored
        row = (digest, name, text, zlib.crc32(digest + text.encode()))
        self._do(lambda file: file.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?)", row), None)

    def form(self, identity: Mapping[str, str], version: str) -> PromptForm | None:
        """Return the form of prompts that a server was found to accept; None if it is not known."""
        server = [bytes.fromhex(_hashed(_server(identity, version)))]
        row = self._do(lambda file: file.execute("SELECT form FROM forms WHERE server = ?", server).fetchone(), None)
        return {form.value.encode(): form for form in PromptForm}.get(row[0]) if row else None

    def note_form(self, identity: Mapping[str, str], version: str, form: PromptForm) -> None:
        """Store the form of prompts that a server was found to accept."""
        row = (bytes.fromhex(_hashed(_server(identity, version))), form.value)
        self._do(lambda file: file.execute("INSERT OR REPLACE INTO forms VALUES (?, ?)", row), None)

    def settle(self, model: Model) -> bool:
        """Give a model the form that an earlier run found. Return whether this run must find the form itself."""
        if model.settled or model.identity is None:
            return False
        if form := self.form(model.identity, model.version):
            model.settle(form)
        return form is None

    def keep(self, model: Model, query: Query, llm: str, answer: Answer, unsettled: set[str]) -> None:
        """Store an answer under the form in which it was asked; if `llm` is one of the `unsettled`, the form too."""
        if model.identity is None:
            return
        asked = key(model.identity, model.version, model.sent_in, query.question, query.max_tokens)
        self.put(asked, llm, answer)
        if llm in unsettled and model.settled:
            unsettled.remove(llm)
            self.note_form(model.identity, model.version, model.form)

    def facts(self) -> StoreFacts:
        """Return the path of the file, its size with its side files, and the number of replies of each LLM."""
        llms = self._do(_counted, dict[str, int]())
        size = sum(map(size_of, with_side_files(self.path))) if self._connection else 0
        return {"path": str(self.path), "size": size, "replies": sum(llms.values()), "llms": llms}

    def clear(self) -> int:
        """Delete all replies and forms; return how many replies there were. Another run may have the file open."""
        return self._do(self._cleared, 0)

    def close(self) -> None:
        """Close the file."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _cleared(self, connection: sqlite3.Connection) -> int:
        replies = int(connection.execute("SELECT COUNT(*) FROM replies").fetchone()[0])
        try:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                replies = connection.execute("DELETE FROM replies").rowcount
                connection.execute("DELETE FROM forms")
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_FULL:
                raise
            self._begin(self._remove)  # a full disk has no room even to delete
            return replies
        with suppress(sqlite3.OperationalError):  # if another run is reading, the file just stays large
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return replies

    def _do(self, work: Callable[[sqlite3.Connection], Found], nothing: Found) -> Found:
        """Return the result of `work`, done on a new file if this one is damaged; `nothing` if the store is off."""
        for _ in range(2):
            if self._connection is not None and identity_of(self.path) != self._file:
                self._begin()  # another run has renamed the file, or it was deleted
            if self._connection is None:
                break
            try:
                return work(self._connection)
            except (sqlite3.Error, OSError) as error:
                if _is_damage(error) and not self._replaced:
                    self._begin(self._set_aside)
                else:
                    self._give_up(error)
        return nothing

    def _begin(self, rid: Callable[[], None] | None = None) -> None:
        """Open the file; if it is damaged, begin a new one. `rid` is called first, to remove or rename the old file.

        The folder is locked meanwhile: of several runs, only one makes the file and only one renames it.
        """
        self.close()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with lock_store_folder(self.path.parent):
                if rid and identity_of(self.path) == self._file:  # else another run was quicker
                    rid()
                try:
                    self._connect()
                except sqlite3.Error as error:
                    if not _is_damage(error) or self._replaced:
                        raise
                    self._set_aside()
                    self._connect()
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def _connect(self) -> None:
        make_private(self.path)
        connection = sqlite3.connect(
            self.path,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,  # in a notebook, one thread plans a run and another asks it
        )
        try:
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection, self._file = connection, identity_of(self.path)

    def _set_aside(self) -> None:
        """Rename the file and its side files. SQLite ignores the new side files while another run uses the old ones."""
        self._replaced = True
        aside = free_name(self.path, datetime.now(UTC))
        for old, new in zip(with_side_files(self.path), with_side_files(aside), strict=True):
            with suppress(FileNotFoundError):
                os.rename(old, new)
        _say(f"the stored replies in {self.path} are damaged: the file is now {aside.name}, and a new one is begun")

    def _remove(self) -> None:
        for file in with_side_files(self.path):
            file.unlink(missing_ok=True)

    def _give_up(self, error: Exception) -> None:
        self.close()
        reason = (isinstance(error, OSError) and error.strerror) or " ".join(str(error).split())
        _say(f"replies are not stored for other runs: {self.path}: {reason}")


class _OtherSchemaError(sqlite3.Error):
    """The error for a file of another schema, which must not be changed."""


class _ForeignSchemaError(sqlite3.Error):
    """The error for a file of our schema with further parts: a trigger would run whenever a reply is stored."""

    sqlite_errorcode = sqlite3.SQLITE_SCHEMA


def _prepare(connection: sqlite3.Connection) -> None:
    connection.text_factory = bytes  # damaged rows may contain other bytes than UTF-8
    for attempt in range(100):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:  # here SQLite does not wait by itself
            if _code(error) != sqlite3.SQLITE_BUSY or attempt == 99:
                raise
            time.sleep(BUSY_SECONDS / 100)
    connection.execute("PRAGMA synchronous = NORMAL")
    if _schema(connection) == 0:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            if _schema(connection) == 0:  # else another process was quicker
                for statement in TABLES:
                    connection.execute(statement)
    if (schema := _schema(connection)) != SCHEMA:
        raise _OtherSchemaError(f"it is of schema {schema}, written by another version of tabcontam")
    master = connection.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    made = {bytes(text).decode(errors="replace") for (text,) in master}
    if made != {statement for statement in TABLES if statement.startswith("CREATE")}:
        raise _ForeignSchemaError("it holds other tables, a view or a trigger")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)


def _schema(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _replies(connection: sqlite3.Connection, wanted: Sequence[bytes]) -> Iterator[tuple[str, Answer]]:
    for digest in wanted:
        row = None
        with suppress(sqlite3.DataError):  # the row is longer than `LONGEST`
            row = connection.execute("SELECT reply, checksum FROM replies WHERE key = ?", [digest]).fetchone()
        if row and (reply := _read(digest, *row)) is not None:
            yield digest.hex(), reply


def _counted(connection: sqlite3.Connection) -> dict[str, int]:
    rows = connection.execute("SELECT llm, COUNT(*) FROM replies GROUP BY llm ORDER BY 2 DESC, 1")
    return {bytes(llm).decode(errors="replace"): count for llm, count in rows}


def _written(answer: Answer) -> str:
    usage = answer.usage and [answer.usage.prompt, answer.usage.written]
    words = {"text": answer.text} if isinstance(answer, Reply) else {}  # other kinds have their text in fields
    fields = {"state": answer.state, "detail": answer.detail, "usage": usage, **words, **answer_fields(answer)}
    return json.dumps(fields, separators=(",", ":"))


def _read(digest: bytes, text: bytes, checksum: int) -> Answer | None:
    """Return a row's answer; None if the checksum differs, since SQLite does not notice every flipped bit."""
    try:
        if zlib.crc32(digest + text) != checksum:
            return None
        fields = json.loads(text.decode())
        usage = None if fields["usage"] is None else Usage(*fields["usage"])
        kinds: dict[str, type[Answer]] = {"scores": Scores, "log_probabilities": Likelihoods, "found": Matches}
        kind = next((kinds[name] for name in kinds if name in fields), Reply)
        return answer_held(kind, fields, usage)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _code(error: Exception) -> int:
    """Return the primary SQLite code of an error; 0 if the error is not SQLite's."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_damage(error: Exception) -> bool:
    return _code(error) in _DAMAGE


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def shared_query_key(model: Model, query: Query) -> str | None:
    """Return the key that equal queries to a model share; None if the model's replies are not stored.

    While the model's form is unknown, the keys of all forms are joined: prompts share the joined key only if equal in
    every form.
    """
    if model.identity is None:
        return None
    question = query.question
    open_form = isinstance(question, Prompt) and not model.settled
    others = (form for form in PromptForm if form is not model.sent_in) if open_form else ()
    forms = (model.sent_in, *others)
    return " ".join(key(model.identity, model.version, form, question, query.max_tokens) for form in forms)


def same_text(model: Model, table: Table, query: Query) -> str:
    """Return the key that a control's equal scored texts about one table share; "" for other models and questions."""
    question = query.question
    return f"{id(table)} {question.text}" if model.control and isinstance(question, Passage) else ""
