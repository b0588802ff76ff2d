"""Versions of Bordt et al.: the same rows in four versions, each behind examples in its own words."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Trial
from tabcontam.evidence.score.versions import VERSIONS, Versions
from tabcontam.tables.serializers import load_serializers
from tests.twins.made import fleet

IS = load_serializers()["is"]
TEST = Versions()
Says = Callable[[Query], str | None]


def queries() -> Sequence[Query]:
    return TEST.queries(fleet(), IS, Random("0"))


def weighed(say: Says) -> Evidence:
    trials = []
    for query in queries():
        said = say(query)
        reply = Reply(said or "", ReplyState.OK if said is not None else ReplyState.REFUSED)
        trials.append(Trial(query, reply, TEST.read(query, reply, IS)))
    return TEST.weigh(trials, 0.01)


@pytest.mark.slow
def test_each_row_is_asked_in_four_versions() -> None:
    asked = queries()
    assert len(asked) == 400
    assert [query.id.rpartition("-")[2] for query in asked[1:4]] == list(VERSIONS.values())
    assert all(query.decoy_of == asked[0].id for query in asked[1:4])


def test_each_version_stands_behind_examples_in_its_own_words() -> None:
    own, perturbed, task, coded = (query.prompt.completion for query in queries()[:4])
    assert own.count("The length is ") == perturbed.count("The length is ") == task.count("The Length is ") == 3
    assert coded.count("The X3 is ") == 3
    assert "length" not in coded.casefold()
    assert "toll" not in coded.casefold()
    assert own != perturbed


def test_classes_are_numbers_in_the_statistical_version_and_the_same_ones_throughout() -> None:
    asked = queries()
    told = {(own.expected[0], coded.expected[0]) for own, coded in zip(asked[::4], asked[3::4], strict=True)}
    assert len(told) == 2
    assert {coded for _, coded in told} == {"0", "1"}


def test_who_recalls_rows_loses_on_every_other_version() -> None:
    found = weighed(lambda query: query.asked[0] if query.decoy_of else str(query.expected[0]))
    assert found.measured.value == 1.0
    assert found.sentence.startswith("accuracy 1.00 [0.96, 1.00] on 100 rows as they are; perturbed ")
    assert found.sentence.count("lost 0.") == 3


def test_who_is_right_on_all_loses_nothing() -> None:
    found = weighed(lambda query: str(query.expected[0]))
    assert found.sentence.count("1.00, lost 0.00 (") == 3
    assert found.p_value is None


def test_refusals_are_told_and_count_for_nothing() -> None:
    found = weighed(lambda query: None if query.id.endswith("task") else str(query.expected[0]))
    assert "task: no row was answered in both versions" in found.sentence
    assert "100 answers named no class" in found.sentence
    assert (found.hits, found.answered) == (100, 100)


def test_nothing_answered_is_no_accuracy_of_the_rows() -> None:
    found = weighed(lambda query: None)
    assert (found.hits, found.answered, found.measured.value) == (0, 0, 0.0)


def test_a_table_without_a_question_is_skipped() -> None:
    with pytest.raises(Skip, match="no classification question"):
        TEST.queries(replace(fleet(), target=None, question=None), IS, Random("0"))
