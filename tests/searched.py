"""Documents in memory, searched as a `Lookup` says, slowly: what tests compare quick searches with."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

from tabcontam.evidence.base import Lookup, LookupMode, Match, Matches, ReplyState

WORD = re.compile(r"(?:[0-9A-Za-z\u0080-\U0010ffff]|(?<=[0-9])\.(?=[0-9]))+")
NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
NUL = "\0"
PIECES = {LookupMode.WORDS: WORD, LookupMode.SIGNS: re.compile(r"[^\W_]")}
GAP, NUMBERS = 12, 2  # other words between two neighbouring values, and of these pure numbers
AROUND = 40  # letters of a quote beside what was found


class Place(NamedTuple):
    """A span of words in which a row stands."""

    others: int  # words of other things in it
    lacking: int
    begin: int
    end: int


def words_of(text: str) -> list[tuple[str, int, int]]:
    """The words of a text, as they are compared, each with where it stands. A minus before a number is its sign."""
    found = []
    for word in WORD.finditer(text):
        at = word.start()
        minus = text[at - 1 : at] in ("-", "\u2212") and not WORD.match(text[max(0, at - 2) : at - 1])
        found.append((key_of(word.group(), minus), at, word.end()))
    return found


def key_of(word: str, minus: bool = False) -> str:
    """Equal numbers have one key, and words one without a look at case."""
    if not NUMBER.fullmatch(word):
        return word.casefold()
    value = Decimal(word).normalize()
    return format(-value if minus and value else value, "f")


class Near(NamedTuple):
    """A value that stands there; the hidden one has no words of its own."""

    begin: int
    end: int
    keys: tuple[str, ...] = ()


class Document:
    """A document with an index of its words."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = words_of(text)
        self.keys = [key for key, _, _ in self.words]
        self.numbers = [0, *accumulate(bool(NUMBER.fullmatch(key.lstrip("-"))) for key in self.keys)]
        self.at: dict[str, list[int]] = defaultdict(list)
        for place, key in enumerate(self.keys):
            self.at[key].append(place)

    def figures(self, begin: int, end: int) -> int:
        """How many of these words are pure numbers."""
        return self.numbers[end] - self.numbers[begin]

    @cache  # noqa: B019 - of a test, as long as its documents
    def pieces(self, by: LookupMode) -> tuple[list[tuple[int, int]], str]:
        """Where its words stand, or its letters and digits, and all of them as one text with a NUL around each."""
        found = list(PIECES[by].finditer(self.text))
        texts = [piece.group().casefold() if by is LookupMode.WORDS else piece.group() for piece in found]
        return [piece.span() for piece in found], f"\0{NUL.join(texts)}\0"

    def stands(self, keys: Sequence[str], low: int = 0, high: int | None = None) -> Iterator[int]:
        """The places from which on these words stand in a row."""
        places = self.at.get(keys[0], [])
        for place in places[bisect_left(places, low) :]:
            if high is not None and place >= high:
                return
            if self.keys[place : place + len(keys)] == list(keys):
                yield place


@dataclass(frozen=True)
class Wanted:
    """The values that have to stand together."""

    texts: tuple[tuple[str, ...], ...]
    beside: Counter[tuple[str, ...]]
    lacking: int

    @property
    def count(self) -> int:
        """How many values a row has."""
        return self.beside.total() + 1


@lru_cache(maxsize=100_000)
def keys(text: str) -> tuple[str, ...]:
    """A value's words, as they are compared."""
    return tuple(key for key, _, _ in words_of(text))


def wanted(lookup: Lookup) -> Wanted:
    """A lookup's values by their words."""
    return Wanted(tuple(map(keys, lookup.texts)), Counter(map(keys, lookup.context)), lookup.lacking)


def rows_in(document: Document, row: Wanted) -> dict[int, Place]:
    """For each text that stands somewhere with the values beside it one place that it won."""
    there = {keys: list(document.stands(keys)) if keys else [] for keys in row.beside}
    rare = sorted(row.beside.elements(), key=lambda keys: len(there[keys]))
    anchors: set[tuple[int, int]] = {(place, len(keys)) for keys in rare[: row.lacking + 1] for place in there[keys]}
    found: dict[int, Place] = {}
    for anchor, length in sorted(anchors):
        best = _around(document, row, anchor, anchor + length)
        least = min((place.others for place in best.values()), default=0)
        for text, place in best.items():
            if place.others == least:
                found.setdefault(text, place)
    return found


