"""Checks of a query before it is sent: its prompt must neither contain the asked values nor determine them.

A query that fails is drawn again. If no draw passes, the result is `skipped` with the reason.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import TypeVar

from tabcontam.errors import Skip
from tabcontam.evidence.base import Prompt
from tabcontam.evidence.thresholds import LONGEST_HARMLESS_PREFIX, MOST_DRAWS_OF_A_QUERY
from tabcontam.reading.word_decision import PIECES, PLAIN, pieces, stands_whole, without_note
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.thresholds import MOST_ROWS_READ_WHOLE

Item = TypeVar("Item")


def rendered(prompt: Prompt) -> str:
    """Return the text of all renderings of a prompt."""
    renderings = (*(message.content for message in prompt.chat), prompt.completion, prompt.seq2seq)
    return "\n".join(dict.fromkeys(renderings))


def given_away(word: str, text: str) -> bool:
    """Return whether a text contains a word, or all its pieces (`sepal width` in `sepal length, petal width`)."""
    word = without_note(word)
    folded = _folded(text)
    if (len(word) > LONGEST_HARMLESS_PREFIX and word.casefold() in folded) or stands_whole(word, text):
        return True
    if not PLAIN.fullmatch(word) or not all(piece in folded for piece in pieces(word)):
        return False
    shown = _shown(text)
    return all(
        piece in shown or (len(piece) > LONGEST_HARMLESS_PREFIX and any(other.startswith(piece) for other in shown))
        for piece in pieces(word)
    )


@lru_cache(maxsize=1)  # many words in a row are looked for in one text
def _folded(text: str) -> str:
    return text.casefold()


@lru_cache(maxsize=1)
def _shown(text: str) -> frozenset[str]:
    return frozenset(map(str.casefold, PIECES.findall(text)))


def select_hidden_words(words: Iterable[str], text: str) -> tuple[str, ...]:
    """Return the words that a text does not give away."""
    return tuple(word for word in words if not given_away(word, text))


def draw_until_valid(draw: Callable[[], Item | None], reason: str) -> Item:
    """Return the first item from `draw` that is not None. Raises `Skip` with the reason if many draws give None."""
    for _ in range(MOST_DRAWS_OF_A_QUERY):
        if (item := draw()) is not None:
            return item
    raise Skip(reason)


def check_comparable(table: Table) -> None:
    """Raise `Skip` if only a sample of a large file is stored: an answer may be any row of the file."""
    if table.whole is not None:
        raise Skip(
            f"the model may write any of the file's {table.rows_in_file:,} rows, but only {len(table.rows):,} are kept "
            f"to compare its answers with; give a part of the file with at most {MOST_ROWS_READ_WHOLE:,} rows"
        )


def determined_rows(table: Table, shown: Sequence[int], asked: Sequence[int]) -> list[int]:
    """Return the rows whose shown cells determine their asked cells in the table, except rows of known files."""

    def find() -> list[int]:
        shown_of, asked_of = itemgetter(*shown), itemgetter(*asked)
        answers: dict[object, object] = {}  # the first row's asked cells for each combination of shown cells
        open_ended = set()
        for row in table.all_stored:
            key, answer = shown_of(row), asked_of(row)
            if answers.setdefault(key, answer) != answer:
                open_ended.add(key)
        return not_known(table, (index for index, row in enumerate(table.rows) if shown_of(row) not in open_ended))

    return cached_fact(table, ("determined", tuple(shown), tuple(asked)), find)


def alone_rows(table: Table, column: int) -> list[int]:
    """Return the rows that differ from every other row in a cell before `column`, except rows of known files."""
    shared = cached_fact(table, "shared beginnings", lambda: _shared_beginnings(table))[column]
    return not_known(table, (row for row in range(len(table.rows)) if row not in shared))


def _shared_beginnings(table: Table) -> list[frozenset[int]]:
    """Return for each column the rows that have all cells before this column in common with another row."""
    every = table.all_stored
    found = [frozenset(range(len(every)))]
    first = dict.fromkeys(found[0], 0)  # for each row with shared first cells, the first row that has them
    for cells in list(zip(*every, strict=True))[:-1]:
        firsts: dict[tuple[int, Cell], int] = {}
        first = {row: firsts.setdefault((group, cells[row]), row) for row, group in first.items()}
        again = {row: group for row, group in first.items() if row != group}
        first = again | {group: group for group in again.values()}
        found.append(frozenset(first))
    return found
