"""Decoys of tests 1 to 6: queries about other data, which show how often answers contain the expected words by chance.

Decoys come from the shipped cards alone, so that a query of one user shows nothing of another user's file.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.answering import DECOY
from tabcontam.evidence.base import Prompt, Query
from tabcontam.evidence.checks import given_away, rendered, select_hidden_words
from tabcontam.evidence.thresholds import CHANCE_OF_INFERRED_WORD
from tabcontam.reading.word_decision import english, pieces, stands_in
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.dataset_cards import Card, Edition, load_cards
from tabcontam.tables.table import Table

Draft = tuple[Callable[[], Prompt], tuple[int, ...]]  # how to write a prompt, and the table's rows that it shows


def other_cards(table: Table) -> tuple[Card, ...]:
    """Return the cards of other data: no name in common with the table, and at most half of the features."""
    names, features = (*table.names, *table.not_names, table.title), {_spelling(name) for name in table.columns}

    def is_other(card: Card) -> bool:
        # decoys about tables do not come from cards of texts
        if card.dates.completed or any(edition.text for edition in card.editions):
            return False
        theirs = (*card.names, *card.not_aliases)
        if any(stands_in(mine, name) or stands_in(name, mine) for mine in names for name in theirs):
            return False
        shared = features & {_spelling(name) for name in features_of(card)}
        return 2 * len(shared) <= min(len(table.columns), len(features_of(card)))

    return cached_fact(table, "other cards", lambda: tuple(filter(is_other, load_cards().values())))


def described(card: Card) -> Edition:
    """Return the first edition whose features the card lists, or the first edition if the card lists none."""
    return next((edition for edition in card.editions if edition.layout.columns), card.editions[0])


def features_of(card: Card) -> tuple[str, ...]:
    """Return the features that a card lists, or () if only the dataset's file names them."""
    return described(card).layout.columns or ()


def title_of(card: Card) -> str:
    """Return the title of another dataset in prompts, for the edition whose features are known."""
    return card.title_of(described(card))


def other_titles(table: Table, count: int, rng: Random) -> list[str]:
    """Return the titles of at most `count` other cards, drawn at random."""
    titles = [title_of(card) for card in other_cards(table)]
    return rng.sample(titles, min(count, len(titles)))


def listed_cards(table: Table, count: int, rng: Random) -> list[Card]:
    """Return at most `count` other cards whose features are known, drawn at random."""
    cards = [card for card in other_cards(table) if features_of(card)]
    return rng.sample(cards, min(count, len(cards)))


def other_features(table: Table) -> list[str]:
    """Return the features of other cards that are no features of the table and contain none of its names."""
    ours = {_spelling(name) for name in table.columns}
    names = {_spelling(name): name for card in other_cards(table) for name in features_of(card)}
    return [
        name
        for spelling, name in sorted(names.items())
        if spelling not in ours and not any(given_away(other, name) for other in table.names)
    ]


def decoy(true: Query, number: int, write: Callable[[], Prompt], rows: Sequence[int] = (), word: str = DECOY) -> Query:
    """Return the query that asks the same about other data; words that its prompt gives away are not expected."""
    name, expected = f"{true.id}-{word}-{number}", select_hidden_words(filter(None, true.expected), rendered(write()))
    return replace(true, id=name, write=write, expected=expected, paper=False, rows=tuple(rows), decoy_of=true.id)


def with_decoys(table: Table, true: Query, drafts: Iterable[Draft]) -> list[Query]:
    """Return the true query with the chances of its words, followed by a decoy for each draft (an unsent prompt)."""
    decoys = [decoy(true, number, write, rows) for number, (write, rows) in enumerate(drafts)]
    return [replace(true, chance=floors(true.expected, decoys, table.private)), *decoys]


def floors(expected: Iterable[str | None], decoys: Sequence[Query], private: bool) -> dict[str, CellPrediction]:
    """Return for each expected word the least chance that a model names it without knowing the table.

    The chance is 1/2 if a reader may infer the word from the topic: its pieces are English, or the file is a user's
    own, whose names may be of any language. Else it is 1/n for the n queries that expect the word.
    """
    chances = {}
    for word in expected:
        if word is not None:
            asked = 1 + sum(word in query.expected for query in decoys)
            chance = max(CHANCE_OF_INFERRED_WORD, 1 / asked) if private or is_english(word) else 1 / asked
            chances[word] = CellPrediction({word: chance}, chance)
    return chances


@lru_cache(maxsize=10_000)
def is_english(word: str) -> bool:
    """Return whether all pieces of a word are English words or numbers. A word without pieces counts as English."""
    knows = english().knows
    return all(piece.isdigit() or any(map(knows, (piece, piece.capitalize(), piece.upper()))) for piece in pieces(word))


def _spelling(name: str) -> str:
    return " ".join(pieces(name)) or name
