"""The paper's membership: counter-balanced, drawn by content, and bias told apart from discrimination."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Trial
from tabcontam.evidence.rows.membership import Membership
from tabcontam.tables.serializers import load_serializers
from tests.made_tables import ships

IS = load_serializers()["is"]
TEST = Membership()


def asked() -> list[Query]:
    return TEST.queries(ships(), IS, Random("0"))


def weighed(answer: Callable[[Query], str]) -> Evidence:
    trials = []
    for query in asked():
        reply = Reply(answer(query), ReplyState.OK)
        trials.append(Trial(query, reply, TEST.read(query, reply, IS)))
    return TEST.weigh(trials, 0.01)


def test_forty_rows_are_asked_of_which_half_are_perturbed() -> None:
    assert [query.expected for query in asked()].count(("No",)) == 20
    assert len({query.rows[-1] for query in asked()}) == len(asked()) == 40


@pytest.mark.parametrize("count", [4, 20, 40])
def test_the_order_of_the_examples_is_balanced_over_labels_however_many_are_asked(count: int) -> None:
    """The examples stood as Yes, No in every prompt: an LLM that repeats the last answer said No to all."""
    firsts = [query.prompt.completion.split("Part of the dataset: ")[1][:2] for query in asked()[:count]]
    labels = [query.expected[0] for query in asked()[:count]]
    assert set(Counter(zip(firsts, labels, strict=True)).values()) == {count // 4}


def test_rows_and_columns_in_another_order_are_asked_alike() -> None:
    table = ships()
    turned = replace(table, columns=table.columns[::-1], rows=tuple(row[::-1] for row in table.rows[::-1]))
    twice = [
        [(query.expected, frozenset(source.rows[query.rows[-1]])) for query in TEST.queries(source, IS, Random("1"))]
        for source in (table, turned)
    ]
    assert twice[0] == twice[1]


@pytest.mark.parametrize(("always", "said"), [("Yes", "100% answered Yes"), ("No", "0% answered Yes")])
def test_bias_alone_scores_one_half(always: str, said: str) -> None:
    """B8: Gemini 1.0 said Yes 97 times in 100."""
    evidence = weighed(lambda query: always)
    assert (evidence.measured.value, evidence.p_value, evidence.hits) == (0.5, None, 20)
    assert said in evidence.sentence
    assert "d' 0.0" in evidence.sentence


def test_one_that_knows_tells_all() -> None:
    evidence = weighed(lambda query: query.expected[0] or "")
    assert (evidence.measured.value, evidence.hits) == (1.0, 40)
    assert evidence.interval is not None
    assert 0.85 < evidence.interval[0] < evidence.interval[1] == 1.0


def test_an_invalid_answer_is_counted_as_such() -> None:
    evidence = weighed(lambda query: "Yes/No" if query.id.endswith("-0") else query.expected[0] or "")
    assert (evidence.hits, evidence.answered, evidence.asked, evidence.measured.value) == (39, 39, 40, 1.0)
    assert "1 not answered" in evidence.sentence
