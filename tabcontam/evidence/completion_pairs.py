"""Completions that are compared with the true text: exact, near-exact or no match.

The three labels are those of Golchin and Surdeanu 2024 ("Time Travel in LLMs", section 3.2.2, Algorithm 2). A test
chooses the answers that are compared (`Test.compared`). This module decides by the text alone whether a completion is
an exact match. For any other completion, a judge (a model or a person) decides whether it is a near-exact match.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from tabcontam.evidence.thresholds import ENOUGH_EXACT, ENOUGH_NEAR

DOUBLE, SINGLE = "\u201c\u201d\u201e\u00ab\u00bb", "\u2018\u2019\u201a`"  # typographic quotation marks
HYPHENS = "\u2010\u2011\u2012\u2013\u2014"
AS_TYPED = str.maketrans(dict.fromkeys(DOUBLE, '"') | dict.fromkeys(SINGLE, "'") | dict.fromkeys(HYPHENS, "-"))
ENDS = " \t\n.\u2026,;:!?\"'"  # marks that a person ignores at the beginning and the end of a text


class Likeness(StrEnum):
    """The label of a completion: how well it matches the true second piece."""

    EXACT = "exact"
    NEAR = "near-exact"
    NONE = "no match"


class CompletionJudgement(NamedTuple):
    """A judge's label for a completion, and the judge: a model's spec or a person's name."""

    word: Likeness
    by: str


@dataclass(frozen=True)
class CompletionPair:
    """A completion of an instance (a text or row that is cut into two pieces), and the true second piece, `expected`.

    `shown` is the first piece, `completion` the model's text, and `arm` the instruction (guided, general, ...). If the
    instance is a row, `cells` lists the hidden values in the order and form in which `expected` has them. `same_cells`
    is true if all of them were read in the answer: then the match is exact, whatever the form of the answer.
    """

    query_id: str
    shown: str
    expected: str
    completion: str
    arm: str = "guided"
    cells: tuple[str, ...] = ()
    same_cells: bool = False

    @property
    def exact(self) -> bool:
        """True if the match is exact; then no judge is needed."""
        return self.same_cells or exactly(self.expected, self.continued)

    @property
    def continued(self) -> str:
        """The completion, without the first piece if the completion begins by repeating this piece."""
        first = r"\s+".join(map(re.escape, self.shown.split()))
        repeated = re.match(rf"[\s\"'{DOUBLE}{SINGLE}]*{first}\s*", self.completion) if first else None
        return self.completion[repeated.end() :] if repeated else self.completion


def plain(text: str) -> str:
    r"""Return a text with uniform white space, quotes and dashes, and without outer punctuation.

    >>> plain("  He said \u201cno\u201d \u2013\n twice.")
    'he said "no" - twice'
    """
    return " ".join(text.translate(AS_TYPED).casefold().split()).strip(ENDS)


def exactly(expected: str, completion: str) -> bool:
    """Return whether a completion is the true second piece, as a person would judge.

    Letter case is ignored, too. With this rule, the exact matches among the recorded completions of Golchin and
    Surdeanu are those of their judge. A piece that is only punctuation matches nothing.

    >>> exactly("icy surface of the moon.", "icy  surface of the moon")
    True
    >>> exactly("icy surface of the moon.", "icy surface of a moon.")
    False
    """
    return bool(plain(expected)) and plain(expected) == plain(completion)


def contaminated(words: Iterable[Likeness]) -> bool:
    """Return whether Algorithm 2 finds contamination: at least one exact, or at least two near-exact matches.

    >>> contaminated([Likeness.NEAR, Likeness.NONE])
    False
    """
    found = list(words)
    return found.count(Likeness.EXACT) >= ENOUGH_EXACT or found.count(Likeness.NEAR) >= ENOUGH_NEAR
