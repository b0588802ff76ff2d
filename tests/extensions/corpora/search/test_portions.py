"""What is read of each kind of file, and that portions lose nothing on their borders."""

import bz2
import csv
import gzip
import json
import lzma
import re
import sys
from collections.abc import Callable
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import given
from hypothesis.strategies import booleans, lists, text

from tabcontam.errors import UsageError
from tabcontam.extensions.corpora.search import csv_records
from tabcontam.extensions.corpora.search.corpus_files import corpus_files
from tabcontam.extensions.corpora.search.portions import portions
from tests.extensions.corpora.search.conftest import Read

RECORDS = [
    {"instruction": "Say", "input": "", "output": {"said": [1, 5.10, None, True]}},
    {"messages": [{"role": "user", "content": "a\nb"}, {"role": "assistant", "content": "ü"}]},
]
TEXTS = [b"Say\n\n1\n5.10\n\ntrue", "user\na\nb\nassistant\nü".encode()]
LINES = "\n".join(json.dumps(record) for record in RECORDS).replace("5.1", "5.10") + "\n"
COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd.compress,
}


@pytest.mark.parametrize("ending", COMPRESSED)
def test_json_lines_are_read_value_by_value(corpus: Path, ending: str) -> None:
    half = LINES.index("\n") - 3
    compress = COMPRESSED[ending]  # two members, as tools that work in parallel write them
    members = compress(LINES[:half].encode()) + compress(LINES[half:].encode())
    (corpus / f"a.jsonl{ending}").write_bytes(members)
    names = (
        [f"a.jsonl{ending}#1", f"a.jsonl{ending}#2"] if ending else ["a.jsonl@0", f"a.jsonl@{LINES.index(chr(10)) + 1}"]
    )
    assert Read(f"a.jsonl{ending}").texts == dict(zip(names, TEXTS, strict=True))


def test_arrays_values_and_notebooks_are_read_as_they_stream(corpus: Path) -> None:
    (corpus / "array.json").write_text(json.dumps(RECORDS, indent=2).replace("5.1", "5.10"), "utf-8")
    (corpus / "values.json").write_text("\n".join(json.dumps(record, indent=2) for record in RECORDS), "utf-8")
    (corpus / "n.ipynb").write_text(json.dumps({"cells": [{"source": ["a,b\n", "1,2"]}]}, indent=1), "utf-8")
    (corpus / "lines.json").write_text(LINES, "utf-8")
    texts = Read(".").texts
    assert [texts["./array.json#1"], texts["./array.json#2"]] == TEXTS
    assert [texts["./values.json#1"], texts["./values.json#2"]] == [TEXTS[0].replace(b"5.10", b"5.1"), TEXTS[1]]
    assert texts["./n.ipynb#1"] == b"a,b\n\n1,2"
    assert texts["./lines.json@0"] == TEXTS[0]


def test_named_fields_alone_are_read(corpus: Path) -> None:
    (corpus / "a.jsonl").write_text(LINES, "utf-8")
    (corpus / "a.csv").write_text('id,output\n1,"x, ""y"""\n2,z\n', "utf-8")
    found = Read("a.*#output+messages.content")
    assert list(found.texts.values()) == [b'x, "y"', b"z", b"1\n5.10\n\ntrue", "a\nb\nü".encode()]
    missing = Read("a.jsonl#text")
    assert missing.texts == {}
    assert missing.tally.sentence() == "records without the named fields, not read: 2 (a.jsonl)"


def test_a_quoted_line_break_belongs_to_its_record(corpus: Path) -> None:
    text = b'a,b\r\n1,"x\ny, ""q"""\r\n2,"z"\n\n3,5" pipe\n'
    (corpus / "a.csv").write_bytes(text)
    (corpus / "a.tsv").write_bytes(b'a\tb\n1\t"x\n2\ty\n')
    found = Read("a.csv").texts
    assert list(found.values()) == [b"a,b", b'1,x\ny, "q"', b"2,z", b'3,5" pipe']
    assert [text[int(source.partition("@")[2]) :][:1] for source in found] == [b"a", b"1", b"2", b"3"]
    assert list(Read("a.tsv").texts.values()) == [b"a\tb", b'1\t"x', b"2\ty"]


@given(cells=lists(text(alphabet='ab ",\n', max_size=6), min_size=2, max_size=4), around=booleans())
def test_quotes_around_cells_are_taken_off(cells: list[str], around: bool) -> None:
    written = StringIO()
    csv.writer(written, lineterminator="", quoting=csv.QUOTE_ALL if around else csv.QUOTE_MINIMAL).writerow(cells)
    assert csv_records._without_quotes(written.getvalue().encode()) == ",".join(cells).encode()


