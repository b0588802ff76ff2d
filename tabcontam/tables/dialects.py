"""How the fields of a text table are told apart: delimiter and quoting, found by which of them gives even rows."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

DELIMITERS = ("\t", ";", "|", ",")  # the rarer inside cells first: it wins where two would do
SAMPLE_RECORDS = 1000


@dataclass(frozen=True)
class Dialect:
    """How fields are told apart. A space as delimiter means any run of blanks."""

    delimiter: str
    quoting: str = "doubled"  # or "escaped" (a backslash before a quote), or "none"
    skip_initial_space: bool = False

    def records(self, text: str) -> Iterator[tuple[int, list[str]]]:
        """Each record that is not blank, with its last line; raises `csv.Error` where quotes do not fit."""
        lines: Iterable[str] = io.StringIO(text, newline="")
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


def find_dialects(text: str) -> list[Dialect]:
    """The dialects that split the sample's lines into columns, best first."""
    found = [_judged(delimiter, text) for delimiter in DELIMITERS]
    ranked = sorted((item for item in found if item is not None), key=lambda item: item[0], reverse=True)
    if not ranked or ranked[0][0][0] < 1:
        blanks = _judged(" ", text)
        # Prose has blanks as well, so that anything but a perfect split says nothing.
        if blanks is not None and blanks[0][0] == 1:
            ranked.insert(0, blanks)
    # The whole file may break a quoting that the sample keeps; a worse delimiter would only hide the true fault.
    return ranked[0][1] if ranked else []


def usual_width(records: Iterable[Sequence[str]]) -> int:
    """The width that most records have, the larger of two as frequent; 0 without records."""
    widths = Counter(map(len, records))
    return max(widths, key=lambda width: (widths[width], width)) if widths else 0


def _judged(delimiter: str, text: str) -> tuple[tuple[float, int], list[Dialect]] | None:
    """How well a delimiter splits the sample (share of records as wide as most, that width), with its dialects."""
    if delimiter not in text:
        return None
    spaces = (False,) if delimiter == " " else (False, True)
    judged: list[tuple[tuple[float, int], Dialect]] = []
    for quoting in ("doubled", "escaped", "none") if '\\"' in text else ("doubled", "none"):
        for skip in spaces:
            dialect = Dialect(delimiter, quoting, skip)
            score = _score(dialect, text)
            if score is not None:
                judged.append((score, dialect))
    if not judged:
        return None
    judged.sort(key=lambda item: item[0][0], reverse=True)  # stable: standard quoting first where equal
    return judged[0][0], [dialect for _, dialect in judged]


def _score(dialect: Dialect, text: str) -> tuple[float, int] | None:
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
    if dialect.delimiter == "," and _decimal_commas(records):
        return None
    return sum(len(record) == width for record in records) / len(records), width


def _decimal_commas(records: Sequence[Sequence[str]]) -> bool:
    """Whether each comma stands inside a number of a `;` table: `1,5;2,5` is not three cells."""
    joined = [",".join(record) for record in records]
    return all(";" in line for line in joined) and not any(re.search(r"\D,|,\D", line) for line in joined[1:])
