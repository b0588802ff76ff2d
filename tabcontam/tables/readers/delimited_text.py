"""Tables in text files: encoding, delimiter, quoting and header are detected; each cell is the file's own string."""

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from tabcontam.errors import UsageError, option, option_name
from tabcontam.tables.readers.base import File, TextFormat
from tabcontam.tables.readers.dialects import Dialect, find_dialects, usual_width
from tabcontam.tables.readers.headers import HeaderPlace, find_head
from tabcontam.tables.table_contents import Contents, contents, rows_of
from tabcontam.tables.thresholds import ENCODING_SAMPLE_BYTES, SAMPLE_RECORDS

_BROKEN_WORD = re.compile(
    r"(?<=[^\W\d_])[^\w\s!-~\u2019\u00b7-](?=[^\W\d_])"  # a sign between letters
    r"|[£¥¯¹](?=[^\W\d_])|(?<=[a-zß-ÿ])[ŸŒŠŽ£¥¯]"  # signs that are letters in other Latin encodings
    r"|\ufffd"
)

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: this mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_delimited(file: File) -> Contents:
    """Return column names and rows of a delimited text file; an empty field is None.

    Raises `UsageError` if the bytes are no text or contain no table, or if rows differ in their number of fields.
    """
    text, codec = decoded_by(file.content, file.name, file.form.encoding)
    if not text.strip():
        raise UsageError(f"{file.name} is empty; give a table with a header line and rows")
    found = laid_out(text, file.name, file.form)
    records = [record for _, record in found.records]
    return with_names(records, found.header, file.read_as(*found.read_as(codec)))


def with_names(records: Sequence[Sequence[str]], header: bool, kind: str) -> Contents:
    """Return the contents. If `header`, the first record names the columns; if not, they get numbers."""
    if header:
        return contents(records[0], rows_of(records[1:]), kind)
    return contents([""] * len(records[0]), rows_of(records), kind)


def from_line(text: str, form: TextFormat, name: str) -> str:
    """Return the text from the header line on, if the user gives the number of that line, which must not be blank.

    Raises `UsageError` if no record begins in that line.
    """
    if form.header_line is None:
        return text
    lines = io.StringIO(text, newline="")
    above = sum(1 for _ in islice(lines, form.header_line - 1))
    place = lines.tell()
    if above < form.header_line - 1 or not lines.readline().strip():
        given = option("header_line", form.header_line)
        raise UsageError(f"{name} has no header in that line: {given} names a blank line, or one below the last")
    return text[place:]


def decoded(content: bytes, name: str, encoding: str | None = None) -> str:
    """Return the text, decoded by `encoding`, or else by UTF-8, or else by the likeliest one. Raises `UsageError`."""
    return decoded_by(content, name, encoding)[0]


def decoded_by(content: bytes, name: str, encoding: str | None = None) -> tuple[str, str]:
    """Return the text, and Python's name of its encoding. Raises `UsageError` if the bytes are no text."""
    marked = next((codec for mark, codec in _BYTE_ORDER_MARKS if content.startswith(mark)), None)
    if encoding is not None:
        try:
            codec, text = encoding, content.decode(encoding).removeprefix("\ufeff")
        except UnicodeError as error:
            where = f"byte {error.start + 1:,}" if isinstance(error, UnicodeDecodeError) else "its first bytes"
            problem = f"{name} is not written in {encoding}: {where} cannot be read"
            raise UsageError(f"{problem}; try another {option('encoding')}") from None
    else:
        try:
            codec = marked or _utf_16_without_mark(content) or "utf-8"
            text = content.decode(codec)
        except UnicodeDecodeError:
            text, codec = _detected(content)
    # Text has tabs and line ends, and hardly any other control character.
    sample = text[:ENCODING_SAMPLE_BYTES]
    controls = sum(character < " " and character not in "\t\n\r\f" for character in sample)
    if controls > len(sample) // 100:
        raise UsageError(f"{name} is a binary file of a kind that is not read; save the table as CSV, TSV or Parquet")
    if "\0" in text:
        raise UsageError(zero_byte(name, text.count("\n", 0, text.index("\0")) + 1))
    return text, codec


def _utf_16_without_mark(content: bytes) -> str | None:
    """Return the name of a UTF-16 codec if nearly every second byte is zero, as in Latin text; None if not."""
    sample = content[:ENCODING_SAMPLE_BYTES]
    if len(sample) < 4 or len(content) % 2:
        return None
    zeros = (sample[0::2].count(0), sample[1::2].count(0))
    half = len(sample) // 2
    if min(zeros) == 0 and max(zeros) > half * 0.7:
        return "utf-16-le" if zeros[1] else "utf-16-be"
    return None


def _detected(content: bytes) -> tuple[str, str]:
    """Return the text, and its most likely encoding."""
    from charset_normalizer import from_bytes

    # Only lines with bytes that are not ASCII show the encoding.
    sample = b"\n".join(line for line in content.splitlines() if not line.isascii())[:ENCODING_SAMPLE_BYTES]
    found = next((encoding for encoding in ("cp1252", "cp1250") if _gives_latin_words(sample, encoding)), None)
    if found is None:
        best = from_bytes(sample, cp_exclusion=["utf_16", "utf_32", "utf_7"]).best()
        found = "cp1252" if best is None else best.encoding
    for encoding in (found, "cp1252"):
        try:
            return content.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1"), "latin-1"  # never fails; control characters show that content is binary


