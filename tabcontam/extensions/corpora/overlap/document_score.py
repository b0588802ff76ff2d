"""Tests that search documents for a dataset's words: how many documents contain each word, and where."""

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
    Statistic,
    Test,
    Trial,
)
from tabcontam.extensions.corpora.overlap.row_finds import place_of
from tabcontam.tables.serializers import Serializer


class DocumentScore(Test):
    """A score: the share of a dataset's words that documents contain, with a place for each. There is no verdict."""

    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.SEARCH})
    decides: ClassVar[bool] = False
    shows_rows: ClassVar[bool] = False
    on_request: ClassVar[bool] = True
    counted: ClassVar[str]  # the name of the searched items, in the plural

    def query(self, name: str, what: str, lookup: Lookup, *further: str) -> Query:
        """Return the query for one item; `what` is its name, and `further` has texts that help to read matches."""
        return Query(f"{self.id}-{name}", partial(_same, lookup), (what, *further), lookup.texts, max_tokens=1)

    def read(self, query: Query, reply: Answer, serializer: Serializer) -> Reading:
        """Return the number of documents that contain the item; unreadable if some documents were not searched."""
        if not isinstance(reply, Matches) or reply.state is not ReplyState.OK:
            return Reading(None, hit=None, paper_hit=False, readable=False)
        count = self.count_documents(query, reply)
        return Reading(f"{count} documents", hit=count > 0, paper_hit=False, readable=True)

    def count_documents(self, query: Query, matches: Matches) -> int:
        """Return the number of documents that contain the query's texts."""
        return matches.documents

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Return the share of the items that documents contain; no p-value."""
        read = [trial for trial in trials if trial.readable]
        searches = [(trial.query, trial.reply) for trial in read if isinstance(trial.reply, Matches)]
        parts = [*self.together(searches), *(self._describe(query, reply) for query, reply in searches)]
        hits = sum(bool(trial.reading and trial.reading.hit) for trial in read)
        unread = len(trials) - len(read)
        lost = f"; {unread} of {len(trials)} items could not be searched for" * bool(unread)
        return Evidence(
            statistic=Statistic(
                name=f"share of {self.counted} that documents hold", value=hits / len(read) if read else 0.0
            ),
            null="none: the test compares nothing",
            sentence="; ".join(parts) + lost if read else lost.removeprefix("; "),
            hits=hits,
            asked=len(trials),
            answered=len(read),
            score=hits / len(read) if read else None,
        )

    def _describe(self, query: Query, reply: Matches) -> str:
        """Return the part of the sentence about one item: how many documents contain it, and one place."""
        count = self.count_documents(query, reply)
        places = self.places(query, reply) if count else ()
        where = f" ({place_of(places[0])})" if places else ""
        held = self.each(query, reply) if count else ""
        return f"{query.asked[0]}: {in_number(count, least=self.partly(query, reply))}{held}{where}"

    def together(self, searches: Sequence[tuple[Query, Matches]]) -> list[str]:
        """Return the parts of the sentence about all items together, which precede the parts about single items."""
        return []

    def partly(self, query: Query, matches: Matches) -> bool:
        """Return whether more documents than the counted ones may contain the item."""
        return matches.more

    def places(self, query: Query, matches: Matches) -> Sequence[Match]:
        """Return the places that count; the first of them is quoted."""
        return matches.places

    def each(self, query: Query, matches: Matches) -> str:
        """Return further words of the sentence about an item, which follow the number of documents."""
        return ""


def in_number(count: int, least: bool = False) -> str:
    """Return the number of documents in words."""
    if count:
        return f"{'at least ' * least}{count:,} document{'s' * (count > 1)}"
    return "none of the documents that were counted, but others may hold it" if least else "no document"


def _same(lookup: Lookup) -> Lookup:
    return Lookup(lookup.texts, lookup.most, lookup.by, lookup.context, lookup.lacking)


def word_lookup(*texts: str, most: int = 10) -> Lookup:
    """Return a lookup that finds texts by their words; the characters between words may differ."""
    return Lookup(tuple(dict.fromkeys(texts)), most, LookupMode.WORDS)
