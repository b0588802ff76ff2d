"""The index of a corpus: what it finds, that it is kept, goes on where it was interrupted, and notices damage."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.extensions.corpora.search import index_shards
from tabcontam.extensions.corpora.search.corpus_files import corpus_files
from tabcontam.extensions.corpora.search.corpus_index import CorpusIndex, index_folder
from tests.extensions.corpora.search.conftest import Read

SOUGHT = [
    b"a",
    b"ab",
    b"abba",
    b"\xc3\xa4b",
    b"b" * 9,
    b"aaaaaaaa",
    b"cc, dd",
    b"abab abab abab abab",
    b"z",
    b"\n",
    b"\xc3",
]


def filled(corpus: Path, seed: int = 0) -> str:
    """A corpus of plain text, JSON lines and a compressed file, whose texts have few letters."""
    rng = Random(seed)

    def text(length: int) -> str:
        return "".join(rng.choices(["a", "b", "ä", "aaaaaaaaa", "bbbbbbbbb", "abab ", "cc, dd"], k=length))

    (corpus / "plain.txt").write_text(text(3000), "utf-8")
    (corpus / "lines.jsonl").write_text(
        "\n".join(json.dumps({"t": text(rng.randrange(30))}) for _ in range(200)), "utf-8"
    )
    (corpus / "packed.txt.gz").write_bytes(gzip.compress(text(2000).encode()))
    (corpus / "latin.txt").write_bytes(b"a\xe4b")
    return "."


def everywhere(typed: str, text: bytes) -> list[tuple[str, int]]:
    """Where a text stands, found by reading: the document, and the byte in it."""
    documents = Read(typed, overlap=40).texts.items()
    pattern = re.compile(b"(?=%s)" % re.escape(text))
    return [(source, found.start()) for source, held in documents for found in pattern.finditer(held)]


def in_index(index: CorpusIndex, text: bytes) -> list[tuple[str, int]]:
    """Where a text stands by the index, each place once: the document, and the byte in it."""
    found = []
    for shard in index.shards:
        for position in shard.places(text):
            source, begin, _, offset = index.document(shard, position)
            if position + len(text) > shard.shared:  # else also in the shard before
                found.append((source, offset + position - begin))
    return found


@pytest.fixture(params=[1 << 27, 3000])
def shard(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """A size of shards, with stretches that are smaller."""
    monkeypatch.setattr("tabcontam.extensions.corpora.search.documents.STRETCH", 400)
    monkeypatch.setattr(
        "tabcontam.extensions.corpora.search.corpus_index.read", lambda portion, tally: _read(portion, 40, tally)
    )
    return int(request.param)


def _read(*given: Any) -> Iterator[Any]:
    from tabcontam.extensions.corpora.search.portions import read

    return read(*given)


@pytest.mark.slow
def test_all_places_are_found_and_counted(corpus: Path, shard: int) -> None:
    files = corpus_files(filled(corpus))
    index = CorpusIndex.build(files, shard=shard // 2)
    places = {text: everywhere(".", text) for text in SOUGHT}
    assert len(places[b"a"]) > 5000
    assert not places[b"z"]
    assert places[b"abab abab abab abab"]
    assert (len(index.shards) > 1) == (shard < 10_000)
    assert index.count(SOUGHT) == {text: len(found) for text, found in places.items()}
    for text in SOUGHT:
        assert sorted(in_index(index, text)) == sorted(places[text]), text
    assert index.tally.sentence() == Read(".", overlap=40).tally.sentence() != ""


def test_a_document_is_not_searched_into_the_next(corpus: Path) -> None:
    (corpus / "a.jsonl").write_text('"one"\n"two"\n""\n"\\u0000"\n', "utf-8")
    index = CorpusIndex.build(corpus_files("a.jsonl"))
    assert index.count([b"onetwo", b"one", b"o\0", b"\0"]) == {b"onetwo": 0, b"one": 1, b"o\0": 0, b"\0": 1}
    assert in_index(index, b"two") == [("a.jsonl@6", 0)]
    assert index.count([]) == {}


def test_an_index_is_kept_under_the_content(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = corpus_files(filled(corpus))
    assert CorpusIndex.open(files) is None
    built = CorpusIndex.build(files)
    monkeypatch.setattr(index_shards.ShardBuilder, "write", None)  # nothing is built again
    assert CorpusIndex.build(files).folder == built.folder
    moved = corpus.parent / "moved"
    corpus.rename(moved)
    found = CorpusIndex.open(corpus_files(str(moved)))
    assert found is not None
    assert in_index(found, b"\xc3\xa4")[0][0].startswith(str(moved))
    (moved / "plain.txt").write_text("other", "utf-8")
    assert CorpusIndex.open(corpus_files(str(moved))) is None


def test_an_interrupted_build_goes_on_behind_its_last_shard(
    corpus: Path, shard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = corpus_files(filled(corpus))
    whole = CorpusIndex.build(files, shard=shard)
    counts, tally = whole.count(SOUGHT), whole.tally
    number = len(whole.shards)
    for path in sorted(whole.folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    written, write = [0], index_shards._write

    def interrupted(path: Path, *contents: Any) -> None:
        written[0] += 1
        if written[0] % 6 == 0:  # in the middle of a shard, which has four files
            raise KeyboardInterrupt
        write(path, *contents)

    monkeypatch.setattr(index_shards, "_write", interrupted)
    interruptions = 0
    while interruptions < 1000:
        try:
            again = CorpusIndex.build(files, shard=shard)
            break
        except KeyboardInterrupt:
            interruptions += 1
            assert not list(whole.folder.glob(".shard-*"))
            assert CorpusIndex.open(files) is None
    assert (interruptions > 0) == (number > 1)
    assert len(again.shards) == number
    assert again.count(SOUGHT) == counts
    assert again.tally == tally
    assert written[0] <= 4 * number + 6 * interruptions


@pytest.mark.slow
@pytest.mark.parametrize("name", [*index_shards.FILES, index_shards.HEADER])
def test_a_damaged_index_is_told_and_built_anew(corpus: Path, name: str) -> None:
    files = corpus_files(filled(corpus))
    built = CorpusIndex.build(files, shard=2000)
    counts = built.count(SOUGHT)
    path = built.folder / "shard-00001" / name
    path.write_bytes(path.read_bytes()[:-3])
    told: list[str] = []
    assert CorpusIndex.open(files, told.append) is None
    assert told == [
        f"the index in {built.folder} is damaged (its files have changed since they were written); it is built again"
    ]
    assert CorpusIndex.build(files, shard=2000).count(SOUGHT) == counts


def test_a_changed_byte_never_makes_a_find(corpus: Path) -> None:
    files = corpus_files(filled(corpus))
    built = CorpusIndex.build(files)
    path = built.folder / "shard-00000" / "suffixes"
    content = bytearray(path.read_bytes())
    content[2::4] = b"\xff" * (len(content) // 4)
    path.write_bytes(content)
    opened = CorpusIndex.open(files)
    assert opened is not None
    with pytest.raises(UsageError, match="is damaged; delete this folder, and the index is built again"):
        opened.count([b"ab"])


def test_two_processes_do_not_build_one_index(corpus: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    files = corpus_files(filled(corpus))
    folder = index_folder(files)
    folder.mkdir(parents=True)
    with (folder / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="another process is building the index in"):
            CorpusIndex.build(files)


def test_a_full_disk_is_one_line_and_leaves_nothing_half_written(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = corpus_files(filled(corpus))
    monkeypatch.setattr("shutil.disk_usage", lambda path: _Usage)
    with pytest.raises(UsageError, match="make room, or set XDG_CACHE_HOME to a folder on another disk"):
        CorpusIndex.build(files)
    assert sorted(path.name for path in index_folder(files).iterdir()) == ["lock"]


class _Usage:
    free = 100


def test_an_empty_corpus_has_an_index(corpus: Path) -> None:
    (corpus / "a.txt").touch()
    index = CorpusIndex.build(corpus_files("a.txt"))
    assert (index.count([b"a"]), index.shards, index.size) == ({b"a": 0}, (), 0)
