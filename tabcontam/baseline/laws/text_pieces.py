"""Pieces of a text that may compose another cell: words, parts between separators, digits, initials, lengths."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tabcontam.baseline.coded_columns import Column
from tabcontam.baseline.laws.numerals import numerals
from tabcontam.baseline.thresholds import LONGEST_PIECE_SOURCE, MOST_PIECE_SEPARATORS, PIECE_PLACES

SEPARATORS = ",;|/:@_-.()#=&+ "
WORD = re.compile(r"[^\W_]+")
RUN = re.compile(r"[^\W\d_]+|\d+")
DIGITS = re.compile(r"\d+")
DECIMAL = re.compile(r"\d+\.\d+")
WITHOUT_MARKS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"})
VOWELS = frozenset("aeiou")
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae"})


def plain(cell: str | None) -> str:
    """Return a cell in lower case with single spaces, shortened to its first characters. Keys ignore case too."""
    return " ".join((cell or "")[: 2 * LONGEST_PIECE_SOURCE].casefold().split())[:LONGEST_PIECE_SOURCE]


def _bare(text: str) -> str:
    """Return a text without its accents."""
    parts = unicodedata.normalize("NFKD", text.translate(WITHOUT_MARKS))
    return "".join(one for one in parts if not unicodedata.combining(one))[:LONGEST_PIECE_SOURCE]


FOLDINGS: Mapping[str, Callable[[str], str]] = {
    "": lambda text: text,
    "bare": _bare,
    "umlauts": lambda text: _bare(text.translate(UMLAUTS)),
}


def _slices(text: str) -> list[str]:
    """Return the year, month and day in a run of eight digits, or the three parts of a run of six."""
    for run in DIGITS.findall(text):
        if len(run) == 8:
            return [run[:4], run[4:6], run[6:], run[2:4], run[2:]]
        if len(run) == 6:
            return [run[:2], run[2:4], run[4:]]
    return []


def _outer(text: str, separator: str) -> list[str]:
    """Return the text after the first separator, and the text before the last one."""
    if separator not in text:
        return []
    return [text.split(separator, 1)[1].strip(), text.rsplit(separator, 1)[0].strip()]


def _initials(text: str) -> list[str]:
    letters = [word[0] for word in WORD.findall(text)]
    return ["".join(letters), ".".join(letters), ". ".join(letters)] if len(letters) > 1 else []


def _letters(text: str) -> list[str]:
    """Return the numbers of vowels and of consonants in a text."""
    vowels = sum(letter in VOWELS for letter in text)
    return [str(vowels), str(sum(map(str.isalpha, text)) - vowels)]


def _items(text: str) -> int:
    return 1 + max(text.count(separator) for separator in ",;|") if text else 0


CUTS: Mapping[str, Callable[[str, str], Sequence[str]]] = {
    "whole": lambda text, _: [text],
    "words": lambda text, _: WORD.findall(text),
    "parts": lambda text, separator: [part.strip() for part in text.split(separator)] if separator in text else [],
    "joined parts": lambda text, separator: (
        ["".join(WORD.findall(part)) for part in text.split(separator)] if separator in text else []
    ),
    "outer": _outer,
    "runs": lambda text, _: RUN.findall(text),
    "digits": lambda text, _: DIGITS.findall(text),
    "decimals": lambda text, _: DECIMAL.findall(text),
    "initials": lambda text, _: _initials(text),
    "joined": lambda text, separator: [separator.join(WORD.findall(text))],
    "slices": lambda text, _: _slices(text),
    "last two digits": lambda text, _: [run[-2:] for run in DIGITS.findall(text) if len(run) > 2],
    "first": lambda text, _: [text[:size] for size in (1, 2, 3) if len(text) > size],
    "last": lambda text, _: [text[-size:] for size in (1, 2, 3, 4) if len(text) > size],
    "behind": lambda text, _: [text[1:], text[2:]],
    "words behind": lambda text, _: [word[1:] for word in WORD.findall(text)],
    "sizes": lambda text, _: [str(len(text)), str(len(WORD.findall(text))), str(_items(text)), *_letters(text)],
    "numerals": lambda text, _: numerals(text),
}
OF_NUMBERS = ("whole", "digits", "slices", "last two digits", "first", "last", "numerals")
SEPARATED = ("parts", "joined parts", "outer")


@dataclass(frozen=True)
class PieceRule:
    """One way to cut a piece out of a cell of the shown column with index `column`."""

    column: int
    folding: str
    cut: str
    separator: str
    place: int

    def piece_of(self, text: str) -> str:
        """Return the piece of a plain text; empty if the text has no such piece."""
        return part_at(CUTS[self.cut](FOLDINGS[self.folding](text), self.separator), self.place)


def part_at(parts: Sequence[str], place: int) -> str:
    """Return the part at this index, which counts from the end if negative; empty if there is none."""
    return parts[place] if -len(parts) <= place < len(parts) else ""


def pieces(number: int, column: Column, texts: Sequence[str]) -> Iterator[tuple[PieceRule, tuple[str, ...]]]:
    """Yield all pieces of a column, the simplest first, each with its value in each of these texts."""
    for piece, values in _pieces(column.numbers is not None, tuple(texts)):
        yield replace(piece, column=number), values


@lru_cache(maxsize=1024)  # many targets use the same columns
def _pieces(of_numbers: bool, texts: tuple[str, ...]) -> tuple[tuple[PieceRule, tuple[str, ...]], ...]:
    if len(set(texts)) < 2:
        return ()
    seen = set()
    found = []
    accented = any(not text.isascii() for text in texts)
    for folding in FOLDINGS if accented else ("",):
        folded = [FOLDINGS[folding](text) for text in texts]
        for cut, separator in _cuts(of_numbers, folded):
            parts = [CUTS[cut](text, separator) for text in folded]
            most, fewest = max(map(len, parts)), min(map(len, parts))
            for place in (
                one for one in PIECE_PLACES if (one < most if one >= 0 else fewest < most or -one <= most - 4)
            ):
                values = tuple(part_at(one, place) for one in parts)
                if values not in seen and any(values):
                    seen.add(values)
                    found.append((PieceRule(0, folding, cut, separator, place), values))
    return tuple(found)


def _cuts(of_numbers: bool, texts: Sequence[str]) -> list[tuple[str, str]]:
    if of_numbers:
        return [(cut, "") for cut in OF_NUMBERS]
    least = max(2, 0.2 * len(texts))
    counts = [(sum(separator in text for text in texts), separator) for separator in SEPARATORS]
    common = sorted((item for item in counts if item[0] >= least), key=lambda item: -item[0])[:MOST_PIECE_SEPARATORS]
    found: list[tuple[str, str]] = []
    for cut in CUTS:
        if cut in SEPARATED:
            found += [(cut, separator) for _, separator in common]
        elif cut == "joined":
            found += [(cut, separator) for separator in ("", "-", "_", ".", " ")]
        else:
            found.append((cut, ""))
    return found
