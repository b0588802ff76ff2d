"""Trials to results: what one LLM's cells together decide of each."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tabcontam.config import FAMILY_OVER
from tabcontam.evidence.base import EvidenceKind, Family, Statistic, Verdict
from tabcontam.evidence.registry import by_id
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.verdicts.columns import record_of
from tabcontam.verdicts.llm_ranking import Rank, correlations, ranking
from tabcontam.verdicts.result_building import conclude, tables
from tabcontam.verdicts.result_types import Result, TableVerdict
from tabcontam.verdicts.run_facts import known_tests
from tests.needed import needed

stats = needed("scipy.stats")  # imported when it is used


def cell(dataset: str, verdict: str, p_value: float, reason: str | None = None) -> Result:
    return record_of(
        Result,
        llm="m",
        dataset=dataset,
        edition="e",
        serializer="is",
        test="full_completion",
        kind=EvidenceKind.MEMORIZATION,
        verdict=Verdict(verdict),
        p_value=p_value,
        reason=reason,
        queries=30,
    )


def test_a_finding_lost_among_more_cells_is_again_what_it_was_without() -> None:
    """Two answers of thirty were a finding of their run; beside another run's cells they were called clean."""
    silent = "no readable answer to 28 of 30 queries"
    (found,) = conclude([cell("iris", "no answer", 0.004, silent)], "calibrated", 0.01)
    assert (found.verdict, found.decision.reason) == ("contaminated", silent)
    others = [cell(f"table {number}", "not detected", 0.9) for number in range(10)]
    lost, *_ = conclude([found, *others], "calibrated", 0.01)
    assert (lost.verdict, lost.decision.reason, lost.decision.otherwise) == ("no answer", silent, None)


def test_to_conclude_twice_is_to_conclude_once() -> None:
    cells = [cell("iris", "not detected", 0.0001), cell("wine", "no answer", 0.001, "so"), cell("car", "no answer", 1)]
    once = conclude(cells, "calibrated", 0.01)
    assert [each.verdict for each in once] == ["contaminated", "contaminated", "no answer"]
    assert conclude(once, "calibrated", 0.01) == once


def test_findings_are_made_over_all_cells_and_the_table_by_its_row_tests() -> None:
    def judged(p_value: float) -> tuple[Result, TableVerdict]:
        other = replace(cell("iris", "not detected", 0.9), test="feature_completion")
        cells = [cell("wine", "not detected", 1e-9), cell("iris", "not detected", p_value), other]
        concluded = conclude(cells, "calibrated", 0.03)
        _, table = tables(concluded, "calibrated", 0.03)
        return concluded[1], table

    # 0.019 <= 2/3 * 0.03 is a finding beside a smaller p-value, but not of the table alone
    found, table = judged(0.019)
    assert (found.verdict, table.verdict) == ("contaminated", "not detected")
    found, table = judged(0.015)
    assert (found.verdict, table.verdict) == ("contaminated", "contaminated")
    assert table.p_value == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("answered", "verdict"),
    [
        ((30, 30, 30), "not detected"),
        ((30, 15, 15), "not detected"),  # the half of each is enough
        ((30, 2, 2), "no answer"),  # one of three tests was read
        ((30, 14, 14), "no answer"),  # of most answers, but of one test in three
    ],
)
def test_a_table_whose_row_tests_were_mostly_unread_is_not_clean(answered: tuple[int, ...], verdict: str) -> None:
    tests = ("full_completion", "feature_completion", "incomplete_completion")

    def of(test: str, read: int, p_value: float = 0.9) -> Result:
        word = "not detected" if read >= 15 else "no answer"
        return cell("iris", word, p_value).changed(test=test, answered=read, asked=30)

    cells = [of(test, read) for test, read in zip(tests, answered, strict=True)]
    (table,) = tables(conclude(cells, "calibrated", 0.01), "calibrated", 0.01)
    assert table.verdict == verdict
    if verdict == "no answer":
        assert f"{sum(answered)} of 90 answers to its row tests were read, and 50% of" in table.reason
        assert table.reason.endswith("no answer to 2 of 3 tests (feature_completion, incomplete_completion)")
    found = [of(tests[0], 3, 1e-9), *cells[1:]]
    assert tables(conclude(found, "calibrated", 0.01), "calibrated", 0.01)[0].verdict == "contaminated"


