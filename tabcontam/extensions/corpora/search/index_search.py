"""Lookups answered from the index of a corpus: the index finds the rare parts of a lookup, and only the text around
them is read.

The rare part of a row is its rarest value, or the rarest few if some may be missing. The rare parts of texts compared
by words are the rarest word of each. A number is sought by its digits without outer zeros. A word is sought by its
first letters in upper and lower case. `CorpusSearch` decides which of the places found are matches. A lookup without a
rare part, or compared by signs, is not answered here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from tabcontam.evidence.questions import Lookup, LookupMode
from tabcontam.extensions.corpora.search.corpus_index import CorpusIndex
from tabcontam.extensions.corpora.search.corpus_search import CorpusSearch
from tabcontam.extensions.corpora.search.corpus_words import number_key
from tabcontam.extensions.corpora.search.exact_places import encode_text, keys_of
from tabcontam.extensions.corpora.search.index_shards import IndexShard
from tabcontam.extensions.corpora.search.lookup_matches import LookupMatches
from tabcontam.extensions.corpora.search.row_places import RowLookup
from tabcontam.extensions.corpora.search.text_blocks import MARGIN, BlockPiece, TextBlock
from tabcontam.extensions.corpora.thresholds import LONGEST_ROW_SPAN

Spelled = tuple[bytes, ...]  # strings; one of them is wherever the word is


@dataclass(frozen=True)
class _RequiredStrings:
    """The `things` (texts in several spellings) for a match: it contains one or more of any `least` of them."""

    things: tuple[tuple[Spelled, ...], ...]
    least: int
    keys: tuple[bytes, ...] = ()

    def rarest(self, often: Mapping[bytes, int]) -> tuple[int, set[bytes]]:
        """Return the number of places to search, and the strings found there: every match contains one of these."""
        words = [min(thing, key=lambda spelled: _sum(often, spelled)) for thing in self.things]
        chosen = sorted(words, key=lambda spelled: _sum(often, spelled))[: self.least]
        strings = {text for spelled in chosen for text in spelled}
        return sum(often[text] for text in strings), strings

    def may_be(self, text: bytes) -> bool:
        """Return whether a lower-case text may match the lookup. This check is cheap, and False is always right."""
        return all(key in text for key in self.keys)


@dataclass(frozen=True, eq=False)
class IndexSearch:
    """The search in an index for the lookups that the index can answer."""

    index: CorpusIndex
    lookups: Sequence[Lookup]

    def find_matches(self) -> dict[int, LookupMatches]:
        """Return the matches by the lookup's index. Lookups without an entry need a reading of the corpus."""
        chosen = self._chosen
        found = {number: LookupMatches(self.lookups[number].most) for number in chosen}
        search, others = CorpusSearch(self.lookups), frozenset(range(len(self.lookups))) - chosen.keys()
        for block in self._blocks():
            for number, counted in search.found_in(block, others).items():
                found[number].join(counted)
        for number in search.given_up:
            found[number].more = True
        return found

    @cached_property
    def _needs(self) -> dict[int, _RequiredStrings]:
        needs = {number: _needs(lookup) for number, lookup in enumerate(self.lookups)}
        return {number: found for number, found in needs.items() if found is not None}

    @cached_property
    def _chosen(self) -> dict[int, set[bytes]]:
        """The strings to search for, by the index of the lookup; only lookups with a rare part have an entry."""
        rare = 100  # a part with more places is not rare
        needed = {text for need in self._needs.values() for thing in need.things for word in thing for text in word}
        often = self.index.count(needed)
        rarest = {number: need.rarest(often) for number, need in self._needs.items()}
        return {number: strings for number, (times, strings) in rarest.items() if times <= rare}

    # together: regions in one block
    def _blocks(self, *, together: int = 32) -> Iterator[TextBlock]:
        """Yield the text around the places of the rare strings, far enough for the rest of each lookup."""
        wanting: dict[bytes, list[_RequiredStrings]] = {}
        for number, strings in self._chosen.items():
            for text in strings:
                wanting.setdefault(text, []).append(self._needs[number])
        shards = self.index.shards
        for place, shard in enumerate(shards):
            goes_on = place + 1 < len(shards) and shards[place + 1].shared > 0
            low = MARGIN if shard.shared else 0
            high = shard.size - 2 * LONGEST_ROW_SPAN if goes_on else shard.size
            regions: list[tuple[BlockPiece, bytes]] = []
            places = sorted((at, text) for text in wanting for at in shard.places(text) if low <= at < high)
            for at, text in places:
                if (region := self._region(shard, at, wanting[text])) is not None:
                    regions.append(region)
                if len(regions) == together:
                    yield TextBlock.of(regions)
                    regions = []
            if regions:
                yield TextBlock.of(regions)

    def _region(
        self, shard: IndexShard, at: int, wanting: Iterable[_RequiredStrings]
    ) -> tuple[BlockPiece, bytes] | None:
        """Return the text of a document around a place. The piece counts (owns) the matches that can include `at`."""
        source, begin, end, offset = self.index.document(shard, at)
        near = shard.text[max(begin, at - LONGEST_ROW_SPAN) : min(end, at + LONGEST_ROW_SPAN)].lower()
        if not any(need.may_be(near) for need in wanting):
            return None
        low, high = max(begin, at - LONGEST_ROW_SPAN - MARGIN), min(end, at + 2 * LONGEST_ROW_SPAN)
        piece = BlockPiece(source, offset + low - begin, low, high, max(begin, at - LONGEST_ROW_SPAN), at + 1)
        return piece, shard.text[low:high]


def _needs(lookup: Lookup) -> _RequiredStrings | None:
    """Return the strings that are needed for a match, or None if the index cannot answer the lookup."""
    if lookup.by is LookupMode.CELLS:
        row = RowLookup.of(lookup)
        values = {value.keys for value in row.others}
        things = tuple(tuple(map(_spelled, keys)) for keys in values)
        keys = () if row.lacking else tuple({key for keys in values for key in keys})
        return _RequiredStrings(things, row.lacking + 1, keys) if len(things) > row.lacking else None
    if lookup.by is LookupMode.WORDS:
        texts = [tuple(map(_spelled, own)) for text in lookup.texts if (own := keys_of(encode_text(text)))]
        return _RequiredStrings(tuple(texts), len(texts)) if texts else None
    if lookup.by is LookupMode.LETTERS:
        strings = [encode_text(text) for text in lookup.texts if text]
        return _RequiredStrings(tuple(((text,),) for text in strings), len(strings)) if strings else None
    return None


def _spelled(key: bytes) -> Spelled:
    """Return the spellings of a word to search for: a number's key, or a word's first letters in both cases."""
    first_letters = 4  # letters of a word that are searched for
    if number_key(key) is not None:
        return (key,)
    letters = [place for place, sign in enumerate(key) if chr(sign).isascii() and chr(sign).isalpha()]
    first = key[: letters[first_letters]] if len(letters) > first_letters else key
    return tuple(map(bytes, product(*({sign, *bytes([sign]).upper()} for sign in first))))


def _sum(often: Mapping[bytes, int], spelled: Spelled) -> int:
    return sum(often[text] for text in spelled)
