"""The matches of a lookup: the documents, the lookup's texts that each contains, and some of the places."""

from dataclasses import dataclass, field

from tabcontam.evidence.questions import Lookup, Match, Matches, ReplyState
from tabcontam.extensions.corpora.thresholds import MOST_COUNTED_DOCUMENTS


@dataclass
class LookupMatches:
    """The matches of one lookup so far, in the order of the corpus.

    `documents` maps each document to the texts that it contains, by their number in the lookup. `found` has at most
    `most` places, and the first place of each text in any case. `more` means that there may be more documents.
    """

    most: int
    documents: dict[str, set[int]] = field(default_factory=dict)
    found: list[Match] = field(default_factory=list)
    more: bool = False

    def holds(self, source: str, text: int) -> bool:
        """Return whether a document is known to contain a text. For documents beyond the limit, return True."""
        held = self.documents.get(source)
        if held is None and len(self.documents) >= MOST_COUNTED_DOCUMENTS:
            self.more = True
            return True
        return held is not None and text in held

    def add(self, match: Match) -> None:
        """Add a document that contains a text, unless it is known."""
        if self.holds(match.source, match.text):
            return
        self.documents.setdefault(match.source, set()).add(match.text)
        if len(self.found) < self.most or all(other.text != match.text for other in self.found):
            self.found.append(match)

    def join(self, other: "LookupMatches") -> None:
        """Add the matches of a later part of the corpus."""
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
        """True once no more documents are counted."""
        return len(self.documents) >= MOST_COUNTED_DOCUMENTS and self.more

    def matches(self, lookup: Lookup, detail: str = "") -> Matches:
        """Return the answer with at most `lookup.most` places: first one place of each text, then others."""
        first = {match.text: match for match in reversed(self.found)}
        ordered = [first[text] for text in sorted(first)]
        ordered += [match for match in self.found if match not in ordered]
        chosen = ordered[: lookup.most]
        shown = tuple(match for match in self.found if match in chosen)
        counts = [sum(text in texts for texts in self.documents.values()) for text in range(len(lookup.texts))]
        return Matches(shown, len(self.documents), ReplyState.OK, detail, counts=tuple(counts), more=self.more)


# around: bytes before and after a match that the quotation includes
# quoted: the most bytes of a match in the quotation
def quote_match(
    text: bytes, begin: int, end: int, low: int, high: int, *, around: int = 80, quoted: int = 2000
) -> tuple[str, int, int]:
    """Return a quotation of the text from byte `begin` to byte `end` with some text around it, all between bytes `low`
    and `high`. Return also where in the quotation, counted in letters, that text begins and ends.
    """
    last = min(end, begin + quoted)
    before = text[max(low, begin - around) : begin].decode("utf-8", "ignore")
    inside = text[begin:last].decode("utf-8", "ignore")
    after = text[last : min(high, last + around)].decode("utf-8", "ignore") if last == end else ""
    return before + inside + after, len(before), len(before) + len(inside)
