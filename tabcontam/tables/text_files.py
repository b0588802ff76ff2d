"""A table file without a card: encoding, delimiter, quoting and header found out; every cell the file's own string."""

import codecs
import csv
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from tabcontam.errors import UsageError
from tabcontam.tables.dialects import SAMPLE_RECORDS, find_dialects, usual_width

Rows = tuple[tuple[str | None, ...], ...]

MARKS = frozenset({"?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None"})
SAMPLE_BYTES = 64 * 1024  # what an unknown encoding is decided on

_DIGITS = re.compile(r"\d+")
_BROKEN_WORD = re.compile(
    r"(?<=[^\W\d_])[^\w\s!-~\u2019\u00b7-](?=[^\W\d_])"  # a sign between letters
    r"|[£¥¯¹](?=[^\W\d_])|(?<=[a-zß-ÿ])[ŸŒŠŽ£¥¯]"  # what other Latin encodings have letters for
    r"|\ufffd"
)

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_delimited(content: bytes, name: str) -> tuple[tuple[str, ...], Rows]:
    """Column names and rows of a delimited text file; an empty field is None.

    Raises `UsageError` where the bytes are no text, hold no table, or rows differ in their number of fields.
    """
    text = decoded(content, name)
    if not text.strip():
        raise UsageError(f"{name} is empty; give a table with a header line and rows")
    _check_kind(text, name)
    records = _records(text, name)
    if has_header(records):
        names, body = column_names(records[0]), records[1:]
    else:
        names, body = column_names([""] * len(records[0])), records
    return names, rows_of(body)


def rows_of(records: Iterable[Sequence[str]]) -> Rows:
    """Rows of these fields; an empty one is a missing cell. Equal cells are one text: so they are compared fast."""
    cells: dict[str, str | None] = {"": None}
    return tuple(tuple(map(cells.setdefault, record, record)) for record in records)


def decoded(content: bytes, name: str) -> str:
    """The text of the bytes; raises `UsageError` for what is no text. UTF-8 unless the bytes say otherwise."""
    encoding = next((codec for mark, codec in _BYTE_ORDER_MARKS if content.startswith(mark)), None)
    encoding = encoding or _utf_16_without_mark(content) or "utf-8"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = _guessed(content)
    # Text has tabs and line ends, and hardly any other control character.
    sample = text[:SAMPLE_BYTES]
    controls = sum(character < " " and character not in "\t\n\r\f" for character in sample)
    if "\0" in text or controls > len(sample) // 100:
        raise UsageError(f"{name} is a binary file; give a table as CSV, TSV or Parquet (unpack archives first)")
    return text


def has_header(records: Sequence[Sequence[str]]) -> bool:
    """Whether the first record names the columns.

    Each column whose other cells all hold digits votes: a first cell that is unlike them is a name, one like them is
    data. Where the votes are even, a first cell that its column repeats is data.
    """
    first, rest = records[0], records[1:SAMPLE_RECORDS]
    if not rest or _counts_up(first):
        return True
    votes = 0
    repeated = False
    for index, cell in enumerate(first):
        others = {record[index] for record in rest if not _is_missing(record[index])}
        if others and not _is_missing(cell):
            votes += _vote(cell, others)
            repeated = repeated or cell in others
    return votes > 0 if votes else not repeated


def column_names(header: Sequence[str]) -> tuple[str, ...]:
    """A name for each column: `column 3` for an empty one, `price (2)` for the second `price`."""
    names: list[str] = []
    taken = {name.strip() for name in header}
    seen: set[str] = set()
    for position, cell in enumerate(header, start=1):
        name = cell.strip() or f"column {position}"
        number = 2
        unique = name
        while unique in seen or (unique != cell.strip() and unique in taken):
            unique, number = f"{name} ({number})", number + 1
        seen.add(unique)
        names.append(unique)
    return tuple(names)


def missing_marks(columns: Sequence[Sequence[str | None]]) -> frozenset[str]:
    """The usual marks of a missing value that occur: the words of `MARKS`, blank cells, and a dash among numbers."""
    marks: set[str] = set()
    for cells in columns:
        values = {cell for cell in cells if cell is not None}
        marks |= {value for value in values if value in MARKS or not value.strip()}
        if "-" in values and len(values) > 1 and all(map(is_number, values - marks - {"-"})):
            marks.add("-")
    return frozenset(marks)


def is_number(cell: str) -> bool:
    """Whether a cell is a finite number as files write one."""
    try:
        return math.isfinite(float(cell)) and "_" not in cell  # Python reads 1_000, a table does not
    except ValueError:
        return False


