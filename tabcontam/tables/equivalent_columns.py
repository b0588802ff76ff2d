"""Equivalent columns: equal information in different values, such as a number of donations and the amount of blood.

Each of them reveals the others. So if a cell of one is hidden, the row's cells in all of them are hidden.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.thresholds import LEAST_ROWS_OF_EQUIVALENTS


@dataclass(frozen=True)
class ReducedTable:
    """A table with only the first of each set of equivalent columns, and the cells of the columns left out.

    `beside[column][left_out]` maps each cell of `column` to the cell of the column `left_out` in the same row.
    """

    table: Table
    left_out: Mapping[str, Mapping[str, Mapping[Cell, Cell]]]


def reduce_table(table: Table) -> ReducedTable:
    """Return the table without the columns that are equivalent to an earlier one.

    Two columns are equivalent if each determines the other in every row. Columns with hardly any repeated value, and
    columns with only one value, never count as equivalent.
    """
    return cached_fact(table, "reduced", lambda: _reduced(table))


def _reduced(table: Table) -> ReducedTable:
    first: dict[tuple[int, ...], str] = {}
    cells_left_out: dict[str, dict[str, dict[Cell, Cell]]] = {}
    for name in table.columns:
        cells = table.column(name)
        codes: dict[Cell, int] = {}
        alike = tuple(codes.setdefault(cell, len(codes)) for cell in cells)
        if len(codes) < 2 or len(cells) - len(codes) < LEAST_ROWS_OF_EQUIVALENTS:
            continue
        kept = first.setdefault(alike, name)
        if kept != name:
            cells_left_out.setdefault(kept, {})[name] = dict(zip(table.column(kept), cells, strict=True))
    left_out = {name for columns in cells_left_out.values() for name in columns}
    if not left_out:
        return ReducedTable(table, {})
    places = [place for place, name in enumerate(table.columns) if name not in left_out]

    def fewer(rows: tuple[tuple[Cell, ...], ...]) -> tuple[tuple[Cell, ...], ...]:
        return tuple(tuple(row[place] for place in places) for row in rows)

    columns = tuple(table.columns[place] for place in places)
    known = tuple(map(fewer, table.known))
    for kept, others in cells_left_out.items():  # a known file may write the same cell differently
        from_place = table.columns.index(kept)
        for name, mapping in others.items():
            to_place = table.columns.index(name)
            pairs = ((row[from_place], row[to_place]) for rows in table.known for row in rows)
            mapping |= {cell: other for cell, other in pairs if cell not in mapping}
    whole = None if table.whole is None else table.whole.with_rows(fewer)
    reduced = replace(table, columns=columns, rows=fewer(table.rows), known=known, whole=whole)
    return ReducedTable(reduced, cells_left_out)
