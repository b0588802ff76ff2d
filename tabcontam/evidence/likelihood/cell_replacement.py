"""Rows with other values in place of one cell, which are scored from their first difference on."""

from collections.abc import Mapping, Sequence

from tabcontam.evidence.base import Endings, Prompt
from tabcontam.evidence.prompts import ask
from tabcontam.evidence.rows.completion_tests import FeatureCompletion
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table

TOKENS = 64  # of an answer in words
read_cell = FeatureCompletion().read  # reads an answer about one cell; a hit if it is the row's own cell


def replace_cell(
    serializer: Serializer,
    columns: Sequence[str],
    cells: Sequence[Cell],
    place: int,
    values: Sequence[str],
    above: str = "",
    below: str = "",
    repeating: Mapping[str, Mapping[Cell, Cell]] | None = None,
) -> Endings:
    """Return the row as the serializer writes it, once for each of `values` in the cell at index `place`, in order.

    `above` and `below` are texts before and after each row. `repeating` maps columns that repeat the cell to their cell
    for each value.
    """
    replaced = {columns.index(name): held for name, held in (repeating or {}).items() if name in columns}

    def with_value(value: str) -> list[Cell]:
        row = [*cells[:place], value, *cells[place + 1 :]]
        for other, by_value in replaced.items():
            row[other] = by_value[value]
        return row

    rows = [with_value(value) for value in values]
    texts = [serializer.row(columns, row) for row in rows]
    begins = serializer.places(columns, rows[0])
    start = min(begins[other][0] for other in (place, *replaced))
    while any(text[:start] != texts[0][:start] for text in texts):  # a quoted value changes the text before it
        start -= 1
    return Endings(above + texts[0][:start], tuple(text[start:] + below for text in texts))


def without_cell(table: Table, serializer: Serializer, row: int, place: int) -> Prompt:
    """Return the prompt that asks for the cell at index `place` of a row, given its other cells and no other row.

    A base model is shown the row up to the cell.
    """
    name, cells = table.columns[place], table.rows[row]
    others = [number for number in range(len(table.columns)) if number != place]
    shown = serializer.alone([table.columns[number] for number in others], [cells[number] for number in others])
    asked = f"The value of its feature {name} is left out. What is it in the dataset? Write the value alone."
    beginning = serializer.prefix(table.columns, cells, place)
    return ask(f"Dataset: {table.title}\nOne of its rows:\n{shown}", asked, f"Dataset: {table.title}\n{beginning}")
