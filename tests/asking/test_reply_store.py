"""What was paid for is found again, by whoever runs next; a damaged or unusable file never stops a run."""

import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tabcontam.asking import reply_file, reply_store
from tabcontam.asking.reply_file import SIDE_FILES
from tabcontam.asking.reply_store import Store, key
from tabcontam.evidence.base import Endings, Likelihoods, Message, Passage, Prompt, Reply, ReplyState, Usage
from tabcontam.models.base import PromptForm

IDENTITY = {"provider": "openai", "address": "http://127.0.0.1:8000/v1", "model": "tiny"}
PROMPT = Prompt((Message("user", "what?"),), "what? ", "what", stop=("\n",))
REPLY = Reply("an answer", ReplyState.OK, "", 3, Usage(10, 20))
LLM = "openai:tiny"


def key_of(number: int) -> str:
    return key(IDENTITY, "", PromptForm.CHAT, PROMPT, 16, repeat=number)


KEY, OTHER = key_of(0), key_of(1)


def fill(path: Path, number: int) -> list[str]:
    """A file with so many replies of some size; the keys."""
    keys = [key_of(each) for each in range(number)]
    with closing(Store.open(path)) as store:
        for each in keys:
            store.put(each, LLM, Reply("x" * 300, ReplyState.OK))
    return keys


def aside(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.glob("replies.damaged-*"))


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Another process that runs `code`; `path` and `arguments` are its own."""
    start = """
        import sys
        from contextlib import closing
        from pathlib import Path
        from tabcontam.asking.reply_store import Store
        from tests.asking.test_reply_store import LLM, REPLY, key_of
        path, arguments = Path(sys.argv[1]), sys.argv[2:]
    """
    command = [sys.executable, "-c", textwrap.dedent(start) + textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out, err


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "replies.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with closing(Store.open(path)) as store:
        yield store


# --- what determines a reply ---


def test_the_key_is_the_hash_that_was_published() -> None:
    """Whoever changes the key drops everybody's stored replies: then SCHEMA has to change too."""
    assert KEY == "ac285776e5b1ceeec71608b9ba4ca164720b02071d75a4b6e2af45b79226709c"


@pytest.mark.parametrize(
    "changed",
    [
        {"identity": IDENTITY | {"provider": "ollama"}},
        {"identity": IDENTITY | {"address": "http://127.0.0.1:8001/v1"}},
        {"identity": IDENTITY | {"model": "large"}},
        {"version": "2"},
        {"form": PromptForm.COMPLETION},
        {"question": Prompt((Message("system", "what?"),), "what? ", "what")},
        {"max_tokens": 17},
        {"repeat": 1},
    ],
)
def test_what_determines_a_reply_changes_its_key(changed: dict[str, Any]) -> None:
    same: dict[str, Any] = {
        "identity": IDENTITY, "version": "", "form": PromptForm.CHAT, "question": PROMPT, "max_tokens": 16, "repeat": 0,
    }  # fmt: skip
    assert key(**same) == KEY
    assert key(**same | changed) != KEY


def test_what_is_not_sent_does_not_change_the_key() -> None:
    other = Prompt(PROMPT.chat, "other", "other", stop=("|",))
    assert key(IDENTITY | {"api_key": "secret"}, "", PromptForm.CHAT, other, 16) == KEY
    seq2seq = key(IDENTITY, "", PromptForm.SEQ2SEQ, PROMPT, 16)
    assert key(IDENTITY, "", PromptForm.SEQ2SEQ, Prompt((), "", "what", stop=("|",)), 16) == seq2seq


def test_only_a_completion_is_determined_by_its_stop_strings() -> None:
    other = Prompt(PROMPT.chat, PROMPT.completion, PROMPT.seq2seq, stop=("|",))
    assert key(IDENTITY, "", PromptForm.COMPLETION, other, 16) != key(IDENTITY, "", PromptForm.COMPLETION, PROMPT, 16)


def test_an_answer_that_is_held_to_a_schema_is_another_only_where_values_are_asked() -> None:
    assert key(IDENTITY, "", PromptForm.STRUCTURED, PROMPT, 16) == KEY
    values = replace(PROMPT, values=("age",))
    assert key(IDENTITY, "", PromptForm.CHAT, values, 16) == KEY
    assert key(IDENTITY, "", PromptForm.STRUCTURED, values, 16) != KEY


# --- put and get ---


