"""Columns that reveal each other: columns of one entity, columns that share a key, and equivalent columns.

The columns of an entity identify one thing, such as a player's name and date of birth: one may reveal the other.

Two columns belong to one entity if each almost always determines the other. Rows that share a value show this. Columns
without repeated values cannot be compared in this way. They count as one entity if their values identify things: short
texts, dates, and whole numbers that look like identifiers. Measured numbers and long texts identify nothing.

A key is a value that a few rows share, such as the ticket number of a family. It reveals less. A model that has read
another row with that ticket knows the fare, and often the number of travellers. Such columns are grouped with their key
if a model may have read other rows of the file.

Equivalent columns have equal information in different values, such as a number of donations and the amount of blood. So
if a cell of one is hidden, the row's cells in all of them are hidden.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from statistics import median
from typing import TYPE_CHECKING

from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.thresholds import (
    LEAST_DETERMINED_SHARE,
    LEAST_IDENTIFIER_DIGITS,
    LEAST_KEY_AGREEMENT,
    LEAST_ROWS_OF_ENTITIES,
    LEAST_ROWS_OF_EQUIVALENTS,
    LEAST_SHARE_OF_NAMES,
    LEAST_SHARE_OF_REPEATED_ROWS,
    MOST_ENTROPY_DIFFERENCE,
    MOST_NAME_CHARACTERS,
    MOST_ROWS_PER_KEY,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEASURED = re.compile(r"([$€£¥₹]?) ?[-+]?\d[\d.,]* ?(%|[€£¥₹°]|[^\W\d_]{0,6}[²³]?)")


@table_fact
def entities(table: Table) -> Mapping[str, tuple[str, ...]]:
    """Return for each column that belongs to an entity all columns of that entity, itself included.

    Columns that form no entity with another column are not in the result.
    """
    return _find(table, keys=False)


@table_fact
def entities_and_keys(table: Table) -> Mapping[str, tuple[str, ...]]:
    """Return the groups of `entities`, and group each key that a few rows share with the columns it determines."""
    return _find(table, keys=True)


def _find(table: Table, *, keys: bool) -> dict[str, tuple[str, ...]]:
    rows = list(dict.fromkeys(table.rows))  # in repeated rows every column determines every other
    columns = dict(zip(table.columns, zip(*rows, strict=True), strict=True))
    codes = {name: _codes(table, cells) for name, cells in columns.items()}
    kinds = {name: code for name, code in codes.items() if code is not None}
    repeating = {name for name, code in kinds.items() if _repeats(code)}
    naming = [name for name in kinds if name not in repeating and _names(table, name, columns[name])]
    group = {name: name for name in table.columns}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    for first, second in pairwise(naming):
        group[root(second)] = root(first)
    entropy = {name: _entropy(kinds[name]) for name in repeating}
    for first, second in combinations([name for name in table.columns if name in repeating], 2):
        if abs(entropy[first] - entropy[second]) <= MOST_ENTROPY_DIFFERENCE and root(first) != root(second):
            one, other = kinds[first], kinds[second]
            if _determines(one, other) and _determines(other, one):
                group[root(second)] = root(first)
    for key in filter(lambda name: keys and _is_shared(table, name, kinds[name]), kinds):
        for name in kinds:
            if name != key and _agreement(kinds[key], kinds[name]) >= LEAST_KEY_AGREEMENT:
                group[root(name)] = root(key)
    groups: dict[str, list[str]] = {}
    for name in table.columns:
        groups.setdefault(root(name), []).append(name)
    return {name: tuple(names) for names in groups.values() if len(names) > 1 for name in names}


def _codes(table: Table, cells: Sequence[Cell]) -> "NDArray[np.int64] | None":
    """Return a number for each cell, equal for equal cells, -1 if missing; None if the column has only one value."""
    import numpy as np

    numbers: dict[Cell, int] = {}
    codes = np.array([-1 if table.is_missing(cell) else numbers.setdefault(cell, len(numbers)) for cell in cells])
    return codes if len(numbers) > 1 else None


def _repeats(codes: "NDArray[np.int64]") -> bool:
    """Return whether enough rows share a value with another row, so that the column can be judged by these rows."""
    import numpy as np

    counts = np.bincount(codes[codes >= 0])
    shared = int(counts[counts > 1].sum())
    return shared >= max(LEAST_ROWS_OF_ENTITIES, LEAST_SHARE_OF_REPEATED_ROWS * int(counts.sum()))


def _names(table: Table, name: str, cells: Sequence[Cell]) -> bool:
    """Return whether a column's values name things, as texts, dates and identifiers do."""
    values = [cell for cell in cells if cell is not None and not table.is_missing(cell)]
    few = len(values) < max(LEAST_ROWS_OF_ENTITIES, len(cells) / 2)
    if few or len(set(values)) < LEAST_SHARE_OF_NAMES * len(values):
        return False
    if not table.is_numeric(name):
        return median(map(len, values)) <= MOST_NAME_CHARACTERS and not _measures(values)
    lengths = {len(value) for value in values}
    return len(lengths) == 1 and lengths.pop() >= LEAST_IDENTIFIER_DIGITS and all(value.isdecimal() for value in values)