def test_a_table_of_an_older_run_which_counted_no_answers_stays_as_it_is() -> None:
    cells = [cell("iris", "not detected", 0.9).changed(answered=3)]
    assert tables(cells, "calibrated", 0.01)[0].verdict == "not detected"


def test_what_one_family_finds_changes_nothing_in_another() -> None:
    def judged(*of_knowledge: float) -> Result:
        cells = [
            replace(cell(f"table {number}", "not detected", p_value), test="feature_list_informed")
            for number, p_value in enumerate(of_knowledge)
        ]
        return conclude([*cells, cell("iris", "not detected", 0.015)], "calibrated", 0.01)[-1]

    assert judged() == judged(*[1e-9] * 10) == judged(*[0.9] * 10)
    assert judged().decision.q_value == 0.015


def test_each_family_tests_a_table_at_the_level_and_the_bound_is_their_sum() -> None:
    facts = known_tests()
    facts |= {"ranks": replace(facts["full_completion"], id="ranks", family=Family.LIKELIHOOD)}
    cells = [cell("iris", "not detected", 0.02), replace(cell("iris", "not detected", 0.004), test="ranks")]
    (table,) = tables(conclude(cells, "calibrated", 0.01, facts), "calibrated", 0.01, facts)
    assert (table.verdict, table.q_value, table.bound) == ("contaminated", 0.004, 0.02)
    assert table.reason == "the likelihood tests together: p = 0.004"
    assert {one.family: one.p_value for one in table.families} == {"rows": 0.02, "likelihood": 0.004}
    (alone,) = tables(cells[:1], "calibrated", 0.01, facts)
    assert (alone.bound, len(alone.families)) == (0.01, 1)


def scored(dataset: str, test: str, score: float, asked: int = 100, **changes: Any) -> Result:
    """A cell that has a score and no verdict, as `weigh` counts it."""
    hits = round(score * asked)
    made = record_of(
        Result,
        llm="m",
        dataset=dataset,
        edition="e",
        serializer="is",
        test=test,
        kind=by_id()[test].kind,
        score=score,
        hits=hits,
        answered=asked,
        queries=asked,
        interval=clopper_pearson(hits, asked),
        statistic=Statistic(name="share of valid answers that are right", value=score, expected=0.6),
    )
    return made.changed(**changes)


class TestRanking:
    def test_a_score_has_the_exact_interval_of_its_cells(self) -> None:
        cells = [cell(f"table {number}", "contaminated", 1e-9) for number in range(3)] + [cell("x", "not detected", 1)]
        (line,) = ranking([*cells, cell("y", "uninformative", 1)], "calibrated")
        assert (line.score, line.score_interval) == (0.75, (0.1941, 0.9937))
        low, high = line.score_interval or (0.0, 0.0)
        assert stats.binom(4, low).sf(2) == pytest.approx(0.025, abs=1e-4)
        assert stats.binom(4, high).cdf(3) == pytest.approx(0.025, abs=1e-4)

    def test_nothing_decided_has_no_interval(self) -> None:
        (line,) = ranking([cell("x", "uninformative", 1)], "calibrated")
        assert (line.score, line.score_interval, line.zero_shot_interval) == (None, None, None)

    def test_accuracy_stands_beside_what_the_largest_class_gets_on_the_same_rows(self) -> None:
        few = scored("iris", "classification_0shot", 0.7, statistic=Statistic(name="n", value=0.7, expected=0.4))
        (line,) = ranking([scored("wine", "classification_0shot", 0.9), few], "calibrated")
        assert (line.zero_shot, line.zero_shot_majority) == (0.8, 0.5)
        assert (line.one_shot, line.one_shot_majority) == (None, None)

    def test_a_majority_that_one_table_lacks_is_no_mean(self) -> None:
        lacking = scored("iris", "classification_0shot", 0.7, statistic=None)
        (line,) = ranking([scored("wine", "classification_0shot", 0.9), lacking], "calibrated")
        assert line.zero_shot_majority is None

    def test_the_interval_of_a_mean_is_narrower_than_those_of_the_tables(self) -> None:
        (one,) = ranking([scored("a", "membership", 0.7)], "calibrated")
        (four,) = ranking([scored(name, "membership", 0.7) for name in "abcd"], "calibrated")
        assert one.membership_interval == pytest.approx(clopper_pearson(70, 100), abs=1e-4)
        assert one.membership_interval is not None
        assert four.membership_interval is not None
        widths = [high - low for low, high in (one.membership_interval, four.membership_interval)]
        assert widths[1] == pytest.approx(widths[0] / 2, abs=2e-4)

    def test_another_serializer_asks_the_same_rows_and_makes_nothing_surer(self) -> None:
        (one,) = ranking([scored("a", "membership", 0.7)], "calibrated")
        again = scored("a", "membership", 0.7, serializer="colon")
        (two,) = ranking([scored("a", "membership", 0.7), again], "calibrated")
        assert two.membership_interval == one.membership_interval

    def test_counts_that_are_not_the_cells_statistic_have_an_interval_of_their_own(self) -> None:
        """Under the paper's rules an invalid answer is a wrong one."""
        known = scored("a", "classification_0shot", 0.5, statistic=Statistic(name="n", value=0.8, expected=0.6))
        (line,) = ranking([known.changed(interval=(0.7, 0.9))], "paper")
        assert line.zero_shot_interval == pytest.approx(clopper_pearson(50, 100), abs=1e-4)

    def test_a_score_without_counts_has_no_interval(self) -> None:
        bare = scored("a", "membership", 0.5, statistic=None, interval=None, hits=0, queries=0)
        (line,) = ranking([bare], "calibrated")
        assert (line.membership, line.membership_interval) == (0.5, None)


