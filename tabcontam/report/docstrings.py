"""The page of each contamination test: its docstring, in paragraphs."""

import inspect
import re
from collections.abc import Iterable

Paragraph = tuple[tuple[str, bool], ...]  # its pieces: each text, and whether it is code


def pages_of(tests: Iterable[str]) -> dict[str, list[Paragraph]]:
    """The docstring of each of these tests that is installed; what stands between backticks there is code."""
    from tabcontam.evidence.registry import by_id

    known = by_id()
    docstrings = {test: inspect.getdoc(known[test]) or "" for test in tests if test in known}
    return {test: [_pieces(part) for part in text.split("\n\n")] for test, text in docstrings.items()}


def _pieces(paragraph: str) -> Paragraph:
    pieces = re.split("`", " ".join(paragraph.split()))
    return tuple((piece, number % 2 == 1) for number, piece in enumerate(pieces) if piece)
