"""`--queries paper` plans the paper's own queries and no others, and tells what it leaves out."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import ClassVar, Literal

import pytest

from tabcontam.asking.query_plan import NONE_OF_PAPER, PlannedResult, RunSource, plan
from tabcontam.asking.run_progress import Progress
from tabcontam.config import CALIBRATED, PAPER, RunConfig
from tabcontam.errors import NothingSelected, UsageError
from tabcontam.evidence.base import PublishedRule, Query
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.evidence.rows.matched_membership import MatchedMembership
from tabcontam.evidence.rows.membership import Membership
from tabcontam.models.known.control import open_control
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.runs.folder import load, merge
from tabcontam.runs.rescoring import rescore
from tabcontam.runs.run import execute, prepare
from tabcontam.runs.run_description import not_asked
from tabcontam.tables.serializers import Serializer, load_serializers
from tabcontam.tables.table import Table
from tabcontam.verdicts.notes import NoteKind
from tests.made_tables import ships

Queries = int | Literal["paper"] | None
IS = load_serializers()["is"]
OF_PAPER = {  # how many queries the paper has of each test, about a table whose rows suffice
    "feature_list_informed": 3,
    "feature_list_uninformed": 1,
    "recognition_features": 1,
    "recognition_examples": 1,
    "feature_values_informed": 2,
    "feature_values_uninformed": 2,
    "incomplete_completion": 5,
    "full_completion": 1,
    "feature_completion": 5,
    "membership": 100,
    "classification_0shot": 100,
    "classification_1shot": 100,
}


def planned(
    queries: Queries, rules: str = PAPER, rows: int = 200, asked: Collection[str] = OF_PAPER
) -> dict[str, PlannedResult]:
    subject = RunSource(SimulatedModel("guesser"))
    tests = [test for test in all_tests() if test.id in asked]
    cells = plan([subject], [ships(rows)], [IS], tests, RunConfig(queries=queries, rules=rules))
    return {cell.test.id: cell for cell in cells}


@pytest.mark.slow
def test_each_test_asks_as_many_queries_as_the_paper() -> None:
    own = planned(PAPER)
    assert {test: len(own[test].queries) for test in OF_PAPER} == OF_PAPER
    assert all(query.paper for cell in own.values() for query in cell.queries)


@pytest.mark.slow
def test_they_are_the_ones_that_a_whole_run_marks_as_the_papers() -> None:
    own, whole = planned(PAPER), planned(None)
    for test in set(OF_PAPER) - {"membership"}:
        assert own[test].queries == tuple(query for query in whole[test].queries if query.paper)
        assert own[test].beyond == len(whole[test].queries) - OF_PAPER[test]


@pytest.mark.slow
def test_membership_asks_a_hundred_rows_half_of_them_perturbed_and_forty_otherwise() -> None:
    queries, own, fewer = (planned(number, asked=["membership"])["membership"].queries for number in (PAPER, None, 70))
    assert len({query.rows[-1] for query in queries}) == 100
    assert [query.expected[0] for query in queries].count("No") == 50
    assert len(own) == len(fewer) == 40


@pytest.mark.slow
def test_a_table_with_fewer_rows_is_asked_about_those_it_has() -> None:
    queries = planned(PAPER, rows=31, asked=["membership"])["membership"].queries
    assert len(queries) == 30
    assert [query.expected[0] for query in queries].count("No") == 15


def test_a_test_of_another_package_keeps_the_signature_of_its_queries() -> None:
    @dataclass(frozen=True)
    class Own(MatchedMembership):
        """Has a published rule, and marks the third query as the paper's."""

        id: ClassVar[str] = "own"
        published = PublishedRule("rows were told right")

        def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
            asked = Membership().queries(table, serializer, rng)
            return [replace(query, paper=number == 2) for number, query in enumerate(asked)]

    @dataclass(frozen=True)
    class Bare(Own):
        """Marks none."""

        id: ClassVar[str] = "bare"
        published = PublishedRule("rows were told right")

        def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
            return [replace(query, paper=False) for query in super().queries(table, serializer, rng)]

    subject = RunSource(SimulatedModel("guesser"))
    own, bare = plan([subject], [ships()], [IS], [Own(), Bare()], RunConfig(queries=PAPER, rules=PAPER))
    assert [query.id for query in own.queries] == ["membership-2"]
    assert (own.beyond, bare.beyond, bare.skip) == (39, 40, NONE_OF_PAPER)


