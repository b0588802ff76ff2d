"""What `replay` prints."""

from dataclasses import replace
from typing import Any

from tabcontam.evidence.base import EvidenceKind, Verdict
from tabcontam.replay.replay_outcome import ReplayOutcome
from tabcontam.report.replay_text import render_replay
from tabcontam.runs.folder import replay_results
from tabcontam.verdicts.columns import record_of
from tabcontam.verdicts.recorded_differences import RecordedDifference, RuleDifference
from tabcontam.verdicts.result_types import Result

PLACE: dict[str, Any] = {"llm": "m", "dataset": "iris", "serializer": None, "test": "full_completion"}
PLACE |= {"source": "a.txt"}
CELL = record_of(
    Result, **PLACE, kind=EvidenceKind.MEMORIZATION, verdict=Verdict.NOT_DETECTED, paper_verdict=Verdict.CONTAMINATED
)
RECORDED = RecordedDifference(
    **PLACE, level="answer", line=7, ours=True, recorded=False, group="dictionary", explanation="one"
)
RULES = RuleDifference(
    **PLACE,
    paper=Verdict.CONTAMINATED,
    calibrated=Verdict.NOT_DETECTED,
    group="the baseline explains it",
    explanation="two",
)


def text(differences: list[RecordedDifference] | None, by_rules: list[RuleDifference]) -> str:
    found = ReplayOutcome([CELL], differences or (), by_rules)
    return render_replay(replay_results(found, differences is not None, "paper", "en_US", "replay"))


def test_counts_alone_unless_differences_are_asked_for() -> None:
    assert text(None, []).splitlines() == [
        "rules paper, dictionary en_US",
        "",
        "m  1 not detected",
        "",
        "results: 1 (1 not detected)",
    ]


def test_differences_from_the_records_and_between_the_rules_stand_apart() -> None:
    lines = text([RECORDED], [RULES]).splitlines()
    records = lines.index("Where this reading of the published rules differs from the recorded decisions:")
    rules = lines.index("Where the calibrated rules differ from the published ones:")
    one, two = (next(number for number, line in enumerate(lines) if word in line) for word in ("one", "two"))
    assert records < one < rules < two
    assert lines[one - 1] == "dictionary, answers: 1"
    assert lines[two - 1] == "contaminated → not detected, the baseline explains it: 1"
    assert lines[two].startswith("  m iris full_completion: paper contaminated, calibrated not detected; two (a.txt)")


def test_outcomes_are_counted_in_the_words_and_the_order_of_a_runs_report() -> None:
    verdicts = (None, Verdict.UNINFORMATIVE, Verdict.NOT_DETECTED, Verdict.CONTAMINATED)
    cells = [CELL.changed(verdict=verdict) for verdict in verdicts]
    found = replay_results(ReplayOutcome(cells), False, "paper", "en_US", "replay")
    last = render_replay(found).splitlines()[-1]
    assert last == "results: 4 (1 contaminated, 1 not detected, 1 uninformative, 1 scored)"


def test_no_difference_is_said_to_be_none() -> None:
    assert text([], []).count("\nnone") == 2


def test_what_a_record_holds_cannot_drive_a_terminal() -> None:
    assert "\x1b" not in text([], [replace(RULES, explanation="\x1b[31m", llm="\x1b[2J")])
