"""The rows from which a twin is made: rows with a known class, or a sample of them, drawn by content."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tabcontam.errors import Skip
from tabcontam.reading.answer_text import value_key
from tabcontam.tables.dataset_cards import ClassificationQuestion
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.row_draws import by_content, pool, seeded
from tabcontam.tables.table import Cell, Table
from tabcontam.twins.thresholds import LEARNED_ROWS, LEAST_TWIN_ROWS, MOST_TWIN_FEATURES, TWIN_FOLDS, TWINNED_ROWS

Row = tuple[Cell, ...]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def labelled(table: Table, target: str, question: ClassificationQuestion) -> dict[int, str]:
    """Return each row's answer to `question`, by the row's place; rows without an answer are left out."""
    column = table.column(target)
    cells = ((row, column[row]) for row in by_content(table))
    return {row: question.answer(cell) for row, cell in cells if cell is not None and not table.is_missing(cell)}


@dataclass(frozen=True, eq=False)
class TwinSample:
    """Rows of a table: their places, their features in the order of column names, and their classes.

    Only the first `twins` rows may get a twin. Rows that an LLM may know from elsewhere get no twin.
    """

    table: Table
    features: tuple[str, ...]
    places: tuple[int, ...]
    rows: tuple[Row, ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    twins: int
    _keys: dict[Cell, Cell] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        return tuple(sorted(set(self.labels)))

    @cached_property
    def codes(self) -> Ints:
        """The number of each row's class: its index in `classes`."""
        place = {label: number for number, label in enumerate(self.classes)}
        return np.array([place[label] for label in self.labels], dtype=np.int64)

    def is_real(self, row: Row) -> bool:
        """Return whether a row of the table or of a known file has equal features, even if written differently."""
        if self._key(row) in self._real:
            return True
        if self.table.whole is None:
            return False
        cells = dict(zip(self.features, row, strict=True))  # a large file's other rows are recognised as written here
        return self.table.may_hold([cells.get(name) for name in self.table.columns], answered=False)

    @cached_property
    def _real(self) -> frozenset[Row]:
        """The features of all rows, with and without a class, as keys; equal values have equal keys."""
        places = [self.table.columns.index(name) for name in self.features]
        files = (self.table.all_stored, *self.table.known)
        return frozenset(self._key([row[place] for place in places]) for rows in files for row in rows)

    def _key(self, row: Sequence[Cell]) -> Row:
        return tuple(map(self.key, row))

    def key(self, cell: Cell) -> Cell:
        """Return the key of a cell: equal for `5.10` and `5.1`, None for a missing cell."""
        if cell not in self._keys:
            self._keys[cell] = None if cell is None or self.table.is_missing(cell) else value_key(cell)
        return self._keys[cell]

    def rng(self, *parts: object) -> np.random.Generator:
        """Return a random generator for this table, seeded by `parts`; row and column order do not change it."""
        return np.random.default_rng(seeded(self.table, "unseen", *parts).getrandbits(64))

    def parts(self, *named: object) -> Ints:
        """Return for each row a random part, a number from 0; rows with equal features are in one part."""
        drawn = self.rng("parts", *named).permutation(len(self.rows)) % TWIN_FOLDS
        first: dict[Row, int] = {}
        return np.array([first.setdefault(row, int(part)) for row, part in zip(self.rows, drawn, strict=True)])


def sample(table: Table) -> TwinSample:
    """Return the rows from which a table's twins are made. Raises `Skip` with the reason if it can have none."""
    target, question = table.target, table.question
    if target is None or question is None:
        raise Skip("no classification question, so that there is no accuracy to compare")
    if table.text is not None:
        raise Skip("its rows are texts to read: an unseen twin needs a table of cells")
    if not 1 <= len(table.columns) - 1 <= MOST_TWIN_FEATURES:
        problem = f"it has {len(table.columns) - 1:,} columns besides the target"
        raise Skip(f"{problem}; an unseen twin needs 1 to {MOST_TWIN_FEATURES}")
    labels = labelled(table, target, question)
    learned = pool(table, sorted(labels), LEARNED_ROWS)
    asked = set(not_known(table, learned))
    places = sorted(learned, key=lambda row: row not in asked)
    if len(asked) < LEAST_TWIN_ROWS:
        problem = f"only {len(asked)} rows have a class and may be asked about"
        raise Skip(f"{problem}; an unseen twin needs {LEAST_TWIN_ROWS}")
    features = tuple(sorted(set(table.columns) - {target}))
    columns = [table.columns.index(name) for name in features]
    rows = tuple(tuple(table.rows[row][column] for column in columns) for row in places)
    known = tuple(labels[row] for row in places)
    found = TwinSample(table, features, tuple(places), rows, known, min(TWINNED_ROWS, len(asked)))
    _check_classes(found)
    return found


def _check_classes(sample: TwinSample) -> None:
    different: dict[str, set[Row]] = {label: set() for label in sample.classes}
    for row, label in zip(sample.rows, sample.labels, strict=True):
        different[label].add(row)
    if len(different) < 2:
        raise Skip("all its rows are of one class")
    rarest = min(different, key=lambda label: len(different[label]))
    if (count := len(different[rarest])) < 2 * TWIN_FOLDS:
        rows = "1 row" if count == 1 else f"{count} different rows"
        raise Skip(f"the class {rarest} has only {rows}; an unseen twin needs {2 * TWIN_FOLDS} of each class")
