"""A search for the rows next to each sampled row, among rows of its kind, such as the readings of one sensor.

A model that has read all other rows of a time-ordered file knows the readings before and after a row: an account's
balance before a payment, a share's price on the day before. A sample seldom contains these rows, so they are collected
while the file is read. The sample shows whether nearby rows are more alike than others, and which column shows a row's
position.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import stats

from tabcontam.tables.large.adjoining_rows import AdjoiningRows, Row
from tabcontam.tables.large.chunks import Bools, Chunk, Ints, Words, chunk_of
from tabcontam.tables.large.hashes import Sieve
from tabcontam.tables.large.mark_order_search import MarkOrderSearch, marks_of
from tabcontam.tables.large.pair_tests import (
    Floats,
    alike,
    as_far_apart,
    at_most,
    beats,
    kinds_of,
    known_cells,
    numbers_of,
)
from tabcontam.tables.table_contents import Rows
from tabcontam.tables.thresholds import (
    LEAST_KIND_PAIRS,
    LEAST_NEARNESS_GAIN,
    LEAST_ORDER_CORRELATION,
    LEAST_ORDERED_SHARE,
    MOST_ADJOINING_KINDS,
    MOST_CONSECUTIVE_SHARE,
    MOST_EXAMINED_KINDS,
    MOST_SEARCHED_GROUPS,
    MOST_SEARCHED_ORDERS,
    MOST_TESTED_PAIRS,
    ORDER_SAMPLE_ROWS,
    PAIR_TEST_LEVEL,
)

DIGIT = re.compile(r"[0-9]")


class FileOrderSearch:
    """A search for the rows next to the sampled rows, in one pass over the file; `cells` are from `salted_cells`."""

    def __init__(self, by: int | None, order: int, informative: Sequence[int], cells: Words) -> None:
        self.by, self.order, self.informative = by, order, tuple(informative)
        kinds = kinds_of(cells, by)
        values, self._kind = np.unique(kinds, return_inverse=True)
        self._sieve = Sieve(values)
        self._left = np.bincount(self._kind, minlength=len(values))  # sampled rows of each kind not yet read
        self._seen = 0  # sampled rows read so far
        self._before: list[Row | None] = [None] * len(kinds)
        self._after: list[Row | None] = [None] * len(kinds)
        self._last: dict[int, Row] = {}  # the last row of each kind
        self._waiting: dict[int, int] = {}  # the last sampled row of each kind, until a row of the kind follows

    def add(self, chunk: Chunk, cells: Words, kept: Bools) -> None:
        """Read these rows; `kept` marks the sampled ones."""
        rows, kinds = self._sieve.among(kinds_of(cells, self.by))
        order = np.argsort(kinds, kind="stable")
        rows, kinds = rows[order], kinds[order]
        number = self._seen - 1 + np.cumsum(kept)  # index of each sampled row among all sampled rows
        own = np.flatnonzero(kept[rows])
        first = np.append(True, kinds[1:] != kinds[:-1]) if len(kinds) else np.zeros(0, dtype=bool)
        last = np.append(first[1:], True) if len(kinds) else first
        for at in np.flatnonzero(first).tolist():
            if (waits := self._waiting.pop(int(kinds[at]), None)) is not None:
                (self._after[waits],) = chunk.texts([int(rows[at])])
        inside, ending = own[~first[own]], own[~last[own]]
        for mine, place, text in (
            (self._before, inside, chunk.texts(rows[inside - 1].tolist())),
            (self._after, ending, chunk.texts(rows[ending + 1].tolist())),
        ):
            for one, row in zip(number[rows[place]].tolist(), text, strict=True):
                mine[one] = row
        for at in own[first[own]].tolist():
            self._before[int(number[rows[at]])] = self._last.get(int(kinds[at]))
        for at in own[last[own]].tolist():
            self._waiting[int(kinds[at])] = int(number[rows[at]])
        self._left -= np.bincount(kinds[own], minlength=len(self._left))
        self._seen += int(kept.sum())
        ends = np.flatnonzero(last & (self._left[kinds] > 0))
        self._last |= dict(zip(kinds[ends].tolist(), chunk.texts(rows[ends].tolist()), strict=True))

    def found(self, columns: Sequence[str]) -> AdjoiningRows:
        """Return the adjoining rows, after all rows were added."""
        by = None if self.by is None else columns[self.by]
        informative = tuple(columns[one] for one in self.informative)
        return AdjoiningRows(by, columns[self.order], informative, tuple(self._before), tuple(self._after))


def lines_of(
    rows: Rows, cells: Words, places: Sequence[int], missing: frozenset[str]
) -> "Sequence[FileOrderSearch | MarkOrderSearch]":
    """Return the informative searches: among all rows in the file's order, and within the most informative kinds.

    If none is informative, the file may be shuffled. Then nearby rows in the order of a column are searched for; a few
    columns are tried.
    """
    sample = _OrderSample.of(rows, cells, places, missing)
    if found := sample.best(MOST_EXAMINED_KINDS):
        return [FileOrderSearch(by, order, informative, cells) for _, by, order, informative in found]
    chunk = chunk_of(rows, len(cells))
    for order in sample.countable(rows)[:MOST_SEARCHED_ORDERS]:
        if found := sample.in_order_of(order, marks_of(chunk, order)).best(MOST_SEARCHED_GROUPS):
            return [MarkOrderSearch(by, order, informative, cells, chunk) for _, by, _, informative in found]
    return []


@dataclass(frozen=True, eq=False)
class _OrderSample:
    """The sampled rows, used to detect the orders and columns in which nearby rows are alike."""

    cells: Words
    present: Bools
    numbers: dict[int, Floats]  # numbers of each column of numbers
    places: Ints
    ranks: dict[int, Floats]  # ranks in each column that may order the rows

    @classmethod
    def of(cls, rows: Rows, cells: Words, places: Sequence[int], missing: frozenset[str]) -> "_OrderSample":
        known, there = known_cells(rows, missing)
        numbers = numbers_of(known)
        ranks = {column: _ranks(one, numbers.get(column)) for column, one in enumerate(known)}
        return cls(cells, there, numbers, np.array(places), ranks)

    def best(self, most: int) -> list[tuple[float, int | None, int, list[int]]]:
        """Return the results of `judged` for all rows and for the best kinds among the first `most` columns."""
        whole = self.judged(None)
        columns = [one for one in range(len(self.cells)) if 1 < self.different(one) < len(self.places)]
        if whole:  # a kind whose rows are consecutive adds nothing to the file's order
            columns = [one for one in columns if self.together(one) < MOST_CONSECUTIVE_SHARE]
        kinds = sorted(filter(None, map(self.judged, columns[:most])), key=lambda found: -found[0])
        return [*filter(None, [whole]), *kinds[:MOST_ADJOINING_KINDS]]

    def countable(self, rows: Rows) -> list[int]:
        """Return the columns of whole numbers or of texts of one form, such as dates, sorted by number of values."""
        columns = [column for column in range(len(self.cells)) if _of_one_form(rows[:ORDER_SAMPLE_ROWS], column)]
        found = [column for column in columns if _of_one_form(rows, column)]
        return sorted(found, key=lambda column: -self.different(column))

    def in_order_of(self, column: int, marks: Ints) -> "_OrderSample":
        """Return the same rows, sorted by the `marks` of a column."""
        order = np.argsort(marks, kind="stable")
        numbers = {one: line[order] for one, line in self.numbers.items()}
        ranks = {column: stats.rankdata(marks[order], method="dense").astype(np.float64)}
        return _OrderSample(self.cells[:, order], self.present[:, order], numbers, marks[order], ranks)

    def different(self, column: int) -> int:
        """Return the number of values of a column."""
        return len(np.unique(self.cells[column][self.present[column]]))

    def together(self, column: int) -> float:
        """Return the share of adjacent rows of the file that have the same cell in a column."""
        next_to = np.diff(self.places) == 1
        return float((self.cells[column][1:] == self.cells[column][:-1])[next_to].mean()) if next_to.any() else 0.0

    def judged(self, by: int | None) -> tuple[float, int | None, int, list[int]] | None:
        """Return how much more alike nearby rows of a kind (equal cells in `by`) are than distant ones; then `by`, the
        column that shows the order, and the columns in which they are alike.

        None if nearby rows are not more alike, or if no column shows their order.
        """
        kinds = kinds_of(self.cells, by)
        rows = np.arange(len(kinds)) if by is None else np.flatnonzero(self.present[by])
        first, second = _pairs(kinds, rows)
        gaps = self.places[second] - self.places[first]
        if len(first) < LEAST_KIND_PAIRS:
            return None
        order = next((one for one in self.ranks if one != by and self._in_order(one, by, first, second)), None)
        if order is None:
            return None
        middle = np.median(gaps)
        near = gaps <= middle
        other, another = _pairs(kinds, np.random.default_rng(3).permutation(rows))
        far = np.abs(self.places[other] - self.places[another]) > middle
        pairs = [_some(first[near], second[near]), _some(other[far], another[far])]
        if by is not None:
            pairs.append(as_far_apart(*pairs[0], rows, kinds))
        strengths = {
            column: strength
            for column in range(len(self.cells))
            if column not in (by, order) and (strength := self._closer(column, *pairs))
        }
        return (max(strengths.values()), by, order, sorted(strengths)) if strengths else None

    def _in_order(self, column: int, by: int | None, first: Ints, second: Ints) -> bool:
        """Return whether rows of a kind are sorted by a column, and the column differs between adjacent rows."""
        ranks = self.ranks[column]
        steps = ranks[second] - ranks[first]
        steps = steps[np.isfinite(steps)]
        few = (steps != 0).sum() < LEAST_ORDERED_SHARE * len(first)
        if few or max((steps > 0).mean(), (steps < 0).mean()) < LEAST_ORDERED_SHARE:
            return False
        if by is not None:
            return True
        known = np.isfinite(ranks)
        return bool(abs(np.corrcoef(ranks[known], np.flatnonzero(known))[0, 1]) >= LEAST_ORDER_CORRELATION)

    def _closer(self, column: int, near: tuple[Ints, Ints], *others: tuple[Ints, Ints]) -> float:
        """Return how much more alike the near pairs are in a column than each of the `others`; 0 if they are not."""
        if column in self.numbers:
            return self._closer_numbers(self.numbers[column], near, *others)
        hits, count = self._alike(column, near)
        least = 1.0
        for pairs in others:
            chance = at_most(*self._alike(column, pairs))
            if not count or not beats(hits, count, chance):
                return 0.0
            least = min(least, hits / count - chance)
        return max(LEAST_NEARNESS_GAIN, least)

    def _alike(self, column: int, pairs: tuple[Ints, Ints]) -> tuple[int, int]:
        return alike(self.cells[column], self.present[column], *pairs)

    @staticmethod
    def _closer_numbers(numbers: Floats, near: tuple[Ints, Ints], *others: tuple[Ints, Ints]) -> float:
        def distances(pairs: tuple[Ints, Ints]) -> Floats:
            found = np.abs(numbers[pairs[0]] - numbers[pairs[1]])
            return np.asarray(found[np.isfinite(found)])

        own, least = distances(near), 1.0
        for pairs in others:
            theirs = distances(pairs)
            if not len(own) or not len(theirs):
                return 0.0
            found = stats.mannwhitneyu(own, theirs, alternative="less")
            if found.pvalue > PAIR_TEST_LEVEL:
                return 0.0
            least = min(least, 1 - 2 * float(found.statistic) / (len(own) * len(theirs)))
        return max(LEAST_NEARNESS_GAIN, least)


def _of_one_form(rows: Rows, column: int) -> bool:
    """Return whether a column has only whole numbers, or texts that differ only in their digits."""
    cells = [row[column] for row in rows]
    forms = {cell if cell is None else DIGIT.sub("", cell) for cell in cells}
    return None not in forms and len(forms) == 1 and (forms == {""} or len({len(cell or "") for cell in cells}) == 1)


def _ranks(cells: Sequence[str | None], numbers: Floats | None) -> Floats:
    """Return the rank of each cell; texts rank by first appearance, if equal texts are consecutive."""
    if numbers is not None:
        return np.asarray(stats.rankdata(numbers, method="dense", nan_policy="omit"), dtype=np.float64)
    known = [cell for cell in cells if cell is not None]
    values = list(dict.fromkeys(known))
    runs = 1 + sum(one != other for one, other in pairwise(known))
    if runs * LEAST_ORDER_CORRELATION > len(values) or len(values) > len(known) / 2:
        values.sort()
    place = {value: number for number, value in enumerate(values)}
    return np.array([np.nan if cell is None else place[cell] for cell in cells], dtype=np.float64)


def _pairs(kinds: Words, rows: Ints) -> tuple[Ints, Ints]:
    """Return pairs of consecutive rows of a kind; rows that are not in `rows` are ignored."""
    order = rows[np.argsort(kinds[rows], kind="stable")]
    same = np.flatnonzero(kinds[order][1:] == kinds[order][:-1])
    return order[same], order[same + 1]


def _some(first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """Return the pairs, or `PAIRS` of them if there are more."""
    if len(first) > MOST_TESTED_PAIRS:
        chosen = np.random.default_rng(4).choice(len(first), MOST_TESTED_PAIRS, replace=False)
        return first[chosen], second[chosen]
    return first, second
