"""The gate: which results let an experiment go on, which stop it, and of which it cannot tell."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.cli import commands as cli
from tabcontam.errors import UsageError
from tabcontam.models import provider_registry
from tabcontam.models.base import Model
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.tables.table import Table
from tabcontam.verdicts.gate import Conclusion
from tests.report import synthetic
from tests.report.rendered import judge

FULL, CUT, ONE, MATCHED = "full_completion", "incomplete_completion", "feature_completion", "matched_membership"
FOUND, MISSED = {"verdict": "contaminated", "p_value": 1e-9}, {"verdict": "not detected", "p_value": 0.5}
SILENT = {"verdict": "no answer", "p_value": None, "reason": "no readable answer to 45 of 45 queries"}
ENDED = {"cut_short": True, "reason": "the run ended after 3 of 45 queries"}
UNASKED = SILENT | {"statistic": None, "cut_short": True, "reason": "the run ended before"}
CLEAN, CONTAMINATED, CANNOT_TELL = Conclusion.CLEAN, Conclusion.CONTAMINATED, Conclusion.CANNOT_TELL
EXPOSED, UNEXPOSED = "control:exposed", "control:unexposed"
Changes = Mapping[str, Any]


def cells(llm: str, found: Mapping[str, Changes], dataset: str = "adult", **changes: Any) -> list[dict[str, Any]]:
    """The cells of one LLM on one table, by test; a control joins."""
    about = {"control": llm.startswith("control:"), **changes}
    return [
        synthetic.weighed(llm, dataset, test, str(known["verdict"])) | about | dict(known)
        for test, known in found.items()
    ]


def run_of(*groups: Sequence[dict[str, Any]], **run: Any) -> dict[str, Any]:
    """A results.json of these cells, and the verdicts on their tables as the project comes to them."""
    together = [cell for group in groups for cell in group]
    return synthetic.document(together, synthetic.tables_of(together, run.get("rules", "calibrated")), **run)


def with_named(document: dict[str, Any], name: str = "mine") -> dict[str, Any]:
    """The document, in which this LLM is a control that the user named."""
    for llm in document["run"]["llms"]:
        llm |= {"control": llm["control"] or llm["spec"] == name, "checks": llm["spec"] in (EXPOSED, UNEXPOSED)}
    return document


def concluded(*groups: Sequence[dict[str, Any]], **conditions: Any) -> tuple[Conclusion, str]:
    judgement = judge(run_of(*groups), **conditions)
    return judgement.conclusion, judgement.reason


def test_a_row_test_that_finds_rows_is_enough() -> None:
    conclusion, reason = concluded(cells("m", {FULL: FOUND, CUT: MISSED}))
    assert conclusion is CONTAMINATED
    assert reason == "m on adult: detected by full_completion, p = 2e-09 together"


def test_a_row_test_alone_is_enough_where_together_they_find_nothing() -> None:
    """Among many cells of which many were found, a cell's q-value may be below its table's."""
    document = run_of(cells("m", {FULL: FOUND, CUT: MISSED}))
    document["tables"][0] |= {"verdict": "not detected", "p_value": 0.04, "q_value": 0.04}
    judgement = judge(document)
    assert (judgement.conclusion, judgement.reason) == (CONTAMINATED, "m on adult: detected by full_completion")


def test_the_row_tests_together_are_enough() -> None:
    """Neither of them was a finding among all cells of the LLM."""
    conclusion, reason = concluded(cells("m", {FULL: MISSED | {"p_value": 0.002}, CUT: MISSED}))
    assert (conclusion, reason) == (CONTAMINATED, "m on adult: the row tests together: p = 0.004")


def test_what_was_asked_to_the_end_and_not_found_is_clean() -> None:
    conclusion, reason = concluded(cells("m", {FULL: MISSED, CUT: MISSED, ONE: SILENT}))
    assert conclusion is CLEAN
    assert reason == (
        "m on adult: not detected by full_completion, incomplete_completion, and "
        "a model that remembers 12% of the rows would have been detected; no answer in 1 test: feature_completion"
    )


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ({FULL: SILENT, CUT: SILENT}, "no answer to full_completion, incomplete_completion (no readable answer to 45"),
        ({FULL: {"verdict": "uninformative", "p_value": None, "reason": "too few"}}, "nothing could be learned from"),
        ({FULL: {"verdict": "skipped", "p_value": None, "queries": 0, "reason": "no twin"}}, "not asked: full"),
        ({FULL: UNASKED | {"verdict": "skipped"}}, "not all queries were asked: full_completion (the run ended"),
        ({FULL: MISSED, CUT: UNASKED | {"reason": "after $1"}}, "asked: incomplete_completion (after $1)"),
        ({FULL: MISSED, CUT: SILENT | ENDED}, "not all queries were asked: inc"),
        ({"recognition_features": MISSED}, "no row test was asked"),
    ],
)
def test_all_else_cannot_be_told_and_says_why(found: Mapping[str, Changes], reason: str) -> None:
    conclusion, said = concluded(cells("m", found))
    assert conclusion is CANNOT_TELL
    assert said.startswith("m on adult: ")
    assert reason in said


def test_a_run_without_a_subject_cannot_tell() -> None:
    assert concluded(cells(EXPOSED, {FULL: FOUND})) == (CANNOT_TELL, "no model was tested")


def test_what_is_found_in_a_run_that_was_cut_short_is_found() -> None:
    cut = {CUT: SILENT | ENDED}
    assert concluded(cells("m", {FULL: FOUND, **cut}))[0] is CONTAMINATED


@pytest.mark.parametrize(
    ("fail_on", "found", "code"),
    [
        ((), FOUND, 1),
        ((), MISSED, 0),
        ((), SILENT, 6),
        (("undecided",), SILENT, 1),
        (("undecided",), MISSED, 0),
        (("contaminated",), SILENT, 6),
        (("contaminated",), FOUND, 1),
    ],
)
def test_exit_codes(fail_on: Sequence[str], found: Changes, code: int) -> None:
    judgement = judge(run_of(cells("m", {FULL: found})), fail_on=fail_on)
    assert judgement.exit_code == code
    assert (judgement.conclusion is CONTAMINATED) == (found is FOUND)  # the word stays what it is


def test_knowledge_counts_only_where_it_is_to() -> None:
    known = [*cells("m", {"recognition_features": FOUND, FULL: MISSED}), *cells("m", {FULL: SILENT}, "iris")]
    assert judge(run_of(known)).conclusion is CANNOT_TELL
    judgement = judge(run_of(known), fail_on=["knowledge"])
    assert [finding.conclusion for finding in judgement.findings] == [CONTAMINATED, CANNOT_TELL]
    assert "the dataset is known: detected by recognition_features" in judgement.reason


def test_knowledge_of_a_dataset_is_asked_in_one_serializer_and_goes_for_all() -> None:
    first = cells("m", {"feature_list_informed": FOUND, FULL: MISSED}, serializer="is")
    second = cells("m", {FULL: MISSED}, serializer="equals")
    judgement = judge(run_of(first, second), fail_on=["knowledge"])
    assert {finding.conclusion for finding in judgement.findings} == {CONTAMINATED}


@pytest.mark.parametrize(
    ("share", "least", "conclusion"),
    [(0.12, None, CLEAN), (0.12, 0.12, CLEAN), (0.12, 0.1, CANNOT_TELL), (None, None, CLEAN), (None, 0.5, CANNOT_TELL)],
)
def test_clean_may_be_asked_to_have_power(share: float | None, least: float | None, conclusion: Conclusion) -> None:
    found, reason = concluded(cells("m", {FULL: MISSED | {"detectable_share": share}, CUT: SILENT}), min_power=least)
    assert found is conclusion
    if share and least == 0.1:
        assert "only a model that remembers 12% of the rows would have been detected, and 10% is required" in reason


def test_power_is_that_of_the_tests_that_were_answered() -> None:
    found: dict[str, Changes] = {FULL: MISSED | {"detectable_share": 0.4}, CUT: SILENT | {"detectable_share": 0.05}}
    assert concluded(cells("m", found), min_power=0.1)[0] is CANNOT_TELL


def test_controls_that_joined_decide_nothing_and_named_ones_do() -> None:
    joined = run_of(cells(EXPOSED, {FULL: FOUND}), cells("m", {FULL: MISSED}))
    assert judge(joined).conclusion is CLEAN
    assert judge(joined, llms=[EXPOSED]).conclusion is CONTAMINATED
    named = run_of(cells(EXPOSED, {FULL: FOUND}, control=False), cells("m", {FULL: MISSED}))
    assert judge(named).conclusion is CONTAMINATED


class TestVoid:
    """What the controls say of the tests that a verdict rests on."""

    def test_what_the_unexposed_control_is_flagged_by_makes_nothing_contaminated(self) -> None:
        conclusion, reason = concluded(cells("m", {FULL: FOUND, CUT: MISSED}), cells(UNEXPOSED, {FULL: FOUND}))
        assert conclusion is CANNOT_TELL
        assert reason == (
            "m on adult: the model may only write plausible values: control:unexposed, which has read none of its "
            "rows, was flagged by full_completion, too"
        )

    def test_another_row_test_carries_the_verdict(self) -> None:
        conclusion, reason = concluded(cells("m", {FULL: FOUND, CUT: FOUND}), cells(UNEXPOSED, {FULL: FOUND}))
        assert conclusion is CONTAMINATED
        assert reason.startswith("m on adult: detected by incomplete_completion; control:unexposed, which has")

    @pytest.mark.parametrize(("others", "conclusion"), [(1, CONTAMINATED), (2, CANNOT_TELL)])
    def test_the_rest_together_are_judged_among_all_tables_of_the_llm(
        self, others: int, conclusion: Conclusion
    ) -> None:
        """Without the void test p is 0.004, and q that times the tables of the LLM, one of them or two others clean."""
        own = cells("m", {FULL: FOUND, CUT: MISSED | {"p_value": 0.004}})
        clean = [cells("m", {FULL: MISSED | {"p_value": 0.9}}, f"table {number}") for number in range(others)]
        document = run_of(own, *clean, cells(UNEXPOSED, {FULL: FOUND, CUT: MISSED}))
        judgement = judge(document, datasets=["adult"])
        assert judgement.conclusion is conclusion
        if conclusion is CONTAMINATED:
            assert "the row tests together: p = 0.004, without full_completion" in judgement.reason

    def test_row_tests_that_flag_it_together_are_void_by_the_least_p_value(self) -> None:
        flagged = cells(UNEXPOSED, {FULL: MISSED | {"p_value": 0.001}, CUT: MISSED})
        assert concluded(cells("m", {FULL: FOUND, CUT: MISSED}), flagged)[0] is CANNOT_TELL
        assert concluded(cells("m", {FULL: MISSED, CUT: FOUND}), flagged)[0] is CONTAMINATED

    def test_a_control_that_the_user_named_and_that_has_read_nothing_voids_what_flags_it(self) -> None:
        """Whoever is accused by a test that accuses a model which has read none of the rows is not accused for sure."""
        unread = cells("mine", {FULL: FOUND}, control=True, exposure=0.0)
        judgement = judge(with_named(run_of(cells("m", {FULL: FOUND, CUT: MISSED}), unread)))
        assert judgement.conclusion is CANNOT_TELL
        assert "plausible values: mine, which has read none of its rows, was flagged by full_completion, too" in (
            judgement.reason
        )

    def test_only_controls_that_void_a_test_are_named(self) -> None:
        unread = cells("mine", {FULL: FOUND}, control=True, exposure=0.0)
        built_in = cells(UNEXPOSED, {FULL: MISSED}, exposure=0.0)
        judgement = judge(with_named(run_of(cells("m", {FULL: FOUND}), built_in, unread)))
        assert "plausible values: mine, which has read none" in judgement.reason

    def test_a_control_that_the_user_named_and_that_has_read_the_rows_voids_nothing(self) -> None:
        """It may be too small to learn what it has read: that says nothing of the tests, or of an LLM like no other."""
        read = cells("mine", {FULL: MISSED}, control=True, exposure=64.0)
        judgement = judge(with_named(run_of(cells("m", {FULL: MISSED}), read)))
        assert judgement.conclusion is CLEAN
        assert [finding.llm for finding in judgement.findings] == ["m"]

    def test_what_misses_the_exposed_control_makes_nothing_clean(self) -> None:
        conclusion, reason = concluded(cells("m", {FULL: MISSED, CUT: SILENT}), cells(EXPOSED, {FULL: MISSED}))
        assert conclusion is CANNOT_TELL
        assert reason == (
            "m on adult: nothing was detected, but this is not certain: control:exposed, which has read the table, "
            "was missed by full_completion, too"
        )

    def test_a_test_with_power_carries_clean(self) -> None:
        weak, strong = MISSED | {"detectable_share": 0.05}, MISSED | {"detectable_share": 0.3}
        exposed = cells(EXPOSED, {FULL: MISSED, CUT: FOUND})
        conclusion, reason = concluded(cells("m", {FULL: weak, CUT: strong}), exposed)
        assert conclusion is CLEAN
        found = "a model that remembers 30% of the rows would have been detected"
        assert f"not detected by incomplete_completion, and {found}; control:exp" in reason
        assert concluded(cells("m", {FULL: weak, CUT: strong}), exposed, min_power=0.1)[0] is CANNOT_TELL

    def test_nothing_is_clean_that_the_tests_with_power_would_find(self) -> None:
        """Beside a test without power p is 0.012, and without it 0.006: the report says not detected, they do not."""
        own = cells("m", {FULL: MISSED, CUT: MISSED | {"p_value": 0.006}})
        assert concluded(own)[0] is CLEAN
        assert concluded(own, cells(EXPOSED, {FULL: MISSED, CUT: FOUND}))[0] is CANNOT_TELL

    def test_no_power_is_no_reason_to_doubt_what_was_found(self) -> None:
        assert concluded(cells("m", {FULL: FOUND}), cells(EXPOSED, {FULL: MISSED}))[0] is CONTAMINATED
        assert concluded(cells("m", {FULL: MISSED}), cells(UNEXPOSED, {FULL: FOUND}))[0] is CLEAN

    @pytest.mark.parametrize("verdict", ["no answer", "skipped", "uninformative"])
    def test_a_control_that_could_not_be_measured_voids_nothing(self, verdict: str) -> None:
        silent = {"verdict": verdict, "p_value": None}
        assert concluded(cells("m", {FULL: MISSED}), cells(EXPOSED, {FULL: silent}))[0] is CLEAN
        assert concluded(cells("m", {FULL: FOUND}), cells(UNEXPOSED, {FULL: silent}))[0] is CONTAMINATED

    @pytest.mark.parametrize("elsewhere", [{"edition": "kaggle"}, {"serializer": "equals"}, {"dataset": "iris"}])
    def test_a_control_says_nothing_of_another_table(self, elsewhere: Changes) -> None:
        control = cells(UNEXPOSED, {FULL: FOUND}, **elsewhere)
        assert concluded(cells("m", {FULL: FOUND}), control)[0] is CONTAMINATED

    def test_a_control_that_is_named_decides_by_what_was_found_of_it(self) -> None:
        both = [*cells(EXPOSED, {FULL: MISSED}), *cells(UNEXPOSED, {FULL: FOUND})]
        assert judge(run_of(both), llms=[UNEXPOSED]).conclusion is CONTAMINATED
        assert judge(run_of(both), llms=[EXPOSED]).conclusion is CLEAN

    def test_under_the_published_rules_as_well(self) -> None:
        own, control = cells("m", {FULL: FOUND, CUT: MISSED}), cells(UNEXPOSED, {FULL: FOUND, CUT: MISSED})
        assert judge(run_of(own, rules="paper")).conclusion is CONTAMINATED
        assert judge(run_of(own, control, rules="paper")).conclusion is CANNOT_TELL
        missed = cells("m", {FULL: MISSED, CUT: SILENT})
        document = run_of(missed, cells(EXPOSED, {FULL: MISSED, CUT: FOUND}), rules="paper")
        assert judge(document).conclusion is CANNOT_TELL


def test_of_the_published_rules_no_power_is_known() -> None:
    document = run_of(cells("m", {FULL: MISSED}), rules="paper")
    assert judge(document).conclusion is CLEAN
    assert "would have been detected" not in judge(document).reason
    assert judge(document, min_power=0.5).conclusion is CANNOT_TELL


def test_the_worst_decides_and_no_more_than_three_are_named() -> None:
    found = [cells("m", {FULL: FOUND}, f"table {number}") for number in range(5)]
    judgement = judge(run_of(*found, cells("n", {FULL: MISSED}), cells("o", {FULL: SILENT})))
    assert judgement.conclusion is CONTAMINATED
    assert judgement.reason.count("m on table") == 3
    assert judgement.reason.endswith("; and 2 more (besides: 1 cannot tell, 1 clean)")
    assert len(judgement.findings) == 7


def test_an_llm_and_a_table_that_were_named_and_not_asked_cannot_be_told() -> None:
    document = run_of(cells("m", {FULL: MISSED}), cells("n", {FULL: MISSED}, "iris"))
    judgement = judge(document, llms=["m"], datasets=["adult", "iris"])
    assert (judgement.conclusion, judgement.reason) == (
        CANNOT_TELL,
        "m on iris: no row test was asked (besides: 1 clean)",
    )


def test_whatever_a_name_holds_the_line_is_one_and_drives_no_terminal() -> None:
    name = synthetic.HOSTILE + "\n\rclean"
    document = run_of(cells(name, {FULL: SILENT | {"reason": name * 50}}, name))
    line = str(judge(document))
    assert line.isprintable()
    assert len(line) < 1000


def test_no_mix_of_verdicts_is_clean_with_a_finding_in_it() -> None:
    document = synthetic.results([f"llm {number}" for number in range(7)], ["adult", "iris", "wine"])
    rows = [cell for cell in document["results"] if cell["test"] in synthetic.ROW_TESTS]
    judgement = judge(document)
    assert len(judgement.findings) == 21
    for finding in judgement.findings:
        own = [cell for cell in rows if (cell["llm"], cell["dataset"]) == (finding.llm, finding.dataset)]
        table = next(one for one in document["tables"] if all(one[key] == own[0][key] for key in ("llm", "dataset")))
        words = {table["verdict"], *(cell["verdict"] for cell in own)}
        assert (finding.conclusion is CONTAMINATED) == ("contaminated" in words)
        assert finding.conclusion is not CLEAN or table["verdict"] == "not detected"


def test_recorded_answers_are_no_run() -> None:
    document = run_of(cells("m", {FULL: FOUND}), recorded=True)
    with pytest.raises(UsageError, match="recorded answers"):
        judge(document)


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"llms": ["k"]}, "unknown LLM of these results 'k'"),
        ({"datasets": ["adlt"]}, "did you mean adult"),
        ({"fail_on": ["undecidd"]}, "did you mean undecided"),
        ({"min_power": 12}, "between 0 and 1"),
    ],
)
def test_what_the_gate_does_not_know_is_an_error(conditions: Changes, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        judge(run_of(cells("m", {FULL: MISSED})), **conditions)


class TestCommand:
    """The command `gate`."""

    @pytest.fixture
    def here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)
        return tmp_path

    @pytest.fixture
    def folder(self, tmp_path: Path) -> str:
        """A run of two LLMs, one contaminated and one not."""
        document = run_of(cells("m", {FULL: FOUND}), cells("n", {FULL: MISSED}), level=0.01, serializers=[])
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "results.json").write_text(json.dumps(document))
        return str(tmp_path / "run")

    @pytest.mark.parametrize(
        ("options", "code", "lines"),
        [
            ([], 1, ["contaminated: m on adult"]),
            (["--llm", "n"], 0, ["clean: n on adult"]),
            (["--llm", "n", "--min-power", "0.05"], 6, ["cannot tell: n on adult"]),
            (["--llm", "n", "--min-power", "0.05", "--fail-on", "undecided"], 1, ["cannot tell: n on adult"]),
            (["-v"], 1, ["contaminated: m on adult", "clean: n on adult", "contaminated: m on adult"]),
        ],
    )
    def test_a_past_run(
        self, folder: str, capsys: pytest.CaptureFixture[str], options: list[str], code: int, lines: list[str]
    ) -> None:
        assert cli.main(["gate", folder, *options]) == code
        out, err = capsys.readouterr()
        assert [line.partition(": ")[0] for line in out.splitlines()] == [line.partition(": ")[0] for line in lines]
        assert all(line.startswith(begin) for line, begin in zip(out.splitlines(), lines, strict=True))
        assert err == f"tabcontam: {folder} has no trials.jsonl: its results were not checked\n"

    def test_as_json(self, folder: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["gate", folder, "--json"]) == 1
        found = json.loads(capsys.readouterr().out)
        assert found.keys() == {"conclusion", "reason", "findings"}
        assert found["conclusion"] == "contaminated"
        assert [finding["conclusion"] for finding in found["findings"]] == ["contaminated", "clean"]
        assert found["findings"][1].keys() == {"llm", "dataset", "conclusion", "reason", "subject"}

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--queries", "3"], "--queries: a past run is not asked again"),
            (["--seed", "0"], "--seed: "),  # also where it is the default
            (["--rules", "calibrated", "-x", "-k", "full", "--out", "x"], "-k, --out, --rules, -x: "),
            (["--dry-run"], "--dry-run: "),
            (["--llm", "k"], "unknown LLM"),
            (["--dataset", "iris"], "unknown dataset"),
            (["--fail-on", "nothing"], "is not one of"),
        ],
    )
    def test_what_a_past_run_cannot_take_is_one_line(
        self, folder: str, capsys: pytest.CaptureFixture[str], options: list[str], message: str
    ) -> None:
        try:
            code = cli.main(["gate", folder, *options])
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capsys.readouterr()
        lines = [line for line in err.splitlines() if "were not checked" not in line]
        assert (code, out, len(lines)) == (4, "", 1)
        assert message in lines[0]

    @pytest.mark.parametrize(
        "arguments",
        [
            ["gate"],
            ["gate", "--llm", "simulated:oracle"],
            ["gate", "--dataset", "iris"],
            ["gate", "nowhere"],
            ["gate", "--llm", "simulated:oracle", "--dataset", "iris", "--dry-run"],
            ["run", "--min-power", "0.2"],
        ],
    )
    def test_a_gate_that_could_not_tell_anything_is_one_line(
        self, here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
    ) -> None:
        assert cli.main(arguments) == 4
        out, err = capsys.readouterr()
        assert (out, err.count("\n"), list(here.iterdir())) == ("", 1, [])

    @pytest.mark.parametrize(
        ("kind", "expression", "code"),
        [
            ("memoriser:0.5", "completion", 1),
            ("guesser", "completion", 0),
            ("yes", "full_completion", 6),
            ("refuser", "completion", 6),
            ("decliner", "completion", 6),
            ("guesser", "recognition", 6),
        ],
    )
    @pytest.mark.slow
    def test_a_run_that_is_made_now(
        self, here: Path, capsys: pytest.CaptureFixture[str], kind: str, expression: str, code: int
    ) -> None:
        arguments = ["gate", "--llm", f"simulated:{kind}", "--dataset", "iris", "-k", expression, "--out", "made"]
        assert cli.main(arguments) == code
        out, err = capsys.readouterr()
        assert out.count("\n") == 1
        assert f"simulated:{kind} on iris: " in out
        assert f"report: {Path('made', 'index.html')}" in err.splitlines()
        assert (here / "made" / "index.html").exists()
        assert cli.main(["gate", "made"]) == code
        assert capsys.readouterr().out == out

    @pytest.mark.slow
    def test_a_run_that_ends_at_a_limit_is_not_clean_by_what_was_asked_before(
        self, here: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        asked = ["--llm", "simulated:guesser", "--dataset", "iris", "-k", "completion", "--no-controls", "--out", "run"]
        assert cli.main(["gate", *asked, "--max-requests", "60"]) == 6
        assert "not all queries were asked: full_completion, feature_completion (" in capsys.readouterr().out
        assert cli.main(["gate", *asked]) == 0

    @pytest.mark.slow
    def test_the_controls_are_told_apart_where_they_are_named(self, here: Path) -> None:
        for kind, code in (("exposed", 1), ("unexposed", 0)):
            named = ["--llm", f"control:{kind}", "--dataset", "iris", "-k", "full_completion", "--out", kind]
            assert cli.main(["gate", *named]) == code

    def test_help_tells_the_exit_codes(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit):
            cli.main(["gate", "--help-all"])
        said = capsys.readouterr().out
        for line in (
            "0  clean",
            "1  contaminated",
            "6  the tests cannot tell",
            "(default: calibrated)",
            "(default: 0.01)",
        ):
            assert line in said

    @pytest.mark.slow
    def test_a_published_rule_that_flags_the_unexposed_control_stops_nothing(
        self, here: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """With this seed a guess is right in the paper's five queries about iris, the unexposed control's as well."""
        asked = ["--llm", "simulated:mode", "--dataset", "iris", "-k", "feature_completion", "--rules", "paper"]
        assert cli.main(["gate", *asked, "--seed", "0", "--out", "with"]) == 6
        assert "was flagged by feature_completion, too" in capsys.readouterr().out
        assert cli.main(["gate", *asked, "--seed", "0", "--no-controls", "--out", "without"]) == 1

    @pytest.mark.slow
    def test_where_the_exposed_control_is_missed_nothing_is_clean(
        self, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The real controls find every table that we have; here one answers who knows nothing."""

        class Forgetful(SimulatedModel):
            control = True

            def exposure(self, table: Table, row: int) -> float:
                return float(self.spec == "control:exposed")

        def control(kind: str, settings: provider_registry.ModelSettings) -> Model:
            opened = Forgetful("guesser")
            opened.spec = f"control:{kind}"
            return opened

        monkeypatch.setitem(
            provider_registry.BUILT_IN, "control", replace(provider_registry.BUILT_IN["control"], open=control)
        )
        asked = ["--llm", "simulated:guesser", "--dataset", "iris", "-k", "full_completion"]
        assert cli.main(["gate", *asked, "--out", "run"]) == 6
        assert (
            "control:exposed, which has read the table, was missed by full_completion, too" in capsys.readouterr().out
        )


