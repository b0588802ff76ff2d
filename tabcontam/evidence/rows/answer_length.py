"""The number of tokens that an answer of a row test may need: the tokens of the table's longest row."""

import re
from collections.abc import Sequence

from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table

MOST = 8192  # largest token limit; longer rows are cut
LETTERS = re.compile(r"[a-z]+", re.IGNORECASE)
SPACES = re.compile(r"\s+")


def answer_tokens(table: Table, serializer: Serializer, columns: Sequence[str], least: int) -> int:
    """Return the token limit of an answer with these columns of a row: an upper estimate, and at least `least`.

    The limit depends on the table's longest row, so that it reveals nothing about the asked row. A word counts one
    token for every three letters, anything else one token a byte, since some tokenizers split numbers into digits.
    """

    names = tokens_in(serializer.alone(columns, [""] * len(columns)))
    bytes_of = cached_fact(table, ("longest cells", tuple(columns)), lambda: _bytes_of_longest(table, columns))
    if names + bytes_of <= least:  # no cell has more tokens than bytes
        return least
    row = cached_fact(table, ("longest row", tuple(columns)), lambda: _longest(table, columns))
    return max(least, min(tokens_in(serializer.alone(columns, row)), MOST))


def _bytes_of_longest(table: Table, columns: Sequence[str]) -> int:
    """Return the sum of the bytes of the longest cell in each of these columns: an upper bound for a row."""
    cells = (set(table.column(name)) for name in columns)
    sizes = ((len(cell.encode("utf-8", "replace")) for cell in of_column if cell) for of_column in cells)
    return sum(max(own, default=0) for own in sizes)


def _longest(table: Table, columns: Sequence[str]) -> tuple[Cell, ...]:
    lengths: dict[Cell, int] = {None: 0}

    def length(cells: Sequence[Cell]) -> int:
        for cell in cells:
            if cell not in lengths:
                lengths[cell] = tokens_in(cell or "")
        return sum(map(lengths.__getitem__, cells))

    return max(zip(*map(table.column, columns), strict=True), key=length)


# piece: letters that any tokenizer joins, on average
def tokens_in(text: str, *, piece: int = 3) -> int:
    """Return an upper estimate of a text's tokens. The space before a word or number needs no token of its own."""
    words = sum(-(-len(word) // piece) for word in LETTERS.findall(text))
    return words + len(SPACES.sub("", LETTERS.sub("", text)).encode("utf-8", "replace"))
