"""The longest run of words that a completion has in common with the true text, and its worth in bits.

A writer that has not seen a text sometimes hits its next word, or two in a row. The rate was measured on recorded
answers of two models to texts that they had not read (docs/method/other-papers.md): after a right word the next one is
right in fewer than half of the cases, so that each word of a run halves the chance that such a writer gets so far.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import log2

from tabcontam.evidence.thresholds import FLUENT_WORD_CHANCE, PHRASE_WORDS, RUN_START_SHARE, SHOWN_PHRASE_WORDS

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
SLOT = ""  # in a phrase: a word that its text has elsewhere, too, such as the name in a form letter


def words(text: str) -> list[str]:
    """Return the words of a text without their case: letters and digits, with the apostrophes inside them."""
    return [word.replace("\u2019", "'") for word in WORD.findall(text.casefold())]


def phrases(text: Sequence[str], length: int) -> Iterable[tuple[str, ...]]:
    """Return every `length` words in a row."""
    return zip(*(text[place:] for place in range(length)), strict=False)


def slotted(text: Sequence[str], slots: Collection[str]) -> list[str]:
    """Return the words of a text, with `SLOT` in place of those that fill a slot."""
    return [SLOT if word in slots else word for word in text]


def common(
    text: str, shown: str, elsewhere: frozenset[tuple[str, ...]], rare: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Return the parts of a text that show no memory.

    They are made of phrases of four words that stand in other texts of the table, `elsewhere`, and of two words in a
    row that the prompt shows. A word of the prompt that is `rare` in the table is a slot: phrases of `elsewhere` may
    have slots in place of other such words, so that a form letter whose names the prompt shows does not count.
    """
    true, shown_words = words(text), words(shown)
    slots = rare.intersection(shown_words)
    own, seen = slotted(true, slots), frozenset(phrases(shown_words, SHOWN_PHRASE_WORDS))
    covered = [False] * len(true)
    for each, length, known in (
        (true, PHRASE_WORDS, elsewhere),
        (own, PHRASE_WORDS, elsewhere),
        (true, SHOWN_PHRASE_WORDS, seen),
    ):
        for place, phrase in enumerate(phrases(each, length)):
            if phrase in known:
                covered[place : place + length] = [True] * length
    parts: list[list[str]] = []
    for place, word in enumerate(true):
        if covered[place]:
            if not (place and covered[place - 1]):
                parts.append([])
            parts[-1].append(word)
    return tuple(dict.fromkeys(" ".join(part) for part in parts))


@dataclass(frozen=True)
class WordRun:
    """A run of words that a completion and a text have in common without a gap.

    `text` are the words of the run, `own` how many of them are no common part, `length` how many words the longer of
    the two, text and completion, has: at one in four of so many places a run may begin.
    """

    text: tuple[str, ...]
    own: int
    length: int

    @cached_property
    def bits(self) -> float:
        """The worth of the run: a bit for each word of its own, less the worth of choosing its place; not below 0."""
        return max(0.0, -self.own * log2(FLUENT_WORD_CHANCE) - log2(max(1.0, RUN_START_SHARE * self.length)))

    @property
    def chance(self) -> float:
        """The chance, at most, that a fluent writer that has not seen the text gets a run worth as much."""
        return float(2.0**-self.bits)


def longest(expected: str, answer: str, left_out: Sequence[str] = ()) -> WordRun:
    """Return the run with most words of its own, of several the longest; parts that are left out do not count."""
    true, own = words(expected), words(answer)
    counts = [1] * len(true)
    for part in map(str.split, left_out):
        for place in range(len(true) - len(part) + 1):
            if true[place : place + len(part)] == part:
                counts[place : place + len(part)] = [0] * len(part)
    counted = [0, *accumulate(counts)]
    if own == true:  # spares comparing every place of two long texts with every other
        return WordRun(tuple(true), counted[-1], len(true))
    best: tuple[int, int] = (0, 0)
    run_words: tuple[str, ...] = ()
    lengths = [0] * (len(true) + 1)
    for word in own:
        now = [0] * (len(true) + 1)
        for place, other in enumerate(true, 1):
            if word == other:
                length = now[place] = lengths[place - 1] + 1
                worth = (counted[place] - counted[place - length], length)
                if worth > best:
                    best, run_words = worth, tuple(true[place - length : place])
        lengths = now
    return WordRun(run_words, best[0], max(len(true), len(own)))
