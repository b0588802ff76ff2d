"""Sentences and words of a passage, and word-for-word matches of texts."""

import re
from collections.abc import Sequence

from tabcontam.extensions.fresh.thresholds import COPIED_RUN

WORD = re.compile(r"\w+")
END = re.compile(r"""[.!?]["')\]]*\s+(?=["'(\[]*[A-Z0-9])""")
ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|et al|cf|figs?|eqs?|secs?|dr|mrs?|ms|prof|st|vs|approx|no|resp)|\b[A-Z])\.\s+$", re.IGNORECASE
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph, in order. Joined by spaces, they are the paragraph's text."""
    found, start = [], 0
    for end in END.finditer(text):
        if not ABBREVIATED.search(text, start, end.end()):
            found.append(text[start : end.end()].strip())
            start = end.end()
    return [*found, text[start:].strip()] if text[start:].strip() else found


def words(text: str) -> list[str]:
    """Return the words that are compared: runs of letters and digits, in lower case."""
    return WORD.findall(text.casefold())


def longest_run(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the number of words in the longest common n-gram of two texts.

    >>> longest_run("the cat sat on a mat".split(), "a dog sat on a log".split())
    3
    """
    low, high = 0, min(len(first), len(second))
    while low < high:  # texts that share n consecutive words also share n - 1
        middle = (low + high + 1) // 2
        if _grams(first, middle) & _grams(second, middle):
            low = middle
        else:
            high = middle - 1
    return low


def copied_share(expected: Sequence[str], actual: Sequence[str], run: int) -> float:
    """Return the share of expected words that belong to runs of at least `run` words that `actual` also has."""
    actual_runs = _grams(actual, run)
    covered = [False] * len(expected)
    for place in range(len(expected) - run + 1):
        if tuple(expected[place : place + run]) in actual_runs:
            covered[place : place + run] = [True] * run
    return sum(covered) / len(expected) if expected else 0.0


def gives_away(text: str, answer: str) -> bool:
    """Return whether a text contains the whole answer, or eight consecutive words of it."""
    own = words(answer)
    return longest_run(own, words(text)) >= min(COPIED_RUN, len(own))


def _grams(text: Sequence[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(text[place : place + length]) for place in range(len(text) - length + 1)}
