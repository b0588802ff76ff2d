"""Which of the chosen tests a run asks: those for which everything was given, and that have the queries it asks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tabcontam.asking.plan import has_papers
from tabcontam.errors import NothingSelected, option
from tabcontam.evidence.base import Given, Test
from tabcontam.verdicts.rules import PAPER

if TYPE_CHECKING:
    from tabcontam.runs.run import RunOrder

NEEDED = {
    Given.KEY: ("the key of a planted table", "KEYFILE"),
    Given.WITHHELD: ("rows of the table's source that were never published", "FILE"),
}


def with_given(tests: Sequence[Test], order: "RunOrder") -> list[Test]:
    """The tests without those that need what is not given. Raises `NothingSelected`."""
    given = {Given.NOTHING: True, Given.KEY: bool(order.keys), Given.WITHHELD: bool(order.withheld)}
    kept = [test for test in tests if given[test.only_with]]
    if not kept:
        raise NothingSelected("; ".join(map(_lacking, tests)))
    return kept


def _lacking(test: Test) -> str:
    words, value = NEEDED[test.only_with]
    return f"{test.id} needs {words}; add {option(test.only_with.value, value)}"


def asked(tests: Sequence[Test], order: "RunOrder") -> tuple[list[Test], tuple[Test, ...]]:
    """The tests that are asked, and those that are left out whole, since the paper has no such query.

    Raises `NothingSelected`.
    """
    if order.options.queries != PAPER:
        return list(tests), ()
    named, found = [test.id for test in tests], [test for test in tests if has_papers(test)]
    if not found:
        raise NothingSelected(f"none of the chosen tests has queries of the paper's own: {', '.join(named)}")
    return found, tuple(test for test in tests if test not in found)
