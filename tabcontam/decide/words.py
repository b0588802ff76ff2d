"""Algorithm 1: decide from words (Ronval et al., section 3.2), as the authors' last code has it.

A "word" is a whole feature name or value, spaces included. Words that no English dictionary knows are specific to the
dataset: one of them in the answer is enough. Where there are none, all expected words have to appear.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tabcontam.decide.dictionary import Dictionary, english

__all__ = ["Dictionary", "WordDecision", "decide_names", "decide_words", "english"]


MATCH_CASE = frozenset({"MathE"})  # the authors' one exception: any "mathe..." would name that dataset


@dataclass(frozen=True)
class WordDecision:
    """What Algorithm 1 found: each word it looked for, in order, and whether it appeared; which of them are unknown."""

    detected: bool
    looked_for: dict[str, bool]
    unknown: tuple[str, ...]


def decide_words(output: str, expected: Sequence[str | None], dictionary: Dictionary) -> WordDecision:
    """Algorithm 1. None, a missing value, counts as appeared, as the authors count it; alone it shows nothing."""
    words = [word for word in dict.fromkeys(expected) if word]
    unknown = tuple(_without_note(word) for word in words if not dictionary.knows(word))
    wanted = unknown or tuple(_without_note(word) for word in words)
    looked_for = {word: appears(word, output) for word in wanted}
    combine: Callable[[Sequence[bool]], bool] = any if unknown else all
    return WordDecision(bool(looked_for) and combine(list(looked_for.values())), looked_for, unknown)


def decide_names(output: str, names: Sequence[str], dictionary: Dictionary) -> WordDecision:
    """Recognition: Algorithm 1 on each name by itself, the long ones first, up to the first that is found."""
    looked_for: dict[str, bool] = {}
    unknown: list[str] = []
    for name in names:
        decision = decide_words(output, [name], dictionary)
        looked_for |= decision.looked_for
        unknown += decision.unknown
        if decision.detected:
            return WordDecision(True, looked_for, tuple(unknown))
    return WordDecision(False, looked_for, tuple(unknown))


def appears(word: str, output: str) -> bool:
    """Whether `word` is a substring of `output`; "_" in names also stands for "." and a space (reference 1a)."""
    if word not in MATCH_CASE:
        word, output = word.lower(), output.lower()
    return word.replace("_", " ") in output.replace("_", " ") or word in output.replace("_", ".")


def _without_note(word: str) -> str:
    """The name without what stands in parentheses: `sepal length (cm)` is looked for as `sepal length`."""
    before, bracket, _ = word.partition("(")
    return before.strip() if bracket and before.strip() else word
