"""The places in an answer's text where the page highlights the values that were read."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

Mark = tuple[int, int, str]  # start, end, and the state: "right" or "wrong"


def of_row(answer: str, features: Sequence[str], given: Iterable[tuple[str, str, str]]) -> list[Mark]:
    """Return the marks of a row's values, each after its feature's name or else after the previous value.

    `given` has the feature, value and state of each cell, in order. A value in another spelling gets no mark.
    """
    parts = _spans_after(answer, features)
    marks: list[Mark] = []
    reached = 0
    for feature, value, state in given:
        start, end = parts.get(feature.casefold()) or (reached, len(answer))
        found = _whole(value).search(answer, start, end) if value else None
        if found and not _overlaps(marks, found):
            marks.append((*found.span(), state))
            reached = found.end()
    return sorted(marks)


def of_words(answer: str, words: Iterable[str], state: str) -> list[Mark]:
    """Return a mark for the first place of each word. A word such as `Paris (FR)` also matches without "(FR)"."""
    marks: list[Mark] = []
    for word in filter(None, words):
        found = _whole(word).search(answer) or _whole(word.partition("(")[0].strip() or word).search(answer)
        if found and not _overlaps(marks, found):
            marks.append((*found.span(), state))
    return sorted(marks)


def marked(answer: str, marks: Iterable[Mark]) -> list[str | list[str]]:
    """Return `answer` in parts: text without a mark as a string, text with a mark as a list of state and text.

    >>> marked("age is 39", [(7, 9, "right")])
    ['age is ', ['right', '39']]
    """
    parts: list[str | list[str]] = []
    reached = 0
    for start, end, state in marks:
        parts += [answer[reached:start], [state, answer[start:end]]]
        reached = end
    return [part for part in (*parts, answer[reached:]) if part]


def _spans_after(answer: str, features: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return for each feature the span of `answer` from the first place of its name to the next feature's name."""
    if not any(features):
        return {}
    names = _any_of(tuple(features))
    found = list(names.finditer(answer))
    ends = [*(name.start() for name in found[1:]), len(answer)]
    parts: dict[str, tuple[int, int]] = {}
    for name, end in zip(found, ends, strict=False):
        parts.setdefault(name.group().casefold(), (name.end(), end))
    return parts


@lru_cache(maxsize=512)
def _any_of(features: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(filter(None, features), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)


@lru_cache(maxsize=10_000)
def _whole(value: str) -> re.Pattern[str]:
    """Return a pattern that finds a value only where it is not part of a longer word or number."""
    return re.compile(rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)", re.IGNORECASE)


def _overlaps(marks: Iterable[Mark], found: re.Match[str]) -> bool:
    return any(start < found.end() and found.start() < end for start, end, _ in marks)