def _gives_latin_words(content: bytes, encoding: str) -> bool:
    """Return whether a Windows encoding of Western or Central Europe decodes the bytes to words of Latin letters.

    A general detector confuses similar encodings on the few words of a table. So this function looks for signs of a
    wrong encoding. Text of another alphabet would decode to words without a plain letter; text in another Latin
    encoding, to words with signs and capitals inside.
    """
    text = content.decode(encoding, "replace")
    words = [word for word in re.findall(r"[^\W\d_]{2,}", text) if not word.isascii()]
    plain = sum(character.isascii() for word in words for character in word)
    return _BROKEN_WORD.search(text) is None and plain >= sum(map(len, words)) / 4


@dataclass(frozen=True)
class TextRecords:
    """A text as records of equal width, from the header on, if there is one; each record has its last line number."""

    dialect: Dialect
    records: list[tuple[int, list[str]]]
    header: bool

    def read_as(self, codec: str) -> tuple[str, ...]:
        """Return, in words, the kind of text and how it was read."""
        dialect, line = self.dialect, first_line(*self.records[0])
        signs = {" ": "blanks", "\t": "tab"}.get(dialect.delimiter, repr(dialect.delimiter))
        quotes = {"escaped": ["quotes after a backslash"], "none": ["quotes as text"]}.get(dialect.quoting, [])
        encoding = codecs.lookup(codec).name.removesuffix("-sig")
        encoding = encoding.upper() if encoding.startswith("utf") else encoding
        return "CSV", signs, encoding, *quotes, f"header in line {line:,}" if self.header else "no header"


def first_line(last: int, record: Sequence[str]) -> int:
    """Return the number of a record's first line; `last` is that of its last line."""
    return last - sum(cell.count("\n") for cell in record)


def head_of(numbered: Sequence[tuple[int, Sequence[str]]], form: TextFormat, name: str) -> HeaderPlace:
    """Return the place of the header among a text's first records, each with its last line. Raises `UsageError`."""
    records = [record for _, record in numbered]
    return find_head(records, form, lambda place: f"{name}, line {first_line(*numbered[place])}")


def laid_out(text: str, name: str, form: TextFormat) -> TextRecords:
    """Return the text as records of equal width, split by the best dialect.

    Raises `UsageError` if no dialect gives records of equal width.
    """
    problem = ""
    text, above = from_line(text, form, name), (form.header_line or 1) - 1
    for dialect in find_dialects(text, form.delimiter):
        quoted = _quote_problem(text, name, dialect) if dialect.quoting == "none" else None
        if quoted is not None and quoted[0]:
            raise UsageError(quoted[1])
        try:
            numbered = [(above + line, record) for line, record in dialect.records(text)]
            head = head_of(numbered[:SAMPLE_RECORDS], form, name)
        except csv.Error as error:
            quote = dialect.open_quote(text)
            plain = f"{name} cannot be read as a table: {error}"
            problem = problem or (plain if quote is None else _left_open(name, quote[0]))
            continue
        except UsageError as error:
            problem = problem or (str(error) if quoted is None else quoted[1])
            continue
        numbered = numbered[head.above :]
        width = usual_width(record for _, record in numbered)
        odd = [(line, len(record)) for line, record in numbered if len(record) != width]
        if not odd:
            return TextRecords(dialect, numbered, head.header)
        line, fields = odd[0]
        problem = problem or (quoted[1] if quoted is not None else uneven(name, line, fields, width))
    if problem:
        raise UsageError(problem)
    if form.delimiter is not None:
        another = f"give another {option_name('delimiter')}, or none"
        raise UsageError(f"{name} has one column where {form.delimiter!r} is the delimiter; {another}")
    alone = "has one column (no comma, semicolon, tab or bar splits its lines alike)"
    raise UsageError(f"{name} {alone}; give a table with two or more, or its {option_name('delimiter')}")


def uneven(name: str, line: int, fields: int, width: int) -> str:
    """Return the message about a line with too many or too few fields."""
    count = "1 field" if fields == 1 else f"{fields} fields"
    return f"{name}, line {line}: {count} where other lines have {width}; mend or remove the line"


def zero_byte(name: str, line: int) -> str:
    """Return the message about a line with a zero byte, which no text contains."""
    return f"{name}, line {line}: a zero byte stands there, which no text has; remove it"


def _quote_problem(text: str, name: str, dialect: Dialect) -> tuple[bool, str] | None:
    """Return whether an unclosed quote must be an error, and a message with its line; None if every quote is closed.

    The rows of this text are equally long only if quotes count as plain text. This is plausible if tabs or bars
    separate cells, and else it is an error.
    """
    readings = ("doubled", "escaped") if '\\"' in text else ("doubled",)
    found = [dialect.with_quoting(quoting).open_quote(text) for quoting in readings]
    if None in found:
        return None
    line, never = found[0] or (0, False)
    fault = never and all(quote and quote[1] for quote in found) and dialect.delimiter in ",;"
    return fault, _left_open(name, line)


def _left_open(name: str, line: int) -> str:
    return (
        f"{name}, line {line}: in the row that begins there, a quote opens that is not closed; close it, or remove it"
    )