def _around(document: Document, row: Wanted, begin: int, end: int) -> dict[int, Place]:
    """For each text the tightest place around an anchor, if there is one."""
    longest = sum(map(len, row.beside.elements())) + max(map(len, row.texts)) + GAP * row.count
    low, high = max(0, begin - longest), min(len(document.keys), end + longest)
    near: list[Near] = []
    for keys in row.beside:
        near += [Near(at, at + len(keys), keys) for at in document.stands(keys, low, high)] if keys else []
    found: dict[int, Place] = {}
    for number, text in enumerate(row.texts):
        for at in document.stands(text, low, high) if text else ():
            place = _tightest(document, row, sorted([*near, Near(at, at + len(text))]), (begin, end))
            if place and (number not in found or place < found[number]):
                found[number] = place
    return found


def _tightest(document: Document, row: Wanted, near: Sequence["Near"], anchor: tuple[int, int]) -> Place | None:
    """The place with the fewest other words that begins at one of these values and has the text and the anchor."""
    found = []
    for start in range(len(near)):
        if near[start][0] > anchor[0]:
            break
        needed, told, figures, own = row.beside.copy(), 0, 0, False
        first = last = near[start][0]
        for begin, end, keys in near[start:]:
            if begin < last or (keys and not needed[keys]):
                continue
            if begin - last > GAP or document.figures(last, begin) > NUMBERS:
                break
            if not keys:
                own = True
            else:
                needed[keys] -= 1
            told, last, figures = told + end - begin, end, figures + document.figures(begin, end)
            lacking = needed.total()
            whole = own and lacking <= row.lacking and last >= anchor[1]
            if whole and document.figures(first, last) - figures <= row.count // 3 + 1:
                found.append(Place(last - first - told, lacking, first, last))
    return min(found, default=None)


class Searched:
    """A body of documents by their names."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._documents = {name: Document(text) for name, text in documents.items()}

    def find(self, lookup: Lookup) -> Matches:
        """Where the texts of a lookup stand."""
        found: list[Match] = []
        counts, documents = Counter[int](), 0
        row = wanted(lookup) if lookup.by is LookupMode.CELLS else None
        for name, document in self._documents.items():
            spans = dict(self._spans(document, lookup, row))
            documents += bool(spans)
            counts.update(spans.keys())
            for text, (begin, end, lacking) in spans.items():
                found.append(self._match(name, document.text, begin, end, text, lacking))
        every = tuple(counts[text] for text in range(len(lookup.texts)))
        return Matches(tuple(found[: lookup.most]), documents, ReplyState.OK, counts=every)

    @staticmethod
    def _match(name: str, text: str, begin: int, end: int, number: int, lacking: int) -> Match:
        low = max(0, begin - AROUND)
        offset = len(text[:begin].encode("utf-8"))
        return Match(name, offset, text[low : end + AROUND], begin - low, end - low, number, lacking)

    @staticmethod
    def _spans(document: Document, lookup: Lookup, row: Wanted | None) -> Iterator[tuple[int, tuple[int, int, int]]]:
        if row is not None:
            for which, place in rows_in(document, row).items():
                yield which, (document.words[place.begin][1], document.words[place.end - 1][2], place.lacking)
            return
        for number, text in enumerate(lookup.texts):
            span = _span(document, text, lookup.by)
            if span is not None:
                yield number, (*span, 0)


def _span(document: Document, text: str, by: LookupMode) -> tuple[int, int] | None:
    """Where a text stands letter by letter, by its words in a row or by its letters and digits."""
    if by is LookupMode.LETTERS:
        at = document.text.find(text)
        return (at, at + len(text)) if at >= 0 else None
    spans, joined = document.pieces(by)
    own = [piece.group().casefold() if by is LookupMode.WORDS else piece.group() for piece in PIECES[by].finditer(text)]
    at = joined.find(f"\0{NUL.join(own)}\0") if own else -1
    if at < 0:
        return None
    place = joined.count(NUL, 0, at)
    return spans[place][0], spans[place + len(own) - 1][1]
