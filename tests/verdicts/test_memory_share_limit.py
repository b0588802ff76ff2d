"""The gate on memory's share: above the limit, within it, or nobody can tell; one condition beside that of the rows."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tabcontam.cli import commands as cli
from tabcontam.errors import Exit, UsageError
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.gate import Conclusion, EarlierRun, GateDecision
from tabcontam.verdicts.gate import judge as judge_results
from tests.report import synthetic
from tests.report.rendered import judge
from tests.verdicts.test_gate import FOUND, FULL, MISSED, SILENT, cells, run_of

CLEAN, CONTAMINATED, CANNOT_TELL = Conclusion.CLEAN, Conclusion.CONTAMINATED, Conclusion.CANNOT_TELL
Cells = list[dict[str, Any]]


def share(value: float, low: float, high: float, dataset: str = "adult", **memory: Any) -> Cells:
    """The one cell of memory's share of an LLM on a table."""
    return [synthetic.shared("m", dataset, value, (low, high), memory=memory)]


def unmeasured(verdict: str | None, reason: str, **changes: Any) -> Cells:
    return [synthetic.cell("m", "adult", "memory_share", verdict, reason=reason, **changes)]


def gate(*groups: Cells, limit: float = 0.05, **conditions: Any) -> GateDecision:
    return judge(run_of(*groups), max_memory_share=limit, **conditions)


@pytest.mark.parametrize(
    ("found", "conclusion", "code", "said"),
    [
        (
            (0.13, 0.06, 0.21),
            CONTAMINATED,
            1,
            "0.130 (0.060 to 0.210) is above 0.05: accuracy 0.84, 0.71 on unseen twins",
        ),
        (
            (0.13, 0.05, 0.21),
            CANNOT_TELL,
            6,
            "0.130 (0.050 to 0.210) may or may not be above 0.05: at this share some ",
        ),
        ((0.01, -0.03, 0.05), CLEAN, 0, "0.010 (\N{MINUS SIGN}0.030 to 0.050) is within 0.05: accuracy 0.84, 0.71"),
    ],
)
def test_the_interval_decides(found: tuple[float, float, float], conclusion: Conclusion, code: int, said: str) -> None:
    judged = gate(share(*found))
    assert (judged.conclusion, judged.exit_code) == (conclusion, code)
    assert judged.reason.startswith(f"m on adult: memory's share {said}")


def test_a_share_at_the_limit_is_settled_by_no_number_of_rows() -> None:
    assert gate(share(0.05, 0.0, 0.1)).reason.endswith(
        "at this share 1,000,000 rows with twins would not settle it, 100 were answered"
    )


def test_a_share_that_cannot_be_told_names_the_option_that_asks_about_enough_rows() -> None:
    judged = gate(share(0.13, 0.04, 0.21))
    (needed,) = re.findall(r"some ([\d,]+) rows with twins would settle it \(--rows (\d+)\), 100 were", judged.reason)
    assert needed[0].replace(",", "") == needed[1]
    half = gate(share(0.13, 0.04, 0.21, left_out=100)).reason
    assert f"(--rows {2 * int(needed[1])})" in half


def test_a_table_that_has_fewer_rows_than_were_wanted_is_not_said_to_have_more() -> None:
    reason = judge(run_of(share(0.06, 0.0, 0.12), rows=400), max_memory_share=0.05).reason
    assert "rows with twins would settle it, and the table has 100; 100 were answered" in reason
    assert "--rows" not in reason


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (unmeasured("skipped", "its rows are texts"), "was not measured: skipped, its rows are texts"),
        (
            unmeasured("no answer", "no readable answer to 80 of 100 queries"),
            "was not measured: no answer, no readable",
        ),
        (cells("m", {FULL: MISSED}), "memory's share was not measured; run it again with -k memory_share"),
    ],
)
def test_what_was_not_measured_is_never_within_a_limit(found: Cells, said: str) -> None:
    judged = gate(found)
    assert (judged.conclusion, judged.exit_code) == (CANNOT_TELL, Exit.CANNOT_TELL)
    assert said in judged.reason
    assert gate(found, fail_on=["undecided"]).exit_code == Exit.CONTAMINATED


def test_who_is_silent_wherever_he_recalls_nothing_is_not_cleared_by_the_answers_that_he_gave() -> None:
    silent: dict[str, Any] = {
        "pairs": 80,
        "left_out": 20,
        "accuracy": 1.0,
        "twin_accuracy": 1.0,
        "if_wrong": [0.05, 0.26],
    }
    judged = gate(share(0.0, -0.02, 0.02, **silent))
    assert judged.conclusion is CANNOT_TELL
    assert judged.reason.endswith(
        "but 20 pairs were not answered, and counted as wrong they make the interval 0.050 to 0.260"
    )
    assert gate(share(0.0, -0.02, 0.02, **{**silent, "if_wrong": [-0.02, 0.04]})).conclusion is CLEAN