def _measures(values: Sequence[str]) -> bool:
    """Return whether all texts are numbers with one unit, such as `$1,200` and `12 kg`: these name nothing."""
    units = {found[1] or found[2] if (found := MEASURED.fullmatch(value)) else None for value in values}
    return len(units) == 1 and None not in units and len({len(value) for value in values}) > 1


def _is_shared(table: Table, name: str, codes: "NDArray[np.int64]") -> bool:
    """Return whether a column of texts has values that a few rows share, and so may be a key."""
    import numpy as np

    counts = np.bincount(codes[codes >= 0])
    shared = counts[counts > 1]
    common = not table.is_numeric(name) and int(shared.sum()) >= LEAST_ROWS_OF_ENTITIES
    return common and float(shared.mean()) <= MOST_ROWS_PER_KEY


def _agreement(key: "NDArray[np.int64]", other: "NDArray[np.int64]") -> float:
    """Return how often rows that share a `key` agree in the `other` value: 0 as often as by chance, 1 always."""
    import numpy as np

    def pairs(codes: "NDArray[np.int64]") -> float:
        counts = np.unique(codes, return_counts=True)[1].astype(np.float64)
        return float((counts * (counts - 1)).sum() / 2)

    both = (key >= 0) & (other >= 0)
    key, other, rows = key[both], other[both], int(both.sum())
    sharing = pairs(key)
    if sharing < LEAST_ROWS_OF_ENTITIES or (chance := pairs(other) / (rows * (rows - 1) / 2)) == 1.0:
        return 0.0
    return (pairs(key * (int(other.max()) + 1) + other) / sharing - chance) / (1 - chance)


def _entropy(codes: "NDArray[np.int64]") -> float:
    import numpy as np

    shares = np.unique(codes[codes >= 0], return_counts=True)[1] / (codes >= 0).sum()
    return float(-(shares * np.log2(shares)).sum())


def _determines(known: "NDArray[np.int64]", other: "NDArray[np.int64]") -> bool:
    """Return whether `known` determines `other` in almost all rows with a repeated value of `known`."""
    import numpy as np

    both = (known >= 0) & (other >= 0)
    known, other = known[both], other[both]
    again = np.bincount(known, minlength=1)[known] > 1
    known, other = known[again], other[again]
    if len(known) < LEAST_ROWS_OF_ENTITIES:
        return False
    pairs, counts = np.unique(known * (int(other.max()) + 1) + other, return_counts=True)
    most = np.zeros(int(known.max()) + 1, dtype=np.int64)
    np.maximum.at(most, pairs // (int(other.max()) + 1), counts)
    wrong, blindly = len(known) - int(most.sum()), len(known) - int(np.bincount(other).max())
    return blindly > 0 and wrong <= (1 - LEAST_DETERMINED_SHARE) * blindly


@dataclass(frozen=True)
class ReducedTable:
    """A table with only the first of each set of equivalent columns, and the cells of the columns left out.

    `beside[column][left_out]` maps each cell of `column` to the cell of the column `left_out` in the same row.
    """

    table: Table
    left_out: Mapping[str, Mapping[str, Mapping[Cell, Cell]]]


@table_fact
def reduce_table(table: Table) -> ReducedTable:
    """Return the table without the columns that are equivalent to an earlier one.

    Two columns are equivalent if each determines the other in every row. Columns with hardly any repeated value, and
    columns with only one value, never count as equivalent.
    """
    first: dict[tuple[int, ...], str] = {}
    cells_left_out: dict[str, dict[str, dict[Cell, Cell]]] = {}
    for name in table.columns:
        cells = table.column(name)
        codes: dict[Cell, int] = {}
        alike = tuple(codes.setdefault(cell, len(codes)) for cell in cells)
        if len(codes) < 2 or len(cells) - len(codes) < LEAST_ROWS_OF_EQUIVALENTS:
            continue
        kept = first.setdefault(alike, name)
        if kept != name:
            cells_left_out.setdefault(kept, {})[name] = dict(zip(table.column(kept), cells, strict=True))
    left_out = {name for columns in cells_left_out.values() for name in columns}
    if not left_out:
        return ReducedTable(table, {})
    places = [place for place, name in enumerate(table.columns) if name not in left_out]

    def fewer(rows: tuple[tuple[Cell, ...], ...]) -> tuple[tuple[Cell, ...], ...]:
        return tuple(tuple(row[place] for place in places) for row in rows)

    columns = tuple(table.columns[place] for place in places)
    known = tuple(map(fewer, table.known))
    for kept, others in cells_left_out.items():  # a known file may write the same cell differently
        from_place = table.columns.index(kept)
        for name, mapping in others.items():
            to_place = table.columns.index(name)
            pairs = ((row[from_place], row[to_place]) for rows in table.known for row in rows)
            mapping |= {cell: other for cell, other in pairs if cell not in mapping}
    whole = None if table.whole is None else table.whole.with_rows(fewer)
    reduced = replace(table, columns=columns, rows=fewer(table.rows), known=known, whole=whole)
    return ReducedTable(reduced, cells_left_out)
