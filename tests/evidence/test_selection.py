"""`-k` reads as in pytest."""

import pytest

from tabcontam.errors import UsageError
from tabcontam.evidence.registry import all_tests
from tabcontam.evidence.selection import selected


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        (None, 14),
        ("", 14),
        ("completion", 3),
        ("COMPLETION", 3),
        ("not completion", 11),
        ("feature and not list", 4),
        ("full or membership", 3),
        ("not (list or values) and feature", 2),
        ("classification_0shot", 1),
        ("nothing", 0),
    ],
)
def test_an_expression_selects(expression: str | None, count: int) -> None:
    assert len(selected(all_tests(), expression)) == count


@pytest.mark.parametrize("expression", ["and", "a and", "(a", "a)", "a b", "not", "()"])
def test_a_bad_expression_is_one_line(expression: str) -> None:
    with pytest.raises(UsageError, match="cannot be read at"):
        selected(all_tests(), expression)
