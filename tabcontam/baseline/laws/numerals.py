"""Numbers not written in decimal digits: hexadecimal (#ff8000), binary (1011), Roman (MCMLXXIV), English words."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from tabcontam.baseline.coded_columns import Column, column
from tabcontam.baseline.thresholds import (
    LEAST_NUMERAL_VALUES,
    LONGEST_NUMBER_WORDS,
    LONGEST_NUMERAL,
    NUMERAL_SAMPLE_CELLS,
    PAIRED_DIGITS,
)

LARGEST_ROMAN = 4000
HEXADECIMAL = re.compile(r"(?:#|0x)?([0-9a-f]{2,12})")
BINARY = re.compile(r"(?:0b)?([01]{2,48})")
ROMAN = re.compile(r"m{0,3}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})")
VALUES = {"m": 1000, "cm": 900, "d": 500, "cd": 400, "c": 100, "xc": 90, "l": 50, "xl": 40, "x": 10, "ix": 9, "v": 5}
VALUES |= {"iv": 4, "i": 1}
_TO_TWELVE = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
SMALL = (*_TO_TWELVE, "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
WORDS = {word: number for number, word in enumerate(SMALL)} | {word: 10 * ten for ten, word in enumerate(TENS, start=2)}
LARGE = {"thousand": 1000, "million": 1_000_000}


def with_numerals(columns: Iterable[Column]) -> list[Column]:
    """Return the columns, each followed by columns of the numbers that it writes in a non-decimal form."""
    return [found for one in columns for found in (one, *_numbers(one))]


@lru_cache(maxsize=20_000)
def numerals(text: str) -> Sequence[str]:
    """Return a whole number in hexadecimal (also two-digit), binary, Roman, and words with and without "and"."""
    if not text.isdecimal() or len(text) > LONGEST_NUMERAL:
        return []
    number = int(text)
    words = in_words(number)
    return [f"{number:x}", f"{number:02x}", f"{number:b}", roman(number), words, words.replace(" and ", " ")]


def in_words(number: int) -> str:
    """Return a number in English words; empty if it is too large."""
    if number < 100:
        ten, one = divmod(number, 10)
        return SMALL[number] if number < 20 else f"{TENS[ten - 2]}-{SMALL[one]}" if one else TENS[ten - 2]
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        return f"{SMALL[hundreds]} hundred{f' and {in_words(rest)}' if rest else ''}"
    for name, size in reversed(LARGE.items()):
        if size <= number < 1000 * size:
            count, rest = divmod(number, size)
            return f"{in_words(count)} {name}{f' {in_words(rest)}' if rest else ''}"
    return ""


def of_words(text: str) -> int | None:
    """Return the number that English words spell; None if they spell none."""
    total = part = 0
    words = text[:LONGEST_NUMBER_WORDS].replace("-", " ").replace(",", " ").split()
    for word in words:
        if word in WORDS:
            part += WORDS[word]
        elif word == "hundred":
            part *= 100
        elif word in LARGE:
            total, part = total + part * LARGE[word], 0
        elif word != "and":
            return None
    return total + part if words and len(text) <= LONGEST_NUMBER_WORDS else None


def roman(number: int) -> str:
    """Return a number in lower-case Roman letters; empty if it is 0 or too large."""
    found = ""
    for letters, value in VALUES.items() if number < LARGEST_ROMAN else ():
        found += letters * (number // value)
        number %= value
    return found


def _numbers(one: Column) -> Iterator[Column]:
    some = [cell.strip().casefold() for cell in dict.fromkeys(one.cells[:NUMERAL_SAMPLE_CELLS]) if cell]
    ways = READERS if one.numbers is None else READERS[:1]  # digits alone may be decimal or binary
    if not any(all(map(reads, some)) for reads in ways):
        return
    texts = {key: text.strip().casefold() for key, text in one.texts.items()}
    if len(texts) < LEAST_NUMERAL_VALUES:
        return
    for pattern, base in ((BINARY, 2), (HEXADECIMAL, 16)):
        if all(map(pattern.fullmatch, texts.values())):
            yield from _of_base(one, {key: pattern.sub(r"\1", text) for key, text in texts.items()}, base)
            return
        if one.numbers is not None:
            return
    if all(map(ROMAN.fullmatch, texts.values())):
        known = {roman(number): number for number in range(LARGEST_ROMAN)}
        yield _column(one, "number", {key: known[text] for key, text in texts.items()})
        return
    spelled = {key: number for key, text in texts.items() if (number := of_words(text)) is not None}
    if len(spelled) == len(texts):
        yield _column(one, "number", spelled)


def _of_base(one: Column, digits: Mapping[str, str], base: int) -> Iterator[Column]:
    """Yield the numbers and, for hexadecimal numbers of one length, such as colours, each pair of digits."""
    yield _column(one, "number", {key: int(text, base) for key, text in digits.items()})
    sizes = {len(text) for text in digits.values()}
    if base == 16 and len(sizes) == 1 and (size := sizes.pop()) in PAIRED_DIGITS:
        for place in range(0, size, 2):
            pairs = {key: int(text[place : place + 2], 16) for key, text in digits.items()}
            yield _column(one, f"pair {place // 2 + 1}", pairs)


def _column(one: Column, name: str, numbers: Mapping[str, int]) -> Column:
    return column(f"{one.name} {name}", [str(numbers[key]) if key in numbers else None for key in one.keys])


READERS: tuple[Callable[[str], object], ...] = (
    BINARY.fullmatch,
    HEXADECIMAL.fullmatch,
    ROMAN.fullmatch,
    lambda text: of_words(text) is not None,
)
