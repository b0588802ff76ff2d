"""Under the null a p-value is uniform or conservative, whatever is answered."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import Query, Reply, ReplyState, Trial
from tabcontam.evidence.registry import by_id
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import load_serializers
from tests.made_tables import ships

IS = load_serializers()["is"]
RUNS, MOST = 200, 20  # runs, and queries that are read in each
LEVELS = (0.5, 0.2, 0.05, 0.01)
ROWS = ("incomplete_completion", "full_completion", "feature_completion")


@cache
def queries(test: str) -> Sequence[Query]:
    """The queries of a table of which half the features can be guessed."""
    table = ships()
    return [query for query in by_id()[test].planned(table, IS, seeded(table, 0, test)) if query.chance]


def drawn(guess: CellPrediction, rng: Random) -> str | None:
    """A hidden cell as the guesser would draw it; None for one that it does not list."""
    total = max(1.0, sum(guess.values.values()))
    values = [*guess.values, None]
    weights = [*guess.values.values(), total - sum(guess.values.values())]
    return rng.choices(values, weights)[0]


def likeliest(query: Query) -> str:
    """The answer of one who knows the guesser's distributions and nothing else."""
    guesses = [query.chance.get(name) for name in query.asked]
    return query.answering.text(query, [guess.likeliest if guess else "0" for guess in guesses])


def constant(query: Query) -> str:
    """One answer to all, chosen after seeing the prompts: what is likeliest over all of them."""
    return query.answering.text(query, _constant(query.id.partition("-")[0]))


@cache
def _constant(test: str) -> list[str]:
    worth: dict[str, dict[str, float]] = {}
    for query in queries(test):
        for name, guess in query.chance.items():
            for value, chance in guess.values.items():
                own = worth.setdefault(name, {})
                own[value] = own.get(value, 0.0) + chance
    return [max(worth[name], key=worth[name].__getitem__) if name in worth else "0" for name in queries(test)[0].asked]


@pytest.mark.parametrize(("test", "answer"), [(ROWS[0], constant), (ROWS[1], likeliest), (ROWS[2], likeliest)])
@pytest.mark.slow
def test_p_values_are_uniform_or_conservative_under_the_guesser(test: str, answer: Callable[[Query], str]) -> None:
    found, asked, rng = by_id()[test], queries(test)[:MOST], Random(1)
    replies = [Reply(answer(query), ReplyState.OK) for query in asked]
    p_values = []
    for _ in range(RUNS):
        trials = []
        for query, reply in zip(asked, replies, strict=True):
            hidden = [drawn(query.chance[name], rng) if name in query.chance else None for name in query.asked]
            again = replace(query, expected=tuple(hidden))
            trials.append(Trial(again, reply, found.read(again, reply, IS)))
        p_values.append(found.weigh(trials, 0.01).p_value)
    for level in LEVELS:
        share = sum(p is not None and p <= level for p in p_values) / RUNS
        assert share <= level + 3.3 * (level * (1 - level) / RUNS) ** 0.5
    assert min(p for p in p_values if p is not None) < 0.4  # a check that cannot fail would be none


@pytest.mark.slow
def test_a_constant_yes_earns_nothing_in_matched_membership() -> None:
    found = by_id()["matched_membership"]
    for seed in range(8):
        table = ships(400)
        asked = found.queries(table, IS, seeded(table, seed, found.id))
        for word in ("Yes", "No"):
            reply = Reply(word, ReplyState.OK)
            p_value = found.weigh([Trial(q, reply, found.read(q, reply, IS)) for q in asked], 0.01).p_value
            assert p_value is not None
            assert p_value > 0.3