@pytest.mark.parametrize(
    "reply",
    [
        REPLY,
        Reply("", ReplyState.EMPTY),
        Reply("cut", ReplyState.TRUNCATED, "the token limit", 16),
        Reply("", ReplyState.REFUSED, "content filter", None, Usage(0, 0)),
        Reply("four", ReplyState.OK, "", 1, Usage(8, 1), log_probability=-0.125),
        Reply('half \ud800, "quotes", \x00 and \x1b[31m, 汉字\n', ReplyState.OK, "\udfff"),
    ],
)
def test_a_reply_comes_back_whole(path: Path, store: Store, reply: Reply) -> None:
    store.put(KEY, LLM, reply)
    with closing(Store.open(path)) as later:
        assert later.get([key_of(1), KEY, KEY]) == {KEY: reply}


def test_a_failed_reply_is_not_kept_and_drops_none(store: Store) -> None:
    store.put(KEY, LLM, Reply("", ReplyState.FAILED, "no answer"))
    assert store.get([KEY]) == {}
    store.put(KEY, LLM, REPLY)
    store.put(KEY, LLM, Reply("", ReplyState.FAILED, "no answer"))
    assert store.get([KEY]) == {KEY: REPLY}


def test_the_newest_reply_stands(store: Store) -> None:
    store.put(KEY, LLM, Reply("", ReplyState.REFUSED))
    store.put(KEY, LLM, REPLY)
    assert store.get([KEY]) == {KEY: REPLY}
    assert store.facts()["replies"] == 1


def test_many_keys_are_read_at_once(path: Path) -> None:
    keys = fill(path, 1201)
    with closing(Store.open(path)) as store:
        assert list(store.get([])) == []
        assert set(store.get([*keys, key_of(5000)])) == set(keys)


def test_the_form_of_a_server_is_known_by_what_it_is(path: Path, store: Store) -> None:
    assert store.form(IDENTITY, "1") is None
    store.note_form(IDENTITY, "1", PromptForm.CHAT)
    store.note_form(IDENTITY, "1", PromptForm.COMPLETION)
    with closing(Store.open(path)) as later:
        assert later.form(IDENTITY, "1") is PromptForm.COMPLETION
        assert later.form(IDENTITY, "2") is None
        assert later.form(IDENTITY | {"model": "large"}, "1") is None


def test_facts_count_replies_by_llm(path: Path, store: Store) -> None:
    for number in range(3):
        store.put(key_of(number), LLM, REPLY)
    store.put(key_of(3), "gemini:half \ud800", REPLY)
    size = sum(file.stat().st_size for file in path.parent.iterdir())
    assert store.facts() == {
        "path": str(path), "size": size, "replies": 4, "llms": {LLM: 3, "gemini:half \\ud800": 1},
    }  # fmt: skip
    assert size > path.stat().st_size


def test_the_file_is_private_and_holds_neither_prompt_nor_address(path: Path) -> None:
    old = os.umask(0)
    try:
        store = Store.open(path)
        store.put(KEY, LLM, REPLY)
        store.note_form(IDENTITY, "", PromptForm.CHAT)
        files = sorted(path.parent.iterdir())
        assert [file.name for file in files] == [path.name + side for side in ("", "-shm", "-wal")]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        store.close()
    finally:
        os.umask(old)
    assert b"what?" not in path.read_bytes()
    assert b"127.0.0.1" not in path.read_bytes()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604], ids=oct)
def test_a_file_that_others_can_read_is_made_private(path: Path, mode: int) -> None:
    fill(path, 1)
    path.chmod(mode)
    with closing(Store.open(path)) as store:
        store.put(KEY, LLM, REPLY)
        assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


def test_without_a_path_it_stands_in_the_users_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    with closing(Store.open()) as store:
        assert store.path == tmp_path / "tabcontam" / "replies.sqlite"
        assert store.path.exists()


def test_no_store_keeps_nothing() -> None:
    none = Store()
    none.put(KEY, LLM, REPLY)
    none.note_form(IDENTITY, "", PromptForm.CHAT)
    assert none.get([KEY]) == {}
    assert none.form(IDENTITY, "") is None
    assert none.clear() == none.facts()["replies"] == 0
    none.close()


# --- clear ---


def test_clear_drops_all_and_shrinks_the_file(path: Path) -> None:
    keys = fill(path, 2000)
    with closing(Store.open(path)) as store:
        store.note_form(IDENTITY, "", PromptForm.CHAT)
        before = store.facts()["size"]
        assert store.clear() == 2000
        assert store.get(keys) == {}
        assert store.form(IDENTITY, "") is None
        assert store.facts()["size"] < before / 10
        assert store.clear() == 0


