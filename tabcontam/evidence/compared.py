"""Completions that are compared with what they should have been: exact, near-exact or no match.

The words are those of Golchin and Surdeanu 2024 ("Time Travel in LLMs", section 3.2.2, Algorithm 2). A test says which
of its answers are to be compared (`Test.compared`); whether one is an exact match is decided here, by the text alone.
Whether another is a near-exact match is for a judge to say: an LLM or a person.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

DOUBLE, SINGLE = "\u201c\u201d\u201e\u00ab\u00bb", "\u2018\u2019\u201a`"  # quotes of print
HYPHENS = "\u2010\u2011\u2012\u2013\u2014"
AS_TYPED = str.maketrans(dict.fromkeys(DOUBLE, '"') | dict.fromkeys(SINGLE, "'") | dict.fromkeys(HYPHENS, "-"))
ENDS = " \t\n.\u2026,;:!?\"'"  # marks that a person passes over where a text begins or ends with them
ENOUGH_EXACT, ENOUGH_NEAR = 1, 2  # Algorithm 2: at least so many exact, or so many near-exact matches


class Likeness(StrEnum):
    """How like a completion is to the true second piece."""

    EXACT = "exact"
    NEAR = "near-exact"
    NONE = "no match"


class Judged(NamedTuple):
    """What was said of a completion, and by whom: the LLM's spec, or a person's name."""

    word: Likeness
    by: str


@dataclass(frozen=True)
class Compared:
    """A completion beside the true second piece.

    `shown` is the first piece, `said` what the LLM wrote, `arm` which instruction it was given (guided, general, ...).
    Of a row of a table `cells` has the values that were hidden, in order, as they stand in `expected`, and
    `same_cells` whether all of them were read in the answer: that is an exact match, however it is written.
    """

    query_id: str
    shown: str
    expected: str
    said: str
    arm: str = "guided"
    cells: tuple[str, ...] = ()
    same_cells: bool = False

    @property
    def exact(self) -> bool:
        """Whether it is an exact match, which no judge need be asked."""
        return self.same_cells or exactly(self.expected, self.continued)

    @property
    def continued(self) -> str:
        """What was said, without the first piece where the completion repeats it before it goes on."""
        first = r"\s+".join(map(re.escape, self.shown.split()))
        repeated = re.match(rf"[\s\"'{DOUBLE}{SINGLE}]*{first}\s*", self.said) if first else None
        return self.said[repeated.end() :] if repeated else self.said


def plain(text: str) -> str:
    r"""A text without what a person passes over: the kind of white space, quotes and dashes, capitals, marks around it.

    >>> plain("  He said \u201cno\u201d \u2013\n twice.")
    'he said "no" - twice'
    """
    return " ".join(text.translate(AS_TYPED).casefold().split()).strip(ENDS)


def exactly(expected: str, said: str) -> bool:
    """Whether a completion is the true second piece, as a person would call it so.

    With letter case passed over, too, this calls exact what the judge of Golchin and Surdeanu called so, and no other
    of their recorded completions. A piece that is nothing but punctuation is no match of anything.

    >>> exactly("icy surface of the moon.", "icy  surface of the moon")
    True
    >>> exactly("icy surface of the moon.", "icy surface of a moon.")
    False
    """
    return bool(plain(expected)) and plain(expected) == plain(said)


def contaminated(words: Iterable[Likeness]) -> bool:
    """Algorithm 2: at least one exact match, or at least two near-exact ones.

    >>> contaminated([Likeness.NEAR, Likeness.NONE])
    False
    """
    found = list(words)
    return found.count(Likeness.EXACT) >= ENOUGH_EXACT or found.count(Likeness.NEAR) >= ENOUGH_NEAR
