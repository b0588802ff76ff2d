"""What a source gives: the bytes of a table, what it is called, and whose it is."""

from dataclasses import dataclass

from tabcontam.errors import UsageError
from tabcontam.tables.cells import Contents
from tabcontam.tables.readers.base import File
from tabcontam.tables.readers.kinds import read_file


@dataclass(frozen=True)
class Source:
    """The files of a table, one behind the other, and what its source says of it.

    `title` stands in prompts unless the user says otherwise, and so is `target` the column to classify. Rows that are
    not `public` leave this machine only if the user says so. `left_out` are columns that are no part of the data.
    """

    name: str
    title: str
    files: tuple[File, ...]
    public: bool = False
    target: str | None = None
    left_out: frozenset[str] = frozenset()


def read_source(source: Source) -> Contents:
    """Column names and the rows of all files. Raises `UsageError` for what is no table, and for files of two tables."""
    columns, rows = read_file(source.files[0])
    for file in source.files[1:]:
        others, more = read_file(file)
        if others != columns:
            first = source.files[0].name
            raise UsageError(f"{source.name}: {file.name} has other columns than {first}; name one file behind a #")
        rows += more
    kept = [place for place, column in enumerate(columns) if column not in source.left_out]
    if len(kept) < len(columns):
        return tuple(columns[place] for place in kept), tuple(tuple(row[place] for place in kept) for row in rows)
    return columns, rows
