"""A table written as text: encoding, delimiter, quoting and header found out; every cell the file's own string."""

import codecs
import csv
import re
from collections.abc import Sequence

from tabcontam.errors import UsageError, option, option_name
from tabcontam.tables.cells import MARKS, Contents, column_names, is_number, rows_of
from tabcontam.tables.readers.base import File, TextFormat
from tabcontam.tables.readers.dialects import SAMPLE_RECORDS, Dialect, find_dialects, usual_width
from tabcontam.tables.readers.quotes import open_quote

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


def read_delimited(file: File) -> Contents:
    """Column names and rows of a delimited text file; an empty field is None.

    Raises `UsageError` where the bytes are no text, hold no table, or rows differ in their number of fields.
    """
    text = decoded(file.content, file.name, file.form.encoding)
    if not text.strip():
        raise UsageError(f"{file.name} is empty; give a table with a header line and rows")
    _, numbered = laid_out(text, file.name, file.form)
    return with_names([record for _, record in numbered], file.form)


def with_names(records: Sequence[Sequence[str]], form: TextFormat) -> Contents:
    """The first record as names of the columns where it holds them, or where the user says so."""
    if has_header(records) if form.header is None else form.header:
        names, body = column_names(records[0]), records[1:]
    else:
        names, body = column_names([""] * len(records[0])), records
    return names, rows_of(body)


def decoded(content: bytes, name: str, encoding: str | None = None) -> str:
    """The text of the bytes; raises `UsageError` for what is no text. UTF-8 unless the bytes, or the user, say so."""
    return decoded_by(content, name, encoding)[0]


def decoded_by(content: bytes, name: str, encoding: str | None = None) -> tuple[str, str]:
    """The same, and the encoding that it was read by, by its name in Python."""
    marked = next((codec for mark, codec in _BYTE_ORDER_MARKS if content.startswith(mark)), None)
    if encoding is not None:
        codec, text = encoding, _in_encoding(content, name, encoding)
    else:
        try:
            codec = marked or _utf_16_without_mark(content) or "utf-8"
            text = content.decode(codec)
        except UnicodeDecodeError:
            text, codec = _guessed(content)
    # Text has tabs and line ends, and hardly any other control character.
    sample = text[:SAMPLE_BYTES]
    controls = sum(character < " " and character not in "\t\n\r\f" for character in sample)
    if controls > len(sample) // 100:
        raise UsageError(f"{name} is a binary file of a kind that is not read; save the table as CSV, TSV or Parquet")
    if "\0" in text:
        raise UsageError(zero_byte(name, text.count("\n", 0, text.index("\0")) + 1))
    return text, codec


def _in_encoding(content: bytes, name: str, encoding: str) -> str:
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeError as error:
        where = f"byte {error.start + 1:,}" if isinstance(error, UnicodeDecodeError) else "its first bytes"
        raise UsageError(
            f"{name} is not written in {encoding}: {where} cannot be read; try another {option('encoding')}"
        ) from None


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


def _guessed(content: bytes) -> tuple[str, str]:
    """The text, and the encoding that it is most likely in."""
    from charset_normalizer import from_bytes

    # Only lines that hold a byte beyond ASCII say anything about the encoding.
    telling = b"\n".join(line for line in content.splitlines() if not line.isascii())[:SAMPLE_BYTES]
    found = next((encoding for encoding in ("cp1252", "cp1250") if _gives_latin_words(telling, encoding)), None)
    if found is None:
        best = from_bytes(telling, cp_exclusion=["utf_16", "utf_32", "utf_7"]).best()
        found = "cp1252" if best is None else best.encoding
    for encoding in (found, "cp1252"):
        try:
            return content.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1"), "latin-1"  # never fails; what is binary shows in its control characters


def _gives_latin_words(content: bytes, encoding: str) -> bool:
    """Whether a Windows encoding of Western or Central Europe gives words of Latin letters.

    On the few words of a table a general guesser takes it for a neighbour. Another alphabet would give words without
    a plain letter, another Latin encoding signs and capitals inside words.
    """
    text = content.decode(encoding, "replace")
    words = [word for word in re.findall(r"[^\W\d_]{2,}", text) if not word.isascii()]
    plain = sum(character.isascii() for word in words for character in word)
    return _BROKEN_WORD.search(text) is None and plain >= sum(map(len, words)) / 4


def laid_out(text: str, name: str, form: TextFormat) -> tuple[Dialect, list[tuple[int, list[str]]]]:
    """The best dialect that splits a text into records of one width, and these records, each with its last line.

    Raises `UsageError` where none does.
    """
    problem = ""
    for dialect in find_dialects(text, form.delimiter):
        quoted = _quote_problem(text, name, dialect) if dialect.quoting == "none" else None
        if quoted is not None and quoted[0]:
            raise UsageError(quoted[1])
        try:
            numbered = list(dialect.records(text))
        except csv.Error as error:
            problem = problem or _broken(text, name, dialect, error)
            continue
        width = usual_width(record for _, record in numbered)
        odd = [(line, len(record)) for line, record in numbered if len(record) != width]
        if not odd:
            return dialect, numbered
        line, fields = odd[0]
        problem = problem or (quoted[1] if quoted is not None else uneven(name, line, fields, width))
    raise UsageError(problem or _one_column(name, form.delimiter))


def uneven(name: str, line: int, fields: int, width: int) -> str:
    """What is wrong with a line that has another number of fields than the others."""
    count = "1 field" if fields == 1 else f"{fields} fields"
    return f"{name}, line {line}: {count} where other lines have {width}; mend or remove the line"


def zero_byte(name: str, line: int) -> str:
    """What is wrong with a line of a text that has a byte which no text has."""
    return f"{name}, line {line}: a zero byte stands there, which no text has; remove it"


def _one_column(name: str, delimiter: str | None) -> str:
    if delimiter is not None:
        another = f"give another {option_name('delimiter')}, or none"
        return f"{name} has one column where {delimiter!r} is the delimiter; {another}"
    alone = "has one column (no comma, semicolon, tab or bar splits its lines alike)"
    return f"{name} {alone}; give a table with two or more, or its {option_name('delimiter')}"


def _quote_problem(text: str, name: str, dialect: Dialect) -> tuple[bool, str] | None:
    """Whether a file that is even only if its quotes are text has one that is never closed, and a line that says where.

    Between tabs and bars quotes may be text; between commas and semicolons one that is left open is a fault.
    """
    readings = ("doubled", "escaped") if '\\"' in text else ("doubled",)
    found = [open_quote(text, dialect.with_quoting(quoting)) for quoting in readings]
    if None in found:
        return None
    line, never = found[0] or (0, False)
    fault = never and all(quote and quote[1] for quote in found) and dialect.delimiter in ",;"
    return fault, _left_open(name, line)


def _left_open(name: str, line: int) -> str:
    return f"{name}, line {line}: a quote opens there that is not closed; close it, or remove it"


def _broken(text: str, name: str, dialect: Dialect, error: csv.Error) -> str:
    quote = open_quote(text, dialect)
    return f"{name} cannot be read as a table: {error}" if quote is None else _left_open(name, quote[0])


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
