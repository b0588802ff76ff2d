"""What is remembered of an index: how its tokenizer writes texts, and where common values stand in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tabcontam.subjects.infinigram.answers import Ids, Places, places_in, tokens_in
from tabcontam.subjects.infinigram.reading import Send
from tabcontam.subjects.infinigram.terms import CLAUSES, TERMS

LONGEST_QUERY = 450  # characters, of which each may be a token: a query takes 500
AT_ONCE = CLAUSES * TERMS // 2  # texts of a query, each in two terms
LISTED = 50_000  # places of a clause that are all told; there may be 500,000
KEPT = 64  # lists of places

Clause = tuple[Ids, ...]


@dataclass
class Memory:
    """Each text is asked for once, and so are the places of a clause as long as they are kept."""

    index: str
    tokens: dict[str, Clause] = field(default_factory=dict)
    places: dict[Clause, Places] = field(default_factory=dict)

    async def learn(self, texts: Iterable[str], send: Send) -> None:
        """Ask how texts are written that are not known yet, many at a time: a server says so of every query.

        Each stands in the query twice: as it is, which the server reads as if a blank stood before it, and behind a
        line break, behind which it is written as behind a comma, a quote or a tab.
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
        """The tokens of texts, each behind a blank and behind any other sign.

        What begins like another is left out, since it is found with that.
        """
        kept: list[Ids] = []
        for one in (way for text in texts for way in self.tokens.get(text, ())):
            if not any(one[: len(other)] == other for other in kept):
                kept.append(one)
        return tuple(kept)

    async def listed(self, clause: Clause, send: Send) -> Places:
        """Where any term of a clause stands, all places or a sample of them."""
        if clause not in self.places:
            found = await self.find((clause,), 1, LISTED, send)
            while len(self.places) >= KEPT:
                del self.places[next(iter(self.places))]
            self.places[clause] = found
        return self.places[clause]

    async def find(self, clauses: Sequence[Clause], apart: int, frequency: int, send: Send) -> Places:
        """Where all clauses are met, at most `apart` tokens from one to the next, by as many places of each."""
        body = {
            "index": self.index,
            "query_type": "find_cnf",
            "query_ids": [[list(one) for one in clause] for clause in clauses],
            "max_clause_freq": frequency,
            "max_diff_tokens": apart,
        }
        return places_in(await send(body))


def _first(texts: Sequence[str]) -> Sequence[str]:
    """As many of the texts as one query takes, at least one."""
    length = 0
    for place, text in enumerate(texts[:AT_ONCE]):
        length += 2 * len(text) + len(" OR  AND ")
        if place and length > LONGEST_QUERY:
            return texts[:place]
    return texts[:AT_ONCE]
