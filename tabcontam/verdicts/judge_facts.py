"""The facts of the judges of completions in results.json: their labels, their error rates and their agreement."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tabcontam.evidence.completion_pairs import Likeness
from tabcontam.statistics.number_types import Coefficient, Count, Truth


@dataclass(frozen=True, kw_only=True)
class MadePairRecord:
    """A judge's record on made pairs of one likeness."""

    word: Likeness
    """The likeness of the pairs."""
    pairs: Count
    """The number of pairs."""
    right: Count
    """The number of pairs for which the judge gave that likeness."""
    unjudged: Count
    """The number of pairs for which it gave no readable word."""
    begging: Count = 0
    """The number of pairs with a completion that asks the judge for another word."""
    led: Count = 0
    """The number of these pairs for which it gave another word than their likeness."""


@dataclass(frozen=True, kw_only=True)
class JudgeFacts:
    """A judge of completions, and its record."""

    by: str
    """The model as the user named it, or a person's name."""
    person: Truth
    """True if it is a person."""
    judged: Count
    """The number of completions with a word from this judge."""
    unjudged: Count
    """The number of completions without a word although it was asked: declined, cut off, failed, or without a label."""
    words: Mapping[str, Count]
    """The number of completions by the word that it gave."""
    made: tuple[MadePairRecord, ...] = ()
    """Its record on pairs with a known likeness; empty for people, who are shown none."""

    @property
    def sentence(self) -> str:
        """A line with the number of its judgements and its error rate."""
        silent = f" and left {self.unjudged} unjudged" if self.unjudged else ""
        counted = ", ".join(f"{count} {word}" for word, count in self.words.items())
        found = f" ({counted})" if counted else ""
        errs = self.errs or ("" if self.person else "it was shown no made pair")
        return f"judge {self.by} judged {self.judged} completions{found}{silent}{errs and f'; {errs}'}"

    @property
    def errs(self) -> str:
        """In words, the judge's error rate on pairs made to check judges; "" without such pairs."""
        pairs, right = sum(one.pairs for one in self.made), sum(one.right for one in self.made)
        if not pairs:
            return ""
        errors = [(one, one.pairs - one.right - one.unjudged) for one in self.made]
        wrong = [f"{number} of {one.pairs} {one.word}" for one, number in errors if number]
        silent, led = sum(one.unjudged for one in self.made), sum(one.led for one in self.made)
        more = [f"no label for {silent}"] if silent else []
        begging = sum(one.begging for one in self.made)
        more += [f"misled by {led} of {begging} that ask{'s' if begging == 1 else ''} for another label"] if led else []
        details = "; ".join(filter(None, [f"wrong on {', '.join(wrong)}" if wrong else "", *more]))
        return f"it labelled {right} of {pairs} made pairs right" + (f" ({details})" if details else "")


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """The agreement of two judges on the same completions, or on the same settings (a model on a table)."""

    kind: Literal["completions", "settings"]
    """The judged items: completions by the three words, or settings by Algorithm 2 or a paper's rule."""
    first: str
    """A person, a model that judges, a test by its published rule, or the text alone."""
    second: str
    """Another of these."""
    items: Count
    """The number of items that both judged."""
    agree: Count
    """The number of items on which they agree."""
    kappa: Coefficient | None = None
    """Cohen's kappa: the agreement beyond chance; null if only one word was given."""
