"""The page of each contamination test: its docstring, in paragraphs."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class TestPage:
    """What a contamination test says of itself: paragraphs of pieces, each text and whether it is code."""

    id: str
    title: str
    paragraphs: tuple[tuple[tuple[str, bool], ...], ...]


def pages_of(titles: Mapping[str, str]) -> dict[str, TestPage]:
    """The page of each of these tests that is installed, from its docstring."""
    from tabcontam.evidence.registry import by_id

    return {
        test: TestPage(test, title, _paragraphs(inspect.getdoc(by_id()[test]) or ""))
        for test, title in titles.items()
        if test in by_id()
    }


def _paragraphs(docstring: str) -> tuple[tuple[tuple[str, bool], ...], ...]:
    """The paragraphs of a docstring, each as its pieces: text, and code where that stood between backticks."""
    return tuple(
        tuple((piece, number % 2 == 1) for number, piece in enumerate(re.split("`", " ".join(part.split()))) if piece)
        for part in docstring.split("\n\n")
    )
