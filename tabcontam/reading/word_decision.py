"""Algorithm 1: decide from words (Ronval et al., section 3.2), as the authors' last code has it.

A "word" is a whole feature name or value, spaces included. Words that no English dictionary knows are specific to the
dataset: one of them in the answer is enough. If there are none, all expected words must appear.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tabcontam.reading.dictionary import Dictionary, english

__all__ = ["Dictionary", "WordDecision", "decide_names", "decide_words", "english"]


WordSearch = Callable[[str, str], bool]
PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")
PLAIN = re.compile(r"[\w .\-/]*[^\W_][\w .\-/]*")  # a name that may be spelled in another case style
MATCH_CASE = frozenset({"MathE"})  # the authors' one exception: any "mathe..." would name that dataset


@dataclass(frozen=True)
class WordDecision:
    """The decision of Algorithm 1, and each word that it looked for, in order, with whether it appeared."""

    detected: bool
    looked_for: dict[str, bool]


def decide_words(
    output: str, expected: Sequence[str | None], dictionary: Dictionary, search: WordSearch | None = None
) -> WordDecision:
    """Return Algorithm 1's decision; `found` replaces the authors' word search. None, a missing value, is skipped."""
    words = [word for word in dict.fromkeys(expected) if word]
    unknown = [word for word in words if not dictionary.knows(word)]
    looked_for = {name: (search or appears)(name, output) for name in map(without_note, unknown or words)}
    enough = any if unknown else all
    return WordDecision(bool(looked_for) and enough(looked_for.values()), looked_for)


def decide_names(
    output: str, names: Sequence[str], dictionary: Dictionary, search: WordSearch | None = None
) -> WordDecision:
    """Return the decision of recognition: Algorithm 1 on each name alone, the long ones first, until one is found."""
    looked_for: dict[str, bool] = {}
    for name in names:
        decision = decide_words(output, [name], dictionary, search)
        looked_for |= decision.looked_for
        if decision.detected:
            return WordDecision(True, looked_for)
    return WordDecision(False, looked_for)


def appears(word: str, output: str) -> bool:
    """Return whether `word` is a substring of `output`; "_" in names also matches "." and a space (reference 1a)."""
    if word not in MATCH_CASE:
        word, output = word.lower(), output.lower()
    return word.replace("_", " ") in output.replace("_", " ") or word in output.replace("_", ".")


def stands_in(word: str, output: str) -> bool:
    """Return whether `output` holds `word` as a whole: not `ATA` in `dataset`, but `PassengerId` in `passenger_id`."""
    if stands_whole(word, output):
        return True
    return PLAIN.fullmatch(word) is not None and f" {' '.join(pieces(word))} " in f" {' '.join(pieces(output))} "


def stands_whole(word: str, text: str) -> bool:
    """Return whether a text holds a word with no letter or digit next to it, in upper or lower case."""
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
    """Return the words of a name or text, in lower case: snake_case, camelCase and dotted.names are split."""
    return tuple(map(str.casefold, PIECES.findall(text)))


def without_note(word: str) -> str:
    """Return the name without a note in parentheses: `sepal length (cm)` becomes `sepal length`."""
    before, bracket, _ = word.partition("(")
    return before.strip() if bracket and before.strip() else word
