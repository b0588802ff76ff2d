"""What of a lookup is searched for: words as they may be written, and which of them find a row.

An index holds tokens, and finds whole tokens alone: letters in capitals are others, and so is a word that no blank
stands before. So each word is searched in more than one way. A query takes four clauses of four terms.
"""

import re
from collections.abc import Iterable, Sequence

from tabcontam.subjects.corpora.words import cleaned, number_key, words

CLAUSES = TERMS = 4  # of a query, by the limits of the public server
LONGEST = 200  # characters of one term
OPERATORS = re.compile(r"\s(?:AND|OR)\s")  # what the server takes for its own words
DIGIT_BITS, LETTER_BITS = 3.3, 2.0  # how much rarer a word becomes with one more


def as_words(text: str) -> list[str]:
    """The words of a text as they are written, as rows are compared."""
    clean = cleaned(text.encode("utf-8", "replace"))
    return [clean[word.begin : word.end].decode("utf-8", "replace") for word in words(clean)]


def rarity(word: str) -> float:
    """About how rare a word is, in bits, by its letters and digits alone."""
    digits = sum(sign.isdigit() for sign in word)
    return DIGIT_BITS * digits + LETTER_BITS * (len(word) - digits)


def rarest(values: Iterable[str]) -> list[str]:
    """The rarest word of each value, the rarest of all first, each once."""
    best = [max(found, key=rarity) for value in values if (found := as_words(value))]
    return sorted(dict.fromkeys(best), key=rarity, reverse=True)


def spellings(word: str) -> tuple[str, ...]:
    """How a word may be written: a number in its shortest way and as it stands, any other also in small letters."""
    key = number_key(word.encode())
    if key is not None:
        short = key.decode()
        return tuple(dict.fromkeys((f"0{short}" if short.startswith(".") else short, word)))
    small = word.lower()
    return tuple(dict.fromkeys((word, small if small != word else word.capitalize())))


def clauses(found: Sequence[str], lacking: int) -> list[list[str]]:
    """Words in clauses, of each of which a row has at least one, though it may lack so many of its values.

    Empty where there are too few words for one.
    """
    each = lacking + 1
    parts = [list(found[begin : begin + each]) for begin in range(0, each * CLAUSES, each)]
    return [part for part in parts if len(part) == each]


def term(text: str) -> str:
    """The longest part of a text that can be searched for as it stands; "" where there is none."""
    clean = text.encode("utf-8", "replace").decode()
    part = max(OPERATORS.split(f" {clean} "), key=len).strip()
    if len(part) <= LONGEST:
        return part
    return part[:LONGEST].rpartition(" ")[0] or part[:LONGEST]


def halves(values: Sequence[str]) -> list[str]:
    """Both halves of a row as files have them: whichever column is hidden, it parts one of them at most."""
    middle = len(values) // 2
    parts = [part for part in (values[:middle], values[middle:]) if len(part) > 1]
    return [term(sign.join(part)) for sign in (",", ", ", "\t", " ") for part in parts]
