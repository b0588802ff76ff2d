"""Algorithm 1: decide from words (Ronval et al., section 3.2), as in the authors' last code.

A "word" is a whole feature name or value, with its spaces. Words that are not in the English dictionary are specific to
the dataset: one of them in the answer is enough. If all words are English, all must appear.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tabcontam.reading.dictionary import Dictionary, english

__all__ = ["Dictionary", "WordDecision", "decide_names", "decide_words", "english"]


WordSearch = Callable[[str, str], bool]
PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")
PLAIN = re.compile(r"[\w .\-/]*[^\W_][\w .\-/]*")  # a name that may be written in another case style
MATCH_CASE = frozenset({"MathE"})  # the authors' one exception: any "mathe..." would match it


@dataclass(frozen=True)
class WordDecision:
    """The decision of Algorithm 1. `looked_for` has each word in order, with whether it appeared."""

    detected: bool
    looked_for: dict[str, bool]


def decide_words(
    output: str, expected: Sequence[str | None], dictionary: Dictionary, search: WordSearch | None = None
) -> WordDecision:
    """Return Algorithm 1's decision. `search` replaces the authors' word search. Missing values (None) are skipped."""
    words = [word for word in dict.fromkeys(expected) if word]
    unknown = [word for word in words if not dictionary.knows(word)]
    looked_for = {name: (search or appears)(name, output) for name in map(without_note, unknown or words)}
    enough = any if unknown else all
    return WordDecision(bool(looked_for) and enough(looked_for.values()), looked_for)


def decide_names(
    output: str, names: Sequence[str], dictionary: Dictionary, search: WordSearch | None = None
) -> WordDecision:
    """Return the decision for the recognition test: Algorithm 1 on one name after the other, until a name is found."""
    looked_for: dict[str, bool] = {}
    for name in names:
        decision = decide_words(output, [name], dictionary, search)
        looked_for |= decision.looked_for
        if decision.detected:
            return WordDecision(True, looked_for)
    return WordDecision(False, looked_for)


def appears(word: str, output: str) -> bool:
    """Return whether `word` is a substring of `output`. "_" in it also matches "." and a space (reference 1a)."""
    if word not in MATCH_CASE:
        word, output = word.lower(), output.lower()
    return word.replace("_", " ") in output.replace("_", " ") or word in output.replace("_", ".")


def stands_in(word: str, output: str) -> bool:
    """Return whether `output` contains `word` as a whole: `PassengerId` in `passenger_id`, not `ATA` in `dataset`."""
    if stands_whole(word, output):
        return True
    return PLAIN.fullmatch(word) is not None and f" {' '.join(pieces(word))} " in f" {' '.join(pieces(output))} "


def stands_whole(word: str, text: str) -> bool:
    """Return whether a text contains a word with no letter or digit before or after it. Case is ignored."""
    if not (word.isascii() and text.isascii()):
        return re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", text, re.IGNORECASE) is not None
    word, text = word.lower(), text.lower()  # much faster than ignoring case
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if not (text[max(start - 1, 0) : start].isalnum() or text[end : end + 1].isalnum()):
            return True
        start = text.find(word, start + 1)
    return False


@lru_cache(maxsize=1_000)
def pieces(text: str) -> tuple[str, ...]:
    """Return the words of a name or text in lower case. It splits snake_case, camelCase and dotted.names."""
    return tuple(map(str.casefold, PIECES.findall(text)))


def without_note(word: str) -> str:
    """Return a name without its note in parentheses: `sepal length (cm)` becomes `sepal length`."""
    before, bracket, _ = word.partition("(")
    return before.strip() if bracket and before.strip() else word
