"""The result of reading a source of tables: the bytes of a table, its name, and whether it is public."""

from dataclasses import dataclass, replace

from tabcontam.errors import UsageError
from tabcontam.tables.file_specs import without_split
from tabcontam.tables.readers.base import File
from tabcontam.tables.readers.file_kinds import read_split, stem
from tabcontam.tables.table_contents import Contents


@dataclass(frozen=True)
class TableSource:
    """The files of a table, in the order in which they are read, and the source's description.

    `title` is the title in prompts and `target` the column to classify, unless the user names others. If the rows are
    not `public`, they leave this machine only if the user allows it. `left_out` are columns that are not data. `split`
    is the split of these files, as the source states it. `part` is the text after `#` for a single file: a table in it,
    a split, or both.
    """

    name: str
    title: str
    files: tuple[File, ...]
    public: bool = False
    target: str | None = None
    left_out: frozenset[str] = frozenset()
    split: str = ""
    part: str = ""

    def called(self, split: str) -> tuple[str, str]:
        """Return the table's names in results and in prompts, both without the name of the `split`."""
        part = self.part[: -len(split)].removesuffix("#") if split else self.part
        if part:
            return f"{self.name}#{part}", without_split(stem(part.rpartition("#")[2].rpartition("/")[2]), split)
        return self.name, without_split(self.title, split) if self.part else self.title


def read_source(source: TableSource) -> tuple[Contents, str]:
    """Return column names, the rows of all files, and the name of their split, "" if they have none.

    Raises `UsageError` for files without a table, and for files with different columns.
    """
    found, split = read_split(source.files[0])
    columns, rows = found
    for file in source.files[1:]:
        others, more = read_split(file)[0]
        if others != columns:
            first = source.files[0].name
            raise UsageError(f"{source.name}: {file.name} has other columns than {first}; name one file after a #")
        rows += more
    kept = [place for place, column in enumerate(columns) if column not in source.left_out]
    if len(kept) < len(columns):
        columns = tuple(columns[place] for place in kept)
        rows = tuple(tuple(row[place] for place in kept) for row in rows)
    files = f" ({len(source.files)} files)" if len(source.files) > 1 else ""
    return Contents(columns, rows, replace(found.how, kind=f"{found.how.kind}{files}")), source.split or split
