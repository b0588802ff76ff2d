"""The form of a column's values, which distinguishes values from talk.

A reader of answers never uses the hidden value. It knows only the values that a baseline lists, and the values of other
rows in the prompt.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tabcontam.reading.answer_text import value_key
from tabcontam.reading.languages import NOT
from tabcontam.reading.numbers import NumberStyle, is_finite, is_number, number_in, ungrouped, writing_of
from tabcontam.reading.thresholds import LEAST_VALUES_OF_FORM, LEAST_VALUES_OF_RANGE
from tabcontam.reading.typography import script

PLACEHOLDER = re.compile(r"^(?:\[.*\]|<.*>|\{.*)$")
TRUTHS = tuple(map(frozenset, (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"))))
SAYING = ":=\u2014\u2013\u2192|<>{}\\"  # signs between a name and its value, and signs of markup
ASIDE = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\W*$")
LETTERS = re.compile(r"[^\W\d_]")
DIGITS = re.compile(r"0+")


@dataclass(frozen=True)
class FeatureValues:
    """The values of a feature that a reader of answers may use. If `listed` is true, `likely` has all values."""

    likely: Collection[str] = ()
    show: Callable[[], Collection[str]] = tuple  # returns the feature's cells in the rows of the prompt
    listed: bool = False

    @cached_property
    def closed(self) -> bool:
        """True if all values are known: they are listed, or they are two words for yes and no."""
        return self.listed or self.form.truths is not None

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The known values: the likely values, and if there are few, also the values shown in the prompt."""
        shown = () if len(self.likely) >= LEAST_VALUES_OF_FORM else self.show()
        found = dict.fromkeys((*self.likely, *shown))
        found.pop("", None)
        return tuple(found)

    @property
    def numeric(self) -> bool:
        """True if all known values are numbers."""
        return self.form.numeric

    @cached_property
    def has_numbers(self) -> bool:
        """True if some values are numbers, and no other value is a number followed by a word."""
        others = [value for value in self.values if not is_number(value)]
        any_style = NumberStyle(decimals=True, thousands=True)
        counts = (value[0].isdigit() and is_number(number_in(value, any_style)) for value in others)
        return len(others) < len(self.values) and not any(counts)

    @cached_property
    def writing(self) -> NumberStyle:
        """The form of the numbers. It allows every form if no value is known."""
        return writing_of(self.values) if self.values else NumberStyle(decimals=True, thousands=True)

    def among(self, number: str) -> bool:
        """Return whether a number is like the known numbers in number of digits, size and decimals."""
        if not is_finite(number):
            return False
        known = [abs(float(ungrouped(value))) for value in self.values if is_finite(value)]
        own, fractions = abs(float(ungrouped(number))), all("." in value for value in self.values)
        alike = len(str(int(own))) in {len(str(int(one))) for one in known} and ("." in number or not fractions)
        return alike and (len(known) < LEAST_VALUES_OF_RANGE or min(known) / 2 <= own <= 2 * max(known))

    @cached_property
    def form(self) -> "ValueForm":
        """The common form of the values."""
        return form_of(self.values)

    def has(self, value: str) -> bool:
        """Return whether a text is one of the known values. Case is ignored."""
        key = value_key(value)
        return key in self.form.keys or (self.form.truths is not None and key in self.form.truths)


