"""How an answer is read before it is decided: preambles and fences stripped, declining texts told apart."""

import math
import re

FENCE = re.compile(r"^\s*```[\w+-]*\s*$", re.MULTILINE)
DECLINES = re.compile(
    r"\b(?:i(?: a|')m (?:sorry|unable|not able)|i (?:cannot|can't|can not|do not|don't|couldn't|could not)|unable to"
    r"|as an ai\b|not possible (?:for me )?to|no (?:access|information)"
    r"|(?:cannot|can't|could not) be (?:determined|known)"
    r"|(?:does|do) not (?:mention|contain|provide|specify|have (?:access|enough)))",
    re.IGNORECASE,
)


def declines(text: str) -> bool:
    """Whether a text says that it cannot answer."""
    return DECLINES.search(text.replace("\u2019", "'")) is not None


def plain(text: str) -> str:
    """A text without code fences and the marks of emphasis around its lines."""
    lines = (line.strip().strip("*`").strip() for line in FENCE.sub("", text).splitlines())
    return "\n".join(line for line in lines if line)


def answer_line(text: str) -> str:
    """The line that holds a short answer: the first that does not announce one by ending in a colon."""
    lines = plain(text).splitlines()
    return next((line for line in lines if not line.endswith(":")), lines[0] if lines else "")


def same_value(answer: str | None, expected: str | None) -> bool:
    """Whether two values are one: numbers as numbers, other texts without case, outer spaces, quotes and full stop."""
    if answer is None or expected is None:
        return False
    left, right = (_bare(text) for text in (answer, expected))
    if left == right:
        return True
    try:
        numbers = float(left.replace(",", "")), float(right)
    except ValueError:
        return False
    return math.isfinite(numbers[0]) and numbers[0] == numbers[1]


def _bare(text: str) -> str:
    bare = " ".join(text.split()).strip("\"'`*").casefold()
    return bare[:-1] if bare.endswith(".") and len(bare) > 1 else bare


def chosen(text: str, choices: tuple[str, ...]) -> str | None:
    """The one of the possible answers that a text gives: the one that it begins with, or the only one it names."""
    line = answer_line(text)
    patterns = {choice: rf"(?<!\w){re.escape(choice)}(?!\w)" for choice in choices}
    longest_first = sorted(choices, key=len, reverse=True)
    for choice in longest_first:
        if re.match(patterns[choice], line.strip("\"' "), re.IGNORECASE):
            return choice
    named = [choice for choice in choices if re.search(patterns[choice], line, re.IGNORECASE)]
    return named[0] if len(named) == 1 else None
