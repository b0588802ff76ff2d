"""Demonstrations: rows of other tables with the right answer, which show a chat model the form of an answer.

Bordt et al. 2024 show a chat model messages that ask about other tables in the same way, each with its answer. Here the
other tables are those of scikit-learn, which are public and need no file. No other table is an edition of the tested
table or holds its rows. Demonstrations reveal nothing about the tested table, so that the chances of its cells do not
change. Texts for base models have no demonstrations.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

from tabcontam.errors import Skip
from tabcontam.evidence.base import Message, Prompt, Query, Test
from tabcontam.evidence.mixins import FeatureTest
from tabcontam.evidence.thresholds import MOST_COPIED_SHARE, MOST_SEARCHED_ROWS
from tabcontam.reading.answer_text import value_key
from tabcontam.tables.dataset_cards import all_cards
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Table, load_table


def with_shots(
    test: Test, queries: Sequence[Query], table: Table, serializer: Serializer, seed: int, count: int
) -> tuple[Query, ...]:
    """Return the queries, each after the same `count` demonstrations, which other tables supply in turns.

    Queries stay unchanged if the test does not ask for cells of rows, or if no other table allows such a query.
    """
    if not count or not test.row_test or not isinstance(test, FeatureTest):
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
    return tuple(replace(query, write=partial(_after_shots, query, tuple(shots))) for query in queries)


def other_tables(table: Table) -> list[Table]:
    """Return the tables of scikit-learn that are not this table and have hardly any row in common with it."""
    return [other for other in _carried() if other.name != table.name and not _copied(other, table)]


@cache
def _carried() -> tuple[Table, ...]:
    named = ((card.name, edition) for card in all_cards().values() if card.public for edition in card.editions)
    loaded = {name: edition.name for name, edition in named if (edition.loader or "").startswith("load_")}
    return tuple(load_table(f"{name}@{edition}") for name, edition in sorted(loaded.items()))


def _copied(other: Table, table: Table) -> bool:
    """Return whether `table` holds rows of `other`: all cells except the target's, in any order."""
    places = [place for place, name in enumerate(other.columns) if name != other.target]
    if len(table.columns) < len(places):
        return False
    own = [frozenset(value_key(cell) for cell in row if cell is not None) for row in table.rows[:MOST_SEARCHED_ROWS]]
    rows = [frozenset(value_key(row[place] or "") for place in places) for row in other.rows]
    return sum(any(row <= held for held in own) for row in rows) >= MOST_COPIED_SHARE * len(rows)


def _shown(test: Test, other: Table, serializer: Serializer, seed: int) -> Iterator[tuple[Message, Message]]:
    """Yield each query about another table with its answer, as two messages."""
    try:
        queries = test.planned(other, serializer, seeded(other, seed, "demonstrations"))
    except Skip:
        return
    for query in queries:
        if not query.decoy_of and isinstance(query.question, Prompt) and None not in query.expected:
            answer = query.answering.text(query, query.answering.truth(query), query.prompt)
            yield query.prompt.chat[-1], Message("assistant", answer)


def _after_shots(query: Query, shots: Sequence[Message]) -> Prompt:
    """Return the prompt with the demonstrations before its last message."""
    prompt = query.prompt
    return replace(prompt, chat=(*prompt.chat[:-1], *shots, prompt.chat[-1]))
