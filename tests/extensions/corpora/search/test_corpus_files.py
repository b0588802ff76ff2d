"""Which files a corpus has, and that nothing outside the named paths is opened."""

import os
import socket
from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.extensions.corpora.search.corpus_files import corpus_files
from tests.extensions.corpora.search.conftest import Read


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_a_folder_is_read_however_deep_and_files_are_named_as_typed(corpus: Path) -> None:
    for name in ("b.txt", "a/c.txt", "a/.hidden", ".git/packed"):
        write(corpus / "dump" / name)
    found = corpus_files("dump")
    assert found.names == ("dump/a/.hidden", "dump/a/c.txt", "dump/b.txt")
    assert found.files == tuple(corpus / name for name in found.names)
    assert found.skipped == (("dump/.git", "a folder of version control"),)


def test_files_patterns_several_paths_and_fields(corpus: Path) -> None:
    for name in ("b.txt", "a/c.txt", "a/b/d.txt", "e.csv", "with#sign.txt"):
        write(corpus / name)
    assert corpus_files("b.txt").names == ("b.txt",)
    assert corpus_files("**/*.txt").names == ("a/b/d.txt", "a/c.txt", "b.txt", "with#sign.txt")
    assert corpus_files("*.csv").names == ("e.csv",)
    both = corpus_files(os.pathsep.join(["a", "e.csv", "a/c.txt"]) + "#text+messages.content")
    assert both.names == ("a/b/d.txt", "a/c.txt", "e.csv")
    assert both.fields == ("text", "messages.content")
    assert corpus_files("with#sign.txt").fields == ()


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("nowhere.txt", "there is no file or folder nowhere.txt; check the path of the corpus"),
        ("*.parquet", "no file matches *.parquet; check the pattern, or name the folder"),
        ("", "corpus: names no file; write corpus:PATH, a file, a folder or a pattern such as 'dumps/*.gz'"),
        ("a.txt#", "corpus:a.txt# names no field after #; write corpus:PATH#FIELD or corpus:PATH#FIELD+FIELD"),
        ("empty", "corpus:empty holds no readable file; name a file or a folder with files"),
    ],
)
def test_what_is_not_there_is_one_line(corpus: Path, typed: str, message: str) -> None:
    write(corpus / "a.txt")
    (corpus / "empty").mkdir()
    with pytest.raises(UsageError) as error:
        corpus_files(typed)
    assert str(error.value) == message


def test_no_link_in_a_folder_is_followed(corpus: Path, tmp_path: Path) -> None:
    secret = write(tmp_path / "outside" / "secret.txt", "secret")
    write(corpus / "in" / "a.txt", "inside")
    for link, target in {"out.txt": secret, "folder": secret.parent, "loop": corpus / "in", "gone": Path("x")}.items():
        (corpus / "in" / link).symlink_to(target)
    found = Read("in")
    assert found.texts == {"in/a.txt": b"inside"}
    assert dict(found.files.skipped) == {
        "in/out.txt": "a link that leads out of the named folder",
        "in/folder": "a link that leads out of the named folder",
        "in/loop": "a link to another part of the named folder",
        "in/gone": "a link that leads nowhere",
    }
    assert Read("**/*.txt").texts == {"in/a.txt": b"inside"}
    assert Read("in/*/*.txt:in/a.txt").texts == {"in/a.txt": b"inside"}  # behind a link that a pattern matches
    with pytest.raises(UsageError, match=r"in/out\.txt is a link that leads out of the named folder"):
        corpus_files("in/o*.txt")
    (corpus / "link").symlink_to(secret)
    assert Read("link").texts == {"link": b"secret"}  # the user wrote it


def test_a_link_put_in_place_of_a_file_is_not_followed(corpus: Path, tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.txt", "secret")
    write(corpus / "a.txt")
    found = corpus_files("a.txt")
    (corpus / "a.txt").unlink()
    (corpus / "a.txt").symlink_to(secret)
    assert found.files == (corpus / "a.txt",)
    from tabcontam.extensions.corpora.search.portions import portions, read
    from tabcontam.extensions.corpora.search.tally import Tally

    tally = Tally()
    assert [part for portion in portions(found) for part in read(portion, tally=tally)] == []
    assert tally.sentence() == "files that could not be read completely: 1 (a.txt)"


def test_pipes_and_sockets_are_never_opened(corpus: Path) -> None:
    write(corpus / "in" / "a.txt")
    os.mkfifo(corpus / "in" / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("in/socket")
        found = corpus_files("in")
    assert dict(found.skipped) == {"in/pipe": "a pipe", "in/socket": "a socket"}
    with pytest.raises(UsageError, match=r"in/pipe is a pipe; name a file"):
        corpus_files("in/pipe")
    with pytest.raises(UsageError, match=r"/dev/null is a device; name a file"):
        corpus_files("/dev/null")


def test_a_pattern_lists_no_folder_behind_a_link(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "outside" / "secret.txt")
    write(corpus / "a" / "b" / "c.txt")
    (corpus / "a" / "out").symlink_to(tmp_path / "outside")
    (corpus / "a" / "loop").symlink_to(corpus)
    listed: list[Path] = []
    scan = os.scandir

    def told(folder: Path) -> object:
        listed.append(folder)
        return scan(folder)

    monkeypatch.setattr(os, "scandir", told)
    for pattern in ("**/*.txt", "a/**/*.txt", "*/*/*.txt", "**", "a/[bo]*"):
        assert corpus_files(pattern).names == ("a/b/c.txt",), pattern
    assert {path.resolve() for path in listed} == set(listed) <= {corpus, corpus / "a", corpus / "a" / "b"}
