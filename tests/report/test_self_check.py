"""The last words of a run of the controls alone: true in every case, and no more than was measured."""

from typing import Any

import pytest

from tabcontam.report.self_check import self_check
from tabcontam.verdicts.document import parse_results
from tests.report.synthetic import HOSTILE, cell, document, table
from tests.report.test_terminal import printed

EXPOSED, UNEXPOSED = "control:exposed", "control:unexposed"
FULL, CUT, ONE = "full_completion", "incomplete_completion", "feature_completion"
FOUND, MISSED = "contaminated", "not detected"
Verdicts = dict[tuple[str, str, str], str]


def of(verdicts: Verdicts, **changes: Any) -> dict[str, Any]:
    """A run of these cells, by LLM, dataset and test; the table's verdict is the best of its cells."""
    cells = [cell(llm, dataset, test, verdict) for (llm, dataset, test), verdict in verdicts.items()]
    best: dict[tuple[str, str], str] = {}
    for (llm, dataset, test), verdict in verdicts.items():
        if test in (FULL, CUT, ONE):
            best[llm, dataset] = FOUND if FOUND in (verdict, best.get((llm, dataset))) else verdict
    return document(cells, [table(*place, verdict) for place, verdict in best.items()], **changes)


def said(verdicts: Verdicts, **changes: Any) -> tuple[bool | None, str] | None:
    """What the self-check says of them."""
    found = self_check(parse_results(of(verdicts, **changes)))
    return None if found is None else (found.passed, found.text)


def both() -> Verdicts:
    """Two row tests on iris and wine: rows are found in the exposed control, and none in the other."""
    places = [(dataset, test) for dataset in ("iris", "wine") for test in (FULL, CUT)]
    return {(EXPOSED, *place): FOUND for place in places} | {(UNEXPOSED, *place): MISSED for place in places}


def test_it_passes_where_the_rows_are_found_in_the_one_and_not_in_the_other() -> None:
    assert said(both()) == (
        True,
        "Self-check passed: rows were detected in control:exposed, which has read them, in 4 of 4 results of row "
        "tests, in control:unexposed, which has read none, in 0 of 4.",
    )


def test_what_knowledge_finds_and_what_is_skipped_is_not_counted() -> None:
    more = {(UNEXPOSED, "iris", "feature_list_informed"): FOUND, (EXPOSED, "iris", ONE): "skipped"}
    assert said(both() | more) == said(both())


def test_a_test_without_power_is_named_and_a_table_without_power_fails() -> None:
    passed, text = said(both() | {(EXPOSED, "wine", FULL): MISSED}) or (None, "")
    assert passed
    assert text.endswith("in 3 of 4 results of row tests, in control:unexposed, which has read none, in 0 of 4; "
                         "full_completion has no power on wine.")  # fmt: skip
    passed, text = said(both() | {(EXPOSED, "wine", test): MISSED for test in (FULL, CUT)}) or (None, "")
    assert passed is False
    assert text.startswith(
        "Self-check FAILED: rows were detected in control:exposed, which has read them, in 2 of 4 results"
    )
    assert text.endswith("The row tests have no power on wine, where the verdict not detected means nothing.")


def test_a_false_finding_fails_and_says_what_to_do() -> None:
    passed, text = said(both() | {(UNEXPOSED, "wine", FULL): FOUND}) or (None, "")
    assert passed is False
    assert "in 1 of 4. Rows that a control has not read were detected by full_completion on wine; " in text
    assert text.endswith("If --seed 1 shows it again, trust no finding of these tests there.")


def test_a_false_finding_of_all_row_tests_together_fails_as_well() -> None:
    results = of(both())
    results["tables"][-1] |= table(UNEXPOSED, "wine", FOUND)
    found = self_check(parse_results(results))
    assert found is not None
    assert found.passed is False
    assert "were detected by the row tests together on wine" in found.text


@pytest.mark.parametrize(
    ("verdicts", "changes", "words"),
    [
        ({key: word for key, word in both().items() if key[0] == EXPOSED}, {}, "a false finding could not show"),
        ({key: word for key, word in both().items() if key[0] == UNEXPOSED}, {}, "a miss could not show"),
        ({(EXPOSED, "iris", "feature_list_informed"): FOUND}, {}, "no control that has read rows was measured"),
        (both(), {"finished": False}, "the run ended before every query was asked"),
        (both(), {"limit": "--max-requests 9 is reached"}, "the run ended before every query was asked"),
    ],
)
def test_what_was_not_measured_neither_passes_nor_fails(verdicts: Verdicts, changes: Any, words: str) -> None:
    passed, text = said(verdicts, **changes) or (True, "")
    assert passed is None
    assert text.startswith("Self-check not complete: ")
    assert words in text


def test_a_table_without_a_twin_is_named_with_the_reason() -> None:
    passed, text = said(both() | {(UNEXPOSED, "wine", test): "skipped" for test in (FULL, CUT)}) or (None, "")
    assert passed
    assert "in 0 of 2; control:unexposed was not measured on wine (controls cannot take part" in text


def test_where_another_llm_is_tested_there_is_none() -> None:
    assert said(both() | {("gpt-4o", "iris", FULL): FOUND}) is None
    assert said({}) is None


def test_it_ends_the_report_and_red_is_for_what_is_to_be_feared() -> None:
    text = printed(of(both()), [], terminal=True, verbosity=1, width=300)
    last = [line for line in text.splitlines() if line.strip()][-2:]
    assert last[0].startswith("\x1b[1;32mSelf-check passed")
    assert last[1].startswith("Next: test an LLM")
    assert "\x1b[31m" not in text
    assert "\x1b[1;31m" not in text
    text = printed(of(both() | {(UNEXPOSED, "wine", FULL): FOUND}), [], terminal=True)
    assert "\x1b[1;31mSelf-check FAILED" in text
    assert "Next:" not in text
    assert "\x1b[31m" in printed(of({("gpt-4o", "iris", FULL): FOUND}), [], terminal=True)


def test_a_hostile_name_of_a_table_stays_on_its_line() -> None:
    verdicts = {(UNEXPOSED, HOSTILE, FULL): FOUND, (EXPOSED, HOSTILE, FULL): FOUND}
    assert not any(letter in printed(of(verdicts), []) for letter in "\x1b\x00\x9b\u202e")