class TestContradictions:
    """A results.json that was edited or cut by hand must not pass for a clean one."""

    @staticmethod
    def document() -> dict[str, Any]:
        return run_of(cells("m", {FULL: MISSED, CUT: MISSED}), cells("n", {FULL: FOUND}), cells(EXPOSED, {FULL: FOUND}))

    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            ("q_value", 1e-9, "m on adult is not detected although its q-value is at most"),
            ("detectable_share", -1, "detectable_share: -1 is not at least 0"),
            ("p_value", 7, "p_value: 7 is not at most 1"),
            ("q_value", float("nan"), "nan is no finite number"),
            ("detectable_share", float("-inf"), "-inf is no finite number"),
        ],
    )
    @pytest.mark.parametrize("part", ["results", "tables"])
    def test_numbers_that_no_run_writes(self, part: str, key: str, value: float, message: str) -> None:
        document = self.document()
        document[part][0][key] = value
        with pytest.raises(UsageError, match=message):
            judge(document, llms=["m"], min_power=0.9)

    @pytest.mark.parametrize("alpha", [0, 1, float("nan"), "0.01", None, True])
    def test_a_level_that_is_none(self, alpha: object) -> None:
        document = self.document()
        document["run"]["alpha"] = alpha
        with pytest.raises(UsageError, match="alpha"):
            judge(document)

    @pytest.mark.parametrize("exposure", [None, 0.0])
    def test_a_control_that_the_user_named_is_one_by_what_it_has_read(self, exposure: float | None) -> None:
        named = cells("mine", {FULL: FOUND}, control=True, exposure=exposure)
        document = with_named(run_of(cells("m", {FULL: MISSED}), named))
        if exposure is None:
            with pytest.raises(UsageError, match="mine is marked as a control of this run, but it is not one"):
                judge(document)
        else:
            assert judge(document).conclusion is CLEAN

    def test_an_llm_under_test_does_not_become_a_control(self) -> None:
        document = self.document()
        for one in document["results"]:
            one["control"] = True
        with pytest.raises(UsageError, match="marked as a control of this run, but it is not one"):
            judge(document)

    @pytest.mark.parametrize(("key", "value"), [("llm", "n"), ("dataset", "iris")])
    def test_cells_that_were_cut_out(self, key: str, value: str) -> None:
        both = run_of(cells("m", {FULL: MISSED}), cells("n", {FULL: FOUND}), cells("m", {FULL: FOUND}, "iris"))
        both["results"] = [one for one in both["results"] if one[key] != value]
        with pytest.raises(UsageError, match=f"{value}.* has no result"):
            judge(both)
        both["run"] |= {"llms": both["run"]["llms"][:1], "datasets": both["run"]["datasets"][:1]}
        with pytest.raises(UsageError, match="has no result"):
            judge(both)  # the verdicts on the tables still name them

    def test_verdicts_on_tables_that_were_cut_out_clear_nothing(self) -> None:
        document = self.document() | {"tables": []}
        assert [finding.conclusion for finding in judge(document).findings] == [CANNOT_TELL, CONTAMINATED]

    def test_a_table_is_not_clean_against_its_cells(self) -> None:
        """By their p-values the row tests together find the rows; the line of the table says that they do not."""
        document = run_of(cells("m", {FULL: MISSED | {"p_value": 1e-6}, CUT: MISSED}))
        document["tables"][0] |= {"verdict": "not detected", "q_value": 0.5}
        judgement = judge(document)
        assert judgement.conclusion is CANNOT_TELL
        assert "the verdict does not follow from its row tests" in judgement.reason

    def test_a_table_is_not_clean_without_an_answer(self) -> None:
        document = run_of(cells("m", {FULL: SILENT}))
        document["tables"][0] |= {"verdict": "not detected"}
        assert judge(document).conclusion is CANNOT_TELL


