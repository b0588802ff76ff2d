"""The layout of an edition's file, as its card states it, and the reading of the file by it."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

from tabcontam.tables.readers.base import File
from tabcontam.tables.readers.json_files import read_json
from tabcontam.tables.table_contents import Rows, rows_of

CSV, JSONL = FORMS = ("csv", "jsonl")


@dataclass(frozen=True)
class FileLayout:
    """The way in which the file of an edition is read.

    `form` is "csv", or "jsonl" for one JSON object in each line, with the columns as keys. Without `columns` the file's
    first line is the header. `strip` removes the blanks around every cell. `drop` names columns that are not data, such
    as a saved row index; `keep` names the only columns that are data. If `quoting` is false, a quote is an ordinary
    character, as in TSV files of GLUE.
    """

    columns: tuple[str, ...] | None = None
    delimiter: str = ","
    skip_initial_space: bool = False
    strip: bool = False
    skip_rows: int = 0
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    quoting: bool = True
    form: str = CSV

    def read(self, content: bytes, name: str) -> tuple[tuple[str, ...], Rows]:
        """Return columns and rows; `name` is the file's name. Raises ValueError for content of another layout."""
        if self.form == JSONL:
            columns, rows = read_json(File(content, name))
            kept = self._places(columns)
            return tuple(columns[index] for index in kept), tuple(tuple(row[index] for index in kept) for row in rows)
        lines = io.StringIO(content.decode("utf-8"), newline="")
        for _ in range(self.skip_rows):
            next(lines)
        read = partial(csv.reader, lines, delimiter=self.delimiter, skipinitialspace=self.skip_initial_space)
        reader = read() if self.quoting else read(quoting=csv.QUOTE_NONE)
        records = [record for record in reader if record]
        header = list(self.columns) if self.columns is not None else records.pop(0)
        kept = self._places(header)
        if odd := {*map(len, records)} - {len(header)}:
            row = next(number for number, record in enumerate(records, 1) if len(record) in odd)
            raise ValueError(f"row {row} has {len(records[row - 1])} cells, and there are {len(header)} columns")
        if self.strip:
            records = [[cell.strip() for cell in record] for record in records]
        return tuple(header[index] for index in kept), rows_of(map(itemgetter(*kept), records))

    def _places(self, columns: Sequence[str]) -> list[int]:
        """Return the places of the columns that are data."""
        return [
            index
            for index, column in enumerate(columns)
            if (column in self.keep if self.keep else column not in self.drop)
        ]


HEADED_CSV = FileLayout()
