"""A table without words: signs without a meaning replace features and categories."""

from dataclasses import replace

from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.table import Cell, Table


@table_fact
def meaningless(table: Table) -> Table:
    """Return the table with features x1, x2 and so on, in their order, and one or two letters for each category.

    Numbers and missing cells stay unchanged. The letters are assigned to the categories at random, the same each time,
    so that they reveal neither the order of the words nor their frequency.
    """
    names = tuple(f"x{number}" for number in range(1, len(table.columns) + 1))
    rows = tuple(zip(*(_signs(table, name) for name in table.columns), strict=True))
    bare = replace(table, target=None, question=None, hints=None, known=(), drawn_cells=(), whole=None)
    return replace(bare, columns=names, rows=rows)


def _signs(table: Table, name: str) -> tuple[Cell, ...]:
    cells = table.column(name)
    if table.is_numeric(name):
        return cells
    values = sorted(table.distinct(name))
    drawn = seeded(table, "signs", name).sample(values, len(values))
    signs = {value: _letters(number) for number, value in enumerate(drawn)}
    return tuple(cell if table.is_missing(cell) else signs[str(cell)] for cell in cells)


def _letters(number: int) -> str:
    """Return the letters of a number: a to z, then aa, ab and so on."""
    found = ""
    while number >= 0:
        found = chr(ord("a") + number % 26) + found
        number = number // 26 - 1
    return found