KNOWN_TEST = "recognition_features"


@pytest.mark.parametrize(
    ("knowing", "conclusion"),
    [
        ({}, CANNOT_TELL),
        ({KNOWN_TEST: SILENT}, CANNOT_TELL),
        ({KNOWN_TEST: MISSED}, CLEAN),
        ({KNOWN_TEST: MISSED, "feature_list_informed": SILENT}, CLEAN),
        ({KNOWN_TEST: MISSED, "feature_list_informed": UNASKED}, CANNOT_TELL),
        ({KNOWN_TEST: FOUND}, CONTAMINATED),
    ],
)
def test_who_was_not_asked_for_knowledge_is_not_cleared_of_it(
    knowing: Mapping[str, Changes], conclusion: Conclusion
) -> None:
    document = run_of(cells("m", {FULL: MISSED, **knowing}))
    assert judge(document).conclusion is CLEAN
    assert judge(document, fail_on=["knowledge"]).conclusion is conclusion


@pytest.mark.parametrize("least", ["0.5", True, float("nan"), 0, 1])
def test_a_power_that_is_no_share_is_one_line(least: Any) -> None:
    with pytest.raises(UsageError, match="the least power is a share"):
        judge(run_of(cells("m", {FULL: MISSED})), min_power=least)


@pytest.mark.parametrize("options", [[], ["-v"], ["--json"]])
@pytest.mark.slow
def test_a_pipe_that_nobody_reads_does_not_make_it_clean(tmp_path: Path, options: list[str]) -> None:
    """As `gate RUN_DIR | head -0` under `set -o pipefail`."""
    document = run_of(cells("m", {FULL: FOUND}), level=0.01, serializers=[])
    (tmp_path / "results.json").write_text(json.dumps(document))
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "tabcontam", "gate", str(tmp_path), *options]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr.count(b"\n"), b"Traceback" in done.stderr) == (1, 1, False)