def check_file(path: Path) -> bytes:
    """The bytes of the file; raises `UsageError` for one that is not there, empty or unreadable."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a CSV, TSV or Parquet file in it")
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"no such file: {path}; check the path, or see `tabcontam list datasets`") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path} cannot be read: {reason}") from error
    if not content:
        raise UsageError(f"{path.name} is empty; give a table with a header line and rows")
    return content


def _utf_16_without_mark(content: bytes) -> str | None:
    """UTF-16 of mostly Latin text has a zero in every other byte; binary files have zeros anywhere."""
    sample = content[:SAMPLE_BYTES]
    if len(sample) < 4 or len(content) % 2:
        return None
    zeros = (sample[0::2].count(0), sample[1::2].count(0))
    half = len(sample) // 2
    if min(zeros) == 0 and max(zeros) > half * 0.7:
        return "utf-16-le" if zeros[1] else "utf-16-be"
    return None


def _guessed(content: bytes) -> str:
    from charset_normalizer import from_bytes

    # Only lines that hold a byte beyond ASCII say anything about the encoding.
    telling = b"\n".join(line for line in content.splitlines() if not line.isascii())[:SAMPLE_BYTES]
    found = next((encoding for encoding in ("cp1252", "cp1250") if _gives_latin_words(telling, encoding)), None)
    if found is None:
        best = from_bytes(telling, cp_exclusion=["utf_16", "utf_32", "utf_7"]).best()
        found = "cp1252" if best is None else best.encoding
    for encoding in (found, "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")  # never fails; what is binary shows in its control characters


def _gives_latin_words(content: bytes, encoding: str) -> bool:
    """Whether a Windows encoding of Western or Central Europe gives words of Latin letters.

    On the few words of a table a general guesser takes it for a neighbour. Another alphabet would give words without
    a plain letter, another Latin encoding signs and capitals inside words.
    """
    text = content.decode(encoding, "replace")
    words = [word for word in re.findall(r"[^\W\d_]{2,}", text) if not word.isascii()]
    plain = sum(character.isascii() for word in words for character in word)
    return _BROKEN_WORD.search(text) is None and plain >= sum(map(len, words)) / 4


def _check_kind(text: str, name: str) -> None:
    start = text.lstrip()[:15].lower()
    if start.startswith(("<!doctype html", "<html", "<?xml")):
        raise UsageError(f"{name} is a web page or XML, not a table; download the file itself as CSV")
    if start.startswith(('{"', "{\n", "[{", "[\n")):
        raise UsageError(f"{name} is JSON; save the table as CSV, TSV or Parquet")


def _records(text: str, name: str) -> list[list[str]]:
    """The file's records, all of one width, split by the best dialect that splits them so."""
    problem = ""
    for dialect in find_dialects(text):
        try:
            numbered = list(dialect.records(text))
        except csv.Error as error:
            problem = problem or f"{name} cannot be read as a table: {error}"
            continue
        width = usual_width(record for _, record in numbered)
        odd = [(line, len(record)) for line, record in numbered if len(record) != width]
        if not odd:
            return [record for _, record in numbered]
        line, fields = odd[0]
        wrong = f"{fields} fields where other lines have {width}; mend or remove the line"
        problem = problem or f"{name}, line {line}: {wrong}"
    alone = "has one column (no comma, semicolon, tab or bar splits its lines alike); give a table with two or more"
    raise UsageError(problem or f"{name} {alone}")


def _is_missing(cell: str) -> bool:
    return not cell.strip() or cell.strip() in MARKS


def _vote(cell: str, others: set[str]) -> int:
    """What a column says of its first cell: 1 a name, -1 data, 0 nothing."""
    if not all(map(_DIGITS.search, others)):
        return 0
    if not _DIGITS.search(cell):
        return 1
    numbers = all(map(is_number, others))
    if (numbers and is_number(cell)) or _shape(cell) in set(map(_shape, others)):
        return -1
    return 1 if numbers else 0


def _shape(cell: str) -> str:
    return _DIGITS.sub("9", cell)


def _counts_up(first: Sequence[str]) -> bool:
    """Whether the numbers of the first record are names: years in a row, or the numbers of unnamed columns."""
    numbers = [int(cell) for cell in first if cell.isascii() and cell.isdecimal()]
    if len(numbers) < 3 or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return False
    years = numbers[0] >= 1800 and numbers[-1] <= 2100
    return years or (numbers[0] == 0 and all(cell.isdecimal() or not cell for cell in first))
