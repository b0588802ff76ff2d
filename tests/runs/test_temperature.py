"""Every query several times: `--samples N --temperature T` through the real command."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import tabcontam

RUN = ("run", "--llm", "simulated:memoriser:0.5", "--no-controls", "--dataset", "wine", "-k", "feature_completion")


def results(folder: Path) -> Any:
    return json.loads((folder / "results.json").read_text("utf-8"))


@pytest.mark.slow
def test_queries_are_asked_so_many_times_and_judged_once(tmp_path: Path) -> None:
    several, once = tmp_path / "several", tmp_path / "once"
    ran = tabcontam(*RUN, "--samples", "3", "--temperature", "0.8", "--out", str(several))
    assert ran.returncode == 0, ran.stderr
    assert tabcontam(*RUN, "--out", str(once)).returncode == 0
    (cell,), (single,) = results(several)["results"], results(once)["results"]
    assert cell["queries"] == 3 * single["queries"]
    assert (cell["answered"], cell["hits"]) == (single["answered"], single["hits"])
    assert cell["p_value"] == pytest.approx(single["p_value"]), "the same answer three times says what it says once"
    assert cell["paper_verdict"] == single["paper_verdict"]
    run = results(several)["run"]
    assert (run["samples"], run["temperature"]) == (3, 0.8)
    lines = [json.loads(line) for line in (several / "trials.jsonl").read_text("utf-8").splitlines()]
    assert {(line["temperature"], line["sample"]) for line in lines} == {(0.8, number) for number in (1, 2, 3)}
    other = tabcontam(*RUN, "--samples", "3", "--temperature", "0.9", "--out", str(several))
    assert other.returncode == 4
    assert "holds a run with --temperature 0.8" in other.stderr


def test_a_limit_on_queries_counts_every_answer(tmp_path: Path) -> None:
    ran = tabcontam(
        *RUN, "--samples", "4", "--temperature", "1", "--queries", "42", "--rules", "paper", "--out", str(tmp_path)
    )
    assert ran.returncode == 0, ran.stderr
    (cell,) = results(tmp_path)["results"]
    assert cell["queries"] == 40, "no query is asked in part"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--temperature", "1"), "--temperature needs --samples N"),
        (("--samples", "2", "--temperature", "1", "--until-decided"), "--until-decided asks row tests once each"),
        (("--samples", "2", "--temperature", "3"), "'3' is not a number above 0 and at most 2"),
        (("--samples", "2", "--temperature", "hot"), "'hot' is not a number above 0"),
    ],
)
def test_what_contradicts_itself_is_one_line(options: tuple[str, ...], message: str) -> None:
    ran = tabcontam(*RUN, *options)
    assert ran.returncode == 4
    assert message in ran.stderr


def test_a_test_that_weighs_no_several_answers_is_asked_once_and_the_run_says_so() -> None:
    every = ("run", "--llm", "simulated:guesser", "--no-controls", "--dataset", "wine", "--dry-run")
    ran = tabcontam(*every, "-k", "feature_completion or matched", "--samples", "2", "--temperature", "1")
    assert ran.returncode == 0, ran.stderr
    assert "feature_completion  90 to ask" in ran.stdout
    assert "matched_membership  60 to ask" in ran.stdout
    assert "--temperature: each query is asked once by matched_membership" in ran.stdout + ran.stderr