def order(out: Path, queries: Queries, rules: str = PAPER, tests: str | None = None) -> RunConfig:
    return RunConfig(
        llm=("simulated:guesser",),
        dataset=("wine",),
        tests=tests,
        queries=queries,
        rules=rules,
        controls=False,
        out=out,
        cache=False,
    )


@pytest.mark.slow
def test_a_line_says_what_is_left_out_and_stays_with_the_results(tmp_path: Path) -> None:
    run = prepare(order(tmp_path / "run", PAPER))
    line = (
        "only the paper's own queries: left out are matched_membership and perplexity whole and 166 further queries "
        "to each model"
    )
    assert not_asked(run) == line
    assert "matched_membership" not in {cell.test.id for cell in run.plan}
    found = execute(run, Progress()).results
    again = rescore(tmp_path / "run", CALIBRATED)
    for results in (found, load(tmp_path / "run"), again):
        assert results.run.queries == "paper"
        assert [note.text for note in results.run.notes if note.kind is NoteKind.QUERIES] == [line]
    assert [cell.queries for cell in again.results] == [cell.queries for cell in found.results]


@pytest.mark.slow
def test_the_calibrated_rules_say_what_they_do_not_ask(tmp_path: Path) -> None:
    line = not_asked(prepare(order(tmp_path / "run", PAPER, CALIBRATED)))
    assert "results of a model are not asked for, since the calibrated rules need more queries" in line
    assert not_asked(prepare(order(tmp_path / "run", None))) == ""


def test_a_test_that_the_paper_does_not_have_selects_nothing(tmp_path: Path) -> None:
    with pytest.raises(NothingSelected, match="chosen tests has queries of the paper's own: matched_membership"):
        prepare(order(tmp_path / "run", PAPER, tests="matched"))


@pytest.mark.parametrize(("first", "second"), [(PAPER, None), (None, PAPER), (3, PAPER)])
@pytest.mark.slow
def test_a_folder_holds_the_papers_queries_or_others(tmp_path: Path, first: Queries, second: Queries) -> None:
    """Query 7 of membership is another row with the paper's hundred than with our forty."""
    execute(prepare(order(tmp_path / "run", first, tests="full")), Progress())
    with pytest.raises(UsageError, match=r"holds a run of (the paper's own|all|at most 3) queries"):
        execute(prepare(order(tmp_path / "run", second, tests="full")), Progress())


@pytest.mark.slow
def test_runs_of_different_queries_are_merged_with_a_note(tmp_path: Path) -> None:
    execute(prepare(order(tmp_path / "a", PAPER, tests="full")), Progress())
    execute(prepare(order(tmp_path / "b", None, tests="full")), Progress())
    merged = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    assert merged.run.queries is None
    assert [run.queries for run in merged.run.runs] == ["paper", None]
    assert any("the runs have different queries" in note.text for note in merged.run.notes)
    same = merge([tmp_path / "a", tmp_path / "a"], tmp_path / "twice")
    assert same.run.queries == "paper"


def test_what_is_left_out_whole_is_what_has_no_published_rule() -> None:
    left_out = {test.id for test in all_tests() if test.published is None}
    assert "matched_membership" in left_out
    assert not left_out & OF_PAPER.keys()


@pytest.mark.parametrize(("most", "asked"), [(1, 0), (2, 2), (5, 4), (200, 200)])
def test_a_score_of_pairs_asks_both_of_a_pair_or_none(most: int, asked: int) -> None:
    (cell,) = plan(
        [RunSource(open_control("exposed"))],
        [ships()],
        [load_serializers()["is"]],
        [by_id()["perplexity"]],
        RunConfig(queries=most),
    )
    assert len(cell.queries) == asked
    assert bool(cell.skip) == (asked == 0)
    own = {query.id for query in cell.queries if not query.decoy_of}
    assert {query.decoy_of for query in cell.queries} - {""} == own
