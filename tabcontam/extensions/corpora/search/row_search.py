"""The search for many rows in a block of text at once.

The fast steps only drop what cannot match: first rows with a value that is not in the block, then places of a row's
rarest value without the other values nearby. `row_places.spans` decides on the rest.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tabcontam.extensions.corpora.search.corpus_words import words
from tabcontam.extensions.corpora.search.row_places import CellValue, RowLookup, TextSpan, spans, winners
from tabcontam.extensions.corpora.search.text_blocks import TextBlock
from tabcontam.extensions.corpora.search.word_arrays import KnownHashes, Numbers, tokens
from tabcontam.extensions.corpora.thresholds import MOST_CHECKED_WORDS, MOST_ROW_PLACES


class RowSearch:
    """A search for rows. Each row has a number that the caller chose."""

    def __init__(self, rows: Mapping[int, RowLookup]) -> None:
        self.given_up: set[int] = set()
        self._tried: Counter[int] = Counter()
        self._rows = {number: row for number, row in rows.items() if any(text.keys for text in row.texts)}
        self._numbers = list(self._rows)
        every = chain.from_iterable((*row.texts, *row.others) for row in self._rows.values())
        values = [value for value in dict.fromkeys(every) if value.keys]
        self._value = {value: place for place, value in enumerate(values)}
        keys = list(dict.fromkeys(key for value in values for key in value.keys))
        hashes = tokens(b" ".join(keys)).hashes
        self._known = KnownHashes(hashes)
        of_key = dict(zip(keys, self._known.places(hashes).tolist(), strict=True)) if keys else {}
        self._words = _NumberLists([[of_key[key] for key in value.keys] for value in values])
        # A last value that is in no row, but may be everywhere, so no list is empty.
        place, listed = self._value.__getitem__, self._rows.values()
        self._others = _NumberLists([[*map(place, set(row.others)), len(values)] for row in listed])
        self._texts = _NumberLists([[place(text) for text in set(row.texts) if text.keys] for row in listed])
        self._lacking = np.array([row.lacking for row in listed], np.int64)

    def begin(self) -> None:
        """Forget which rows the search has given up, for a new search."""
        self.given_up, self._tried = set(), Counter()

    def find(self, block: TextBlock, over: frozenset[int] = frozenset()) -> Iterator[tuple[int, int, list[TextSpan]]]:
        """Yield a row's number, a piece's number and the row's places there. Rows in `over` are left out."""
        everywhere = 1 << 60  # the number of places of the last value
        if not self._rows:
            return
        at, which = self._known.among(block.tokens.hashes)
        often = np.bincount(which, minlength=len(self._known))
        rarest = np.append(self._words.least(often), everywhere)
        absent = self._others.sums(rarest == 0)
        possible = (absent <= self._lacking) & (self._texts.sums(rarest > 0) > 0)
        stands: _WordPlaces | None = None
        for place in np.flatnonzero(possible).tolist():
            number = self._numbers[place]
            if number in over or number in self.given_up:
                continue
            stands = stands or _WordPlaces(block, at, which, often)
            yield from self._of_row(number, stands)

    def _of_row(self, number: int, stands: "_WordPlaces") -> Iterator[tuple[int, int, list[TextSpan]]]:
        row, found = self._rows[number], dict[int, list[TextSpan]]()
        texts = [text for text, own in enumerate(row.texts) if own.keys and len(self._places_of(own, stands))]
        near, all_of_them = self._near(row, stands)
        if not all_of_them:
            self.given_up.add(number)
        for piece, first, last in near:
            self._tried[number] += (last - first + 1) * len(texts)
            if self._tried[number] > MOST_CHECKED_WORDS:
                self.given_up.add(number)
                break
            begin, end = stands.bytes(first, last)
            clean, shift = stands.block.around(begin, end)
            places = spans(clean, words(clean, begin - shift, end - shift), row, texts)
            found.setdefault(piece, []).extend(
                place._replace(begin=place.begin + shift, end=place.end + shift) for place in places
            )
        for piece, places in found.items():
            if won := winners(places):
                yield number, piece, won

    def _near(self, row: RowLookup, stands: "_WordPlaces") -> tuple[list[tuple[int, int, int]], bool]:
        """Return places where the row may be (piece, first word, last word), and whether these are all such places."""
        few = 3  # so few places need no further filter
        often = Counter(row.others)
        texts = [self._places_of(text, stands) for text in set(row.texts) if text.keys]
        others = sorted(
            ((self._places_of(value, stands), count) for value, count in often.items()), key=lambda one: len(one[0])
        )
        # One of the rarest is there even if `lacking` values are not; so is the text, which is never missing.
        rarest = [at for at, _ in others[: row.lacking + 1]]
        by_text = len(others) <= row.lacking or sum(map(len, texts)) <= sum(map(len, rarest))
        at = _merged(texts if by_text else rarest)
        left = _CandidatePlaces(row.lacking, texts, others, at, *stands.reach(at, row))
        left.keep()
        all_of_them = left.cut(MOST_ROW_PLACES)
        if len(left.places):
            left.keep_within(stands.block.tokens.numbers, row.most_numbers)
        if len(left.places) > few:
            singles = [value for value in often if len(value.keys) == 1 and value.minus is None]
            own = sum(often[value] for value in singles) + 1
            left.keep_within(_merged([self._places_of(value, stands) for value in singles]), own + row.most_extra)
        return stands.joined(left.low, left.high, row.most_words), all_of_them

    def _places_of(self, value: CellValue, stands: "_WordPlaces") -> Numbers:
        """Return the places where a value may be: those of its rarest word."""
        return stands.of(min(self._words[self._value[value]], key=stands.often.__getitem__))


