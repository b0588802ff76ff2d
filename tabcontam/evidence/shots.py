"""Demonstrations: rows of other tables with the right answer, which show a chat model the form of an answer.

Bordt et al. 2024 show a chat model how its answers are to look by messages that ask the same of other tables, each with
its answer. Here the other tables are those that scikit-learn carries, so that they are public and need no file; the
tested table is none of them, in whatever edition, nor is one whose rows it holds. What is shown says nothing of the
tested table, so that the chances of its cells stay. Text that is gone on with, as base models are asked, has none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

from tabcontam.errors import Skip
from tabcontam.evidence.base import Message, Prompt, Query, Test
from tabcontam.reading.reading import value_key
from tabcontam.tables.cards import all_cards
from tabcontam.tables.draws import seeded
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table, load_table

MOST_SHOTS = 16
COPIED = 0.1  # of a table's rows: where another holds so many of them it is no other table
LARGEST = 2_000  # rows of a table that are looked for


def demonstrable(test: Test) -> bool:
    """Whether a test asks for cells of rows in words, which rows of another table can show the form of."""
    return test.row_test and test.by_feature


def with_shots(
    test: Test, queries: Sequence[Query], table: Table, serializer: Serializer, seed: int, count: int
) -> tuple[Query, ...]:
    """The queries, each behind `count` demonstrations, the same for all of them, in turns of the other tables.

    A test that asks for no cells is left as it is, and so are queries where no other table can be asked alike.
    """
    if not count or not demonstrable(test):
        return tuple(queries)
    turns = [_shown(test, other, serializer, seed) for other in other_tables(table)]
    shots: list[Message] = []
    while turns and len(shots) < 2 * count:
        for turn in tuple(turns):
            pair = next(turn, None)
            if pair is None:
                turns.remove(turn)
            elif len(shots) < 2 * count:
                shots += pair
    return tuple(replace(query, write=partial(_behind, query, tuple(shots))) for query in queries)


def other_tables(table: Table) -> list[Table]:
    """The tables of scikit-learn's cards that are not this one, and none of whose rows it holds to speak of."""
    return [other for other in _carried() if other.name != table.name and not _copied(other, table)]


@cache
def _carried() -> tuple[Table, ...]:
    named = ((card.name, edition) for card in all_cards().values() if card.public for edition in card.editions)
    loaded = {name: edition.name for name, edition in named if (edition.loader or "").startswith("load_")}
    return tuple(load_table(f"{name}@{edition}") for name, edition in sorted(loaded.items()))


def _copied(other: Table, table: Table) -> bool:
    """Whether a table holds rows of the other: all cells of a row but its target's, in whatever order."""
    places = [place for place, name in enumerate(other.columns) if name != other.target]
    if len(table.columns) < len(places):
        return False
    own = [frozenset(value_key(cell) for cell in row if cell is not None) for row in table.rows[:LARGEST]]
    rows = [frozenset(value_key(row[place] or "") for place in places) for row in other.rows]
    return sum(any(row <= held for held in own) for row in rows) >= COPIED * len(rows)


def _shown(test: Test, other: Table, serializer: Serializer, seed: int) -> Iterator[tuple[Message, Message]]:
    """What is asked of another table with the answer, as two messages each."""
    try:
        queries = test.planned(other, serializer, seeded(other, seed, "demonstrations"))
    except Skip:
        return
    for query in queries:
        if not query.decoy_of and isinstance(query.question, Prompt) and None not in query.expected:
            answer = query.answering.text(query, query.answering.truth(query), query.prompt)
            yield query.prompt.chat[-1], Message("assistant", answer)


def _behind(query: Query, shots: Sequence[Message]) -> Prompt:
    """The prompt with the demonstrations before its own question."""
    prompt = query.prompt
    return replace(prompt, chat=(*prompt.chat[:-1], *shots, prompt.chat[-1]))
