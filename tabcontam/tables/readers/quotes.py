"""The search for an unclosed quote, to report the line that the user has to look at."""

import csv
import io
from itertools import islice

from tabcontam.tables.readers.dialects import Dialect


def open_quote(text: str, dialect: Dialect) -> tuple[int, bool] | None:
    """Return the line of the quote at which reading fails, and whether it is never closed; None if reading works.

    Reading also fails at a quote that closes a field, with text after it. Such a quote was probably meant to open
    another field.
    """
    read = 0  # number of lines of the records before
    try:
        for line, _ in dialect.records(text):
            read = line
    except csv.Error:
        return _QuoteScan(dialect).find(text, read)
    return None


class _QuoteScan:
    """A scan of the unreadable record, character by character."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.opened = 0  # the line of the last quote that opens a field
        self.inside = False
        self.length = 0  # number of characters in the quoted field
        self.starts = True  # whether a field starts here

    def find(self, text: str, read: int) -> tuple[int, bool] | None:
        """Return the result of `open_quote`; the scan starts after the first `read` lines."""
        for number, line in enumerate(islice(io.StringIO(text, newline=""), read, None), read + 1):
            place = 0
            while place < len(line):
                pair = line[place : place + 2]
                if self.inside and self._goes_on(pair):
                    return self.opened, False
                if self.length > csv.field_size_limit():
                    return self.opened, True
                place += self._step(pair, number)
        return (self.opened, True) if self.inside else None

    def _goes_on(self, pair: str) -> bool:
        """Return whether text follows a quote that closes a field; `pair` has the next two characters."""
        doubled = self.dialect.quoting == "doubled" and pair == '""'
        return pair[0] == '"' and not doubled and pair[1:] not in ("", self.dialect.delimiter, "\n", "\r")

    def _step(self, pair: str, number: int) -> int:
        """Process the first character of `pair`, or both if they belong together, and return their number."""
        sign, dialect = pair[0], self.dialect
        if self.inside:
            self.length += 1
            if (dialect.quoting == "doubled" and pair == '""') or (dialect.quoting == "escaped" and sign == "\\"):
                return 2
            self.inside = sign != '"'
            return 1
        if sign == '"' and self.starts:
            self.inside, self.opened, self.length = True, number, 0
        blank = self.starts and sign == " " and dialect.skip_initial_space
        self.starts = sign in (dialect.delimiter, "\n", "\r") or blank
        return 2 if dialect.quoting == "escaped" and sign == "\\" else 1
