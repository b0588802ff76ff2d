"""Two cells side by side: what changed, whether by more than chance, and how often that is wrong."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tabcontam.evidence.base import EvidenceKind, Verdict
from tabcontam.evidence.registry import by_id
from tabcontam.groups import grouped
from tabcontam.statistics.exact_statistics import fisher
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import DEFAULT, load_serializer
from tabcontam.verdicts.comparison import (
    Comparison,
    ResultPair,
    answers_of,
    change,
    comparisons,
    note_differences,
    pair_runs,
    planned_alike,
)
from tabcontam.verdicts.result_types import Result, ResultKey
from tabcontam.verdicts.run_facts import CatalogueFacts, DatasetFacts, MergedRun, RunFacts
from tests.answerers import reply_of
from tests.made_tables import ships
from tests.needed import needed

stats = needed("scipy.stats")  # imported when it is used

Line = dict[str, Any]
FAMILY = {
    name: CatalogueFacts(name=name, title=name.title(), family="f", order=order)
    for order, name in enumerate(("old", "new", "newest"), start=1)
}
Asked = tuple[RunFacts, list[Result]]


def cell(llm: str, verdict: str | None = "not detected", **changes: Any) -> Result:
    made = Result(
        llm=llm, dataset="iris", edition="e", serializer="is", test="full_completion", kind=EvidenceKind.MEMORIZATION
    )
    return made.changed(**{"verdict": verdict and Verdict(verdict), "queries": 30} | changes)


def verdict(word: str | None) -> Verdict | None:
    return None if word is None else Verdict(word)


def lines(cell: Result, right: Sequence[bool], **changes: Any) -> list[Line]:
    """One trial a query; the same queries for each cell."""
    place = {key: getattr(cell, key) for key in ResultKey._fields}
    known = {"asked": ["x"], "state": "ok", "decoy_of": ""}
    return [
        {**place, **known, "query": f"q-{n}", "prompt": f"row {n}", "expected": {"x": f"{n}"}, "hit": hit} | changes
        for n, hit in enumerate(right)
    ]


def document(cells: Sequence[Result], **run: Any) -> Asked:
    return replace(RunFacts(rules="calibrated", seed=0, version="1", alpha=0.05), **run), list(cells)


def of(asked: Asked, trials: Sequence[Line] = (), runs: Sequence[ResultPair] = ()) -> list[Comparison]:
    run, cells = asked
    read, by_id = reading(trials), planned_alike(run)
    answers = {one.key: answers_of(read(one.key)[: one.queries], by_id) for one in cells}
    return list(comparisons(run, cells, answers, runs))


def reading(trials: Sequence[Line]) -> Callable[[ResultKey], list[Line]]:
    """What finds the trials of a cell."""
    own = grouped(trials, lambda line: ResultKey(*(str(line[name] or "") for name in ResultKey._fields)))
    return lambda key: own.get(key, [])


def paired(runs: Sequence[tuple[str, list[Result], list[Line]]]) -> list[ResultPair]:
    return pair_runs((name, cells, reading(trials)) for name, cells, trials in runs)


def compared(first: Result, second: Result, ones: Sequence[bool], others: Sequence[bool], **changes: Any) -> Comparison:
    """One comparison of two versions of a family."""
    asked = [*lines(first, ones), *lines(second, others, **changes)]
    (found,) = of(document([first, second], catalogue=FAMILY), asked)
    return found


class TestVersions:
    def test_neighbours_of_a_family_are_compared_by_the_queries_that_both_were_asked(self) -> None:
        found = compared(cell("old"), cell("new", "contaminated"), [False] * 30, [True] * 12 + [False] * 18)
        assert (found.kind, found.first, found.second, found.llm) == ("versions", "old", "new", "")
        assert (found.first_share, found.second_share, found.queries) == (0.0, 0.4, 30)
        assert found.p_value == found.q_value == pytest.approx(2 * 0.5**12)
        assert (found.change, found.beyond_chance) == ("appeared", True)

    def test_the_order_is_the_catalogues_and_only_neighbours_stand_beside_each_other(self) -> None:
        cells = [cell("newest"), cell("old"), cell("new"), cell("stranger")]
        found = of(document(cells, catalogue=FAMILY), ())
        assert [(line.first, line.second) for line in found] == [("old", "new"), ("new", "newest")]
        found = of(document([cells[0], cells[1]], catalogue=FAMILY), ())
        assert [(line.first, line.second) for line in found] == [("old", "newest")]

    def test_other_editions_and_controls_that_joined_are_not_compared(self) -> None:
        for other in (cell("new", edition="f"), cell("new", control=True), cell("new", serializer="colon")):
            assert of(document([cell("old"), other], catalogue=FAMILY), ()) == []

    def test_a_verdict_may_appear_by_what_chance_explains(self) -> None:
        found = compared(cell("old"), cell("new", "contaminated"), [False] * 30, [True] + [False] * 29)
        assert (found.change, found.beyond_chance, found.p_value) == ("appeared", False, 1.0)

    def test_the_same_verdict_may_differ_beyond_chance(self) -> None:
        first, second = cell("old", "contaminated"), cell("new", "contaminated")
        found = compared(first, second, [True] * 5 + [False] * 25, [True] * 30)
        assert (found.change, found.beyond_chance) == ("same", True)

    def test_scores_are_compared_by_their_trials_too(self) -> None:
        known = {"verdict": None, "test": "classification_0shot", "kind": "classification"}
        found = compared(cell("old", **known), cell("new", **known), [False] * 30, [True] * 30)
        assert (found.change, found.first_verdict, found.beyond_chance) == ("same", None, True)

    def test_an_answer_that_never_came_is_no_wrong_one(self) -> None:
        found = compared(cell("old"), cell("new"), [True] * 30, [False] * 30, state="failed")
        assert (found.p_value, found.queries, found.second_share) == (None, 0, None)

    def test_decoys_are_left_out(self) -> None:
        found = compared(cell("old"), cell("new"), [True] * 30, [False] * 30, decoy_of="q-1")
        assert found.p_value is None

    def test_lines_of_more_queries_than_the_cell_has_are_left_out(self) -> None:
        """A run that is continued with fewer queries keeps the answers to the others."""
        found = compared(cell("old", queries=5), cell("new", queries=5), [True] * 30, [True] * 5 + [False] * 25)
        assert (found.queries, found.p_value) == (5, 1.0)


class TestQueries:
    def test_other_queries_are_compared_by_fishers_test(self) -> None:
        first, second = cell("old"), cell("new")
        asked = [
            *lines(first, [True] * 3 + [False] * 27),
            *lines(second, [True] * 15 + [False] * 15, expected={"x": "?"}),
        ]
        (found,) = of(document([first, second], catalogue=FAMILY), asked)
        assert (found.queries, found.first_share, found.second_share) == (0, 0.1, 0.5)
        assert found.p_value == pytest.approx(fisher(3, 30, 15, 30))

    def test_within_one_plan_a_query_may_be_written_otherwise(self) -> None:
        """As a chat for one version and as a text for the other; in runs of two seeds it is another query."""
        first, second = cell("old"), cell("new")
        asked = [*lines(first, [True] * 30), *lines(second, [True] * 30, prompt=[{"role": "user", "content": "row"}])]
        (found,) = of(document([first, second], catalogue=FAMILY), asked)
        assert found.queries == 30
        parts = tuple(MergedRun(folder="", seed=seed, version="1") for seed in (0, 1))
        (found,) = of(document([first, second], catalogue=FAMILY, runs=parts), asked)
        assert found.queries == 0

    def test_a_few_queries_in_common_do_not_stand_for_all(self) -> None:
        first, second = cell("old"), cell("new")
        others = lines(second, [True] * 30)
        others = [line if n < 3 else line | {"expected": {"x": "other"}} for n, line in enumerate(others)]
        found = of(document([first, second], catalogue=FAMILY), [*lines(first, [False] * 30), *others])[0]
        assert (found.queries, found.first_share, found.second_share) == (0, 0.0, 1.0)

    def test_recorded_answers_are_compared_by_their_counts_where_a_hit_is_a_query(self) -> None:
        first = cell("old", hits=1, queries=5, score=0.2)
        (found,) = of(document([first, cell("new", hits=5, queries=5, score=1.0)], catalogue=FAMILY), ())
        assert found.p_value == pytest.approx(fisher(1, 5, 5, 5))
        words = cell("new", hits=13, queries=3, score=0.9286)
        (found,) = of(document([first, words], catalogue=FAMILY), ())
        assert found.p_value is None

    def test_of_a_cell_that_was_recorded_twice_the_one_that_found_something_stands(self) -> None:
        twice = [cell("old", "contaminated", source="a"), cell("old", source="b")]
        (found,) = of(document([*twice, cell("new")], catalogue=FAMILY), ())
        assert found.change == "vanished"


class TestSerializers:
    def test_each_two_are_compared(self) -> None:
        cells = [cell("m", serializer=name) for name in ("is", "colon", "equals")]
        asked = [line for n, one in enumerate(cells) for line in lines(one, [True] * 10, prompt=f"written {n}")]
        found = of(document(cells), asked)
        assert [(line.first, line.second) for line in found] == [
            ("is", "colon"), ("is", "equals"), ("colon", "equals"),
        ]  # fmt: skip
        assert {(line.llm, line.serializer, line.queries) for line in found} == {("m", "", 10)}

    def test_the_main_runs_of_recorded_answers_have_none(self) -> None:
        assert of(document([cell("m", serializer=None), cell("m", serializer="x")]), ()) == []


class TestPromptSets:
    def test_each_two_are_compared_and_those_of_recorded_answers_are_not(self) -> None:
        cells = [cell("m", prompts=name) for name in ("default", "paper", "mine")]
        asked = [line for n, one in enumerate(cells) for line in lines(one, [n == 0] * 10, prompt=f"worded {n}")]
        found = of(document(cells), asked)
        assert [(line.kind, line.first, line.second) for line in found] == [
            ("prompts", "default", "paper"), ("prompts", "default", "mine"), ("prompts", "paper", "mine"),
        ]  # fmt: skip
        assert {(line.llm, line.prompts, line.serializer, line.queries) for line in found} == {("m", "", "is", 10)}
        assert [line.beyond_chance for line in found] == [True, True, False]
        assert of(document([cell("m", prompts=None), cell("m", prompts="paper")]), ()) == []


class TestRuns:
    def test_a_cell_stands_beside_that_of_the_last_run_that_has_it(self) -> None:
        ran: list[tuple[str, list[Result], list[Line]]] = [("A", [cell("m")], []), ("B", [cell("other")], [])]
        found = paired([*ran, ("C", [cell("m", "contaminated")], [])])
        assert [(pair.first, pair.second) for pair in found] == [("A", "C")]
        (line,) = of(document([]), (), found)
        assert (line.kind, line.llm, line.change) == ("runs", "m", "appeared")

    def test_an_edition_of_its_own_is_not_compared(self) -> None:
        assert paired([("A", [cell("m")], []), ("B", [cell("m", edition="f")], [])]) == []

    def test_the_prompts_tell_whether_two_runs_asked_the_same(self) -> None:
        first = [cell("m")]
        same = paired([("A", first, lines(cell("m"), [True] * 9)), ("B", first, lines(cell("m"), [False] * 9))])
        other = paired(
            [("A", first, lines(cell("m"), [True] * 9)), ("B", first, lines(cell("m"), [False] * 9, prompt=""))]
        )
        asked = [line.queries for line in of(document([]), (), [*same, *other])]
        assert asked == [9, 0]

    def test_what_the_runs_do_not_share_is_said(self) -> None:
        runs = [
            RunFacts(
                rules="calibrated", seed=seed, version="1", datasets=(DatasetFacts(name="adult", edition=edition),)
            )
            for seed, edition in enumerate(("uci", "openml"))
        ]
        assert [note.text for note in note_differences(runs, ["A", "B"])] == [
            "the runs have different seeds, so that their queries differ (A: 0, B: 1)",
            "the runs have different editions of adult (uci, openml), which are not compared",
        ]
        assert note_differences(runs[:1] * 2, ["A", "B"]) == []


class TestChange:
    @pytest.mark.parametrize(
        ("first", "second", "word"),
        [
            ("not detected", "contaminated", "appeared"),
            ("contaminated", "not detected", "vanished"),
            ("contaminated", "contaminated", "same"),
            ("no answer", "contaminated", "unknown"),
            ("contaminated", "uninformative", "unknown"),
            ("skipped", "skipped", "unknown"),
            (None, None, "same"),
            (None, "contaminated", "unknown"),
        ],
    )
    def test_is_one_of_four_words(self, first: str | None, second: str | None, word: str) -> None:
        assert change(verdict(first), verdict(second)) == word


class TestErrorRate:
    """Two cells that differ in nothing but luck are beyond chance in at most a share alpha of all documents."""

    DOCUMENTS, ALPHA = 300, 0.05

    @pytest.mark.slow
    def test_of_paired_answers_that_are_right_by_luck(self) -> None:
        rng, wrong = Random(0), 0
        for _ in range(self.DOCUMENTS):
            cells = [cell(llm, dataset=f"table {n}") for llm in ("old", "new") for n in range(6)]
            asked = [line for one in cells for line in lines(one, [rng.random() < 0.4 for _ in range(30)])]
            found = of(document(cells, catalogue=FAMILY), asked)
            assert {line.queries for line in found} == {30}
            wrong += any(line.beyond_chance for line in found)
        assert stats.binomtest(wrong, self.DOCUMENTS, self.ALPHA, alternative="greater").pvalue > 0.01

    @pytest.mark.slow
    def test_of_two_runs_of_a_memoriser_that_differ_in_their_seed(self) -> None:
        """It remembers half of the rows, other ones in each run, and is asked for other ones."""
        runs = [self.right(seed) for seed in range(400)]
        wrong = 0
        for first, second in zip(runs[::2], runs[1::2], strict=True):
            both = paired([("A", [cell("m")], first), ("B", [cell("m")], second)])
            (found,) = of(document([]), (), both)
            assert found.queries == 0
            wrong += found.p_value is not None and found.p_value <= self.ALPHA
        assert stats.binomtest(wrong, len(runs) // 2, self.ALPHA, alternative="greater").pvalue > 0.01

    def right(self, seed: int) -> list[Line]:
        """The trials of a run."""
        test, serializer, table = by_id()["membership"], load_serializer(DEFAULT), ships()
        found = []
        for query in test.planned(table, serializer, seeded(table, seed, test.id)):
            reply = reply_of("memoriser:0.5", query, table, seed)
            reading = test.read(query, reply, serializer)
            own = lines(cell("m"), [reading.hit is True], prompt=query.prompt.completion, expected=list(query.expected))
            found += [line | {"query": query.id} for line in own]
        return found
