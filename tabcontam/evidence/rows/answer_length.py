"""The number of tokens that an answer of a row test may need: the tokens of the table's longest row."""

import re
from collections.abc import Sequence
from functools import cache

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

    def longest() -> tuple[Cell, ...]:
        tokens = cache(lambda cell: tokens_in(cell or ""))
        return max(zip(*map(table.column, columns), strict=True), key=lambda row: sum(map(tokens, row)))

    row = cached_fact(table, ("longest row", tuple(columns)), longest)
    return max(least, min(tokens_in(serializer.alone(columns, row)), MOST))


# piece: letters that any tokenizer joins, on average
def tokens_in(text: str, *, piece: int = 3) -> int:
    """Return an upper estimate of a text's tokens. The space before a word or number needs no token of its own."""
    words = sum(-(-len(word) // piece) for word in LETTERS.findall(text))
    return words + len(SPACES.sub("", LETTERS.sub("", text)).encode("utf-8", "replace"))