@pytest.mark.slow
def test_clear_leaves_another_runs_store_usable(path: Path, store: Store) -> None:
    fill(path, 500)
    assert len(store.get([key_of(1)])) == 1
    clearing = python("with closing(Store.open(path)) as store: print(store.clear())", path)
    assert finished(clearing) == ("500\n", "")
    assert store.get([key_of(1)]) == {}
    store.put(KEY, LLM, REPLY)
    with closing(Store.open(path)) as later:
        assert later.get([KEY]) == {KEY: REPLY}


def test_clear_makes_room_on_a_full_disk(path: Path, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    class Full(sqlite3.Connection):
        """A connection to a file that cannot grow."""

        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            if statement.startswith("DELETE"):
                super().execute("PRAGMA max_page_count = 1")
                super().execute("CREATE TABLE more (row)")
            return super().execute(statement, *values)

    keys = fill(path, 100)
    store.close()
    store._connection = sqlite3.connect(path, isolation_level=None, factory=Full)
    assert store.clear() == 100
    assert store.get(keys) == {}
    store.put(KEY, LLM, REPLY)
    assert store.get([KEY]) == {KEY: REPLY}
    assert store.facts()["replies"] == 1
    assert capsys.readouterr().err == ""


# --- several runs, and crashes ---


@pytest.mark.slow
def test_two_runs_write_and_read_at_once(path: Path) -> None:
    code = """
        own, other = int(arguments[0]), int(arguments[1])
        with closing(Store.open(path)) as store:
            for number in range(2000):
                store.put(key_of(own + number), LLM, REPLY)
                if number % 100 == 0:
                    store.get([key_of(other + each) for each in range(2000)])
    """
    writers = [python(code, path, 0, 10000), python(code, path, 10000, 0)]
    assert [finished(writer) for writer in writers] == [("", ""), ("", "")]
    with closing(Store.open(path)) as store:
        keys = [key_of(first + number) for first in (0, 10000) for number in range(2000)]
        assert store.get(keys) == dict.fromkeys(keys, REPLY)


@pytest.mark.slow
def test_a_file_that_several_processes_make_at_once_is_one(path: Path) -> None:
    moment = time.time() + 3  # by then all of them have imported
    code = """
        import time
        time.sleep(max(0, float(arguments[1]) - time.time()))
        with closing(Store.open(path)) as store:
            store.put(key_of(int(arguments[0])), LLM, REPLY)
    """
    makers = [python(code, path, number, moment) for number in range(6)]
    assert [finished(maker) for maker in makers] == [("", "")] * 6
    assert aside(path) == []
    with closing(Store.open(path)) as store:
        assert len(store.get(map(key_of, range(6)))) == 6


@pytest.mark.slow
def test_a_killed_run_leaves_every_reply_that_it_put(path: Path) -> None:
    code = """
        store = Store.open(path)
        for number in range(10**6):
            store.put(key_of(number), LLM, REPLY)
            print(number, flush=True)
    """
    writer = python(code, path)
    assert writer.stdout is not None
    for _ in range(300):
        last = int(writer.stdout.readline())
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    with closing(Store.open(path)) as store, closing(sqlite3.connect(path)) as file:
        assert len(store.get(map(key_of, range(last + 1)))) == last + 1
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert aside(path) == []


# --- a damaged file ---


def test_garbage_is_set_aside_and_a_new_file_begun(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    garbage = random.Random(0).randbytes(9000)
    path.write_bytes(garbage)
    with closing(Store.open(path)) as store:
        store.put(KEY, LLM, REPLY)
        assert store.get([KEY]) == {KEY: REPLY}
    (name,) = aside(path)
    assert (path.parent / name).read_bytes() == garbage
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert name in message


def test_a_foreign_file_is_set_aside(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE replies (other)")
        file.execute("PRAGMA user_version = 1")
    with closing(Store.open(path)) as store:
        store.put(KEY, LLM, REPLY)
        assert store.get([KEY]) == {KEY: REPLY}
    assert len(aside(path)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("length", [1, 50, 1000, 5000, 100_000])
def test_a_truncated_file_never_stops_a_run(path: Path, length: int, capsys: pytest.CaptureFixture[str]) -> None:
    keys = fill(path, 1000)
    os.truncate(path, length)
    with closing(Store.open(path)) as store:
        known = store.get(keys)
        for each in keys:
            store.put(each, LLM, REPLY)
        assert len(known) < 1000
        assert store.get(keys) == dict.fromkeys(keys, REPLY)
    assert capsys.readouterr().err.count("\n") == len(aside(path)) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("read", [True, False], ids=["read", "written"])
def test_a_page_damaged_in_the_middle_is_found_later(
    path: Path, read: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = fill(path, 2000)
    with path.open("r+b") as file:  # but for the first page, which an opening reads, and the tables' roots
        for page in range(8, path.stat().st_size // 4096):
            file.seek(page * 4096)
            file.write(b"\xff" * 100)
    with closing(Store.open(path)) as store:
        assert capsys.readouterr().err == ""
        if read:
            store.get(keys)
        for each in keys:
            store.put(each, LLM, REPLY)
        assert store.get(keys) == dict.fromkeys(keys, REPLY)
    assert capsys.readouterr().err.count("\n") == 1
    assert len(aside(path)) == 1


@pytest.mark.parametrize(
    "column", ["reply = 'no JSON'", "reply = 7", "reply = x'ff'", "checksum = checksum + 1", "checksum = 'none'"]
)
def test_a_row_that_does_not_read_is_as_if_absent(path: Path, column: str, capsys: pytest.CaptureFixture[str]) -> None:
    fill(path, 2)
    with closing(sqlite3.connect(path)) as file:
        file.execute(f"UPDATE replies SET {column} WHERE key = ?", [bytes.fromhex(KEY)])
        file.commit()
    with closing(Store.open(path)) as store:
        assert set(store.get([KEY, key_of(1)])) == {key_of(1)}
        store.put(KEY, LLM, REPLY)
        assert store.get([KEY]) == {KEY: REPLY}
    assert capsys.readouterr().err == ""


def test_a_row_with_a_right_checksum_and_other_json_is_as_if_absent(path: Path) -> None:
    fill(path, 1)
    for text in ("[]", '{"text": "x"}', json.dumps({"text": "", "state": "new", "detail": ""}), "[" * 5000):
        row = (text, zlib.crc32(bytes.fromhex(KEY) + text.encode()))
        with closing(sqlite3.connect(path)) as file:
            file.execute("UPDATE replies SET reply = ?, checksum = ?", row)
            file.commit()
        with closing(Store.open(path)) as store:
            assert store.get([KEY]) == {}


@pytest.mark.parametrize(
    "tampered",
    [
        "CREATE TRIGGER forget AFTER INSERT ON replies BEGIN DELETE FROM replies; END",
        "CREATE TRIGGER wait AFTER INSERT ON replies BEGIN SELECT count(*) FROM (WITH RECURSIVE c(x) AS "
        "(SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000000000) SELECT x FROM c); END",
        "CREATE VIEW more AS SELECT * FROM replies",
        "CREATE TABLE more (key BLOB)",
    ],
)
def test_a_store_that_holds_more_than_it_should_is_set_aside(
    path: Path, capsys: pytest.CaptureFixture[str], tampered: str
) -> None:
    with closing(Store.open(path)) as store:
        store.put(KEY, LLM, REPLY)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(tampered)
    with closing(Store.open(path)) as store:
        store.put(OTHER, LLM, REPLY)
        assert set(store.get([KEY, OTHER])) == {OTHER}
    assert "are damaged: the file is now" in capsys.readouterr().err


def test_a_reply_that_would_fill_the_memory_is_as_if_absent(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(Store.open(path)) as store:
        store.put(KEY, LLM, REPLY)
        store.put(OTHER, LLM, Reply("x" * 100_000, ReplyState.OK))
    monkeypatch.setattr(reply_store, "LONGEST", 10_000)
    with closing(Store.open(path)) as store:
        assert set(store.get([KEY, OTHER])) == {KEY}
    assert not capsys.readouterr().err


def test_two_runs_that_find_the_damage_set_aside_one_file(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_bytes(b"garbage" * 1000)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: Store.open(path).close(), range(4)))
    assert len(aside(path)) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_run_that_finds_the_damage_too_late_leaves_the_new_file(path: Path, store: Store) -> None:
    with closing(Store.open(path)) as quicker:
        quicker._begin(quicker._set_aside)
        quicker.put(KEY, LLM, REPLY)
        store._begin(store._set_aside)  # it found the old file damaged
        assert store.get([KEY]) == {KEY: REPLY}
    assert len([name for name in aside(path) if name.endswith(".sqlite")]) == 1


@pytest.mark.slow
def test_a_run_whose_file_was_set_aside_goes_over_to_the_new_one(path: Path, store: Store) -> None:
    fill(path, 10)
    other = python(
        "import tabcontam.asking.reply_store; store = Store.open(path); store._set_aside(); store._begin()", path
    )
    assert "are damaged" in finished(other)[1]
    name, *sides = aside(path)
    assert sides == [name + side for side in sorted(SIDE_FILES)]
    store.put(KEY, LLM, REPLY)
    with closing(Store.open(path)) as later:
        assert later.get([KEY, key_of(1)]) == {KEY: REPLY}


def test_a_deleted_file_is_made_anew(path: Path, store: Store) -> None:
    store.put(KEY, LLM, REPLY)
    path.unlink()
    assert store.get([KEY]) == {}
    store.put(KEY, LLM, REPLY)
    with closing(Store.open(path)) as later:
        assert later.get([KEY]) == {KEY: REPLY}


# --- where it cannot be used ---


def check_off(store: Store, capsys: pytest.CaptureFixture[str], reason: str) -> None:
    """The store gives nothing, and has said so once."""
    with closing(store):
        for _ in range(3):
            store.put(KEY, LLM, REPLY)
            store.note_form(IDENTITY, "", PromptForm.CHAT)
            assert store.get([KEY]) == {}
            assert store.form(IDENTITY, "") is None
        assert store.clear() == 0
        assert store.facts() == {"path": str(store.path), "size": 0, "replies": 0, "llms": {}}
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert reason in message


def test_a_newer_file_is_left_alone(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(path, 1)
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    check_off(Store.open(path), capsys, "schema 99")
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    check_off(Store.open(tmp_path / "file" / "replies.sqlite"), capsys, "File exists")


def test_a_folder_in_its_place_is_one_line_and_stays_as_it_is(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.mkdir(mode=0o755)
    check_off(Store.open(path), capsys, "unable to open")
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder in which the user of this test may not write."""
    if os.name == "nt":
        pytest.skip("Windows folders have no such mode")
    with tempfile.TemporaryDirectory() as name:
        folder, root = Path(name), os.geteuid() == 0
        yield folder
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


def deprive(folder: Path) -> None:
    folder.chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(65534)


def test_a_read_only_folder_is_one_line(unprivileged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deprive(unprivileged)
    check_off(Store.open(unprivileged / "replies.sqlite"), capsys, "Permission denied")


def test_a_read_only_file_is_one_line(unprivileged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = unprivileged / "replies.sqlite"
    fill(path, 1)
    path.chmod(0o400)
    deprive(unprivileged)
    check_off(Store.open(path), capsys, "replies are not stored")


def test_damage_that_cannot_be_set_aside_is_one_line(unprivileged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = unprivileged / "replies.sqlite"
    path.write_bytes(b"garbage" * 1000)
    path.chmod(0o666)
    deprive(unprivileged)
    check_off(Store.open(path), capsys, "replies are not stored")


def test_a_full_disk_is_one_line_and_leaves_the_file_whole(
    path: Path, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    store.put(KEY, LLM, REPLY)
    assert store._connection is not None
    store._connection.execute("PRAGMA max_page_count = 6")
    for number in range(1, 100):
        store.put(key_of(number), LLM, Reply("x" * 1000, ReplyState.OK))
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "disk is full" in message
    with closing(Store.open(path)) as later:
        assert later.get([KEY]) == {KEY: REPLY}


def test_a_lock_that_does_not_end_is_one_line(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply_store, "BUSY_SECONDS", 0.1)
    with closing(Store.open(path)) as store, closing(sqlite3.connect(path)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        for number in range(3):
            store.put(key_of(number), LLM, REPLY)
        message = capsys.readouterr().err
        assert message.count("\n") == 1
        assert "locked" in message


def test_a_folder_that_is_held_for_ever_is_one_line(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fcntl")
    monkeypatch.setattr(reply_file, "BUSY_SECONDS", 0.1)
    with reply_file.lock_store_folder(path.parent):
        check_off(Store.open(path), capsys, "another run holds it")


def test_a_user_without_a_home_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(reply_store, "cache_folder", nowhere)
    check_off(Store.open(), capsys, "home directory")


def test_how_likely_endings_are_is_kept_under_all_of_them(tmp_path: Path) -> None:
    asked = (Endings("a ", ("b", "c")), Endings("a ", ("c", "b")), Endings("", ("a b", "a c")), Passage("a "))
    keys = [key(IDENTITY, "", PromptForm.CHAT, question, 0) for question in asked]
    assert len(set(keys)) == len(asked)
    answer = Likelihoods((-1.25, -3.5), ReplyState.OK, usage=Usage(4, 0))
    with closing(Store.open(tmp_path / "replies.sqlite")) as store:
        store.put(keys[0], LLM, answer)
        assert store.get(keys) == {keys[0]: answer}
