"""The list of tests: built-in ones, and those of other packages, none of which can harm the others."""

from collections.abc import Iterator, Sequence
from random import Random

import pytest

from tabcontam.entry_points import OWN, EntryPoint
from tabcontam.evidence import base, registry
from tabcontam.evidence.base import (
    Evidence,
    EvidenceKind,
    Family,
    PublishedRule,
    Query,
    Reading,
    Reply,
    ReplyState,
    Statistic,
    Trial,
)
from tabcontam.evidence.registry import GROUP, all_tests, by_id
from tabcontam.evidence.rows.completion_tests import FeatureCompletion
from tabcontam.evidence.rows.matched_membership import MatchedMembership
from tabcontam.tables.serializers import Serializer, load_serializers
from tabcontam.tables.table import Table
from tests.added_points import added_points
from tests.answerers import reply_of
from tests.made_tables import ships

HERE = "tests.evidence.test_registry"
IS = load_serializers()["is"]


class LastCell(FeatureCompletion):
    """A test of another package."""

    id = "last_cell"


class Nameless(FeatureCompletion):
    """One that forgot its id."""


class Unfinished(base.Test):
    """One that does not say how it is weighed."""

    id = "unfinished"


class Unranked(LastCell):
    """One whose score is for a column that no ranking has."""

    id = "unranked"
    measure = "style"


class Unplaced(base.Test):
    """One that does not say which evidence it gives."""

    id = "unplaced"

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        return []

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        return Reading(None, hit=False, paper_hit=False, readable=False)

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        return Evidence(
            statistic=Statistic(name="nothing", value=0.0), null="", sentence="", hits=0, asked=0, answered=0
        )


NOTHING = None


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    """The list is made once a process: each test has its own."""
    for made in (all_tests, by_id):
        made.cache_clear()
    yield
    for made in (all_tests, by_id):
        made.cache_clear()


def offered(monkeypatch: pytest.MonkeyPatch, **points: str) -> None:
    added_points(
        monkeypatch, GROUP, [(name, value, value.partition(".")[0].partition(":")[0]) for name, value in points.items()]
    )


def test_the_built_in_tests_stand_in_the_order_of_the_paper() -> None:
    numbers = [test.number for test in registry.built_in_tests()]
    assert numbers[:9] == list(range(1, 10))
    assert set(numbers[9:]) == {None}
    assert len({test.id for test in all_tests()}) == len(all_tests()) == len(by_id())


def test_a_test_of_another_package_stands_behind_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, last_cell=f"{HERE}:LastCell")
    assert [test.id for test in all_tests()] == [*(test.id for test in registry.built_in_tests()), "last_cell"]
    assert isinstance(by_id()["last_cell"], LastCell)


def test_a_row_test_follows_from_family_and_verdict() -> None:
    core = [EntryPoint("", place, OWN).load()() for place in registry.BUILT_IN]
    assert {test.id for test in core if test.row_test} == {
        "incomplete_completion", "full_completion", "feature_completion", MatchedMembership.id, "row_order",
        "dataset_inference", "surrogate_rank", "digits",
    }  # fmt: skip


def test_a_test_with_an_id_of_its_own_inherits_no_title_and_no_published_rule() -> None:
    own = LastCell()
    assert (own.title, own.number) == ("Last cell", None)
    assert vars(LastCell)["published"] is None
    assert (own.family, own.kind, own.row_test, own.decides) == (Family.ROWS, EvidenceKind.MEMORIZATION, True, True)
    queries = own.planned(ships(), IS, Random(0))
    assert any(query.paper for query in FeatureCompletion().planned(ships(), IS, Random(0)))
    assert not any(query.paper for query in queries)
    assert all(query.answering is own.answering for query in queries)


def test_a_simulated_answerer_knows_the_tests_of_other_packages() -> None:
    """It goes by what the query says of itself, and by no id."""
    query = LastCell().planned(ships(), IS, Random(0))[0]
    assert reply_of("oracle", query, ships()).text == query.expected[0]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("lost", "no_such_package:Test", "test 'lost' of the package no_such_package cannot be loaded: ModuleNotFound"),
        ("lost", f"{HERE}:Nowhere", "test 'lost' of the package tests cannot be loaded: AttributeError"),
        ("no", f"{HERE}:NOTHING", f"is left out: {HERE}:NOTHING is no subclass of tabcontam.evidence.base.Test"),
        ("no", f"{HERE}:offered", "is no subclass of"),
        (
            "other",
            f"{HERE}:LastCell",
            "its id is 'last_cell', but the name of an entry point must be the id of its test",
        ),
        ("nameless", f"{HERE}:Nameless", "its id is 'feature_completion'"),
        ("unfinished", f"{HERE}:Unfinished", "cannot be loaded: TypeError: Can't instantiate abstract class"),
        ("unplaced", f"{HERE}:Unplaced", "cannot be loaded: AttributeError: 'Unplaced' object has no attribute 'kind'"),
        ("unranked", f"{HERE}:Unranked", "its measure is 'style', but the ranking has only score, membership, zero"),
        ("membership", f"{HERE}:LastCell", "is left out: tabcontam has a test of that name"),
        ("Two words", f"{HERE}:LastCell", "a test's name is made of a-z"),
    ],
)
def test_a_broken_one_is_one_line_and_harms_nobody_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str, message: str
) -> None:
    offered(monkeypatch, **{name: value, "last_cell": f"{HERE}:LastCell"})
    assert [test.id for test in all_tests()] == [*(test.id for test in registry.built_in_tests()), "last_cell"]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("tabcontam: test ")
    assert message in line
    assert all_tests() is all_tests()
    assert not capsys.readouterr().err


def test_a_published_rule_decides_by_a_share_and_by_one_hit_at_least() -> None:
    text = "no cell of it"
    queries = FeatureCompletion().planned(ships(), IS, Random(0))[:5]
    replies = [reply_of("oracle" if number < 2 else "decliner", query, ships()) for number, query in enumerate(queries)]
    trials = [
        Trial(query, reply, FeatureCompletion().read(query, reply, IS))
        for query, reply in zip(queries, replies, strict=True)
    ]
    assert {reply.state for reply in replies} == {ReplyState.OK}
    hits = PublishedRule(text).hits(trials)
    assert hits == 2
    found = [PublishedRule(text, share=share).detects(hits, len(trials)) for share in (0.0, 0.4, 0.5, None)]
    assert found == [True, True, False, None]
    assert PublishedRule(text).detects(0, 0) is False
