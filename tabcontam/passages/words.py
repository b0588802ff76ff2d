"""Sentences and words of a passage, and how much of one text stands in another word for word."""

import re
from collections.abc import Sequence

WORD = re.compile(r"\w+")
END = re.compile(r"""[.!?]["')\]]*\s+(?=["'(\[]*[A-Z0-9])""")
ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|et al|cf|figs?|eqs?|secs?|dr|mrs?|ms|prof|st|vs|approx|no|resp)|\b[A-Z])\.\s+$", re.IGNORECASE
)
COPIED = 8  # words in a row that are no chance, where a text is long enough


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph, in order; joined by spaces they are its text."""
    found, start = [], 0
    for end in END.finditer(text):
        if not ABBREVIATED.search(text, start, end.end()):
            found.append(text[start : end.end()].strip())
            start = end.end()
    return [*found, text[start:].strip()] if text[start:].strip() else found


def words(text: str) -> list[str]:
    """The words that are compared: runs of letters and digits, whatever their case."""
    return WORD.findall(text.casefold())


def longest_run(first: Sequence[str], second: Sequence[str]) -> int:
    """How many words the longest common n-gram of two texts has.

    >>> longest_run("the cat sat on a mat".split(), "a dog sat on a log".split())
    3
    """
    low, high = 0, min(len(first), len(second))
    while low < high:  # whatever shares n words in a row shares n - 1
        middle = (low + high + 1) // 2
        if _grams(first, middle) & _grams(second, middle):
            low = middle
        else:
            high = middle - 1
    return low


def copied_share(expected: Sequence[str], said: Sequence[str], run: int) -> float:
    """The share of the expected words that stand in runs of at least so many words which were said, too; 0 of none."""
    said_runs = _grams(said, run)
    covered = [False] * len(expected)
    for place in range(len(expected) - run + 1):
        if tuple(expected[place : place + run]) in said_runs:
            covered[place : place + run] = [True] * run
    return sum(covered) / len(expected) if expected else 0.0


def gives_away(text: str, answer: str) -> bool:
    """Whether a text says an answer: the whole of it, or eight words of it in a row."""
    own = words(answer)
    return longest_run(own, words(text)) >= min(COPIED, len(own))


def _grams(text: Sequence[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(text[place : place + length]) for place in range(len(text) - length + 1)}
