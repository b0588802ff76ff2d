"""What rests on one column is no finding: it is told as what it is, and neither gate nor ranking counts it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tabcontam.evidence.base import EvidenceKind, Family, Verdict
from tabcontam.statistics.eprocess import Wealth
from tabcontam.verdicts.columns import record_of
from tabcontam.verdicts.gate import Conclusion
from tabcontam.verdicts.llm_ranking import ranking
from tabcontam.verdicts.one_column_rule import join_evidence
from tabcontam.verdicts.result_building import conclude, surely_contaminated, tables
from tabcontam.verdicts.result_types import Result, TableVerdict
from tabcontam.verdicts.run_facts import known_tests
from tests.report import synthetic
from tests.report.rendered import judge

FULL, CUT, ONE = "full_completion", "incomplete_completion", "feature_completion"
DAY = "all right answers are in born: facts from other sources would explain this as well"


def cell(test: str, p_value: float, without: Mapping[str, float], bits: Mapping[str, float], **of: Any) -> Result:
    about = {"llm": "m", "dataset": "players", "edition": "e", "serializer": "is", "verdict": Verdict.NOT_DETECTED} | of
    return record_of(
        Result,
        **about,
        test=test,
        kind=EvidenceKind.MEMORIZATION,
        p_value=p_value,
        without=without,
        columns=bits,
        queries=65,
        answered=65,
    )


def in_one(test: str = ONE, p_value: float = 1e-9) -> Result:
    return cell(test, p_value, {"born": 1.0}, {"born": 40.0})


def in_two(test: str = ONE) -> Result:
    return cell(test, 1e-12, {"born": 1e-6, "height": 1e-5}, {"born": 40.0, "height": 30.0})


def clean(test: str) -> Result:
    return cell(test, 0.7, {"born": 0.6, "club": 0.8}, {"club": 3.0})


def judged(*cells: Result) -> tuple[list[Result], TableVerdict]:
    found = conclude(cells, "calibrated", 0.01)
    (table,) = tables(found, "calibrated", 0.01)
    return found, table


def test_a_finding_in_one_column_is_told_so_and_keeps_its_numbers() -> None:
    (found, other), table = judged(in_one(), clean(FULL))
    assert (found.verdict, found.decision.reason, found.decision.rests_on) == ("uninformative", DAY, "born")
    assert (found.evidence.p_value, found.decision.q_value) == (1e-9, 2e-9)
    assert (found.decision.q_without, other.verdict) == (1.0, "not detected")
    assert (table.verdict, table.reason, table.rests_on) == (
        "uninformative",
        "the baseline explains the answers in all columns but born (without this column p = 1): "
        "facts from other sources would "
        "explain this as well",
        "born",
    )


def test_what_stands_without_any_one_column_is_a_finding() -> None:
    (found, other), table = judged(in_two(), clean(FULL))
    assert (found.verdict, found.decision.otherwise, found.decision.rests_on) == ("contaminated", "not detected", None)
    assert (table.verdict, table.rests_on, other.verdict) == ("contaminated", None, "not detected")


def test_two_columns_in_two_tests_find_the_table_and_then_each_of_them_counts() -> None:
    """No column carries it alone, since the other test's is still there."""
    cells = in_one(), cell(CUT, 1e-6, {"height": 1.0, "born": 1e-6}, {"height": 25.0})
    found, table = judged(*cells)
    assert (table.verdict, [one.verdict for one in found]) == ("contaminated", ["contaminated"] * 2)
    assert table.families[0].p_without == pytest.approx(2e-6)


def test_the_same_column_in_two_tests_is_one_column() -> None:
    found, table = judged(in_one(ONE), in_one(CUT), clean(FULL))
    assert [one.verdict for one in found] == ["uninformative", "uninformative", "not detected"]
    assert (table.verdict, table.rests_on) == ("uninformative", "born")


def test_what_is_lost_without_a_column_but_not_guessed_is_said_with_its_p() -> None:
    (found, *_), _ = judged(cell(ONE, 1e-9, {"born": 0.03, "height": 1e-8}, {"born": 40.0, "height": 6.0}))
    assert found.decision.reason == (
        "the result rests on born (without this column p = 0.03): facts from other sources would explain this as well"
    )