WORDS = st.sampled_from(["contaminated", "not detected", "uninformative", "no answer", "skipped"])
CHANCES = st.one_of(st.none(), st.floats(0, 1), st.sampled_from([1e-300, 1e-6, 0.009, 0.011]))


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Any verdicts and numbers on one LLM and one table, with controls or without, and any verdict on the table."""
    groups = []
    for llm in draw(st.sampled_from([("m",), ("m", EXPOSED), ("m", UNEXPOSED), ("m", EXPOSED, UNEXPOSED)])):
        tests = draw(st.lists(st.sampled_from([FULL, CUT, ONE, MATCHED, KNOWN_TEST]), min_size=1, unique=True))
        share = st.one_of(st.none(), st.floats(0, 1))
        fields = {"verdict": WORDS, "p_value": CHANCES, "q_value": st.just(0.9), "detectable_share": share}
        groups.append(cells(llm, {test: draw(st.fixed_dictionaries(fields)) for test in tests}))
    document = run_of(*groups, rules=draw(st.sampled_from(["calibrated", "paper"])))
    for table in document["tables"]:
        table |= {"verdict": draw(WORDS), "q_value": 0.9} if draw(st.booleans()) else {}
    document["tables"] = draw(st.sampled_from([document["tables"], []]))
    return document


@given(documents(), st.one_of(st.none(), st.floats(0.001, 0.999)), st.sets(st.sampled_from(["knowledge", "undecided"])))
@pytest.mark.slow
def test_whatever_results_hold(document: dict[str, Any], least: float | None, fail_on: set[str]) -> None:
    """Clean needs a row test that missed, and nothing found; stricter conditions never clear."""
    plain, strict = judge(document), judge(document, min_power=least, fail_on=sorted(fail_on))
    rows = [one for one in document["results"] if one["llm"] == "m" and one["test"] != KNOWN_TEST]
    words = {one["verdict"] for one in rows}
    tables = {one["verdict"] for one in document["tables"] if one["llm"] == "m"}
    if plain.conclusion is CLEAN:
        assert "not detected" in words
        assert tables == {"not detected"}
        assert "contaminated" not in words
    if plain.conclusion is CONTAMINATED:
        assert "contaminated" in words | tables
    if plain.conclusion is not CLEAN:
        assert strict.conclusion is not CLEAN
    if strict.exit_code == 0:
        assert plain.exit_code == 0
    without = document | {"results": [one for one in document["results"] if one["llm"] == "m"], "run": {
        **document["run"], "llms": [fact for fact in document["run"]["llms"] if fact["spec"] == "m"]
    }, "tables": [one for one in document["tables"] if one["llm"] == "m"]}  # fmt: skip
    if judge(without).conclusion is CANNOT_TELL:
        assert plain.conclusion is CANNOT_TELL  # controls only ever take a verdict away
