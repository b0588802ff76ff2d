"""Tables in JSON: one value that contains the rows, or one row in each line. Numbers keep their digits.

By hand, because DuckDB and polars read 1.50 as 1.5, and 1e3 as a thousand.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.tables.readers.base import File, check_cells, choose_part
from tabcontam.tables.readers.delimited_text import decoded
from tabcontam.tables.table_contents import Contents, contents

LAYOUT = "give an array with an object for each row, or an object in each line"
Record = Mapping[str, Any]


class JsonLiteral(str):
    """A number or a JSON word as the file writes it: `1.50`, `1e3`, `NaN`."""

    __slots__ = ()


def begins_json(text: str) -> bool:
    """Return whether a text begins as JSON does, and not as a table in delimited text."""
    return text.lstrip("\ufeff \t\r\n")[:2].rstrip(" \t") in ('{"', "{\n", "{\r", "[{", "[[", "[\n", "[\r", "{}", "[]")


def read_json(file: File) -> Contents:
    """Return column names and rows. Null and missing keys are None. Raises `UsageError` if there is no table.

    A nested value becomes a cell with JSON text.
    """
    text = decoded(file.content, file.name, file.form.encoding)
    if not text.strip():
        raise UsageError(f"{file.name} is empty; {LAYOUT}")
    check_cells(sum(map(text.count, "{[,")), file.name)  # each needs memory before its kind is known
    try:
        if (lines := _by_line(text, file.name)) is not None:
            return _of_part(file, lines, "lines")
        return _of_part(file, _parsed(text))
    except json.JSONDecodeError as error:
        raise UsageError(f"{file.name}, line {error.lineno} is not JSON: {error.msg}; {LAYOUT}") from None
    except RecursionError:
        raise UsageError(f"{file.name} is nested too deep for a table; {LAYOUT}") from None
    except ValueError as error:
        raise UsageError(f"{file.name}: {one_line(error)}") from None


def _parsed(text: str) -> Any:
    return json.loads(
        text,
        parse_float=JsonLiteral,
        parse_int=JsonLiteral,
        parse_constant=JsonLiteral,
        object_pairs_hook=_without_twice,
    )


def _without_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"an object has the key {twice!r} twice; rename one")
    return found


def _by_line(text: str, name: str) -> list[Any] | None:
    """Return one value for each line; None if the first line is not a complete value, or is the only line."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) < 2:
        return None
    try:
        _parsed(lines[0][1])
    except json.JSONDecodeError:
        return None
    found = []
    for number, line in lines:
        try:
            found.append(_parsed(line))
        except json.JSONDecodeError as error:
            raise UsageError(f"{name}, line {number} is not JSON: {error.msg}; {LAYOUT}") from None
        except ValueError as error:
            raise UsageError(f"{name}, line {number}: {one_line(error)}") from None
    return found


def _of_part(file: File, value: Any, how: str = "") -> Contents:
    """Return the table in `value`, or the table under the key of `value` that the user named after a `#`."""
    if file.part is None and (found := _table(file, value, how)) is not None:
        return found
    tables = {key: part for key, part in value.items() if _is_table(part)} if isinstance(value, dict) else {}
    if file.part is None and not tables:
        raise UsageError(f"{file.name} holds JSON that is no table; {LAYOUT}")
    key = choose_part(file, "table", list(tables))
    return _of_rows(file, tables[key], f"table {key!r}")


def _is_table(value: Any) -> bool:
    """Return whether a value is an array of objects or an array of arrays: such a value is always read as a table."""
    every = isinstance(value, list) and bool(value)
    return every and (all(isinstance(row, dict) for row in value) or all(isinstance(row, list) for row in value))


def _table(file: File, value: Any, how: str) -> Contents | None:
    if _is_table(value):
        return _of_rows(file, value, *filter(None, [how]))
    if not isinstance(value, dict) or not value:
        return None
    columns, data = value.get("columns"), value.get("data")
    if isinstance(columns, list) and isinstance(data, list) and _is_table([columns, *data]):  # as pandas splits one
        return _of_arrays(file, [columns, *data], "columns and data apart", header=True)
    rows = value.get("rows") or []
    page_rows = _is_table(rows) and all(isinstance(row, dict) and isinstance(row.get("row"), dict) for row in rows)
    if page_rows:  # a page of the server of Hugging Face that shows datasets
        if any(row.get("truncated_cells") for row in rows):
            raise ValueError("some of its cells are cut off (truncated_cells); fetch the dataset's own file")
        total = str(value.get("num_rows_total", len(rows)))
        page = [] if total == str(len(rows)) else [f"a page of a dataset of {total} rows"]
        return _of_objects(file, [row["row"] for row in rows], "table 'rows'", "by records", *page)
    if all(isinstance(column, list) for column in value.values()):
        if any(isinstance(cell, list | dict) for column in value.values() for cell in column):
            return None
        return _of_columns(file, value)
    if all(isinstance(one, dict) for one in value.values()):
        return _of_objects_by_name(file, value)
    return None