def of(llm: str, verdicts: str) -> list[Result]:
    """Cells of an LLM, a table each, from their letters."""
    words = {"C": "contaminated", ".": "not detected", "u": "uninformative", "?": "no answer", "s": "skipped"}
    return [replace(cell(f"table {place}", words[letter], 1), llm=llm) for place, letter in enumerate(verdicts)]


class TestScores:
    def test_one_who_refuses_the_hard_cells_is_compared_on_the_cells_that_all_have(self) -> None:
        whole, coy = ranking([*of("whole", "CC..s"), *of("coy", "C?.?s")], "calibrated")
        assert (whole.llm, whole.score, whole.score_all, whole.score_shared) == ("whole", 0.5, 0.4, 0.5)
        assert (coy.llm, coy.score, coy.score_all, coy.score_shared) == ("coy", 0.5, 0.2, 0.5)
        other, _ = ranking([*of("whole", ".C.C."), *of("coy", ".??.?")], "calibrated")
        assert (other.score, other.score_all, other.score_shared) == (0.4, 0.4, 0.5)

    def test_each_has_the_exact_interval_of_its_cells(self) -> None:
        whole, _ = ranking([*of("whole", "CC..s"), *of("coy", "C?.?s")], "calibrated")
        for found, among, interval in (
            (2, 4, whole.score_interval),
            (2, 5, whole.score_all_interval),
            (1, 2, whole.score_shared_interval),
        ):
            assert interval == pytest.approx(clopper_pearson(found, among), abs=1e-4)
        assert whole.shared_results == 2

    def test_one_who_answers_nothing_takes_no_cell_from_the_others(self) -> None:
        whole, half, silent = ranking([*of("whole", "CC.."), *of("half", "C?.?"), *of("silent", "????")], "calibrated")
        assert (whole.score_shared, half.score_shared) == (0.5, 0.5)
        assert (silent.llm, silent.score, silent.score_all, silent.score_shared) == ("silent", None, 0.0, None)
        assert (half.shared_results, silent.shared_results) == (2, None)

    def test_under_the_papers_rules_what_every_llm_was_asked_is_shared(self) -> None:
        first, second = ranking([*of("a", "CC?.s"), *of("b", "C.s.s")], "paper")
        assert (first.score, first.score_all, first.score_shared) == (0.4, 0.4, 0.6667)
        assert (second.score, second.score_all, second.score_shared) == (0.2, 0.2, 0.3333)

    def test_nothing_in_common_is_no_score_of_zero(self) -> None:
        first, second = ranking([*of("a", "C?"), *of("b", "?C")], "calibrated")
        assert (first.score_shared, second.score_shared) == (None, None)
        assert ranking([], "calibrated") == ()

    def test_controls_neither_rank_nor_share(self) -> None:
        control = [replace(one, control=True) for one in of("control:exposed", "????")]
        (alone,) = ranking([*of("a", "C..."), *control], "calibrated")
        assert (alone.llm, alone.score_shared) == ("a", 0.25)


