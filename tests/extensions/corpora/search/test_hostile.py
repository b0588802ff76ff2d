"""Corpora that are broken, huge or made to harm: told, skipped, counted; and what is sound in them is read."""

import gzip
import io
import json
import os
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from tabcontam.extensions.corpora.search.corpus_files import corpus_files
from tabcontam.extensions.corpora.search.portions import portions, read
from tabcontam.extensions.corpora.search.tally import Reason, Tally
from tests.extensions.corpora.search.conftest import Read


def test_broken_lines_are_read_as_they_stand_and_counted(corpus: Path) -> None:
    lines = [
        b'{"a": "x"}',
        b'{"a": "y"',
        b"",
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'"\\ud800"',
        b'{"a": ' + b"9" * 5000 + b"}",
    ]
    (corpus / "a.jsonl").write_bytes(b"\n".join(lines))
    found = Read("a.jsonl")
    assert list(found.texts.values()) == [b"x", lines[1], b"??{}", lines[4], b"?", b"9" * 5000]
    assert found.tally.counts == {Reason.NO_JSON: 3, Reason.NOT_UTF8: 3}
    assert found.tally.documents == 6
    named = Read("a.jsonl#a")
    assert list(named.texts.values()) == [b"x", b"9" * 5000]
    assert named.tally.count(Reason.NO_JSON_SKIPPED) == 3


def test_bytes_that_are_not_utf8_keep_every_offset(corpus: Path) -> None:
    (corpus / "latin.txt").write_bytes("süß, 5.1".encode("latin-1"))
    (corpus / "sixteen.txt").write_bytes("süß, 5.1".encode("utf-16"))
    found = Read(".")
    assert found.texts == {"./latin.txt": b"s??, 5.1", "./sixteen.txt": "süß, 5.1".encode()}
    assert found.tally.counts == {Reason.NOT_UTF8: 2}


@pytest.mark.parametrize("split", [500, 10**9])
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.json"])
def test_a_record_above_the_limit_is_read_as_it_stands(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, name: str, split: int
) -> None:
    monkeypatch.setattr("tabcontam.extensions.corpora.search.json_values.CHUNK", 100)
    long = "".join(f"{number} " for number in range(1000))
    lines = ["1", json.dumps(long), "2"]
    content = "\n".join(lines).encode()
    (corpus / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    found = Read(name, split, overlap=10, largest=1000)
    texts = list(found.texts.values())
    assert texts[0] == b"1"
    assert lines[1].encode() in texts[1]
    assert (texts[2:] or [texts[1][-1:]]) == [b"2"]
    assert found.tally.counts == {Reason.TOO_LARGE: 1}
    if name != "a.json":
        assert list(Read(f"{name}#x", split, largest=1000).texts) == []


def test_a_long_line_and_a_bomb_stay_within_bounds(corpus: Path) -> None:
    with gzip.open(corpus / "bomb.jsonl.gz", "wb", 1) as file:
        file.write(b'{"a": "')
        for _ in range(60):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n{"a": "y"}')
    tally, size, last = Tally(), 0, b""
    tracemalloc.start()
    for portion in portions(corpus_files("bomb.jsonl.gz")):
        for part in read(portion, tally=tally, largest=1 << 20):
            size, last = size + len(part.text), part.text
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 60 << 20
    assert last == b"y"
    assert tally.counts == {Reason.TOO_LARGE: 1}
    assert peak < 50 << 20


def test_archives_and_binary_files_are_told(corpus: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("a.txt", "text")
    tape = io.BytesIO()
    with tarfile.open(fileobj=tape, mode="w") as packed:
        packed.addfile(tarfile.TarInfo("a.txt"))
    contents = {
        "a.zip": archive.getvalue(), "b.tar": tape.getvalue(), "c.tar.gz": gzip.compress(tape.getvalue()),
        "d.zip.gz": gzip.compress(archive.getvalue()), "e.gz.gz": gzip.compress(gzip.compress(b"text")),
        "f.bin": b"\x7fELF\0", "g.txt": b"", "h.gz": gzip.compress(b""), "i.gz": b"\x1f\x8b\x08 no gzip at all",
        "j.txt.gz": gzip.compress(os.urandom(3000).hex().encode())[:-1000], "k.parquet": b"PAR1 and no more",
        "l.jsonl.gz": b'{"a": "not compressed"}\n',
    }  # fmt: skip
    for name, content in contents.items():
        (corpus / name).write_bytes(content)
    found = Read(".")
    assert found.tally.counts == {
        Reason.ARCHIVE: 2, Reason.NESTED: 3, Reason.BINARY: 1, Reason.EMPTY: 2, Reason.DAMAGED: 3
    }  # fmt: skip
    assert found.texts["./l.jsonl.gz@0"] == b"not compressed"
    assert len(found.texts["./j.txt.gz"]) > 1000  # what stands before the damage
    assert set(found.tally.by_reason[Reason.DAMAGED]) == {"./i.gz", "./j.txt.gz", "./k.parquet"}


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.txt.gz"])
def test_a_file_that_grows_or_shrinks_meanwhile_is_told(corpus: Path, name: str) -> None:
    content = gzip.compress(b"one\ntwo\n") if name.endswith("gz") else b"one\ntwo\n"
    for after in (content + b"three\n", content[:5], b""):
        (corpus / name).write_bytes(content)
        [portion] = portions(corpus_files(name))
        (corpus / name).write_bytes(after)
        tally = Tally()
        text = b"".join(part.text for part in read(portion, tally=tally))
        assert b"three" not in text
        assert tally.count(Reason.CHANGED) == 1


def test_a_file_that_goes_or_may_not_be_read_is_told(corpus: Path) -> None:
    (corpus / "a.txt").write_bytes(b"one")
    [portion] = portions(files := corpus_files("a.txt"))
    (corpus / "a.txt").unlink()
    tally = Tally()
    assert list(read(portion, tally=tally)) == []
    assert [list(read(gone, tally=tally)) for gone in portions(files)] == [[]]
    assert tally.counts == {Reason.UNREADABLE: 1}


def test_a_damaged_warc_goes_on_at_the_next_record(corpus: Path) -> None:
    record = b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: %s\r\n\r\n%s\r\n\r\n"
    parts = [record % (b"3", b"one"), b"rubbish\r\nmore\r\n", record % (b"x", b"lost"), record % (b"99999", b"cut")]
    (corpus / "a.wet").write_bytes(b"".join(parts))
    found = Read("a.wet")
    assert list(found.texts.values()) == [b"one", b"cut\r\n\r\n"]
    assert found.tally.count(Reason.BROKEN_WARC) >= 3


def test_a_quote_that_is_never_closed_swallows_nothing(corpus: Path) -> None:
    rows = [b'1,"open', *(b"%d,x" % number for number in range(2, 300))]
    (corpus / "a.csv").write_bytes(b"\n".join(rows))
    for largest in (100, 10**6):
        assert list(Read("a.csv", largest=largest).texts.values()) == rows
