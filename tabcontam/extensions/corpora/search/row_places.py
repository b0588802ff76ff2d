"""The exact definition of the places of a row in a text, in any notation: the meaning of a `Lookup` by cells.

The fast search (`row_search`) uses this module for every decision.

The row has a hidden value, for which the lookup has several competing texts, and the values next to it. A value is the
words of a cell (`words`). Its places are those where its words follow each other, with any punctuation between them. A
number that fills a cell must also have the same sign. A value without a word (`?`) is left out. A text without a word
has no place. With n for the number of values, a span of words is a place of the row with one of the texts if

- the span contains this text and all values next to it except at most `lacking`, each as often as the row has it. The
  words of these values are counted; the span has each word as often as these values need it together;
- between words of the row's values it has at most 12 consecutive other words, at most 2 of them numbers;
- of its words that are not counted, at most n // 3 + 1 are numbers, and at most as many are other words of values;
- it has at most 20,000 bytes.

`foreign` is the number of a span's uncounted words plus the number of values that it lacks. Of overlapping spans, even
with different texts, those with the fewest line breaks win; of these, those with the smallest `foreign`; of these,
those with the fewest blanks and punctuation. So in a table, the cell of the row itself wins over cells of the same
column in neighbouring rows. It wins even in the first column, where the cell of the next row directly follows the other
values.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from tabcontam.evidence.questions import Lookup
from tabcontam.extensions.corpora.search.corpus_words import TextWord, blank_punctuation, number_key, words
from tabcontam.extensions.corpora.thresholds import (
    LONGEST_ROW_SPAN,
    MOST_NUMBERS_BETWEEN_VALUES,
    MOST_WORDS_BETWEEN_VALUES,
)


class TextSpan(NamedTuple):
    """A span of a text, in bytes, in which the lookup's text number `text` stands with the other values of a row.

    `lacking` is the number of values missing in the span. `foreign` is the number of its words outside the row plus
    `lacking`. `breaks` counts its line breaks, and `punctuation` its bytes outside words.
    """

    begin: int
    end: int
    text: int = 0
    lacking: int = 0
    foreign: int = 0
    breaks: int = 0
    punctuation: int = 0

    @property
    def rank(self) -> tuple[int, int, int]:
        """The key by which overlapping spans are compared. The smallest wins."""
        return self.breaks, self.foreign, self.punctuation


class CellValue(NamedTuple):
    """A cell as it is compared: its words, and for a number whether it has a minus sign, else None."""

    keys: tuple[bytes, ...]
    minus: bool | None = None

    @property
    def numbers(self) -> int:
        """The number of its words that are numbers."""
        return sum(number_key(key) is not None for key in self.keys)


def value(cell: str) -> CellValue:
    """Return a cell in the form in which it is compared."""
    found = words(blank_punctuation(cell.encode("utf-8", "replace")))
    single = len(found) == 1 and found[0].number
    return CellValue(tuple(word.key for word in found), found[0].minus if single else None)


@dataclass(frozen=True)
class RowLookup:
    """A parsed lookup by cells: the values that are searched for, and the neighbouring values that contain words."""

    texts: tuple[CellValue, ...]
    others: tuple[CellValue, ...]
    lacking: int = 0

    @classmethod
    def of(cls, lookup: Lookup) -> "RowLookup":
        """Return the parsed form of a lookup by cells."""
        others = tuple(found for found in map(value, lookup.context) if found.keys)
        return cls(tuple(map(value, lookup.texts)), others, min(lookup.lacking, len(others)))

    @property
    def most_extra(self) -> int:
        """The most uncounted numbers of a span, and also the most other uncounted words that belong to values."""
        return (len(self.others) + 1) // 3 + 1

    @property
    def most_words(self) -> int:
        """The most words that the span of a place can have."""
        own = sum(len(value.keys) for value in self.others) + max((len(value.keys) for value in self.texts), default=0)
        marked = own + 2 * self.most_extra
        return marked + MOST_WORDS_BETWEEN_VALUES * (marked - 1)

    @property
    def most_numbers(self) -> int:
        """The most numbers that the span of a place can have."""
        own = sum(value.numbers for value in self.others) + max((value.numbers for value in self.texts), default=0)
        return own + self.most_extra


def places(text: bytes, lookup: Lookup) -> list[TextSpan]:
    """Return the places of a lookup by cells in a text."""
    row = RowLookup.of(lookup)
    clean = blank_punctuation(text)
    return winners(spans(clean, words(clean), row, range(len(row.texts))))


def spans(clean: bytes, sequence: Sequence[TextWord], row: RowLookup, texts: Iterable[int]) -> list[TextSpan]:
    """Return all spans of `sequence` that are places of the row with one of these `texts`, including overlapping ones.
    `sequence` has consecutive words of `clean`, which is a result of `blank_punctuation`.

    For each word at which a span can end, only the span with the smallest `foreign` is returned.
    """
    at: dict[bytes, list[int]] = {}
    for place, word in enumerate(sequence):
        at.setdefault(word.key, []).append(place)
    others, found = Counter(row.others), list[TextSpan]()
    stands = {value: _stands(value, sequence, at) for value in others}
    absent = sum(max(0, often - len(stands[value])) for value, often in others.items())
    if absent > row.lacking:
        return found
    for text in texts:
        own = row.texts[text]
        if own.keys and (where := stands.get(own) or _stands(own, sequence, at)):
            found += _Spans(clean, sequence, row, text, {**stands, own: where}).found()
    return found


def winners(found: Iterable[TextSpan]) -> list[TextSpan]:
    """Return the winners among overlapping spans, in text order, each extended to contain more values if possible."""
    found, won = list(found), list[TextSpan]()
    begins, ends = list[int](), list[int]()  # disjoint stretches that are covered by better spans
    for _, same in groupby(sorted(set(found), key=attrgetter("rank")), attrgetter("rank")):
        spans = list(same)
        won += [span for span in spans if not _covered(begins, ends, span)]
        for span in spans:
            _cover(begins, ends, span)
    lacking = {span.text for span in won if span.lacking}
    by_text = {text: sorted(span for span in set(found) if span.text == text) for text in lacking}
    return sorted({_fullest(span, by_text[span.text]) if span.lacking else span for span in won})


def _fullest(span: TextSpan, same: Sequence[TextSpan]) -> TextSpan:
    """Return the span with the fewest missing values among the spans in `same` that overlap with the winner `span`.
    `same` has spans with the winner's text, in order. Here values after a line break count, too.
    """
    first, last = bisect_left(same, span.begin - LONGEST_ROW_SPAN, key=_begin), bisect_left(same, span.end, key=_begin)
    overlapping = (one for one in same[first:last] if one.end > span.begin)
    return min(overlapping, key=lambda one: (one.lacking, one.rank, one.begin))


_begin = attrgetter("begin")


def _covered(begins: Sequence[int], ends: Sequence[int], span: TextSpan) -> bool:
    first = bisect_right(ends, span.begin)
    return first < len(begins) and begins[first] < span.end


def _cover(begins: list[int], ends: list[int], span: TextSpan) -> None:
    first, last = bisect_left(ends, span.begin), bisect_right(begins, span.end)
    begins[first:last] = [min(span.begin, *begins[first:last])] if first < last else [span.begin]
    ends[first:last] = [max(span.end, *ends[first:last])] if first < last else [span.end]


def _stands(value: CellValue, sequence: Sequence[TextWord], at: dict[bytes, list[int]]) -> list[int]:
    """Return the places in `sequence` at which a value begins."""
    first, *rest = value.keys
    begins = at.get(first, [])
    if value.minus is not None:
        return [place for place in begins if sequence[place].minus == value.minus]
    if not rest:
        return begins
    size = len(value.keys)
    return [
        place
        for place in begins
        if all(word.key == key for word, key in zip(sequence[place + 1 : place + size], rest, strict=False))
        and place + size <= len(sequence)
    ]


class _Spans:
    """The spans in a sequence of words that are places of a row with one of its texts."""

    def __init__(
        self, clean: bytes, sequence: Sequence[TextWord], row: RowLookup, text: int, stands: dict[CellValue, list[int]]
    ) -> None:
        self._clean, self._sequence, self._row, self._text = clean, sequence, row, text
        self._own = row.texts[text]
        self._often = Counter([*row.others, self._own])
        self._count = len(row.others) + 1
        self._slack = max(len(value.keys) for value in self._often) - 1
        keys = Counter(key for value in self._often for key in value.keys)
        self._tangled = any(number > 1 for number in keys.values()) or any(
            len(value.keys) > 1 and often > 1 for value, often in self._often.items()
        )
        self._begins: dict[int, list[tuple[int, int, int, int]]] = {}
        ends: set[int] = set()
        self._marked: set[int] = set()
        for kind, (value, often) in enumerate(self._often.items()):
            size, numbers = len(value.keys), value.numbers
            for place in stands[value]:
                self._begins.setdefault(place, []).append((kind, size, numbers, often))
                ends.add(place + size)
                self._marked.update(range(place, place + size))
        self._own_kind = list(self._often).index(self._own)
        self._ends = sorted(ends)

    def found(self) -> list[TextSpan]:
        """Return the best span for each word at which a span can end."""
        best = ((self._ending(end), end) for end in self._ends)
        return [self._place(*span, end) for span, end in best if span is not None]

    def _place(self, begin: int, lacking: int, foreign: int, end: int) -> TextSpan:
        """Return the span from word `begin` to before word `end`."""
        first, last = self._sequence[begin], self._sequence[end - 1].end
        start = first.begin - first.minus
        signs = last - start - sum(word.end - word.begin for word in self._sequence[begin:end])
        return TextSpan(start, last, self._text, lacking, foreign, self._clean.count(b"\n", start, last), signs)

    def _ending(self, end: int) -> tuple[int, int, int] | None:
        """Return the best span that ends before word `end`: its first word, its number of missing values, its
        `foreign`.

        The search walks back from `end` until a limit is exceeded.
        """
        sequence, row, tangled = self._sequence, self._row, self._tangled
        most = row.most_extra
        present, begins, marked, own = [0] * len(self._often), self._begins, self._marked, self._own_kind
        lacking, used, used_numbers = self._count, 0, 0
        numbers = others_marked = run = run_numbers = 0
        best: tuple[int, int, int] | None = None
        last = sequence[end - 1].end
        for place in range(end - 1, -1, -1):
            word = sequence[place]
            if last - word.begin > LONGEST_ROW_SPAN:
                break
            numbers += word.number
            if place in marked:
                run = run_numbers = 0
                others_marked += not word.number
            else:
                run, run_numbers = run + 1, run_numbers + word.number
                if run > MOST_WORDS_BETWEEN_VALUES or run_numbers > MOST_NUMBERS_BETWEEN_VALUES:
                    break
            here = begins.get(place)
            for kind, size, number, often in here or ():
                if place + size <= end and present[kind] < often:
                    present[kind] += 1
                    lacking, used, used_numbers = lacking - 1, used + size, used_numbers + number
            over = max(numbers - used_numbers - most, others_marked - used + used_numbers - most)
            if over > self._slack:
                break
            if lacking > row.lacking or not here or not present[own]:
                continue
            short, counted, counted_numbers = lacking, used, used_numbers
            if tangled:
                short, counted, counted_numbers = self._counted(place, end, present)
                over = numbers - counted_numbers - most
                over = max(over, others_marked - counted + counted_numbers - most)
            if over > 0 or short > row.lacking:
                continue
            foreign = end - place - counted + short
            if best is None or (foreign, short) < (best[2], best[1]):
                best = place, short, foreign
            if not short:
                break
        return best

    def _counted(self, begin: int, end: int, present: Sequence[int]) -> tuple[int, int, int]:
        """Return the number of missing values, of words of the present values, and of numbers among these words. This
        is for a row whose values share words. The text counts first, then values from short to long. No word counts for
        two values.
        """
        left = Counter(word.key for word in self._sequence[begin:end])
        lacking = used = used_numbers = 0
        values = sorted(zip(self._often, present, strict=True), key=lambda one: (one[0] != self._own, len(one[0].keys)))
        for value, stands in values:
            own = Counter(value.keys)
            taken = min(stands, *(left[key] // number for key, number in own.items()))
            if value == self._own and not taken:
                return self._count, 0, 0
            left.subtract({key: taken * number for key, number in own.items()})
            lacking += self._often[value] - taken
            used, used_numbers = used + taken * len(value.keys), used_numbers + taken * value.numbers
        return lacking, used, used_numbers
