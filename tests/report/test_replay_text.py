"""What `replay` prints."""

from typing import Any

from tabcontam.report.replay_text import render_replay
from tabcontam.runs.folder import replay_document
from tabcontam.verdicts.judge import UNKNOWN

PLACE = {"llm": "m", "dataset": "iris", "serializer": None, "test": "full_completion", "source": "a.txt"}
CELL = {**UNKNOWN, **PLACE, "edition": None, "kind": "memorization", "control": False}
CELL |= {"verdict": "not detected", "paper_verdict": "contaminated"}
RECORDED = {**PLACE, "level": "answer", "line": 7, "ours": True, "recorded": False, "group": "dictionary"}
RULES = {**PLACE, "paper": "contaminated", "calibrated": "not detected", "group": "guessing explains it"}


def text(differences: list[dict[str, Any]] | None, by_rules: list[dict[str, Any]]) -> str:
    return render_replay(replay_document([CELL], differences, by_rules, "paper", "en_US", "replay"))


def test_counts_alone_unless_differences_are_asked_for() -> None:
    assert text(None, []).splitlines() == [
        "rules paper, dictionary en_US",
        "",
        "m  1 not detected",
        "",
        "cells: 1 (1 not detected)",
    ]


def test_differences_from_the_records_and_between_the_rules_stand_apart() -> None:
    lines = text([RECORDED | {"explanation": "one"}], [RULES | {"explanation": "two"}]).splitlines()
    records = lines.index("Where this reading of the published rules differs from the recorded decisions:")
    rules = lines.index("Where the calibrated rules differ from the published ones:")
    one, two = (next(number for number, line in enumerate(lines) if word in line) for word in ("one", "two"))
    assert records < one < rules < two
    assert lines[one - 1] == "dictionary, answers: 1"
    assert lines[two - 1] == "contaminated → not detected, guessing explains it: 1"
    assert lines[two].startswith("  m iris full_completion: paper contaminated, calibrated not detected; two (a.txt)")


def test_outcomes_are_counted_in_the_words_and_the_order_of_a_runs_report() -> None:
    cells = [CELL | {"verdict": verdict} for verdict in (None, "uninformative", "not detected", "contaminated")]
    last = render_replay(replay_document(cells, None, [], "paper", "en_US", "replay")).splitlines()[-1]
    assert last == "cells: 4 (1 contaminated, 1 not detected, 1 uninformative, 1 scored)"


def test_no_difference_is_said_to_be_none() -> None:
    assert text([], []).count("nowhere") == 2


def test_what_a_record_holds_cannot_drive_a_terminal() -> None:
    assert "\x1b" not in text([], [RULES | {"explanation": "\x1b[31m", "llm": "\x1b[2J"}])
