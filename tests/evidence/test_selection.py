"""`-k` and `-m` read as in pytest."""

import pytest

from tabcontam.errors import NothingSelected, UsageError
from tabcontam.evidence.registry import all_tests
from tabcontam.evidence.rows.completion_tests import IncompleteCompletion
from tabcontam.evidence.selection import chooses, selected


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        (None, len(all_tests())),
        ("", len(all_tests())),
        ("completion", 3),
        ("COMPLETION", 3),
        ("not completion", sum("completion" not in test.id for test in all_tests())),
        ("feature and not list", 4),
        ("full or membership", 3),
        ("not (list or values) and feature", 2),
        ("classification_0shot", 1),
    ],
)
def test_an_expression_selects(expression: str | None, count: int) -> None:
    assert len(selected(all_tests(), expression)) == count


@pytest.mark.parametrize("expression", ["and", "a and", "(a", "a)", "a b", "not", "()"])
def test_a_bad_expression_is_one_line(expression: str) -> None:
    with pytest.raises(UsageError, match="cannot be read at"):
        selected(all_tests(), expression)


@pytest.mark.parametrize("expression", ["and", "a and", "(a", "a)", "a b", "not", "()"])
def test_a_bad_expression_of_marks_is_one_line(expression: str) -> None:
    with pytest.raises(UsageError, match=r"-m .* cannot be read at"):
        selected(all_tests(), None, expression)


COMPLETIONS = {"incomplete_completion", "full_completion", "feature_completion"}


@pytest.mark.parametrize(
    ("names", "marks", "ids"),
    [
        ("completion", "ROWS and ronval2024", COMPLETIONS),
        ("membership", "rows and not paper", {"matched_membership"}),
        ("feature_list", "knowledge and text", {"feature_list_informed", "feature_list_uninformed"}),
        (None, "score", {"classification_0shot", "classification_1shot"}),
        ("completion or member", "rows and (paper or score)", {*COMPLETIONS, "membership"}),
    ],
)
def test_marks_select_by_family_source_and_what_is_needed(names: str | None, marks: str, ids: set[str]) -> None:
    assert {test.id for test in selected(all_tests(), names, marks)} == ids


def test_a_mark_is_matched_whole_and_an_unknown_one_is_one_line() -> None:
    with pytest.raises(UsageError, match="unknown mark 'row'; did you mean rows"):
        selected(all_tests(), None, "row")


def test_a_selection_of_nothing_names_the_tests() -> None:
    with pytest.raises(NothingSelected, match=r"no test matches -k 'list' and -m 'rows'; known: feature_list_informed"):
        selected(all_tests(), "list", "rows")


def test_a_mark_of_ones_own_is_matched_whatever_its_letters() -> None:
    class Own(IncompleteCompletion):
        own_marks = frozenset({"MyMark"})

    assert [type(test) for test in selected([*all_tests(), Own()], None, "mymark")] == [Own]


@pytest.mark.parametrize(
    ("names", "marks", "choosing"),
    [
        (None, None, False),
        ("not membership", None, False),
        ("not membership", "not paper", False),
        ("membership", None, True),
        (None, "likelihood", True),
        ("not list", "rows", True),
        ("list or not rows", None, False),
    ],
)
def test_an_expression_chooses_tests_or_merely_leaves_some_out(
    names: str | None, marks: str | None, choosing: bool
) -> None:
    assert chooses(names, marks) is choosing
