"""Small moves of cells: to near numbers, to categories of similar rows, and to new names.

Related features are moved together, to keep the relations in the table.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import combinations

import numpy as np

from tabcontam.errors import Skip
from tabcontam.tables.table import Cell
from tabcontam.tables.thresholds import MOST_CATEGORIES
from tabcontam.twins.row_encoder import Encoder
from tabcontam.twins.thresholds import (
    CONSTANT_SHARE,
    FOLLOWING_SHARE,
    LEAST_CATEGORY_ROWS,
    NAME_DRAWS,
    NEAREST_ROWS,
    PULL_SHARES,
    RANK_REACH,
    TEXT_WORDS,
    TIED_CORRELATION,
)
from tabcontam.twins.twin_sample import Flags, Floats, Ints, Row, TwinSample

PIECES = re.compile(r"[^\W\d_]+|\d+|[\W_]+")


def decimals(cells: Iterable[Cell]) -> int:
    """Return the largest number of digits after the point in numbers."""
    written = ((cell or "").partition(".")[2] for cell in cells)
    return max((len(digits) for digits in written if digits.isdigit()), default=0)


def written(number: float | Decimal, digits: int, same: bool) -> str:
    """Return a number with `digits` digits after the point. Unless `same`, zeros at the end are dropped.

    >>> written(2.5, 2, same=False), written(2.5, 2, same=True)
    ('2.5', '2.50')
    """
    text = f"{number:.{digits}f}"
    return text if same or "." not in text else text.rstrip("0").rstrip(".")


@dataclass(frozen=True, eq=False)
class Moves:
    """Moves of the cells of a sample's rows; features whose places are in `staying` are not moved."""

    sample: TwinSample
    staying: frozenset[int] = frozenset()

    @cached_property
    def columns(self) -> tuple[tuple[Cell, ...], ...]:
        return tuple(zip(*self.sample.rows, strict=True))

    @cached_property
    def encoder(self) -> Encoder:
        return Encoder.of(self.sample)

    @cached_property
    def plain(self) -> Floats:
        """The rows as numbers, with one column for each feature."""
        return self.encoder.plain(self.sample.rows)

    @cached_property
    def near(self) -> Ints:
        """The nearest rows of each row that gets a twin, shape (twins, near rows)."""
        from sklearn.neighbors import NearestNeighbors

        spread = self.encoder.spread_of(self.plain)
        most = min(NEAREST_ROWS, len(spread) - 1)
        neighbours = NearestNeighbors(n_neighbors=most + 1).fit(spread)
        found = neighbours.kneighbors(spread[: self.sample.twins], return_distance=False)
        return np.array([[other for other in own if other != row][:most] for row, own in enumerate(found.tolist())])

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Groups of features, by place, that are moved together."""
        groups = {place: {place} for place in range(len(self.columns))}
        for first, second in self._ties():
            joined = groups[first] | groups[second]
            for place in joined:
                groups[place] = joined
        return tuple(sorted({tuple(sorted(group)) for group in groups.values()}))

    def _ties(self) -> list[tuple[int, int]]:
        places = [place for place in range(len(self.columns)) if not self.named(place)]
        ranks = {place: _ranked(self.plain[:, place]) for place in places if self.numeric(place)}

        def correlated(first: int, second: int) -> bool:
            both = first in ranks and second in ranks
            return both and abs(_correlation(ranks[first], ranks[second])) >= TIED_CORRELATION

        return [pair for pair in combinations(places, 2) if correlated(*pair) or self.follows(*pair)]

    def follows(self, first: int, second: int) -> bool:
        """Return whether one of two features determines the other; the values of the determining one must repeat."""
        return self._determines(first, second) or self._determines(second, first)

    def _determines(self, first: int, second: int) -> bool:
        """Return whether the first feature determines the second: each value has one almost constant partner."""
        own, others, rows = self.counts[first], self.counts[second], len(self.sample.rows)
        if 3 * len(own) > rows or max(others.values()) >= CONSTANT_SHARE * rows:
            return False
        pairs = Counter(zip(self.columns[first], self.columns[second], strict=True))
        best: dict[Cell, int] = {}
        for (value, _), count in pairs.items():
            best[value] = max(best.get(value, 0), count)
        return sum(best.values()) >= FOLLOWING_SHARE * rows

    @cached_property
    def counts(self) -> list[Counter[Cell]]:
        """For each feature, the number of rows with each value."""
        return list(map(Counter, self.columns))

    def numeric(self, place: int) -> bool:
        """Return whether all cells of a feature are numbers."""
        return self.sample.table.is_numeric(self.sample.features[place])

    def named(self, place: int) -> bool:
        """Return whether a feature has almost as many distinct texts as rows, like names and ticket numbers."""
        known = [cell for cell in self.columns[place] if not self.sample.table.is_missing(cell)]
        values = len(set(known))
        return not self.numeric(place) and values > MOST_CATEGORIES and 2 * values > len(known)

    def moved(
        self, group: tuple[int, ...], rows: Sequence[int], rng: np.random.Generator, far: float = 1.0
    ) -> list[tuple[Cell, ...]]:
        """Return new cells of a group's features for these rows, in the order of the group.

        `far` multiplies the usual distance.
        """
        if self.staying.intersection(group):
            return [self._cells(group, row) for row in rows]
        if len(group) == 1 and self.named(group[0]):
            return [(cell,) for cell in self.renamed(group[0], rows, rng)]
        if len(group) == 1 and self.numeric(group[0]):
            return [(cell,) for cell in self._shifted(group[0], rows, rng, far)]
        lent = self.near[list(rows), rng.integers(0, self.near.shape[1], len(rows))]  # one of each row's nearest
        if all(map(self._continuous, group)):
            share = rng.uniform(*PULL_SHARES, len(rows)) * far
            pulled = [self._pulled(place, rows, lent, share) for place in group]
            return list(zip(*pulled, strict=True))
        known = np.asarray(self.known[:, list(group)].all(axis=1))
        taken = np.where(known[list(rows)] & known[lent], lent, list(rows))
        return [self._cells(group, row) for row in taken.tolist()]

    def drawn(
        self, rows: Sequence[int], rng: np.random.Generator, far: float = 1.0, share: float | None = None
    ) -> list[Row]:
        """Return these rows with the cells of all groups moved, or of about a `share` of the groups."""
        found = [list(self.sample.rows[row]) for row in rows]
        for group in self.groups:
            chosen = np.ones(len(rows), dtype=bool) if share is None else rng.random(len(rows)) < share
            for own, cells, is_chosen in zip(found, self.moved(group, rows, rng, far), chosen, strict=True):
                if is_chosen:
                    for feature, cell in zip(group, cells, strict=True):
                        own[feature] = cell
        return list(map(tuple, found))

    @cached_property
    def unchanged(self) -> tuple[str, ...]:
        """The names of the features in `staying`, and of the features that are related to them."""
        groups = (group for group in self.groups if self.staying.intersection(group))
        return tuple(sorted(self.sample.features[place] for group in groups for place in group))

    def _cells(self, group: Sequence[int], row: int) -> tuple[Cell, ...]:
        return tuple(self.columns[place][row] for place in group)

    @cached_property
    def known(self) -> Flags:
        """Flags, of shape (rows, features): True if learners can know what a cell means.

        Numbers are known, since they can be compared. Frequent categories are known, too. A rare category is not, since
        an LLM may know more of it than learners.
        """
        found = np.ones((len(self.sample.rows), len(self.columns)), dtype=bool)
        for place, cells in enumerate(self.columns):
            if not self.numeric(place):
                codes = self.encoder.features[place].codes or {}
                found[:, place] = [
                    self.counts[place][cell] >= LEAST_CATEGORY_ROWS and (cell is None or cell in codes)
                    for cell in cells
                ]
        return found

    def check_no_texts(self, reason: str) -> None:
        """Raise `Skip`, with the names of the features and the `reason`, if there are features of running text."""
        features = enumerate(self.sample.features)
        texts = [name for place, name in features if self.named(place) and _words(self.columns[place]) > TEXT_WORDS]
        if texts:
            raise Skip(f"{', '.join(map(repr, texts))} has texts to read, {reason}")

    def _continuous(self, place: int) -> bool:
        """Return whether a feature of numbers is continuous: it has many values, none in exponent notation."""
        own = self.counts[place]
        return self.numeric(place) and len(own) > MOST_CATEGORIES and not any("e" in (one or "").lower() for one in own)

    def _shifted(self, place: int, rows: Sequence[int], rng: np.random.Generator, far: float) -> list[Cell]:
        """Return for each row a cell whose number is a few ranks away from its own; missing cells stay missing."""
        numbers, cells = self.plain[:, place], self.columns[place]
        order = np.argsort(numbers, kind="stable")[: int(np.isfinite(numbers).sum())]
        rank = np.full(len(numbers), -1)
        rank[order] = np.arange(len(order))
        reach = max(2, round(far * RANK_REACH * len(order)))
        steps = rng.integers(1, reach + 1, len(rows)) * rng.choice((-1, 1), len(rows))
        own = rank[list(rows)]
        moved_to = own + steps
        moved_to = np.where((moved_to < 0) | (moved_to >= len(order)), own - steps, moved_to)
        targets = np.clip(moved_to, 0, max(0, len(order) - 1))
        return [cells[row] if rank[row] < 0 else cells[order[to]] for row, to in zip(rows, targets, strict=True)]

    def _pulled(self, place: int, rows: Sequence[int], lent: Ints, share: Floats) -> list[Cell]:
        """Return the numbers, moved by `share` of the way to those of the rows `lent`; unchanged if one is missing."""
        cells, numbers = self.columns[place], self.plain[:, place]
        digits, same = self.digits[place]
        pulled = numbers[list(rows)] + share * (numbers[lent] - numbers[list(rows)])
        return [
            written(number, digits, same) if np.isfinite(number) else cells[row]
            for row, number in zip(rows, pulled.tolist(), strict=True)
        ]

    @cached_property
    def digits(self) -> list[tuple[int, bool]]:
        """For each feature, the largest number of digits after the point, and whether all numbers have as many."""
        is_missing = self.sample.table.is_missing
        found = ([decimals([cell]) for cell in values if not is_missing(cell)] for values in self.counts)
        return [(max(digits, default=0), len(set(digits)) < 2) for digits in found]

    def renamed(self, place: int, rows: Sequence[int], rng: np.random.Generator) -> list[Cell]:
        """Return new names: rare words of a name are joined from parts of two other rare words, digits are drawn."""
        cells = self.columns[place]
        known = ("" if cell is None or self.sample.table.is_missing(cell) else cell for cell in cells)
        pieces = [PIECES.findall(cell) for cell in known]
        counts = Counter(piece for own in pieces for piece in set(own))
        few = max(2, len(cells) // 100)
        rare = sorted(piece for piece in counts if counts[piece] <= few and piece.isalpha())
        real = {self.sample.key(cell) for cell in cells}

        def name(row: int) -> Cell:
            made = cells[row]
            for _ in range(NAME_DRAWS if pieces[row] else 0):
                made = "".join(_other(piece, counts[piece] <= few, rare, rng) for piece in pieces[row])
                if self.sample.key(made) not in real:
                    break
            return made

        return [name(row) for row in rows]


def _other(piece: str, is_rare: bool, rare: Sequence[str], rng: np.random.Generator) -> str:
    if not is_rare or not piece.isalnum():
        return piece
    if piece.isdigit():
        return piece[:1] + "".join(str(digit) for digit in rng.integers(0, 10, len(piece) - 1))
    if not rare:
        return piece
    first, second = (rare[int(place)] for place in rng.integers(0, len(rare), 2))
    return first[: len(first) // 2 + 1] + second[len(second) // 2 + 1 :].lower()


def _words(cells: Sequence[Cell]) -> float:
    """Return the mean number of words of the cells that are not empty."""
    counts = [len(cell.split()) for cell in cells if cell]
    return sum(counts) / max(1, len(counts))


def _ranked(numbers: Floats) -> Floats:
    from scipy.stats import rankdata

    ranks = np.full(len(numbers), np.nan)
    known = np.isfinite(numbers)
    ranks[known] = rankdata(numbers[known])
    return ranks


def _correlation(first: Floats, second: Floats) -> float:
    known = np.isfinite(first) & np.isfinite(second)
    one, other = first[known], second[known]
    if len(one) < 3 or not one.std() or not other.std():
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])
