"""The quiz's recorded answers: the published levels come out again, and no verdict."""

import csv
import os
from pathlib import Path
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.extensions.papers.quiz.quizzes import Quiz
from tabcontam.reading.word_decision import english
from tabcontam.replay.record_kinds import judge_files
from tabcontam.replay.replay_outcome import ReplayOutcome
from tests.replay.made import written


def question(number: int, **given: Any) -> dict[str, Any]:
    """A made-up question whose original stands at B and at D; `given` changes it."""
    return {
        "llm": "m",
        "dataset": "news",
        "split": "test",
        "instance": number,
        "original": f"text: ferry {number} came late",
        "distractors": [f"text: {word} ferry number {number} was late" for word in ("the", "our", "a", "that")],
        "bias_quiz": "A",
        "quiz": {"B": "B", "D": "A"},
    } | given


def replayed(path: Path, rules: str = "calibrated") -> ReplayOutcome:
    return judge_files([path], rules, english(), with_differences=True)


def test_levels_are_told_and_no_verdict_is_made(tmp_path: Path) -> None:
    path = written(tmp_path, *(question(number) for number in range(9)), question(9, quiz={"B": "C", "D": "D"}))
    (cell,) = replayed(path).results
    assert (cell.test, cell.verdict, cell.decision.paper_verdict) == (Quiz.id, "uninformative", None)
    assert (cell.evidence.hits, cell.queries, cell.evidence.score) == (9, 10, 0.9)
    assert "90.00% to 90.00% are contaminated (kappa 0.90)" in cell.evidence.sentence
    assert "the shortest option is the original in 10 of 10" in (cell.decision.reason or "")
    (paper,) = replayed(path, "paper").results
    assert (paper.verdict, paper.decision.reason) == (None, None)


def test_the_letter_that_is_preferred_anyway_is_taken_off(tmp_path: Path) -> None:
    biased = [question(number, bias_quiz="B" if number < 5 else "E", quiz={"B": "B"}) for number in range(10)]
    (cell,) = replayed(written(tmp_path, *biased)).results
    assert "100.00% to 100.00% are contaminated (kappa 1.00)" in cell.evidence.sentence
    half = [{**one, "quiz": {"B": "B" if one["instance"] < 8 else "E"}} for one in biased]
    (cell,) = replayed(written(tmp_path, *half)).results
    assert "60.00% to 80.00% are contaminated (kappa 0.60)" in cell.evidence.sentence


def test_a_distractor_that_is_the_original_is_no_other_option(tmp_path: Path) -> None:
    records = [question(number) for number in range(4)]
    for record in records[:2]:
        record["distractors"][3] = record["original"]
    records[3]["distractors"][0] = "text: it"
    (cell,) = replayed(written(tmp_path, *records)).results
    assert "the shortest option is the original in 3 of 4" in (cell.decision.reason or "")


def test_what_was_not_asked_has_no_levels(tmp_path: Path) -> None:
    (cell,) = replayed(written(tmp_path, question(0, bias_quiz=None), question(1, bias_quiz=None))).results
    assert (cell.verdict, cell.evidence.score) == ("uninformative", None)
    (cell,) = replayed(written(tmp_path, question(0, quiz={}))).results
    assert (cell.verdict, cell.evidence.score) == ("uninformative", None)


def test_settings_are_told_apart(tmp_path: Path) -> None:
    path = written(tmp_path, question(0), question(1, split="train"), question(2, llm="n"), question(3))
    assert [(cell.llm, cell.split, cell.queries) for cell in replayed(path).results] == [
        ("m", "test", 2),
        ("m", "train", 1),
        ("n", "test", 1),
    ]


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"distractors": "A"}, "'distractors' is not a list of texts"),
        ({"distractors": [1]}, "'distractors' is not a list of texts"),
        ({"quiz": ["A"]}, "'quiz' is not an object of letters"),
        ({"quiz": {"F": "A"}}, "'quiz' has the original at 'F', which is none of A, B, C, D"),
        ({"quiz": {"A": 1}}, "'A' is not a text"),
        ({"original": None}, "'original' is not a text"),
    ],
)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, changed: dict[str, Any], fault: str) -> None:
    path = written(tmp_path, question(0), question(1, **changed))
    with pytest.raises(UsageError) as error:
        replayed(path)
    assert f"{path}, line 2: {fault}" in str(error.value)


FOLDER = Path(os.environ.get("TABCONTAM_REPLAY", ""), "text")
RECORDED = "TABCONTAM_REPLAY" in os.environ and FOLDER.is_dir()


@pytest.mark.skipif(not RECORDED, reason="TABCONTAM_REPLAY is not set, or has no texts")
def test_all_published_levels_come_out_again() -> None:
    found = replayed(FOLDER / "quiz.jsonl")
    told = {(cell.llm, cell.dataset, cell.split): cell for cell in found.results}
    with (FOLDER / "published_text.csv").open(encoding="utf-8", newline="") as lines:
        published = [line for line in csv.DictReader(lines) if line["study"] == "quiz"]
    levels: dict[tuple[str, ...], list[float]] = {}
    for line in published:
        levels.setdefault((line["llm"], line["dataset"], line["split"]), []).append(float(line["value"]))
    assert set(told) == set(levels)
    for setting, (lowest, highest) in levels.items():
        llm, dataset, split = setting
        words = told[llm, dataset, split].evidence.sentence.split("published count ")[1].split(" are contaminated")[0]
        ours = [float(part.rstrip("%")) for part in words.split(" to ")]
        assert ours == pytest.approx([lowest, highest], abs=0.011)
    assert {cell.verdict for cell in found.results} == {"uninformative"}
    assert len(found.rule_differences) == len(found.results) == 11
