"""The tests of other papers among all tests: which are row tests, and what chooses them."""

import pytest

from tabcontam.evidence.registry import all_tests
from tabcontam.evidence.selection import selected
from tabcontam.extensions.papers.memcheck.csv_completion_tests import RowCompletion


@pytest.mark.parametrize(
    ("names", "marks", "found"),
    [
        ("completion", None, False),
        ("completion", "rows", False),
        ("row_completion", None, True),
        ("full_completion or row_", None, True),
        ("completion and row", None, True),
        ("completion", "tabmemcheck", True),
        (None, "rows", False),
        (None, "rows and not tabmemcheck or tabmemcheck", True),
        ("row_completion", "knowledge or score or tabmemcheck", True),
        ("not full_completion", None, True),
    ],
)
def test_a_word_that_the_usual_tests_share_chooses_none_that_is_asked_on_request(
    names: str | None, marks: str | None, found: bool
) -> None:
    assert (RowCompletion.id in [test.id for test in selected(all_tests(), names, marks)]) is found


def test_a_row_test_follows_from_family_and_verdict() -> None:
    own = [test for test in all_tests() if type(test).__module__.startswith("tabcontam.extensions.papers.")]
    assert {test.id for test in own if test.row_test} == {
        "guided_completion", "row_completion", "csv_feature_completion", "header", "first_token", "quiz",
        "quiz_completion", "list_instances", "task_examples", "exact_generation",
    }  # fmt: skip
