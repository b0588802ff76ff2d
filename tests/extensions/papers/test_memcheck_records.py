"""Answers that tabmemcheck's authors printed: made-up ones always, the real ones where they are at hand."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.extensions.papers.memcheck_records import CARDS
from tabcontam.reading.word_decision import english
from tabcontam.replay.record_kinds import judge_files
from tabcontam.tables.table import load_table
from tabcontam.verdicts.result_types import Result

FOLDER, DATA = os.environ.get("TABCONTAM_REPLAY", ""), os.environ.get("TABCONTAM_DATA", "")
PRINTED = Path(FOLDER or ".") / "tabmemcheck_answers.jsonl"
recorded = pytest.mark.skipif(not PRINTED.is_file(), reason="TABCONTAM_REPLAY is not set, or has no such answers")


def answer(**given: Any) -> dict[str, Any]:
    made = {"llm": "llm", "file": "iris.csv", "test": "row_completion", "feature": None, "answer": "", "distance": 9}
    return {**made, "expected": None, "row": None, **given}


def cells(tmp_path: Path, *answers: dict[str, Any], rules: str = "calibrated") -> list[Result]:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, answers)))
    return list(judge_files([path], rules, english(), with_differences=True).results)


def rows_of_iris(count: int, step: int = 5) -> list[str]:
    """Rows of the iris that scikit-learn carries, far from each other."""
    rows = load_table("iris@scikit-learn").rows
    return [",".join(cell or "" for cell in rows[place]) for place in range(2, 2 + step * count, step)]


@pytest.mark.parametrize("rules", ["calibrated", "paper"])
def test_the_score_is_the_share_of_answers_that_are_the_files(tmp_path: Path, rules: str) -> None:
    right = [answer(answer=row, distance=0) for row in rows_of_iris(15)]
    (cell,) = cells(tmp_path, *right, *[answer(answer="9.9,9.9,9.9,9.9,1")] * 5, rules=rules)
    assert (cell.evidence.hits, cell.queries, cell.evidence.score) == (15, 20, 0.75)
    assert cell.decision.paper_verdict is None, "the package decides nothing"
    assert cell.source == "iris.csv"
    assert cell.verdict == ("contaminated" if rules == "calibrated" else None)


def test_who_says_what_is_frequent_is_not_found(tmp_path: Path) -> None:
    lines = [answer(answer="5.0,3.0,1.5,0.2,0", distance=4, expected=row) for row in rows_of_iris(25)]
    (cell,) = cells(tmp_path, *lines)
    assert cell.verdict == "not detected"


def test_a_feature_is_a_cell_of_its_own(tmp_path: Path) -> None:
    lines = [answer(test="feature_completion", feature="petal width (cm)", answer="0.2", distance=0)] * 3
    found = cells(tmp_path, *lines, answer(answer="no idea", distance=9))
    assert [cell.evidence.hits for cell in found] == [3, 0]
    assert len({cell.test for cell in found}) == 2
    assert found[0].verdict != "contaminated", "three of ten cells are 0.2"


def test_a_file_without_a_card_is_counted_and_not_weighed(tmp_path: Path) -> None:
    (cell,) = cells(tmp_path, answer(file="other.csv", answer="1,2", distance=0))
    assert (cell.verdict, cell.dataset) == ("uninformative", "other.csv")


@pytest.mark.parametrize(("key", "value"), [("llm", 3), ("distance", -1), ("distance", "0"), ("expected", 7)])
def test_a_line_that_is_no_answer_is_one_line(tmp_path: Path, key: str, value: object) -> None:
    with pytest.raises(UsageError, match=rf"line 2: '{key}'"):
        cells(tmp_path, answer(), answer(**{key: value}))


@recorded
def test_the_counts_are_those_that_the_authors_printed() -> None:
    with (PRINTED.parent / "tabmemcheck_counts.csv").open(newline="") as file:
        printed = {
            (line["llm"], CARDS.get(line["file"], line["file"]), bool(line["feature"])): (line["exact"], line["asked"])
            for line in csv.DictReader(file)
        }
    found = judge_files([PRINTED], "paper", english(), with_differences=False).results
    ours = {
        (cell.llm, cell.dataset, "feature" in cell.test): (str(cell.evidence.hits), str(cell.queries)) for cell in found
    }
    assert ours == printed


@recorded
@pytest.mark.slow
@pytest.mark.skipif(not DATA, reason="TABCONTAM_DATA is not set")
def test_the_calibrated_rules_find_what_the_counts_suggest_and_nothing_else() -> None:
    found = judge_files([PRINTED], "calibrated", english(), with_differences=False).results
    contaminated = [cell for cell in found if cell.verdict == "contaminated"]
    assert {(cell.llm.partition("-20")[0], cell.dataset, cell.evidence.hits) for cell in contaminated} == {
        ("llama-3.1-405b-instruct", "iris", 20),
        ("gpt-4o", "titanic", 7),
        ("gpt-4-0125-preview", "diabetes", 22),
    }
