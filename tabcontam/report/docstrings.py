"""The page of each contamination test: its docstring, in paragraphs."""

import inspect
import re
from dataclasses import dataclass
from functools import cache

from tabcontam.verdicts.results import TESTS


@dataclass(frozen=True)
class TestPage:
    """What a contamination test says of itself: paragraphs of pieces, each text and whether it is code."""

    id: str
    title: str
    paragraphs: tuple[tuple[tuple[str, bool], ...], ...]


@cache
def pages_of(tests: tuple[str, ...]) -> dict[str, TestPage]:
    """The page of each test that the suite has, from its docstring."""
    from tabcontam.evidence.registry import BY_ID

    return {
        test: TestPage(test, TESTS.get(test, test), _paragraphs(inspect.getdoc(BY_ID[test]) or ""))
        for test in tests
        if test in BY_ID
    }


def _paragraphs(docstring: str) -> tuple[tuple[tuple[str, bool], ...], ...]:
    """The paragraphs of a docstring, each as its pieces: text, and code where that stood between backticks."""
    return tuple(
        tuple((piece, number % 2 == 1) for number, piece in enumerate(re.split("`", " ".join(part.split()))) if piece)
        for part in docstring.split("\n\n")
    )