@pytest.mark.parametrize(
    ("rows", "of", "conclusion"),
    [
        (FOUND, (0.0, -0.04, 0.04), CONTAMINATED),
        (MISSED, (0.13, 0.06, 0.21), CONTAMINATED),
        (SILENT, (0.13, 0.06, 0.21), CONTAMINATED),
        (SILENT, (0.0, -0.04, 0.04), CANNOT_TELL),
        (MISSED, (0.04, 0.0, 0.08), CANNOT_TELL),
        (MISSED, (0.0, -0.04, 0.04), CLEAN),
    ],
)
def test_the_worse_of_rows_and_share_decides(
    rows: dict[str, Any], of: tuple[float, float, float], conclusion: Conclusion
) -> None:
    judged = gate(cells("m", {FULL: rows}), share(*of))
    assert judged.conclusion is conclusion
    assert [one.subject for one in judged.findings] == ["rows", "memory's share"]


def test_without_a_limit_a_share_says_nothing() -> None:
    assert judge(run_of(cells("m", {FULL: MISSED}), share(0.5, 0.4, 0.6))).conclusion is CLEAN
    assert judge(run_of(share(0.0, -0.04, 0.04))).reason == "m on adult: no row test was asked"


def test_a_share_within_its_limit_is_said_to_be_nothing_of_rows_where_none_were_asked() -> None:
    judged = gate(share(0.0, -0.04, 0.04))
    assert (judged.conclusion, len(judged.findings)) == (CLEAN, 1)
    assert judged.reason.endswith("; recall of rows was not tested")
    assert "was not asked" not in gate(share(0.0, -0.04, 0.04), cells("m", {FULL: MISSED})).reason


def test_a_table_that_is_named_and_was_asked_nothing_is_not_cleared() -> None:
    assert gate(
        share(0.0, -0.04, 0.04), cells("n", {FULL: MISSED}, "bank"), llms=["m"], datasets=["bank"]
    ).conclusion is (CANNOT_TELL)


@pytest.mark.parametrize(
    ("before", "conclusion", "said"),
    [
        (share(0.2, 0.1, 0.3), Conclusion.KNOWN, "; it was above the limit in base as well (besides: 1 clean)"),
        (
            share(0.05, 0.0, 0.1),
            CONTAMINATED,
            "; new: in base the gate's conclusion was cannot tell (besides: 1 clean)",
        ),
        ([], CONTAMINATED, "; new: in base the gate's conclusion was cannot tell (besides: 1 clean)"),
    ],
)
def test_a_share_is_known_where_it_was_above_the_limit_before_and_not_where_rows_were_found(
    before: Cells, conclusion: Conclusion, said: str
) -> None:
    now = parse_results(run_of(cells("m", {FULL: MISSED}), share(0.13, 0.06, 0.21)))
    baseline = EarlierRun("base", parse_results(run_of(cells("m", {FULL: FOUND}), before)))
    judged = judge_results(now, baseline, max_memory_share=0.05)
    assert (judged.conclusion, judged.reason.endswith(said)) == (conclusion, True)


@pytest.mark.parametrize("limit", [0, 1, 5, -0.1, "0.05", float("nan")])
def test_a_limit_is_a_share(limit: Any) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        gate(share(0.0, -0.04, 0.04), limit=limit)


def test_two_intervals_contradict_each_other() -> None:
    with pytest.raises(UsageError, match="memory's share of m on adult has two different intervals"):
        gate(share(0.13, 0.06, 0.21, interval=[-0.1, 0.01]))


class TestCommand:
    """`--max-memory-share` of `gate`."""

    @pytest.fixture(autouse=True)
    def here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

    @pytest.mark.slow
    def test_a_run_that_is_made_now_asks_for_the_share_whichever_tests_are_chosen(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        asked = ["--llm", "simulated:memoriser:0.9", "--dataset", "iris", "--no-controls", "-k", "full_completion"]
        assert cli.main(["gate", *asked, "--max-memory-share", "0.05", "--out", "made", "-v"]) == Exit.CONTAMINATED
        first, second, line = capsys.readouterr().out.splitlines()
        assert first.startswith("contaminated: simulated:memoriser:0.9 on iris: detected by full_completion")
        assert second.startswith("clean: simulated:memoriser:0.9 on iris: memory's share 0.000 ")
        assert line == f"{first} (besides: 1 clean)"
        cells = json.loads(Path("made", "results.json").read_text())["results"]
        assert [cell["test"] for cell in cells] == ["full_completion", "memory_share"]

    @pytest.mark.parametrize("limit", ["0", "1", "much"])
    def test_a_limit_that_is_none_is_one_line(self, capsys: pytest.CaptureFixture[str], limit: str) -> None:
        with pytest.raises(SystemExit) as ended:
            cli.main(["gate", "run", "--max-memory-share", limit])
        assert ended.value.code == Exit.USAGE
        assert "is not a number between 0 and 1" in capsys.readouterr().err
