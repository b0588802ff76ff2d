"""Algorithm 1: decide from words (Ronval et al., section 3.2), as the authors' last code has it.

A "word" is a whole feature name or value, spaces included. Words that no English dictionary knows are specific to the
dataset: one of them in the answer is enough. Where there are none, all expected words have to appear.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tabcontam.reading.dictionary import Dictionary, english

__all__ = ["Dictionary", "WordDecision", "decide_names", "decide_words", "english"]


Found = Callable[[str, str], bool]
PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")
PLAIN = re.compile(r"[\w .\-/]*[^\W_][\w .\-/]*")  # a name that may be spelled in another case style
MATCH_CASE = frozenset({"MathE"})  # the authors' one exception: any "mathe..." would name that dataset


@dataclass(frozen=True)
class WordDecision:
    """What Algorithm 1 found: whether that is enough, and of each word that it looked for, in order, if it appeared."""

    detected: bool
    looked_for: dict[str, bool]


def decide_words(
    output: str, expected: Sequence[str | None], dictionary: Dictionary, found: Found | None = None
) -> WordDecision:
    """Algorithm 1; `found` replaces the authors' way to look for a word. None, a missing value, counts as there."""
    words = [word for word in dict.fromkeys(expected) if word]
    unknown = [word for word in words if not dictionary.knows(word)]
    looked_for = {name: (found or appears)(name, output) for name in map(without_note, unknown or words)}
    enough = any if unknown else all
    return WordDecision(bool(looked_for) and enough(looked_for.values()), looked_for)


def decide_names(output: str, names: Sequence[str], dictionary: Dictionary, found: Found | None = None) -> WordDecision:
    """Recognition: Algorithm 1 on each name by itself, the long ones first, up to the first that is found."""
    looked_for: dict[str, bool] = {}
    for name in names:
        decision = decide_words(output, [name], dictionary, found)
        looked_for |= decision.looked_for
        if decision.detected:
            return WordDecision(True, looked_for)
    return WordDecision(False, looked_for)


def appears(word: str, output: str) -> bool:
    """Whether `word` is a substring of `output`; "_" in names also stands for "." and a space (reference 1a)."""
    if word not in MATCH_CASE:
        word, output = word.lower(), output.lower()
    return word.replace("_", " ") in output.replace("_", " ") or word in output.replace("_", ".")


def stands_in(word: str, output: str) -> bool:
    """Whether `output` holds `word` as a whole: not `ATA` in `dataset`, but `PassengerId` in `passenger_id`."""
    if stands_whole(word, output):
        return True
    return PLAIN.fullmatch(word) is not None and f" {' '.join(pieces(word))} " in f" {' '.join(pieces(output))} "


def stands_whole(word: str, text: str) -> bool:
    """Whether a text holds a word that no letter or digit stands beside, in upper or lower case."""
    if not (word.isascii() and text.isascii()):
        return re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", text, re.IGNORECASE) is not None
    word, text = word.lower(), text.lower()  # many times as fast
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if not (text[max(start - 1, 0) : start].isalnum() or text[end : end + 1].isalnum()):
            return True
        start = text.find(word, start + 1)
    return False


@lru_cache(maxsize=1_000)
def pieces(text: str) -> tuple[str, ...]:
    """The words of a name or text, in lower case: snake_case, camelCase and dotted.names fall into their parts."""
    return tuple(map(str.casefold, PIECES.findall(text)))


def without_note(word: str) -> str:
    """The name without what stands in parentheses: `sepal length (cm)` is looked for as `sepal length`."""
    before, bracket, _ = word.partition("(")
    return before.strip() if bracket and before.strip() else word
