"""Portions of a corpus, each a unit of work for one process, and the reader of their documents."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from tabcontam.extensions.corpora.search.corpus_files import CorpusFiles
from tabcontam.extensions.corpora.search.csv_records import read_csv, read_tsv, record_starts
from tabcontam.extensions.corpora.search.documents import (
    OVERLAP,
    STRETCH,
    DocumentStretch,
    Portion,
    ReaderInput,
    StretchBuilder,
)
from tabcontam.extensions.corpora.search.file_forms import FileForm, FileFormat, form_of
from tabcontam.extensions.corpora.search.file_opening import DamagedFileError, open_file
from tabcontam.extensions.corpora.search.json_values import read_json, read_lines
from tabcontam.extensions.corpora.search.parquet import read_parquet, row_groups
from tabcontam.extensions.corpora.search.tally import Reason, Tally
from tabcontam.extensions.corpora.search.warc import read_warc
from tabcontam.extensions.corpora.thresholds import LARGEST_PARSED_RECORD

SPLIT = 32 << 20  # bytes of a portion of a file that can be split
SPLITTABLE = frozenset({FileForm.TEXT, FileForm.LINES, FileForm.CSV, FileForm.TSV})
LETTER = 4  # bytes of the longest character in UTF-8


def portions(files: CorpusFiles, split: int = SPLIT) -> list[Portion]:
    """Return the portions of a corpus, in the order of its files. An uncompressed file of plain text, JSON lines, CSV
    or TSV is split every `split` bytes, a Parquet file at row groups; every other file is one portion. A file that is
    not read is also a portion, and `read` reports the reason.

    Raises `UsageError` if a file needs a package that is not installed.
    """
    named = zip(files.files, files.names, strict=True)
    return [portion for path, name in named for portion in _of_file(path, name, files.fields, split)]


def read(
    portion: Portion, overlap: int = OVERLAP, tally: Tally | None = None, largest: int = LARGEST_PARSED_RECORD
) -> Iterator[DocumentStretch]:
    """Yield the documents of a portion, each as one stretch or several. Consecutive stretches share `overlap` bytes.

    The stretches of a plain file overlap across its portions, too. A record of more than `largest` bytes is not parsed.
    `tally` counts parts that are skipped or changed. No content of a file stops the reading.
    """
    tally = Tally() if tally is None else tally
    if isinstance(portion.form, Reason):
        tally.note(portion.form, portion.name)
        return
    try:
        with open_file(portion.path) as file:
            _compare(portion, file, tally)
            yield from READERS[portion.form](ReaderInput(portion, file, overlap, largest, tally))
            _compare(portion, file, tally)
    except DamagedFileError:
        tally.note(Reason.DAMAGED, portion.name)
    except OSError:
        tally.note(Reason.UNREADABLE, portion.name)


def _compare(portion: Portion, file: BinaryIO, tally: Tally) -> None:
    """Note in the tally if the file has changed since the portion was made."""
    now = os.fstat(file.fileno())
    if (now.st_size, now.st_mtime_ns) != (portion.size, portion.changed):
        tally.note(Reason.CHANGED, portion.name)


def _of_file(path: Path, name: str, fields: tuple[str, ...], split: int) -> Iterator[Portion]:
    try:
        facts = path.lstat()
    except OSError:
        yield Portion(path, name, Reason.UNREADABLE)
        return
    size, changed = facts.st_size, facts.st_mtime_ns
    found = form_of(path, name)
    if isinstance(found, Reason):
        yield Portion(path, name, found, size=size, changed=changed, weight=size)
        return
    form, compressed, encoded = found
    ranges = _ranges(path, name, found, size, split)
    for start, end in ranges:
        weight = size * (end - start) // max(1, ranges[-1][1])
        yield Portion(path, name, form, fields, compressed, encoded, start, end, size, changed, weight)


def _ranges(path: Path, name: str, found: FileFormat, size: int, split: int) -> list[tuple[int, int]]:
    """Return the beginning and the end of each portion of a file, in bytes or in row groups."""
    if found.form is FileForm.PARQUET:
        return row_groups(path, name, split)
    if found.form not in SPLITTABLE or found.compressed or found.encoded:
        return [(0, size)]
    if found.form is FileForm.CSV:
        starts = record_starts(path, size, split)
    else:
        starts = [0, *range(split, size - split // 2, split)]
    return list(zip(starts, [*starts[1:], size], strict=True))


def read_text(given: ReaderInput) -> Iterator[DocumentStretch]:
    """Yield the stretches of plain text: the whole file is one document, and a portion has consecutive stretches of it.

    The first stretch of a later portion begins with text of the portion before.
    """
    portion, file = given.portion, given.file
    if not portion.plain:
        stream = given.stream()
        yield from given.document_in_pieces(portion.name, iter(lambda: stream.read(STRETCH // 2), b""))
        return
    begin = max(0, portion.start - given.overlap - LETTER + 1) if given.overlap else portion.start
    file.seek(begin)
    begin += _rest_of_letter(file.read(LETTER)) if begin else 0
    file.seek(begin)
    document = StretchBuilder(portion.name, given, begin, portion.start - begin)
    left = portion.end - begin
    while left and (block := file.read(min(document.room, left))):
        left -= len(block)
        yield from document.add(block)
    if not left:
        rest = file.read(LETTER)
        yield from document.add(rest[: _rest_of_letter(rest)])
    yield from document.end()


def _rest_of_letter(text: bytes) -> int:
    """Return how many bytes at the beginning belong to a character that began earlier."""
    head = text[: LETTER - 1]
    return next((place for place, byte in enumerate(head) if byte & 0xC0 != 0x80), len(head))


READERS: Mapping[FileForm, Callable[[ReaderInput], Iterator[DocumentStretch]]] = {
    FileForm.TEXT: read_text,
    FileForm.LINES: read_lines,
    FileForm.JSON: read_json,
    FileForm.CSV: read_csv,
    FileForm.TSV: read_tsv,
    FileForm.PARQUET: read_parquet,
    FileForm.WARC: read_warc,
}
