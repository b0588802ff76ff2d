"""The form of a corpus file, such as JSON lines, recognized by the file's first bytes and its name."""

import json
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from tabcontam.extensions.corpora.search.file_opening import (
    COMPRESSED,
    HEAD,
    compression,
    encoding,
    is_archive,
    need_zstd,
    open_file,
    open_stream,
)
from tabcontam.extensions.corpora.search.tally import Reason

PARQUET = b"PAR1"


class FileForm(StrEnum):
    """A way to split a file into documents."""

    TEXT = "text"  # the file is one document
    LINES = "JSON lines"  # each line is a record
    JSON = "JSON"  # each item of an array, or each value of several, is a record
    CSV = "CSV"  # each record, which may have line breaks inside quotes
    TSV = "TSV"  # each line
    PARQUET = "Parquet"  # each row
    WARC = "WARC's text form"  # each record of type `conversion` or `resource`


BY_SUFFIX = {
    ".jsonl": FileForm.LINES, ".ndjson": FileForm.LINES, ".jsonlines": FileForm.LINES,
    ".json": FileForm.JSON, ".ipynb": FileForm.JSON, ".geojson": FileForm.JSON,
    ".csv": FileForm.CSV, ".tsv": FileForm.TSV, ".tab": FileForm.TSV,
}  # fmt: skip


class FileFormat(NamedTuple):
    """The form of a file, such as CSV, its compression, and its encoding. Plain UTF-8 has "" for the last two."""

    form: FileForm
    compressed: str = ""
    encoded: str = ""


def form_of(path: Path, name: str) -> FileFormat | Reason:
    """Return the form of a file, or the reason why it is not read. Raises `UsageError` if a package is missing."""
    try:
        with open_file(path) as file:
            head = file.read(HEAD)
            if not head:
                return Reason.EMPTY
            if is_archive(head):
                return Reason.ARCHIVE
            if head.startswith(PARQUET):
                return FileFormat(FileForm.PARQUET)
            if compressed := compression(head):
                if compressed == "zst":
                    need_zstd(name)
                file.seek(0)
                damages: list[Reason] = []
                head = open_stream(file, compressed, "", lambda: damages.append(Reason.DAMAGED)).read(HEAD)
                if damages and not head:
                    return Reason.DAMAGED
    except OSError:
        return Reason.UNREADABLE
    return _of_text(head, path, compressed)


def _of_text(head: bytes, path: Path, compressed: str) -> FileFormat | Reason:
    """Return the form of a text file, judged by its beginning."""
    if not head:
        return Reason.EMPTY
    if compressed and (is_archive(head) or compression(head) or head.startswith(PARQUET)):
        return Reason.NESTED
    encoded = encoding(head)
    if not encoded and b"\0" in head:
        return Reason.BINARY
    form = FileForm.WARC if head.startswith(b"WARC/") else BY_SUFFIX.get(_suffix(path), FileForm.TEXT)
    if form in (FileForm.TEXT, FileForm.JSON) and not encoded and _begins_with_a_record(head):
        form = FileForm.LINES
    return FileFormat(form, compressed, encoded)


def _suffix(path: Path) -> str:
    """Return the ending of a file's name, without the ending for its compression."""
    name = path.name.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(f".{ending}")
    return Path(name).suffix


def _begins_with_a_record(head: bytes) -> bool:
    """Return whether the first line is a complete JSON object. The file then is JSON lines, whatever its name is."""
    line, newline, _ = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    if not newline or not line.startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
