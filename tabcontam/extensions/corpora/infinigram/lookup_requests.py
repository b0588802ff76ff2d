"""The requests for one lookup: they search for places, read the text there, and find the matches in it.

A row is searched for by the values next to the compared value, in any order. The compared value itself is in no query,
so all its alternatives are treated equally. The server finds where a row may be. The text of the documents decides
whether it is there.
"""

from collections.abc import Sequence
from itertools import chain, zip_longest

from tabcontam.evidence.questions import Lookup, LookupMode, Match, Matches, ReplyState
from tabcontam.extensions.corpora.infinigram.excerpt_reader import ExcerptReader, Send
from tabcontam.extensions.corpora.infinigram.index_memory import Clause, IndexMemory
from tabcontam.extensions.corpora.infinigram.replies import Excerpt, TokenPlaces, join_places, merge_places
from tabcontam.extensions.corpora.infinigram.search_terms import (
    TERMS,
    as_words,
    clauses,
    halves,
    rarest,
    spellings,
    term,
)
from tabcontam.extensions.corpora.search.exact_places import places as places_in
from tabcontam.extensions.corpora.search.lookup_matches import quote_match
from tabcontam.extensions.corpora.search.row_places import TextSpan
from tabcontam.extensions.corpora.thresholds import (
    MOST_EXCERPTS,
    MOST_LISTED_PLACES,
    MOST_ROW_TOKENS,
    MOST_SEARCHED_PLACES,
    MOST_TOKENS_BETWEEN_CLAUSES,
    MOST_TOKENS_BETWEEN_VALUES,
    NEAR_TOKENS,
    TOKENS_AROUND_TEXT,
)


