"""Tests that search documents for a dataset's words one by one: how many documents hold them, and where."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from tabcontam.evidence.base import (
    Answer,
    Capability,
    Evidence,
    Lookup,
    LookupMode,
    Match,
    Matches,
    Query,
    Reading,
    ReplyState,
    Test,
    Trial,
)
from tabcontam.evidence.corpus.row_finds import place_of
from tabcontam.reading.word_decision import Dictionary
from tabcontam.tables.serializers import Serializer


class DocumentScore(Test):
    """A score of a dataset's words in documents, with a place for each; nothing is compared, and nothing decided."""

    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.SEARCH})
    decides: ClassVar[bool] = False
    shows_rows: ClassVar[bool] = False
    on_request: ClassVar[bool] = True
    counted: ClassVar[str]  # the items that are searched for, in words

    def query(self, name: str, what: str, lookup: Lookup, *further: str) -> Query:
        """Return the query for one item; `what` names it, and `further` holds texts that reading a find needs."""
        return Query(f"{self.id}-{name}", partial(_same, lookup), (what, *further), lookup.texts, max_tokens=1)

    def read(self, query: Query, reply: Answer, serializer: Serializer, dictionary: Dictionary) -> Reading:
        """Return in how many documents the item stands; unreadable if some were not searched."""
        if not isinstance(reply, Matches) or reply.state is not ReplyState.OK:
            return Reading(None, hit=None, paper_hit=False, readable=False)
        count = self.count_documents(query, reply)
        return Reading(f"{count} documents", hit=count > 0, paper_hit=False, readable=True)

    def count_documents(self, query: Query, matches: Matches) -> int:
        """Return the number of documents that hold the texts of a query."""
        return matches.documents

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Return how many of the items documents hold; no p-value."""
        read = [trial for trial in trials if trial.readable]
        searches = [(trial.query, trial.reply) for trial in read if isinstance(trial.reply, Matches)]
        parts = [*self.together(searches), *(self._describe(query, reply) for query, reply in searches)]
        hits = sum(bool(trial.reading and trial.reading.hit) for trial in read)
        unread = len(trials) - len(read)
        lost = f"; {unread} of {len(trials)} items could not be searched for" * bool(unread)
        return Evidence(
            statistic=f"share of {self.counted} that documents hold",
            value=hits / len(read) if read else 0.0,
            null="none: the test compares nothing",
            sentence="; ".join(parts) + lost if read else lost.removeprefix("; "),
            hits=hits,
            asked=len(trials),
            answered=len(read),
            score=hits / len(read) if read else None,
        )

    def _describe(self, query: Query, reply: Matches) -> str:
        """Return a part of the sentence: how many documents, and one place."""
        count = self.count_documents(query, reply)
        places = self.places(query, reply) if count else ()
        where = f" ({place_of(places[0])})" if places else ""
        held = self.each(query, reply) if count else ""
        return f"{query.asked[0]}: {in_number(count, least=self.partly(query, reply))}{held}{where}"

    def together(self, searches: Sequence[tuple[Query, Matches]]) -> list[str]:
        """Return the parts of the sentence about all finds together, which come before each find by itself."""
        return []

    def partly(self, query: Query, matches: Matches) -> bool:
        """Return whether more documents may hold it than are counted."""
        return matches.more

    def places(self, query: Query, matches: Matches) -> Sequence[Match]:
        """Return the places that count, of which the first is quoted."""
        return matches.places

    def each(self, query: Query, matches: Matches) -> str:
        """Return a further part of the sentence about a find, which follows the number of documents."""
        return ""


def in_number(count: int, least: bool = False) -> str:
    """Return the number of documents in words."""
    if count:
        return f"{'at least ' * least}{count:,} document{'s' * (count > 1)}"
    return "none of the documents that were counted, but others may hold it" if least else "no document"


def _same(lookup: Lookup) -> Lookup:
    return Lookup(lookup.texts, lookup.most, lookup.by, lookup.context, lookup.lacking)


def word_lookup(*texts: str, most: int = 10) -> Lookup:
    """Return a lookup of texts by their words; the text between words does not count."""
    return Lookup(tuple(dict.fromkeys(texts)), most, LookupMode.WORDS)
