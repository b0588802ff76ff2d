"""The feature names test of Bordt et al.: what is shown of the names, and what an answer weighs."""

from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Query, Reply, ReplyState, Trial
from tabcontam.extensions.papers.feature_names import FeatureNames
from tabcontam.tables.serializers import load_serializers
from tests.answerers import reply_of
from tests.made_tables import made_table, ships

TEST = FeatureNames()
IS = load_serializers()["is"]
SHIPS = ships()


def queries() -> list[Query]:
    return TEST.planned(SHIPS, IS, Random(0))


def test_the_first_quarter_of_the_names_is_shown_and_the_rest_is_asked() -> None:
    true, *decoys = queries()
    assert set(true.expected) <= set(SHIPS.columns[1:])
    assert SHIPS.columns[0] in true.prompt.completion
    assert not any(name in true.prompt.completion for name in true.expected if name)
    assert len(decoys) == 4
    assert all(decoy.decoy_of == true.id for decoy in decoys)


def test_every_name_is_needed_for_the_count() -> None:
    true = queries()[0]
    names = [name for name in true.expected if name]
    for said, whole in ((names, True), (names[1:], False), ([], False)):
        reading = TEST.read(true, Reply(", ".join(said) or "none", ReplyState.OK), IS)
        assert reading.paper_hit is whole


@pytest.mark.parametrize(("kind", "found"), [("oracle", True), ("guesser", False), ("mode", False)])
def test_who_knows_the_names_says_more_of_them_than_of_decoys(kind: str, found: bool) -> None:
    asked = queries()
    trials = []
    for query in asked:
        reply = reply_of(kind, query, SHIPS)
        trials.append(Trial(query, reply, TEST.read(query, reply, IS)))
    p_value = TEST.weigh(trials, 0.05).p_value
    assert (p_value is not None and p_value < 0.05) is found


def test_two_features_are_too_few() -> None:
    with pytest.raises(Skip):
        TEST.queries(made_table(("hullNo", "crewCnt"), [("1", "2"), ("3", "4")]), IS, Random(0))
