"""Classification: a score among valid answers, beside what baselines get on the same rows."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Trial
from tabcontam.evidence.score.classification import Classification0Shot
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import load_table
from tests.made_tables import ships

IS = load_serializers()["is"]
TEST = Classification0Shot()
IRIS = load_table("iris")


def weighed(answer: Callable[[int, Query], str]) -> Evidence:
    trials = []
    for number, query in enumerate(TEST.queries(IRIS, IS, Random("0"))):
        reply = Reply(answer(number, query), ReplyState.OK)
        trials.append(Trial(query, reply, TEST.read(query, reply, IS)))
    return TEST.weigh(trials, 0.01)


NEEDS_DATA = pytest.mark.skipif(
    not Path(os.environ.get("TABCONTAM_DATA") or "/nonexistent").is_dir(),
    reason="TABCONTAM_DATA names no folder of dataset files",
)


@pytest.mark.parametrize("edition", ["wine", pytest.param("wine@uci", marks=NEEDS_DATA)])
def test_wine_is_asked_and_stands_in_no_mean(edition: str) -> None:
    table = load_table(edition)
    answers = ("class_0", "class_1") if edition == "wine" else ("1", "2")
    assert len(TEST.queries(table, IS, Random("0"))) == 100
    why = f"no model can know from a row alone which class is {answers[0]} and which {answers[1]}"
    assert TEST.not_averaged(table) == why


@pytest.mark.parametrize("name", sorted(load_cards().keys() - {"wine"}))
def test_every_other_cards_question_can_be_answered(name: str) -> None:
    assert all(one.question is None or one.question.fair for one in load_cards()[name].editions)


def test_a_table_without_a_question_has_no_reason() -> None:
    assert TEST.not_averaged(replace(ships(), question=None)) is None
    assert TEST.not_averaged(ships()) is None


def test_an_invalid_answer_is_no_wrong_one() -> None:
    evidence = weighed(lambda number, query: "tulip" if number < 4 else str(query.expected[0]))
    assert (evidence.measured.value, evidence.answered, evidence.asked, evidence.p_value) == (1.0, 96, 100, None)
    assert evidence.sentence.startswith("96 of 96 valid answers are right: 1.00 [0.96, 1.00]")
    assert evidence.sentence.endswith("; 4 answers name no class")


def test_always_the_same_class_is_never_above_the_majority_class() -> None:
    """Where classes are as large as each other the table's largest one may be the smaller one among the asked rows."""

    def saying(name: str) -> Evidence:
        return weighed(lambda number, query: name)

    always = [saying(name) for name in ("setosa", "versicolor", "virginica")]
    assert max(evidence.measured.value for evidence in always) == always[0].measured.expected
    (best,) = {one.measured.expected for one in always}
    assert all(f"the majority class gets {best:.2f}, logistic regression" in one.sentence for one in always)


def test_a_few_labelled_irises_are_enough_for_the_baseline() -> None:
    queries = TEST.queries(IRIS, IS, Random("0"))
    few = [query.chance["few-shot"].chance_of(str(query.expected[0])) for query in queries]
    assert sum(few) / len(few) > 0.85
    assert all(sum(query.chance["few-shot"].values.values()) == pytest.approx(1) for query in queries)


def test_nothing_answered_has_no_score_to_speak_of() -> None:
    evidence = weighed(lambda number, query: "")
    assert (evidence.hits, evidence.answered, evidence.interval) == (0, 0, (0.0, 1.0))


def test_a_target_of_too_many_values_is_told_from_none() -> None:
    """A newcomer who gave --target was told to give it."""
    table = replace(IRIS, target="petal length (cm)", question=None)
    with pytest.raises(Skip, match=r"2 to 10 values, but petal length \(cm\) has 43$"):
        TEST.queries(table, IS, Random("0"))


def test_rows_in_another_order_are_asked_alike() -> None:
    table = ships()
    turned = replace(table, columns=table.columns[::-1], rows=tuple(row[::-1] for row in table.rows[::-1]))
    twice = [
        [(query.expected, frozenset(source.rows[query.rows[-1]])) for query in TEST.queries(source, IS, Random("1"))]
        for source in (table, turned)
    ]
    assert twice[0] == twice[1]
