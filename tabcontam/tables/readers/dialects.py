"""Delimiter and quoting of a text table: the pair is chosen by which all rows have equally many cells."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from tabcontam.tables.thresholds import SAMPLE_RECORDS

DELIMITERS = ("\t", ";", "|", ",")  # sorted by rarity inside cells: the first wins a tie

_THOUSANDS = re.compile(r"(?<![\d.])[+-]?\d{1,3}( \d{3})+(?!\d)")  # one number in groups of three digits
_COLUMNS = re.compile(r"\S {2,}\S|(?<!\S)[+-]?[\d.]+ +[+-]?[\d.]+(?!\S)")  # two blanks, or two numbers in a cell


@dataclass(frozen=True)
class Dialect:
    """The delimiter and the quoting of a text table. A space as delimiter means any run of blanks."""

    delimiter: str
    quoting: str = "doubled"  # or "escaped" (a backslash before a quote), or "none"
    skip_initial_space: bool = False

    def with_quoting(self, quoting: str) -> "Dialect":
        """Return this dialect with another quoting."""
        return replace(self, quoting=quoting)

    def records(self, text: str) -> Iterator[tuple[int, list[str]]]:
        """Yield each record that is not blank, with its last line number. Raises `csv.Error` if quotes do not fit."""
        return self.records_of(io.StringIO(text, newline=""))

    def open_quote(self, text: str) -> tuple[int, bool] | None:
        """Return the first line of the record with the quote at which reading fails, and whether it is never closed.

        Reading also fails at a quote that closes a field, with text after it. Such a quote was probably meant to open
        another field. Return None if reading works, and if it fails at something else.
        """
        read = 0  # number of lines of the records before
        try:
            for line, _ in self.records(text):
                read = line
        except csv.Error as error:
            lines = enumerate(io.StringIO(text, newline=""), 1)
            number, first = next((number, line) for number, line in lines if number > read and line.strip())
            return (number, "expected after" not in str(error)) if '"' in first else None
        return None

    def records_of(self, lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        """Yield what `records` yields, for `lines` that include their line ends."""
        if self.delimiter == " ":
            lines = (line.replace("\t", " ").rstrip() + "\n" for line in lines)
        reader = csv.reader(
            lines,
            delimiter=self.delimiter,
            skipinitialspace=self.skip_initial_space or self.delimiter == " ",
            quoting=csv.QUOTE_NONE if self.quoting == "none" else csv.QUOTE_MINIMAL,
            doublequote=self.quoting == "doubled",
            escapechar="\\" if self.quoting == "escaped" else None,
            strict=True,
        )
        for record in reader:
            if len(record) > 1 or "".join(record).strip():
                yield reader.line_num, record


def find_dialects(text: str, delimiter: str | None = None) -> list[Dialect]:
    """Return the dialects that split a sample of lines into columns, best first; only those of `delimiter` if given."""
    if delimiter is not None:
        return [dialect for _, dialect in _judged(delimiter, text, stated=True)]
    found = list(filter(None, (_judged(delimiter, text) for delimiter in DELIMITERS)))
    best = max(found, key=lambda judged: judged[0][0], default=[])
    if not best or best[0][0][0] < 1 or _holds_columns(best[0][1], text):
        blanks = _judged(" ", text)
        # Prose has blanks, too, so only a perfect split counts.
        if blanks and blanks[0][0][0] == 1 and not (best and best[0][0] > blanks[0][0]):
            best = blanks
    # A quoting may fit the sample and not the whole file; a worse delimiter would only hide this error.
    return [dialect for _, dialect in best]


def _holds_columns(dialect: Dialect, text: str) -> bool:
    """Return whether every record has a cell that itself consists of columns separated by blanks."""
    records = (record for _, record in islice(dialect.records(text), SAMPLE_RECORDS))
    return all(any(_COLUMNS.search(_THOUSANDS.sub("0", cell.strip())) for cell in record) for record in records)


def usual_width(records: Iterable[Sequence[str]]) -> int:
    """Return the most frequent number of fields; of two equally frequent ones the larger; 0 without records."""
    widths = Counter(map(len, records))
    return max(widths, key=lambda width: (widths[width], width)) if widths else 0


def _judged(delimiter: str, text: str, *, stated: bool = False) -> list[tuple[tuple[float, int], Dialect]]:
    """Return the dialects of a delimiter that split the sample, best first, each with its score.

    If the user has `stated` the delimiter, the text need not look like a table.
    """
    judged = []
    for quoting in ("doubled", "escaped", "none") if '\\"' in text else ("doubled", "none"):
        for skip in (False,) if delimiter == " " else (False, True):
            dialect = Dialect(delimiter, quoting, skip)
            if delimiter in text and (score := _score(dialect, text, stated)) is not None:
                judged.append((score, dialect))
    judged.sort(key=lambda item: item[0][0], reverse=True)  # a stable sort: of equal ones, standard quoting is first
    return judged


def _score(dialect: Dialect, text: str, stated: bool) -> tuple[float, int] | None:
    """Return the share of records with the usual number of fields, and that number; None if nothing is split."""
    try:
        records = [record for _, record in islice(dialect.records(text), SAMPLE_RECORDS)]
    except csv.Error:
        return None
    width = usual_width(records)
    if width < 2:
        return None
    spaced = all(cell[:1] in ("", " ") for record in records for cell in record[1:])
    written = any(cell for record in records for cell in record[1:])
    if spaced and written and not dialect.skip_initial_space and dialect.delimiter != " ":
        return None  # the blank after each delimiter belongs to the delimiter
    if dialect.delimiter == "," and not stated and _decimal_commas(records):
        return None
    return sum(len(record) == width for record in records) / len(records), width


def _decimal_commas(records: Sequence[Sequence[str]]) -> bool:
    """Return whether every comma is inside a number of a `;` table: `1,5;2,5` has two cells, not three."""
    joined = [",".join(record) for record in records]
    return all(";" in line for line in joined) and not any(re.search(r"\D,|,\D", line) for line in joined[1:])
