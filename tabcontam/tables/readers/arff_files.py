"""ARFF, the format of Weka and OpenML. Cells stay as they are written; other packages convert them to numbers. A cell
`?` without quotes is None.
"""

import re
from collections.abc import Iterator

from tabcontam.errors import UsageError
from tabcontam.tables.readers.base import File
from tabcontam.tables.readers.delimited_text import decoded
from tabcontam.tables.table_contents import Contents, contents

_ATTRIBUTE = re.compile(r"""@attribute\s+("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s{]+)\s*(.*)""", re.IGNORECASE)
_CELL = re.compile(
    r"""[ \t]*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^,\t"'][^,\t]*?|))[ \t]*(?:(,|\t)|$)"""
)  # the text between quotes of either kind, or without; then a comma, a tab or the end
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_SIGNS = {"n": "\n", "t": "\t", "r": "\r"}
LAYOUT = "an ARFF file has lines with @attribute, then @data and a row a line"


def begins_arff(text: str) -> bool:
    """Return whether a text begins as ARFF does, after its comments."""
    lines = (line.strip().lower() for line in text.lstrip("\ufeff").splitlines())
    return next((line for line in lines if line and not line.startswith("%")), "").startswith("@relation")


def read_arff(file: File) -> Contents:
    """Return column names and rows. Raises `UsageError`, which names the line, for a file that is not ARFF."""
    lines = enumerate(re.split(r"\r\n|\n|\r", decoded(file.content, file.name, file.form.encoding)), 1)
    names = list(_attributes(lines, file.name))
    rows, cells = [], dict[str | None, str | None]()  # equal cells are one object, for fast comparison
    for number, line in lines:
        if line.strip() and not line.startswith("%"):
            row = _row(line, f"{file.name}, line {number}")
            if len(row) != len(names):
                count = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                raise UsageError(f"{file.name}, line {number} has {count}, and there are {len(names)} attributes")
            rows.append(tuple(map(cells.setdefault, row, row)))
    return contents(names, tuple(rows), file.read_as("ARFF"))


def _attributes(lines: Iterator[tuple[int, str]], name: str) -> Iterator[str]:
    """Yield the names of the columns; `lines` is read up to the line @data, below which the rows begin."""
    for number, line in lines:
        plain = line.strip().lower()
        if plain.startswith("@data"):
            return
        if plain.startswith("@attribute"):
            if (found := _ATTRIBUTE.match(line.strip())) is None or not found[2]:
                raise UsageError(f"{name}, line {number}: an attribute without a name or a type; {LAYOUT}")
            if found[2].lower().startswith("relational"):
                raise UsageError(f"{name}, line {number}: an attribute that holds tables; {LAYOUT}")
            yield _plain(found[1][1:-1]) if found[1][0] in "\"'" else found[1]
        elif plain and not plain.startswith(("%", "@relation")):
            raise UsageError(f"{name}, line {number}: neither an attribute nor @data; {LAYOUT}")
    raise UsageError(f"{name} has no @data; {LAYOUT}")


def _row(line: str, where: str) -> list[str | None]:
    line = line.strip()
    if line.startswith("{"):
        raise UsageError(f"{where}: a sparse row, which lists only the cells other than 0; save the table as CSV")
    if line.endswith("}") and (weight := re.search(r",\s*\{[^{}]*\}$", line)):  # the weight of a row
        line = line[: weight.start()]
    row: list[str | None] = []
    place, more = 0, True
    while more:
        if (found := _CELL.match(line, place)) is None:
            raise UsageError(f"{where}: a quote opens there that is not closed; close it, or put a backslash before it")
        quoted = found[1] if found[1] is not None else found[2]
        row.append(_plain(quoted) if quoted is not None else (found[3] if found[3] not in ("", "?") else None))
        place, more = found.end(), found[4] is not None
    return row


def _plain(text: str) -> str:
    """Return a quoted text without its backslash escapes."""
    return _ESCAPE.sub(lambda found: chr(int(found[1][1:], 16)) if len(found[1]) > 1
                       else _SIGNS.get(found[1], found[1]), text) if "\\" in text else text  # fmt: skip