def test_parquet_is_read_row_by_row(corpus: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    flat = {"text": ["a\nb", None, "ü"] * 5, "n": [1, 2, 3] * 5, "x": [5.0, 5.25, None] * 5, "picture": [b"\0"] * 15}
    parquet.write_table(pyarrow.table(flat), corpus / "flat.parquet", row_group_size=4)
    nested = {"messages": [[{"role": "user", "content": "q"}], None], "n": [1, 2]}
    parquet.write_table(pyarrow.table(nested), corpus / "nested.parquet")
    found = Read("flat.parquet", split=1)
    assert len(found.portions) == 4
    assert list(found.texts.values()) == [b"a\nb\n1\n5.0", b"\n2\n5.25", "ü\n3\n".encode()] * 5
    assert list(found.texts)[-1] == "flat.parquet#15"
    assert found.tally.sentence() == "columns that hold bytes and no text, not read: 1 (flat.parquet)"
    assert list(Read("nested.parquet").texts.values()) == [b"user\nq\n1", b"\n2"]
    assert list(Read("nested.parquet#messages.content").texts.values()) == [b"q", b""]


def record(kind: str, text: bytes) -> bytes:
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Length: {len(text)}\r\n\r\n"
    return gzip.compress(head.encode() + text + b"\r\n\r\n")


def test_the_text_form_of_warc(corpus: Path) -> None:
    pages = [("warcinfo", b"about"), ("conversion", b"one\nWARC/1.0"), ("response", b"<p>"), ("conversion", b"two")]
    (corpus / "a.warc.wet.gz").write_bytes(b"".join(record(*page) for page in pages))
    found = Read("a.warc.wet.gz")
    assert found.texts == {"a.warc.wet.gz#1": b"one\nWARC/1.0", "a.warc.wet.gz#2": b"two"}
    assert found.tally.sentence() == "WARC records that are not of the text form (WET), not read: 1 (a.warc.wet.gz)"


@pytest.mark.parametrize("split", [7, 64, 100_000])
@pytest.mark.parametrize("overlap", [0, 16, 300])
def test_portions_of_plain_text_lose_nothing(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, split: int, overlap: int
) -> None:
    monkeypatch.setattr("tabcontam.extensions.corpora.search.documents.STRETCH", 1000)
    text = "".join(f"{number} é ü 漢字 😀\n" for number in range(300)).encode()
    (corpus / "a.md").write_bytes(text)
    (corpus / "a.md.gz").write_bytes(gzip.compress(text))
    found = Read("a.md", split, overlap)
    assert found.texts == {"a.md": text}
    assert all(part.text.decode() and len(part.text) <= 1000 for part in found.parts)
    assert (found.tally.documents, found.tally.sentence()) == (1, "")
    ends = [(part.start, part.start + len(part.text)) for part in found.parts]
    assert all(start <= max(0, before - overlap) for (_, before), (start, _) in pairwise(ends))
    assert Read("a.md.gz", split, overlap).texts == {"a.md.gz": text}


@pytest.mark.parametrize("split", [10, 33, 1000])
def test_portions_of_lines_lose_nothing(corpus: Path, split: int) -> None:
    lines = [json.dumps({"text": f"{number} " + "é" * (number % 40)}) for number in range(200)]
    (corpus / "a.jsonl").write_text("\n".join(lines), "utf-8")
    rows = [f'{number},"a\n""{"x" * (number % 30)}"' if number % 3 else f"{number},b" for number in range(200)]
    (corpus / "a.csv").write_text("\n".join(rows) + "\n", "utf-8")
    for name in ("a.jsonl", "a.csv"):
        found, whole = Read(name, split), Read(name)
        assert len(whole.portions) == 1
        assert len(found.portions) > 3
        assert found.parts == whole.parts
        assert found.tally == whole.tally
        assert found.tally.documents == 200
    sizes = {portion.weight for portion in portions(whole.files, split)}
    assert max(sizes) < 4 * max(split, 40)


@pytest.mark.parametrize(
    ("name", "package", "message"),
    [
        ("a.txt.zst", "backports", 'backports.zstd; type: pip install "tabcontam[corpus]"'),
        ("a.parquet", "pyarrow", 'pyarrow; type: pip install "tabcontam[parquet]"'),
    ],
)
def test_a_missing_package_is_one_line_that_names_the_extra(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str, message: str
) -> None:
    (corpus / "a.txt.zst").write_bytes(zstd.compress(b"text"))
    (corpus / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=re.escape(message)) as error:
        portions(corpus_files(name))
    assert str(error.value).startswith(name)
