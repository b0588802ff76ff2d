"""A row with other values in the place of one cell: texts that are compared from where they are not the same."""

from collections.abc import Sequence

from tabcontam.evidence.base import Endings
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell


def replaced(
    serializer: Serializer,
    columns: Sequence[str],
    cells: Sequence[Cell],
    place: int,
    values: Sequence[str],
    above: str = "",
    below: str = "",
) -> Endings:
    """The row as the serializer writes it, once with each of these values in this place, in their order.

    `above` and `below` are the texts around it, the same for all.
    """
    rows = [[*cells[:place], value, *cells[place + 1 :]] for value in values]
    texts = [serializer.row(columns, row) for row in rows]
    start = serializer.places(columns, rows[0])[place][0]
    while any(text[:start] != texts[0][:start] for text in texts):  # one that has to be quoted is written otherwise
        start -= 1
    return Endings(above + texts[0][:start], tuple(text[start:] + below for text in texts))