@dataclass(frozen=True)
class ValueForm:
    """The common form of a column's texts: their signs, scripts, length, and number of words with a small initial.

    Fewer than three values define no form, and every text fits.
    """

    values: tuple[str, ...]

    @cached_property
    def truths(self) -> frozenset[str] | None:
        """The two words for yes and no, if all values are one of them; else None."""
        own = {value.casefold() for value in self.values}
        return next((words for words in TRUTHS if own and own <= words), None)

    @cached_property
    def numeric(self) -> bool:
        """True if all values are numbers."""
        return bool(self.values) and all(map(is_number, self.values))

    @cached_property
    def bracketed(self) -> bool:
        """True if some value looks like a placeholder: `<b>7</b>`, `[a]`, `{"a": 1}`."""
        return any(map(PLACEHOLDER.match, self.values))

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys by which the values are compared."""
        return frozenset(map(value_key, self.values))

    @cached_property
    def _shape(self) -> str | None:
        """The pattern of digits (0), letters and signs if all values have the same, as dates do; else None."""
        shapes = set(map(shape, self.values))
        only = shapes.pop()
        return DIGITS.sub("0", only) if not shapes and any(map(str.isdigit, only)) else None

    @cached_property
    def _signs(self) -> frozenset[str]:
        """The kinds of characters that every value has: signs and blanks, letters, digits."""
        return frozenset[str].intersection(*map(_kinds, self.values))

    @cached_property
    def _scripts(self) -> frozenset[str]:
        return frozenset(script(letter) for value in self.values for letter in LETTERS.findall(value))

    @cached_property
    def _words(self) -> tuple[int, int]:
        counts = [len(value.split()) for value in self.values]
        return min(counts), max(counts)

    @cached_property
    def small(self) -> int:
        """The largest number of words with a small initial in one value."""
        return max(map(small_words, self.values), default=0)

    def foreign(self, letter: str) -> bool:
        """Return whether a letter is of a script that no known value has."""
        return bool(self._scripts) and script(letter) not in self._scripts

    @cached_property
    def signs(self) -> frozenset[str]:
        """All characters of the values."""
        return frozenset("".join(self.values))

    @cached_property
    def denies(self) -> bool:
        """True if a value may contain a "not": some value does, or values are sentences, or too few are known."""
        return not self.known or self.small > 1 or any(map(NOT.search, self.values))

    @cached_property
    def _begins_small(self) -> bool:
        return any(_begins_small(value) for value in self.values)

    def is_talk(self, aside: str) -> bool:
        """Return whether `aside`, the parentheses at the end of a text, is talk and not like parentheses in values."""
        own = [found.group() for value in self.values if (found := ASIDE.search(value))]
        if not any(map(str.isalpha, aside)):
            return all(any(map(str.isalpha, other)) for other in own)
        return small_words(aside) > max(map(small_words, own), default=0)

    def is_like(self, text: str) -> bool:
        """Return whether a text is like these values: not longer, and with the same initials, marks and commas."""
        if not self.known:
            return True
        long = 2 * len(text.split()) > 3 * self._words[1] + 2
        begins = self._begins_small or not _begins_small(text)
        marks = set(text) & set(SAYING) <= self.signs
        commas = text.count(",") <= 1 + max(value.count(",") for value in self.values)
        return self.has(text) and not long and begins and marks and commas and small_words(text) <= self.small

    def begins_large(self, text: str) -> bool:
        """Return whether a text begins with no small letter. Also True if at least half of the values do."""
        small = sum(map(_begins_small, self.values))
        return 2 * small >= len(self.values) or not _begins_small(text)

    @property
    def known(self) -> bool:
        """True if enough values are known to show their form."""
        return len(self.values) >= LEAST_VALUES_OF_FORM

    def has(self, text: str) -> bool:
        """Return whether a text has the form of the values. It may have a few more words than they, or no capitals."""
        if not self.known:
            return True
        if self._shape is not None:
            return DIGITS.sub("0", shape(text)) == self._shape
        least, most = self._words
        return (
            self._signs <= _kinds(text)
            and set(text) & set("/|") <= self.signs
            and text.count(",") <= 1 + 2 * max(value.count(",") for value in self.values)
            and not any(map(self.foreign, LETTERS.findall(text)))
            and least <= 2 * len(text.split()) <= 4 * most + 4
            and (
                small_words(text) <= 2 * self.small + (len(self.values) < LEAST_VALUES_OF_RANGE)
                or text == text.casefold()
            )
        )


@lru_cache(maxsize=64)
def form_of(values: tuple[str, ...]) -> ValueForm:
    """Return the common form of these values. It is cached, because many queries list the same values."""
    return ValueForm(values)


@lru_cache(maxsize=10_000)
def shape(text: str) -> str:
    """Return the pattern of a text: 0 for each digit, a for each letter, and all other signs as they are."""
    return "".join("0" if sign.isdigit() else "a" if sign.isalpha() else sign for sign in text)


def _begins_small(text: str) -> bool:
    return text.lstrip("\"'([{")[:1].islower()


def small_words(text: str) -> int:
    """Return the number of words that begin with a small letter."""
    return sum(map(_begins_small, text.split()))


@lru_cache(maxsize=10_000)
def _kinds(text: str) -> frozenset[str]:
    return frozenset(shape(text)) - {"'"}
