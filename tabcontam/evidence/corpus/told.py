"""Words of a dataset that documents are searched for one by one: how many documents hold them, and where."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from tabcontam.evidence.base import (
    Answer,
    By,
    Capability,
    Evidence,
    Lookup,
    Match,
    Matches,
    Query,
    Reading,
    State,
    Test,
    Trial,
)
from tabcontam.evidence.corpus.found import place_of
from tabcontam.reading.words import Dictionary
from tabcontam.tables.serializers import Serializer

DOCUMENTS = 200  # that are counted of a lookup, of each of which a place is told where they are put together


class Told(Test):
    """A score of what documents hold of a dataset, with a place each; nothing is compared, and nothing decided."""

    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.SEARCH})
    decides: ClassVar[bool] = False
    shows_rows: ClassVar[bool] = False
    on_request: ClassVar[bool] = True
    counted: ClassVar[str]  # what is searched for, in words

    def query(self, name: str, what: str, lookup: Lookup, *of: str) -> Query:
        """The query for one thing; `what` says it in words, and `of` what else is needed to read what is found."""
        return Query(f"{self.id}-{name}", partial(_same, lookup), (what, *of), lookup.texts, max_tokens=1)

    def read(self, query: Query, reply: Answer, serializer: Serializer, dictionary: Dictionary) -> Reading:
        """In how many documents it stands; unreadable where they were not all searched."""
        if not isinstance(reply, Matches) or reply.state is not State.OK:
            return Reading(None, hit=None, paper_hit=False, readable=False)
        count = self.documents(query, reply)
        return Reading(f"{count} documents", hit=count > 0, paper_hit=False, readable=True)

    def documents(self, query: Query, found: Matches) -> int:
        """How many documents hold what a query looks for."""
        return found.documents

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """How many of these things documents hold; no p-value."""
        read = [trial for trial in trials if trial.readable]
        found = [(trial.query, trial.reply) for trial in read if isinstance(trial.reply, Matches)]
        said = [*self.together(found), *(self._said(query, reply) for query, reply in found)]
        hits = sum(bool(trial.reading and trial.reading.hit) for trial in read)
        lost = f"; {len(trials) - len(read)} of {len(trials)} could not be searched for" * (len(read) < len(trials))
        return Evidence(
            statistic=f"share of {self.counted} that documents hold",
            value=hits / len(read) if read else 0.0,
            null="none: nothing is compared",
            sentence="; ".join(said) + lost if read else lost.removeprefix("; "),
            hits=hits,
            asked=len(trials),
            answered=len(read),
            score=hits / len(read) if read else None,
        )

    def _said(self, query: Query, reply: Matches) -> str:
        """A part of the sentence: how many documents, and one place."""
        count = self.documents(query, reply)
        places = self.places(query, reply) if count else ()
        where = f" ({place_of(places[0])})" if places else ""
        held = self.each(query, reply) if count else ""
        return f"{query.asked[0]}: {in_number(count, least=self.partly(query, reply))}{held}{where}"

    def together(self, found: Sequence[tuple[Query, Matches]]) -> list[str]:
        """What all finds together say, before each by itself."""
        return []

    def partly(self, query: Query, found: Matches) -> bool:
        """Whether more documents may hold it than are counted."""
        return found.more

    def places(self, query: Query, found: Matches) -> Sequence[Match]:
        """The places that count, of which the first is quoted."""
        return found.found

    def each(self, query: Query, found: Matches) -> str:
        """What else is said of a find, behind the number of documents."""
        return ""


def in_number(count: int, least: bool = False) -> str:
    """So many documents, in words."""
    if count:
        return f"{'at least ' * least}{count:,} document{'s' * (count > 1)}"
    return "no document of those that were counted, but there may be others" if least else "no document"


def _same(lookup: Lookup) -> Lookup:
    return Lookup(lookup.texts, lookup.most, lookup.by, lookup.beside, lookup.lacking)


def in_words(*texts: str, most: int = 10) -> Lookup:
    """Texts word for word, whatever stands between the words."""
    return Lookup(tuple(dict.fromkeys(texts)), most, By.WORDS)
