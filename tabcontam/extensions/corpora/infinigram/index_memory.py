"""A memory of facts about an index: the tokens of texts, and the places of frequent clauses (alternative terms)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tabcontam.extensions.corpora.infinigram.excerpt_reader import Send
from tabcontam.extensions.corpora.infinigram.replies import Ids, TokenPlaces, places_in, tokens_in
from tabcontam.extensions.corpora.infinigram.search_terms import CLAUSES, TERMS
from tabcontam.extensions.corpora.thresholds import MOST_LISTED_PLACES

AT_ONCE = CLAUSES * TERMS // 2  # texts in one query, with two terms for each text

Clause = tuple[Ids, ...]


@dataclass
class IndexMemory:
    """The known tokens of texts and places of clauses. Each is requested once, but old places are forgotten."""

    index: str
    tokens: dict[str, Clause] = field(default_factory=dict)
    places: dict[Clause, TokenPlaces] = field(default_factory=dict)

    async def learn(self, texts: Iterable[str], send: Send) -> None:
        """Request the tokens of unknown texts, many at a time. The server returns the tokens of every query.

        Each text is in the query twice: once alone, where it is tokenised as after a blank, and once after a line
        break, where it is tokenised as after a comma, a quote or a tab.
        """
        wanted = [text for text in dict.fromkeys(texts) if text and text not in self.tokens]
        while wanted:
            part = _first(wanted)
            wanted = wanted[len(part) :]
            pairs = [f"{text} OR \n{text}" for text in part]
            query = " AND ".join(" OR ".join(pairs[place : place + 2]) for place in range(0, len(pairs), TERMS // 2))
            body = {"index": self.index, "query_type": "count", "query": query}
            self.tokens |= tokens_in(await send(body), part)

    def terms(self, texts: Sequence[str]) -> Clause:
        """Return the tokens of each text, after a blank and after any other sign.

        A term that begins with an earlier term is left out, because the earlier term finds it, too.
        """
        kept: list[Ids] = []
        for one in (way for text in texts for way in self.tokens.get(text, ())):
            if not any(one[: len(other)] == other for other in kept):
                kept.append(one)
        return tuple(kept)

    # kept: the most lists of places in memory
    async def listed(self, clause: Clause, send: Send, *, kept: int = 64) -> TokenPlaces:
        """Return the places of all terms of a clause, or a sample of these places if there are too many."""
        if clause not in self.places:
            found = await self.find((clause,), 1, MOST_LISTED_PLACES, send)
            while len(self.places) >= kept:
                del self.places[next(iter(self.places))]
            self.places[clause] = found
        return self.places[clause]

    async def find(self, clauses: Sequence[Clause], apart: int, frequency: int, send: Send) -> TokenPlaces:
        """Return where all clauses match within `apart` tokens, among at most `frequency` places of each."""
        body = {
            "index": self.index,
            "query_type": "find_cnf",
            "query_ids": [[list(one) for one in clause] for clause in clauses],
            "max_clause_freq": frequency,
            "max_diff_tokens": apart,
        }
        return places_in(await send(body))


# longest_query: characters; each may be a token, and a query may have 500 tokens
def _first(texts: Sequence[str], *, longest_query: int = 450) -> Sequence[str]:
    """Return the first texts, as many as fit in one query, at least one."""
    length = 0
    for place, text in enumerate(texts[:AT_ONCE]):
        length += 2 * len(text) + len(" OR  AND ")
        if place and length > longest_query:
            return texts[:place]
    return texts[:AT_ONCE]
