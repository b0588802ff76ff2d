"""What was found of a lookup: the documents, which of its texts each holds, and some of the places."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tabcontam.evidence.questions import Lookup, Match, Matches, State

MOST_DOCUMENTS = 200  # that are counted of a lookup; of more it is told that there are more
AROUND = 80  # bytes before and behind what was found that are quoted with it
QUOTED = 2000  # bytes of what was found that are quoted


@dataclass
class Counted:
    """What was found of one lookup so far, in the order of the corpus.

    `documents` has for each document the texts that it holds, by their place in the lookup; `found` at most `most`
    places, and the first of each text besides. `more` says that there may be more documents.
    """

    most: int
    documents: dict[str, set[int]] = field(default_factory=dict)
    found: list[Match] = field(default_factory=list)
    more: bool = False

    def holds(self, source: str, text: int) -> bool:
        """Whether a document is known to hold a text; true, too, where no more documents are counted."""
        held = self.documents.get(source)
        if held is None and len(self.documents) >= MOST_DOCUMENTS:
            self.more = True
            return True
        return held is not None and text in held

    def add(self, match: Match) -> None:
        """A document that holds a text."""
        if self.holds(match.source, match.text):
            return
        self.documents.setdefault(match.source, set()).add(match.text)
        if len(self.found) < self.most or all(other.text != match.text for other in self.found):
            self.found.append(match)

    def join(self, other: "Counted") -> None:
        """Add what was found behind this."""
        shown = {(match.source, match.text): match for match in other.found}
        for source, texts in other.documents.items():
            for text in sorted(texts):
                if (match := shown.get((source, text))) is not None:
                    self.add(match)
                elif not self.holds(source, text):
                    self.documents.setdefault(source, set()).add(text)
        self.more |= other.more

    @property
    def full(self) -> bool:
        """Whether no more is counted."""
        return len(self.documents) >= MOST_DOCUMENTS and self.more

    def as_facts(self) -> dict[str, Any]:
        """The same as numbers and strings, for JSON."""
        documents = {source: sorted(texts) for source, texts in self.documents.items()}
        return {"documents": documents, "found": [list(match) for match in self.found], "more": self.more}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any], most: int) -> "Counted":
        """What `as_facts` wrote."""
        documents = {source: set(texts) for source, texts in facts["documents"].items()}
        return cls(most, documents, [Match(*match) for match in facts["found"]], facts["more"])

    def matches(self, lookup: Lookup, detail: str = "") -> Matches:
        """The answer to the lookup: of every text that was found a place, where there is room, and then the others."""
        first = {match.text: match for match in reversed(self.found)}
        ordered = [first[text] for text in sorted(first)]
        ordered += [match for match in self.found if match not in ordered]
        chosen = ordered[: lookup.most]
        shown = tuple(match for match in self.found if match in chosen)
        counts = [sum(text in texts for texts in self.documents.values()) for text in range(len(lookup.texts))]
        return Matches(shown, len(self.documents), State.OK, detail, counts=tuple(counts), more=self.more)


def quoted(text: bytes, begin: int, end: int, low: int, high: int) -> tuple[str, int, int]:
    """What stands in a text from one byte to another, with some of what is around it between `low` and `high`; and from
    which letter of this to which it stands.
    """
    last = min(end, begin + QUOTED)
    before = text[max(low, begin - AROUND) : begin].decode("utf-8", "ignore")
    inside = text[begin:last].decode("utf-8", "ignore")
    behind = text[last : min(high, last + AROUND)].decode("utf-8", "ignore") if last == end else ""
    return before + inside + behind, len(before), len(before) + len(inside)