@dataclass(eq=False)
class _CandidatePlaces:
    """Places around which a row may be, each with the first and the last word of any span there."""

    lacking: int
    texts: Sequence[Numbers]
    others: Sequence[tuple[Numbers, int]]
    places: Numbers
    low: Numbers
    high: Numbers

    def keep(self) -> None:
        """Drop places without all values (except `lacking`) nearby. The rarest values are checked first."""
        left = np.full(len(self.places), self.lacking)
        for at, often in self.others:
            left -= np.maximum(often - _number(at, self.low, self.high), 0)
            if not (kept := left >= 0).all():
                left = left[kept]
                self._only(kept)
        self._only(self._with_text(self.low, self.high))

    def _only(self, kept: NDArray[np.bool_]) -> None:
        self.places, self.low, self.high = self.places[kept], self.low[kept], self.high[kept]

    def cut(self, most: int) -> bool:
        """Keep only the first `most` places. Return whether these are all."""
        whole = len(self.places) <= most
        self.places, self.low, self.high = self.places[:most], self.low[:most], self.high[:most]
        return whole

    def keep_within(self, limited: Numbers, most: int) -> None:
        """Keep places in a run of words that has the row's values, but at most `most` of the words in `limited`."""
        ends = np.concatenate((np.full(most + 1, -1), limited, np.full(most + 1, 1 << 60)))
        first = np.searchsorted(limited, self.places)[:, None] + np.arange(1, most + 2)  # indexes in `ends`
        low = np.maximum(self.low[:, None], ends[first - 1] + 1)
        high = np.minimum(self.high[:, None], ends[first + most] - 1)
        complete = self._complete(low.ravel(), high.ravel()).reshape(low.shape) & (low <= high)
        kept = complete.any(axis=1)
        self.low = np.where(complete, low, 1 << 60).min(axis=1)[kept]
        self.high = np.where(complete, high, -1).max(axis=1)[kept]
        self.places = self.places[kept]

    def _complete(self, low: Numbers, high: Numbers) -> NDArray[np.bool_]:
        """Return whether all values, except `lacking` of them, occur often enough from word `low` to word `high`."""
        left = np.full(len(low), self.lacking)
        for at, often in self.others:
            left -= np.maximum(often - _number(at, low, high), 0)
        return (left >= 0) & self._with_text(low, high)

    def _with_text(self, low: Numbers, high: Numbers) -> NDArray[np.bool_]:
        """Return whether one of the texts occurs from word `low` to word `high`."""
        found = np.zeros(len(low), np.bool_)
        for at in self.texts:
            found |= _number(at, low, high) > 0
        return found