def _of_objects_by_name(file: File, value: Mapping[str, Record]) -> Contents:
    """Return the table of named objects. Either each object is a column, with row names as keys, or each is a row.

    Names of rows are whole numbers, names of columns are not; the cells of a column have one type. Raises ValueError if
    it is unclear whether objects are columns or rows.
    """
    inner = list(dict.fromkeys(key for one in value.values() for key in one))
    check_cells(len(inner) * len(value), file.name)
    columns = [[one.get(key) for key in inner] for one in value.values()]
    rows = [[one.get(key) for one in value.values()] for key in inner]
    counted = _are_counted(inner) - _are_counted(list(value))
    votes = counted, all(map(_of_one_type, columns)) - all(map(_of_one_type, rows))
    by_columns = next((vote > 0 for vote in votes if vote), None)
    if by_columns is None:
        problem = "its objects have names that may be columns or rows"
        raise ValueError(f"{problem}; write an array with an object for each row")
    names, labels = (list(value), inner) if by_columns else (inner, list(value))
    found: dict[str, Sequence[Any]] = dict(zip(names, columns if by_columns else rows, strict=True))
    if not _are_counted(labels):  # the names are an informative column
        found = {"index" if "index" not in found else "index of the rows": labels, **found}
    return _of_columns(file, found, "by columns" if by_columns else "by index")


def _are_counted(names: Sequence[str]) -> bool:
    return all(name.isascii() and name.isdecimal() for name in names)


def _of_one_type(cells: Sequence[Any]) -> bool:
    return len({type(cell) for cell in cells if cell is not None}) < 2


def _of_rows(file: File, rows: Sequence[Any], *how: str) -> Contents:
    if isinstance(rows[0], dict):
        return _of_objects(file, rows, *how, *["by records"] * ("lines" not in how))
    return _of_arrays(file, rows, *how)


def _of_objects(file: File, rows: Sequence[Record], *how: str) -> Contents:
    """Return a table of objects, with a column for each key, in order of first appearance."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    check_cells(len(keys) * len(rows), file.name)
    return contents(keys, tuple(tuple(_cell(row.get(key)) for key in keys) for row in rows), file.read_as("JSON", *how))


def _of_columns(file: File, columns: Mapping[str, Sequence[Any]], how: str = "by columns") -> Contents:
    if len({len(column) for column in columns.values()}) > 1:
        raise UsageError(f"{file.name} has columns of different lengths; {LAYOUT}")
    cells = [[_cell(value) for value in column] for column in columns.values()]
    return contents(list(columns), tuple(zip(*cells, strict=True)), file.read_as("JSON", how))


def _of_arrays(file: File, rows: Sequence[Sequence[Any]], *how: str, header: bool | None = None) -> Contents:
    """Return a table with a row for each array. The first is the header if only it has nothing but texts."""
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        row = next(number for number, row in enumerate(rows, 1) if len(row) != len(rows[0]))
        raise UsageError(f"{file.name}: array {row} has {len(rows[row - 1])} values where the first has {len(rows[0])}")
    cells = [tuple(map(_cell, row)) for row in rows]
    header = _names(rows) if header is None else header
    names = [cell or "" for cell in cells[0]] if header else [""] * len(rows[0])
    what = ["arrays", "header in the first" if header else "no header"] if "columns and data apart" not in how else []
    return contents(names, tuple(cells[header:]), file.read_as("JSON", *how, *what))


def _names(rows: Sequence[Sequence[Any]]) -> bool:
    def are_texts(row: Sequence[Any]) -> bool:
        return all(type(value) is str and value for value in row)

    return are_texts(rows[0]) and len(set(rows[0])) == len(rows[0]) and not all(map(are_texts, rows[1:]))


def _cell(value: Any) -> str | None:
    if value is None or type(value) is str:
        return value
    return str(value) if isinstance(value, JsonLiteral) else "".join(_written(value))


def _written(value: Any) -> Iterator[str]:
    """Yield the pieces of a value as JSON text; numbers keep their digits."""
    if isinstance(value, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {''.join(_written(each))}" for key, each in value.items()]
        yield f"{{{', '.join(parts)}}}"
    elif isinstance(value, list):
        yield f"[{', '.join(''.join(_written(each)) for each in value)}]"
    elif isinstance(value, JsonLiteral):
        yield value
    else:
        yield json.dumps(value, ensure_ascii=False)