class LookupRequests:
    """The requests for one lookup, which `send` sends."""

    def __init__(self, lookup: Lookup, memory: IndexMemory, send: Send) -> None:
        self._lookup, self._memory, self._send = lookup, memory, send
        self._most = max(1, min(MOST_EXCERPTS, lookup.most))
        self._reader = ExcerptReader(memory.index, send, self._most)
        self._matches: list[Match] = []
        self._holding: dict[int, set[int]] = {place: set() for place in range(len(lookup.texts))}
        self._sampled = self._left = False

    async def matches(self) -> Matches:
        """Return the matches. Raises the errors of `send`, and ValueError for an invalid reply."""
        return await (self._row() if self._lookup.by is LookupMode.CELLS else self._texts())

    async def _row(self) -> Matches:
        """Search for a row by its rarest values in any order; if they are too frequent, also by halves of the row."""
        parts = clauses(rarest(self._lookup.context), self._lookup.lacking)
        if not parts:
            return Matches((), 0, ReplyState.FAILED, "too few of the row's other values can be searched for")
        await self._memory.learn((way for part in parts for word in part for way in spellings(word)), self._send)
        reach = min(MOST_ROW_TOKENS, MOST_TOKENS_BETWEEN_VALUES * len(self._lookup.context) + self._length)
        lists = await self._lists(parts, reach)
        whole = join_places(lists, reach)
        for between in NEAR_TOKENS if whole.count > self._most else ():  # places with the closest values are read first
            await self._read(join_places(lists, between * len(self._lookup.context) + self._length), reach)
        await self._read(whole, reach)
        self._sampled = not lists
        self._left = not self._reader.knows_all(whole)
        if self._sampled or self._left:
            await self._as_files_have_it()
        if self._sampled:
            await self._together(parts)
        return self._answer()

    async def _lists(self, parts: Sequence[Sequence[str]], reach: int) -> list[TokenPlaces]:
        """Return the places of each of the `parts` (alternative words), without parts for which the server returns no
        complete list. Stop as soon as few places are left at which the row may be.
        """
        lists = list[TokenPlaces]()
        for part in parts:
            each = [await self._memory.listed(self._terms(word), self._send) for word in part]
            if all(places.complete(MOST_LISTED_PLACES) for places in each):
                lists.append(merge_places(each))
                if join_places(lists, reach).count <= self._most:
                    break
        return lists

    def _terms(self, word: str) -> Clause:
        return self._memory.terms(spellings(word))[:TERMS]

    async def _as_files_have_it(self) -> None:
        """Read the places of half of the row, with commas, tabs or blanks between its values."""
        texts = halves(self._lookup.context)
        self._reader.left = self._most
        await self._memory.learn(texts, self._send)
        for clause in _each(self._memory.terms(texts)):
            await self._read(
                await self._memory.find((clause,), 1, MOST_LISTED_PLACES, self._send),
                TOKENS_AROUND_TEXT + 2 * self._length,
            )

    async def _together(self, parts: Sequence[Sequence[str]]) -> None:
        """Read places where values are near each other, which the server finds among samples of the values' places."""
        apart = min(MOST_TOKENS_BETWEEN_CLAUSES, MOST_TOKENS_BETWEEN_VALUES * len(self._lookup.context) + self._length)
        in_turns = [chain.from_iterable(zip_longest(*map(self._terms, part))) for part in parts]
        terms = [tuple(one for one in turn if one)[:TERMS] for turn in in_turns]
        self._reader.left = self._most
        await self._read(await self._memory.find(terms, apart, MOST_SEARCHED_PLACES, self._send), len(terms) * apart)

    async def _texts(self) -> Matches:
        """Search for each text of the lookup as it is written; if case is ignored, also in lower case."""
        ways = [way for text in self._lookup.texts for way in self._ways(term(text))]
        await self._memory.learn(ways, self._send)
        found = _each(self._memory.terms(ways))
        if not found:
            return Matches((), 0, ReplyState.FAILED, "none of the texts can be searched for")
        for clause in found:
            places = await self._memory.find((clause,), 1, MOST_LISTED_PLACES, self._send)
            await self._read(places, TOKENS_AROUND_TEXT + max(map(len, self._lookup.texts)))
            self._sampled |= not places.complete(MOST_LISTED_PLACES)
            self._left |= not self._reader.knows_all(places)
        return self._answer()

    def _ways(self, text: str) -> tuple[str, ...]:
        ways = (text, text.lower()) if self._lookup.by is LookupMode.WORDS else (text,)
        return tuple(dict.fromkeys(ways)) if as_words(text) else ()

    @property
    def _length(self) -> int:
        """The length of the row's values in characters, which is the most tokens that they can have."""
        return sum(map(len, self._lookup.context))

    async def _read(self, places: TokenPlaces, reach: int) -> None:
        """Read the text around the places. Note the texts of the lookup that it contains."""
        async for excerpt in self._reader.read(tuple(places), reach):
            for match in found_in(self._lookup, excerpt):
                self._holding[match.text].add(excerpt.document)
                self._matches.append(match)

    def _answer(self) -> Matches:
        documents = set[int]().union(*self._holding.values())
        counts = tuple(map(len, self._holding.values()))
        first = {match.text: match for match in reversed(self._matches)}
        others = [match for match in self._matches if first[match.text] is not match]
        shown = (*(first[text] for text in sorted(first)), *others)[: self._lookup.most]
        part = self._part
        if part and not documents:
            return Matches((), 0, ReplyState.TRUNCATED, part, counts=counts, more=True)
        return Matches(shown, len(documents), ReplyState.OK, counts=counts, more=bool(part))

    @property
    def _part(self) -> str:
        """The reason why more documents may match than were found; empty if there is none."""
        if self._sampled:
            return "the text is so common that the index searched only a sample of its places"
        if self._left:
            return f"there may be more places than the {self._reader.count} that were read"
        return "the index does not show every document that may hold the text" if self._reader.unseen else ""


def _each(terms: Clause) -> list[Clause]:
    """Return the terms split into clauses, one for each query."""
    return [terms[place : place + TERMS] for place in range(0, len(terms), TERMS)]


def found_in(lookup: Lookup, excerpt: Excerpt) -> list[Match]:
    """Return a match for the first place of each text of the lookup that the stretch contains.

    A place at an edge does not count if the document continues there, because a better place may follow.
    """
    text, first = excerpt.text.encode("utf-8", "replace"), dict[int, TextSpan]()
    for place in places_in(text, lookup):
        size = place.end - place.begin
        if (excerpt.begins or place.begin >= size) and (excerpt.ends or len(text) - place.end >= size):
            first.setdefault(place.text, place)
    # The offset of a match is unknown, because no reply states where the stretch begins.
    quotes = {place: quote_match(text, place.begin, place.end, 0, len(text)) for place in first.values()}
    return [Match(excerpt.name, -1, *quote, place.text, place.lacking) for place, quote in quotes.items()]