def _number(at: Numbers, low: Numbers, high: Numbers) -> Numbers:
    """Return how many of the places in `at` are from `low` to `high`."""
    return np.searchsorted(at, high, "right") - np.searchsorted(at, low)


def _merged(places: Sequence[Numbers]) -> Numbers:
    """Return all places of several sorted lists in one sorted list."""
    return places[0] if len(places) == 1 else np.sort(np.concatenate([np.zeros(0, np.int64), *places]))


class _NumberLists:
    """Lists of numbers in one array. No list is empty."""

    def __init__(self, lists: Sequence[Sequence[int]]) -> None:
        self._lists = lists
        self._all = np.fromiter(chain.from_iterable(lists), np.int64)
        self._begins = np.cumsum([0, *map(len, lists)])[:-1]

    def __getitem__(self, place: int) -> Sequence[int]:
        return self._lists[place]

    def least(self, values: Numbers) -> Numbers:
        """Return, for each list, the smallest of the `values` whose indices the list has."""
        return np.minimum.reduceat(values[self._all], self._begins)

    def sums(self, values: NDArray[np.bool_]) -> Numbers:
        """Return, for each list, how many of the `values` whose indices the list has are true."""
        return np.add.reduceat(values[self._all].astype(np.int64), self._begins)


@dataclass(eq=False)
class _WordPlaces:
    """The places in a block of the sought words. `which` is the number of the word at each place in `places`."""

    block: TextBlock
    places: Numbers
    which: Numbers
    often: Numbers

    @cached_property
    def _sorted(self) -> tuple[Numbers, Numbers]:
        return self.places[np.argsort(self.which, kind="stable")], np.append(0, np.cumsum(self.often))

    def of(self, word: int) -> Numbers:
        """Return the places of a word, in order."""
        at, begins = self._sorted
        return at[begins[word] : begins[word + 1]]

    def reach(self, at: Numbers, row: RowLookup) -> tuple[Numbers, Numbers]:
        """Return, for each place in `at`, the first and the last word that a span of the row around it can have."""
        tokens, bounds = self.block.tokens, self.block.first_words
        low, high = at - row.most_words, at + row.most_words
        numbers, most = tokens.numbers, row.most_numbers + 1
        if len(numbers) > most:
            place = np.searchsorted(numbers, at)
            first, last = place - most, place + most
            low = np.where(first >= 0, np.maximum(low, numbers[np.maximum(first, 0)]), low)
            high = np.where(last < len(numbers), np.minimum(high, numbers[np.minimum(last, len(numbers) - 1)]), high)
        piece = np.searchsorted(bounds, at, "right") - 1
        return np.maximum(low, bounds[piece]), np.minimum(high, bounds[piece + 1] - 1)

    def joined(self, low: Numbers, high: Numbers, most: int) -> list[tuple[int, int, int]]:
        """Return runs of words as (piece, first word, last word). Overlapping runs are joined. A long run is cut into
        overlapping parts, so every span of `most` words is within one part.
        """
        run = 2_000  # words that are checked together
        if not len(low):
            return []
        order = np.argsort(low, kind="stable")
        low, high = low[order], np.maximum.accumulate(high[order])
        piece = np.searchsorted(self.block.first_words, low, "right") - 1
        new = np.append(True, (low[1:] > high[:-1]) | (piece[1:] != piece[:-1]))
        begins = np.flatnonzero(new)
        ends = np.append(begins[1:], len(low)) - 1
        runs = zip(piece[begins].tolist(), low[begins].tolist(), high[ends].tolist(), strict=True)
        return [
            (own, begin, min(end, begin + run + most))
            for own, first, end in runs
            for begin in range(first, max(first + 1, end + 1 - most), run)
        ]

    def bytes(self, first: int, last: int) -> tuple[int, int]:
        """Return the bytes at which words `first` to `last` begin and end."""
        return int(self.block.tokens.begins[first]), int(self.block.tokens.ends[last])