class TestLeftOutOfMeans:
    WINE = "no model can know from a row alone which class is class_0 and which class_1"

    def test_a_cell_that_asks_for_codes_is_in_no_mean_and_its_majority_neither(self) -> None:
        cells = [
            scored("iris", "classification_0shot", 0.9, statistic=Statistic(name="n", value=0.9, expected=0.4)),
            scored("wine", "classification_0shot", 0.1, not_averaged=self.WINE),
            scored("wine", "classification_1shot", 0.7, not_averaged=self.WINE),
        ]
        (line,) = ranking(cells, "calibrated")
        assert (line.zero_shot, line.zero_shot_majority) == (0.9, 0.4)
        assert (line.one_shot, line.one_shot_interval, line.one_shot_majority) == (None, None, None)

    def test_the_cell_keeps_its_score_and_says_why(self) -> None:
        kept = scored("wine", "classification_0shot", 0.1, not_averaged=self.WINE, sentence="10 of 100 right")
        assert (kept.evidence.score, kept.why) == (0.1, f"10 of 100 right; left out of means: {self.WINE}")
        silent = kept.changed(verdict=Verdict.NO_ANSWER, reason="refused", sentence=None)
        assert silent.why == "refused"


class TestCorrelations:
    def line(self, score: float | None, zero_shot: float | None) -> Rank:
        return Rank(llm="m", score=score, zero_shot=zero_shot, membership=0.5)

    def test_an_llm_without_both_measures_is_left_out_and_counted(self) -> None:
        lines = [self.line(number / 10, number / 20) for number in range(5)]
        by_shot, none, same = correlations([*lines, self.line(None, 0.9), self.line(0.9, None)])
        assert (by_shot.second, by_shot.llms, by_shot.value) == ("zero_shot", 5, 1.0)
        assert by_shot.p_value == pytest.approx(2 / 120)
        assert (none.second, none.llms, none.value, none.p_value) == ("one_shot", 0, None, None)
        assert (same.llms, same.value, same.interval) == (6, None, None)

    def test_three_llms_are_too_few(self) -> None:
        found = correlations([self.line(number / 10, number / 20) for number in range(3)])[0]
        assert (found.llms, found.value, found.interval, found.p_value) == (3, None, None, None)


@pytest.mark.slow
def test_all_llms_may_share_one_budget() -> None:
    """Of a hundred LLMs that have seen nothing one is found on average, where each has a budget of its own."""
    rng = Random("many LLMs")
    runs: dict[str, list[int]] = {"llm": [], "all": []}
    for _ in range(60):
        cells = [replace(cell("iris", "not detected", rng.random()), llm=f"m{number}") for number in range(100)]
        for over in FAMILY_OVER:
            found = [one.verdict is Verdict.CONTAMINATED for one in conclude(cells, "calibrated", 0.01, over=over)]
            named = [one.verdict is Verdict.CONTAMINATED for one in tables(cells, "calibrated", 0.01, over=over)]
            assert named == found
            runs[over].append(sum(found))
    assert 0.5 < sum(runs["llm"]) / 60 < 1.6
    assert sum(map(bool, runs["all"])) <= 3


def test_a_control_that_joined_takes_nothing_of_the_budget_of_all() -> None:
    cells = [cell("iris", "not detected", 0.004), replace(cell("iris", "not detected", 0.9), llm="n")]
    control = replace(cell("iris", "not detected", 0.004), llm="control:exposed", control=True)
    q_values = {one.llm: one.decision.q_value for one in conclude([*cells, control], "calibrated", 0.01, over="all")}
    assert q_values == {"m": pytest.approx(0.008), "n": pytest.approx(0.9), "control:exposed": pytest.approx(0.004)}
