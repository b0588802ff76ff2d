"""The longest run of words that a completion has in common with the true text, and its worth in bits.

A writer that has not read a text sometimes guesses its next word, or the next two. The rate was measured on recorded
answers of two models to texts that they had not read (docs/method/other-papers.md). After a right word, the next one is
right in fewer than half of the cases. So each further word halves the chance of a run.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import log2

from tabcontam.extensions.papers.thresholds import FLUENT_WORD_CHANCE, PHRASE_WORDS, RUN_START_SHARE, SHOWN_PHRASE_WORDS

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
SLOT = ""  # stands in a phrase for a word that its text repeats elsewhere, such as the name in a form letter


def words(text: str) -> list[str]:
    """Return the words of a text in lower case: letters and digits, with apostrophes inside words."""
    return [word.replace("\u2019", "'") for word in WORD.findall(text.casefold())]


def phrases(text: Sequence[str], length: int) -> Iterable[tuple[str, ...]]:
    """Return all phrases of `length` consecutive words."""
    return zip(*(text[place:] for place in range(length)), strict=False)


def slotted(text: Sequence[str], slots: Collection[str]) -> list[str]:
    """Return the words of a text, with `SLOT` (a stand-in for any word) in place of the words in `slots`."""
    return [SLOT if word in slots else word for word in text]


def common(
    text: str, shown: str, elsewhere: frozenset[tuple[str, ...]], rare: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Return the parts of a text that show no memory.

    They consist of phrases of four words in `elsewhere`, which other texts of the table contain, and of two consecutive
    words of the prompt. A word of the prompt that is `rare` in the table counts as a slot, and phrases of `elsewhere`
    may have slots. So a form letter with names that the prompt shows does not count.
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
    """A run of consecutive words that a completion and a text have in common.

    `text` has the words of the run, and `own` the number of them that show memory. `length` is the number of words in
    the longer of the two texts; a run may begin at one in four of these places.
    """

    text: tuple[str, ...]
    own: int
    length: int

    @cached_property
    def bits(self) -> float:
        """The worth of the run in bits: one for each word that shows memory, minus log2 of its places; at least 0."""
        return max(0.0, -self.own * log2(FLUENT_WORD_CHANCE) - log2(max(1.0, RUN_START_SHARE * self.length)))

    @property
    def chance(self) -> float:
        """An upper bound for the chance that a fluent writer that has not read the text gets a run of this worth."""
        return float(2.0**-self.bits)


def longest(expected: str, answer: str, left_out: Sequence[str] = ()) -> WordRun:
    """Return the run with the most words that show memory; ties go to the longest. Words in `left_out` show none."""
    true, own = words(expected), words(answer)
    counts = [1] * len(true)
    for part in map(str.split, left_out):
        for place in range(len(true) - len(part) + 1):
            if true[place : place + len(part)] == part:
                counts[place : place + len(part)] = [0] * len(part)
    counted = [0, *accumulate(counts)]
    if own == true:  # no need to compare all places of two long texts
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
