"""Memory's share by log-probabilities: the same rows and twins as in words, and what sure answers add."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import log
from random import Random

import numpy as np
import pytest

from tabcontam.evidence.base import Endings, Evidence, Likelihoods, Query, ReplyState, Trial
from tabcontam.evidence.score.memory_share import MemoryShare
from tabcontam.evidence.score.scored_share import LIKELY, WORST, ChanceShares, MemoryShareScored, shared
from tabcontam.statistics.auc_difference import auc_apart
from tabcontam.tables.serializers import load_serializers
from tests.twins.made import fleet

IS = load_serializers()["is"]
TEST = MemoryShareScored()
Says = Callable[[Query], Mapping[str, float] | None]


@lru_cache(maxsize=1)
def queries() -> Sequence[Query]:
    return TEST.queries(fleet(), IS, Random("0"))


def trials(say: Says) -> list[Trial]:
    found = []
    for query in queries():
        chances = say(query)
        values = tuple(log(chances[name]) for name in query.asked) if chances else ()
        reply = Likelihoods(values, ReplyState.OK if chances else ReplyState.FAILED)
        found.append(Trial(query, reply, TEST.read(query, reply, IS)))
    return found


def weighed(say: Says) -> Evidence:
    return TEST.weigh(trials(say), 0.01)


def shares(say: Says) -> ChanceShares:
    found = shared(trials(say))
    assert found is not None
    return found


def as_models(query: Query) -> Mapping[str, float]:
    return {name: max(1e-3, value) for name, value in query.chance[LIKELY].values.items()}


def recalling(query: Query) -> Mapping[str, float]:
    """Sure of every row of the table, and of no twin."""
    return (
        as_models(query) if query.decoy_of else {name: 0.99 if name in query.expected else 0.01 for name in query.asked}
    )


def test_rows_twins_and_examples_are_those_that_are_asked_in_words() -> None:
    asked = MemoryShare().queries(fleet(), IS, Random("0"))
    assert [query.rows for query in queries()] == [query.rows for query in asked]
    for scored, own in zip(queries(), asked, strict=True):
        question = scored.question
        assert isinstance(question, Endings)
        assert question.beginning == own.prompt.completion
        assert question.endings == (" Yes", " No")


def test_who_is_as_sure_as_models_has_no_share() -> None:
    found = shares(as_models)
    assert abs(found.log_loss) < 0.01
    assert not found.above
    assert found.auc is not None
    assert abs(found.auc.difference) < 1e-9


def test_who_is_sure_of_rows_alone_is_told_by_log_loss_and_auc() -> None:
    found = shares(recalling)
    assert found.above
    assert found.own == pytest.approx(0.01, abs=0.01)
    assert found.auc is not None
    assert found.auc.values[0] == 1.0
    assert found.auc.interval[0] > 0
    said = weighed(recalling).sentence
    assert "memory's share of the log-loss" in said
    assert "AUC 1.00, on twins" in said


def test_one_sure_and_wrong_answer_costs_no_more_than_the_least_chance() -> None:
    wrong = queries()[1].id

    def say(query: Query) -> Mapping[str, float]:
        if query.id != wrong:
            return as_models(query)
        return {name: 1e-300 if name in query.expected else 1.0 for name in query.asked}

    assert shares(say).log_loss - shares(as_models).log_loss <= WORST / 100
    assert not shares(say).above


def test_who_always_says_one_class_has_no_share() -> None:
    found = shares(lambda query: dict(zip(query.asked, (0.9, 0.1), strict=True)))
    assert found.own == found.twins
    assert not found.above


def test_pairs_without_log_probabilities_are_left_out_and_none_is_told() -> None:
    assert shared(trials(lambda query: None)) is None
    assert "the model reports log-probabilities for no row and its twin" in weighed(lambda query: None).sentence
    half = shared(trials(lambda query: recalling(query) if len(query.id) % 2 else None))
    assert half is None or half.own < 0.02


def test_fresh_rows_take_no_part() -> None:
    table = replace(fleet(), fresh=fleet(200, 7).rows)
    assert [query.id for query in TEST.queries(table, IS, Random("0"))] == [query.id for query in queries()]


def test_the_auc_of_several_sides_adds_up_and_one_class_has_none() -> None:
    labels = np.array([0, 0, 1, 1])
    right = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]])
    flat = np.full((4, 2), 0.5)
    found = auc_apart([right, flat], (1, -1), labels)
    assert found is not None
    assert found.values == (1.0, 0.5)
    assert found.difference == 0.5
    assert found.interval == (0.5, 0.5)
    assert auc_apart([right, flat], (1, -1), np.zeros(4, dtype=np.int64)) is None
