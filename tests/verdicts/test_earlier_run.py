"""The gate against an earlier run: what was contaminated there is known, and only what is new fails."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import tabcontam as package
from tabcontam.errors import UsageError
from tabcontam.report.github import annotations
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.gate import Conclusion, EarlierRun, GateDecision, judge
from tests.commands import tabcontam
from tests.verdicts.test_gate import CUT, FOUND, FULL, MISSED, SILENT, cells, run_of

KNOWS = {"recognition_features": FOUND}


def against(now: list[dict[str, Any]], before: list[dict[str, Any]], **conditions: Any) -> GateDecision:
    """What the gate says of a run against an earlier one."""
    baseline = EarlierRun("reports/base", parse_results(run_of(before)))
    return judge(parse_results(run_of(now)), baseline, **conditions)


@pytest.mark.parametrize(
    ("before", "conclusion", "code", "said"),
    [
        ({FULL: FOUND}, Conclusion.KNOWN, 0, "; it was contaminated in reports/base as well"),
        ({FULL: MISSED}, Conclusion.CONTAMINATED, 1, "; new: in reports/base the gate's conclusion was clean"),
        ({FULL: SILENT}, Conclusion.CONTAMINATED, 1, "; new: in reports/base the gate's conclusion was cannot tell"),
    ],
)
def test_what_was_found_before_is_known_and_the_rest_is_new(
    before: Mapping[str, Any], conclusion: Conclusion, code: int, said: str
) -> None:
    judged = against(cells("m", {FULL: FOUND}), cells("m", before))
    assert (judged.conclusion, judged.exit_code) == (conclusion, code)
    assert judged.reason.startswith("m on adult: detected by full_completion")
    assert judged.reason.endswith(said)


@pytest.mark.parametrize(
    "before",
    [
        cells("another", {FULL: FOUND}),
        cells("m", {FULL: FOUND}, "bank"),
        cells("m", {FULL: FOUND}, serializer="json"),
        cells("m", {FULL: FOUND}, prompts="mine"),
    ],
)
def test_only_the_same_llm_and_table_are_the_same(before: list[dict[str, Any]]) -> None:
    judged = against(cells("m", {FULL: FOUND}), before)
    assert judged.exit_code == 1
    assert judged.reason.endswith("; new: in reports/base it was not tested")


def test_a_file_that_has_changed_is_another_table() -> None:
    before = run_of(cells("m", {FULL: FOUND}, edition="another"))
    for dataset in before["run"]["datasets"]:
        dataset["edition"] = "another"
    now = parse_results(run_of(cells("m", {FULL: FOUND})))
    assert judge(now, EarlierRun("base", parse_results(before))).reason.endswith("; new: in base it was not tested")


def test_rows_are_new_where_only_a_page_about_the_dataset_was_known() -> None:
    both = {"fail_on": ["knowledge"]}
    assert against(cells("m", {FULL: FOUND, **KNOWS}), cells("m", {FULL: MISSED, **KNOWS}), **both).exit_code == 1
    assert against(cells("m", {FULL: MISSED, **KNOWS}), cells("m", {FULL: MISSED, **KNOWS}), **both).exit_code == 0
    assert against(cells("m", {FULL: MISSED, **KNOWS}), cells("m", {FULL: MISSED}), **both).exit_code == 1


def test_what_cannot_be_told_stays_so_and_what_is_known_goes_before_what_is_clean() -> None:
    known, bank = cells("m", {FULL: FOUND}), cells("m", {FULL: SILENT, CUT: SILENT}, "bank")
    judged = against([*known, *bank], [*known, *cells("m", {FULL: FOUND}, "bank")])
    assert (judged.exit_code, judged.reason[-11:]) == (6, "s: 1 known)")
    assert against([*known, *bank], known, fail_on=["undecided"]).exit_code == 1
    judged = against([*known, *cells("m", {FULL: MISSED}, "bank")], known)
    assert (judged.exit_code, judged.conclusion, judged.reason[-19:]) == (0, "known", " (besides: 1 clean)")


def test_a_hostile_folder_drives_no_terminal_and_github_gets_a_notice() -> None:
    known = parse_results(run_of(cells("m", {FULL: FOUND})))
    judged = judge(known, EarlierRun("x\x1b[31m\n::error::y", known))
    assert "\x1b" not in str(judged)
    assert "\n" not in str(judged)
    (line,) = annotations(judged)
    assert line.startswith("::notice title=m on adult%3A known::")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with a run in which one LLM was found, and one in which two were."""
    one, two = cells("m", {FULL: FOUND}), cells("n", {FULL: FOUND})
    for name, held in {"before": one, "after": [*one, *two]}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").write_text(json.dumps(run_of(held)), "utf-8")
    return tmp_path


def test_on_the_command_line_and_in_python(runs: Path) -> None:
    assert tabcontam("gate", "before", cwd=runs).returncode == 1
    known = tabcontam("gate", "before", "--baseline", "after", cwd=runs)
    assert (known.returncode, known.stdout.partition(": ")[0]) == (0, "known")
    new = tabcontam("gate", "after", "--baseline", "before", "--json", cwd=runs)
    document = json.loads(new.stdout)
    assert (new.returncode, document["conclusion"], document["baseline"]) == (1, "contaminated", "before")
    assert [finding["conclusion"] for finding in document["findings"]] == ["known", "contaminated"]
    after = package.load_results(runs / "after")
    assert after.gate(baseline=runs / "before").exit_code == 1
    assert after.gate(llm="m", baseline=package.load_results(runs / "before")).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("gate after --baseline none", "none is no run folder"),
        ("gate after --baseline ./after", "--baseline: after is the run itself; name the folder of an earlier one"),
        ("gate --llm simulated:oracle --dataset iris --out new --baseline none", "none is no run folder"),
    ],
)
def test_a_baseline_that_is_none_is_told_before_anything_is_asked(runs: Path, arguments: str, message: str) -> None:
    done = tabcontam(*arguments.split(), cwd=runs)
    assert (done.returncode, done.stdout) == (4, "")
    assert message in done.stderr
    assert not (runs / "new").exists()


def test_a_baseline_in_python_that_is_none(runs: Path) -> None:
    with pytest.raises(UsageError, match="nothing here is no run folder"):
        package.load_results(runs / "after").gate(baseline="nothing here")
