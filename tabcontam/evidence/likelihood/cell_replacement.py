"""Rows with other values in the place of one cell: texts that are compared from their first difference on."""

from collections.abc import Mapping, Sequence

from tabcontam.evidence.base import Endings
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell


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
    """Return the row as the serializer writes it, once with each of these values in this place, in their order.

    `above` and `below` are the texts around it, the same for all. `repeating` maps other columns to the cell that
    stands there with each of the values.
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
    while any(text[:start] != texts[0][:start] for text in texts):  # one that has to be quoted is written otherwise
        start -= 1
    return Endings(above + texts[0][:start], tuple(text[start:] + below for text in texts))
