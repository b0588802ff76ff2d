"""The search terms of a lookup: the spellings of its words, and the words that find a row.

An index contains tokens and finds only whole tokens. A word has other tokens in capitals, or without a blank before it.
So several spellings of each word are searched for. A query may have four clauses of four terms.
"""

import re
from collections.abc import Iterable, Sequence

from tabcontam.extensions.corpora.search.corpus_words import blank_punctuation, number_key, words
from tabcontam.extensions.corpora.thresholds import DIGIT_BITS, LETTER_BITS, LONGEST_SEARCH_TERM

CLAUSES = TERMS = 4  # in a query, at most, on the public server
OPERATORS = re.compile(r"\s(?:AND|OR)\s")  # words that the server reads as operators


def as_words(text: str) -> list[str]:
    """Return the words of a text as they are written, split as in comparisons of rows."""
    clean = blank_punctuation(text.encode("utf-8", "replace"))
    return [clean[word.begin : word.end].decode("utf-8", "replace") for word in words(clean)]


def rarity(word: str) -> float:
    """Return an estimate of a word's rarity in bits, from its letters and digits only."""
    digits = sum(sign.isdigit() for sign in word)
    return DIGIT_BITS * digits + LETTER_BITS * (len(word) - digits)


def rarest(values: Iterable[str]) -> list[str]:
    """Return the rarest word of each value, without repeats, from the rarest to the most frequent."""
    best = [max(found, key=rarity) for value in values if (found := as_words(value))]
    return sorted(dict.fromkeys(best), key=rarity, reverse=True)


def spellings(word: str) -> tuple[str, ...]:
    """Return the spellings of a word: the given one, and of a number the shortest, of others another case."""
    key = number_key(word.encode())
    if key is not None:
        short = key.decode()
        return tuple(dict.fromkeys((f"0{short}" if short.startswith(".") else short, word)))
    small = word.lower()
    return tuple(dict.fromkeys((word, small if small != word else word.capitalize())))


def clauses(found: Sequence[str], lacking: int) -> list[list[str]]:
    """Return the words `found` in groups (clauses). A row that lacks at most `lacking` values has a word of each group.

    The result is empty if there are too few words for one group.
    """
    each = lacking + 1
    parts = [list(found[begin : begin + each]) for begin in range(0, each * CLAUSES, each)]
    return [part for part in parts if len(part) == each]


def term(text: str) -> str:
    """Return the longest part of a text that the server can search for as it is."""
    clean = text.encode("utf-8", "replace").decode()
    part = max(OPERATORS.split(f" {clean} "), key=len).strip()
    if len(part) <= LONGEST_SEARCH_TERM:
        return part
    return part[:LONGEST_SEARCH_TERM].rpartition(" ")[0] or part[:LONGEST_SEARCH_TERM]


def halves(values: Sequence[str]) -> list[str]:
    """Return the halves of a row as files write them. A hidden column can interrupt only one half."""
    middle = len(values) // 2
    parts = [part for part in (values[:middle], values[middle:]) if len(part) > 1]
    return [term(sign.join(part)) for sign in (",", ", ", "\t", " ") for part in parts]
