"""Lookups answered from the index of a corpus: what is rare in each is found there, and the text around it is read.

Of a row it is the rarest of its values, or, where some may lack, the rarest few; of texts that are compared by words
the rarest word of each. A number is looked for by the digits of its value, a word by its first letters, as capitals and
as small ones: so every place is found at which it may stand. What of that is a find, `search` decides. A lookup that
has nothing rare, or is compared by signs, is not answered here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from tabcontam.evidence.questions import By, Lookup
from tabcontam.subjects.corpora.blocks import MARGIN, Block, Piece
from tabcontam.subjects.corpora.cells import LONGEST, Row
from tabcontam.subjects.corpora.counted import Counted
from tabcontam.subjects.corpora.exact import as_sought, keys_of
from tabcontam.subjects.corpora.index import Index
from tabcontam.subjects.corpora.search import Search
from tabcontam.subjects.corpora.shards import Shard, Sought
from tabcontam.subjects.corpora.words import number_key

FIRST = 4  # letters of a word that are looked for
RARE = 100  # places, at most, of what is rare in a lookup
TOGETHER = 32  # regions that are looked through at once

Spelled = tuple[bytes, ...]  # strings of bytes, one of which stands wherever a word stands


@dataclass(frozen=True)
class _Needs:
    """What has to stand where a lookup is found: of `least` of these things one, and all of them but `least` - 1."""

    things: tuple[tuple[Spelled, ...], ...]
    least: int
    keys: tuple[bytes, ...] = ()

    def rarest(self, often: Mapping[bytes, int]) -> tuple[int, set[bytes]]:
        """The strings by which every place is found, and how often they occur."""
        words = [min(thing, key=lambda spelled: _sum(often, spelled)) for thing in self.things]
        chosen = sorted(words, key=lambda spelled: _sum(often, spelled))[: self.least]
        strings = {text for spelled in chosen for text in spelled}
        return sum(often[text] for text in strings), strings

    def may_be(self, text: bytes) -> bool:
        """Whether a text in small letters may hold it: cheap, and never wrong where it says no."""
        return all(key in text for key in self.keys)


@dataclass(frozen=True, eq=False)
class Indexed:
    """An index with the lookups that are answered from it."""

    index: Index
    lookups: Sequence[Lookup]

    def found(self) -> dict[int, Counted]:
        """What stands in the corpus, by the place of the lookup; those that are not there are to be read for."""
        chosen = self._chosen
        found = {number: Counted(self.lookups[number].most) for number in chosen}
        search, others = Search(self.lookups), frozenset(range(len(self.lookups))) - chosen.keys()
        for block in self._blocks():
            for number, counted in search.found_in(block, others).items():
                found[number].join(counted)
        for number in search.given_up:
            found[number].more = True
        return found

    @cached_property
    def _needs(self) -> dict[int, _Needs]:
        needs = {number: _needs(lookup) for number, lookup in enumerate(self.lookups)}
        return {number: found for number, found in needs.items() if found is not None}

    @cached_property
    def _chosen(self) -> dict[int, set[bytes]]:
        """For each lookup that has something rare its strings."""
        needed = {text for need in self._needs.values() for thing in need.things for word in thing for text in word}
        texts = sorted(needed)
        often = dict(zip(texts, self.index.count(texts), strict=True))
        rarest = {number: need.rarest(often) for number, need in self._needs.items()}
        return {number: strings for number, (times, strings) in rarest.items() if times <= RARE}

    def _blocks(self) -> Iterator[Block]:
        """The text around the places of what is rare, where the rest may stand, too."""
        wanting: dict[bytes, list[_Needs]] = {}
        for number, strings in self._chosen.items():
            for text in strings:
                wanting.setdefault(text, []).append(self._needs[number])
        sought = Sought(sorted(wanting))
        shards = self.index.shards
        for place, shard in enumerate(shards):
            goes_on = place + 1 < len(shards) and shards[place + 1].shared > 0
            low = MARGIN if shard.shared else 0
            high = shard.size - 2 * LONGEST if goes_on else shard.size
            held: list[tuple[Piece, bytes]] = []
            for text, at in _places(shard, sought, low, high):
                if (region := self._region(shard, at, wanting[text])) is not None:
                    held.append(region)
                if len(held) == TOGETHER:
                    yield Block.of(held)
                    held = []
            if held:
                yield Block.of(held)

    def _region(self, shard: Shard, at: int, wanting: Iterable[_Needs]) -> tuple[Piece, bytes] | None:
        """The text of a document around a place; its own are the places that begin so near that they may reach it."""
        source, begin, end, offset = self.index.document(shard, at)
        near = bytes(shard.text[max(begin, at - LONGEST) : min(end, at + LONGEST)]).lower()
        if not any(need.may_be(near) for need in wanting):
            return None
        low, high = max(begin, at - LONGEST - MARGIN), min(end, at + 2 * LONGEST)
        piece = Piece(source, offset + low - begin, low, high, max(begin, at - LONGEST), at + 1)
        return piece, bytes(shard.text[low:high])


def _needs(lookup: Lookup) -> _Needs | None:
    """What has to stand where a lookup is found; None where the index does not tell."""
    if lookup.by is By.CELLS:
        row = Row.of(lookup)
        values = {value.keys for value in row.beside}
        things = tuple(tuple(map(_spelled, keys)) for keys in values)
        keys = tuple({key for keys in values for key in keys})
        return _Needs(things, row.lacking + 1, keys if not row.lacking else ()) if len(things) > row.lacking else None
    if lookup.by is By.WORDS:
        texts = [tuple(map(_spelled, own)) for text in lookup.texts if (own := keys_of(as_sought(text)))]
        return _Needs(tuple(texts), len(texts)) if texts else None
    if lookup.by is By.LETTERS:
        strings = [as_sought(text) for text in lookup.texts if text]
        return _Needs(tuple(((text,),) for text in strings), len(strings)) if strings else None
    return None


def _spelled(key: bytes) -> Spelled:
    """How a word may be written: a number as it is, with or without zeros around it; of another the first letters."""
    if number_key(key) is not None:
        return (key,)
    letters = [place for place, sign in enumerate(key) if chr(sign).isascii() and chr(sign).isalpha()]
    first = key[: letters[FIRST]] if len(letters) > FIRST else key
    return tuple(map(bytes, product(*({sign, *bytes([sign]).upper()} for sign in first))))


def _sum(often: Mapping[bytes, int], spelled: Spelled) -> int:
    return sum(often[text] for text in spelled)


def _places(shard: Shard, sought: Sought, low: int, high: int) -> list[tuple[bytes, int]]:
    """Where the strings stand in a shard, in order, from one byte to another."""
    first, last = shard.ranges(sought)
    found = [
        (int(at), sought.texts[place])
        for place in (last > first).nonzero()[0].tolist()
        for at in shard.suffixes(int(first[place]), int(last[place]))
        if low <= at < high
    ]
    return [(text, at) for at, text in sorted(found)]