def test_matched_membership_is_no_second_column() -> None:
    """A law of kidney function shows in its result, and in the age that matched membership altered."""
    altered = in_one("matched_membership").changed(
        kind=EvidenceKind.MEMBERSHIP, without={"age": 1.0}, columns={"age": 59.0}
    )
    cells, table = judged(in_one(), altered)
    assert {*(one.verdict for one in cells), table.verdict} == {Verdict.UNINFORMATIVE}
    assert table.rests_on == "born"
    cells, table = judged(in_two(), altered)
    assert {*(one.verdict for one in cells), table.verdict} == {Verdict.CONTAMINATED}


def test_a_test_of_another_null_is_not_bound() -> None:
    """It says nothing by column: a text that nobody could infer needs no second one."""
    found, table = judged(cell(ONE, 1e-9, {}, {}))
    assert (found[0].verdict, table.verdict) == ("contaminated", "contaminated")
    found, table = judged(in_one(CUT), cell(ONE, 1e-6, {}, {}))
    assert (table.verdict, [one.verdict for one in found]) == ("contaminated", ["contaminated"] * 2)


def test_another_family_that_finds_the_table_changes_nothing_in_this_ones_cells() -> None:
    facts = known_tests()
    facts |= {"ranks": replace(facts[FULL], id="ranks", family=Family.LIKELIHOOD)}
    cells = conclude([in_one(), cell("ranks", 1e-5, {}, {})], "calibrated", 0.01, facts)
    (table,) = tables(cells, "calibrated", 0.01, facts)
    assert [one.verdict for one in cells] == ["uninformative", "contaminated"]
    assert (table.verdict, table.q_value, table.reason) == (
        "contaminated",
        1e-5,
        "the likelihood tests together: p = 1e-05",
    )


def test_a_finding_of_one_column_that_the_tests_together_lose_is_not_called_clean() -> None:
    """Among many cells of which many were found, a cell's q-value may be below its table's."""
    others = [replace(in_two(), dataset=f"table {number}") for number in range(9)]
    weak = cell(ONE, 0.008, {"born": 1.0}, {"born": 9.0})
    found = conclude([weak, clean(FULL), *others], "calibrated", 0.01)
    first = tables(found, "calibrated", 0.01)[0]
    assert (found[0].verdict, first.verdict) == ("uninformative", "uninformative")
    assert first.reason == f"feature_completion: {DAY}"


def test_to_conclude_twice_is_to_conclude_once_and_more_cells_may_make_it_clean() -> None:
    once = conclude([in_one(), clean(FULL)], "calibrated", 0.01)
    assert conclude(once, "calibrated", 0.01) == once
    weak = conclude([cell(ONE, 0.009, {"born": 1.0}, {"born": 9.0})], "calibrated", 0.01)
    assert (weak[0].verdict, weak[0].decision.otherwise) == ("uninformative", "not detected")
    more = [replace(clean(FULL), dataset=f"table {number}") for number in range(9)]
    lost, *_ = conclude([*weak, *more], "calibrated", 0.01)
    assert (lost.verdict, lost.decision.otherwise, lost.decision.rests_on) == ("not detected", None, None)


def test_an_undecided_cell_keeps_its_own_reason() -> None:
    silent = in_one().changed(verdict=Verdict.NO_ANSWER, reason="no readable answer to 60 of 65 queries")
    (found,), table = judged(silent)
    assert (found.verdict, found.decision.reason, found.decision.rests_on) == (
        Verdict.NO_ANSWER,
        silent.decision.reason,
        "born",
    )
    assert table.verdict == "uninformative"


def test_a_cell_of_one_column_does_not_end_a_run_early() -> None:
    assert surely_contaminated(in_two(), "calibrated", 0.001)
    assert not surely_contaminated(in_one(), "calibrated", 0.001)


def test_the_ranking_does_not_count_it() -> None:
    cells = conclude([in_one(), clean(FULL)], "calibrated", 0.01)
    (rank,) = ranking(cells, "calibrated")
    assert (rank.score, rank.score_all) == (0.0, 0.0)


def run_of(*cells: Result) -> dict[str, Any]:
    found, _ = judged(*cells)
    lines = [
        synthetic.weighed("m", "players", one.test, "not detected")
        | {
            "columns": dict(one.evidence.columns),
            "without": dict(one.evidence.without),
            "p_value": one.evidence.p_value,
            "q_value": one.decision.q_value,
        }
        | {
            "verdict": str(one.verdict),
            "reason": one.decision.reason,
            "rests_on": one.decision.rests_on,
            "q_without": one.decision.q_without,
        }
        for one in found
    ]
    return synthetic.document(lines, synthetic.tables_of(lines))


def test_the_gate_cannot_tell_and_says_why() -> None:
    judgement = judge(run_of(in_one(), clean(FULL)))
    assert (judgement.conclusion, judgement.exit_code) == (Conclusion.CANNOT_TELL, 6)
    assert "the baseline explains the answers in all columns but born" in judgement.reason


def test_the_gate_takes_no_finding_for_one_of_a_column_that_says_nothing_of_it() -> None:
    document = run_of(in_one(), clean(FULL))
    document["results"][0] |= {"rests_on": None}
    with pytest.raises(Exception, match="contradict themselves"):
        judge(document)


def won(bits: float, rows: int = 5, honest: float = 0.0) -> Wealth:
    return Wealth(memory=(bits,) * 5, honest=(honest,) * 5, rows=rows)


def betting(test: str = ONE, bits: float = 20.0, alone: float = 18.0, **of: Any) -> Result:
    bets = {"": won(bits), "born": won(alone), "height": won(bits)}
    return clean(test).changed(bets=bets, e_value=2.0**bits, **of)


def test_bets_on_several_tests_and_their_p_values_share_the_level() -> None:
    spread = [betting(bits=20.0, alone=9.0), betting(FULL, bits=0.0, alone=0.0)]
    both = join_evidence(spread)  # a little in every answer
    assert both.p_value == pytest.approx(2 * 2.0**-20)
    assert both.standing.without == "born"
    assert both.standing.p_value == pytest.approx(2 * 2.0**-9)
    assert both.e_value == pytest.approx(2.0**9)
    in_one = join_evidence(
        [betting(bits=-3.0, alone=-3.0), betting(FULL, bits=0.0).changed(p_value=1e-9, without={"born": 1e-6})]
    )
    assert [in_one.p_value, in_one.standing.p_value] == pytest.approx([4e-9, 4e-6])  # much in one test
    in_turns = join_evidence([replace(part, sequential=True) for part in spread])
    assert in_turns.p_value == pytest.approx(2.0**-20)  # which stopping would spoil


def test_one_test_alone_has_its_own_p_value() -> None:
    alone = betting().changed(p_value=1e-5, without={"born": 1e-3})
    assert (join_evidence([alone]).p_value, join_evidence([alone]).standing.p_value) == (1e-5, 1e-3)
    assert join_evidence([alone]).e_value is None
    beside_other = join_evidence([alone, betting(FULL), clean(CUT).changed(p_value=1e-8, without={})])
    assert beside_other.p_value == pytest.approx(2 * 2.0**-40)  # each way at half the level


def test_bets_of_several_tests_add_up_without_the_same_column() -> None:
    one, other = betting(bits=8.0, alone=0.0), betting(FULL, bits=8.0).changed(bets={"": won(8.0), "club": won(7.0)})
    both = join_evidence([part.changed(sequential=True, p_value=None, without={}) for part in (one, other)])
    assert both.p_value == pytest.approx(2.0**-16)  # nothing but bets: 1 / E
    assert both.standing.without == "born"
    assert both.standing.p_value == pytest.approx(2.0**-8)


def test_bets_that_win_by_one_column_or_by_two_rows_find_nothing() -> None:
    (found,), table = judged(betting(alone=0.0).changed(sequential=True, p_value=None, without={}, decided_after=9))
    assert (found.verdict, table.verdict, table.rests_on) == ("not detected", "uninformative", "born")
    few = {"": won(30.0, rows=2), "born": won(30.0, rows=2)}
    _, table = judged(betting().changed(bets=few, sequential=True, p_value=None, without={}, decided_after=9))
    assert (table.verdict, table.p_value, table.e_value) == ("not detected", 1.0, 1.0)


def test_what_an_honest_predictor_wins_is_no_memory() -> None:
    same = {"": won(30.0, honest=30.0)}
    assert join_evidence([betting().changed(bets=same, p_value=None, without={})]).p_value == 1


def test_a_cell_that_was_asked_in_turns_has_e_in_place_of_p_and_q() -> None:
    telling = betting(sequential=True, p_value=None, without={}, decided_after=9)
    silent = betting(FULL, bits=-1.0, alone=-1.0).changed(sequential=True, p_value=None, without={}, decided_after=9)
    (first, second), table = judged(telling, silent)
    assert (first.verdict, second.verdict, table.verdict) == ("contaminated", "not detected", "contaminated")
    assert (first.decision.q_value, first.decision.q_without, second.decision.q_value) == (None, None, None)
    assert table.reason == "decided after 9 of 130 queries: E = 131,072"
