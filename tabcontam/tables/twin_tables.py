"""Twins: tables of the same schema without a row of the table, for the controls and for decoys."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from random import Random
from statistics import quantiles

from tabcontam.errors import Skip
from tabcontam.groups import grouped
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.planted_tables import with_other_digits
from tabcontam.tables.row_draws import by_content, identity, pool
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.thresholds import (
    MOST_CLASSES_OF_TWINS,
    MOST_ROWS_FOR_DECOYS,
    MOST_ROWS_OF_RARE_VALUE,
    MOST_SWAPS,
    NEAR_NUMBERS,
)

Row = tuple[Cell, ...]


def twin(table: Table) -> Table:
    """Return a table of the same schema with columns shuffled within the target's classes, without a row of `table`.

    Values that occur few times are shuffled once more, over all classes: one that occurs once would reveal the class of
    its row to a model that has read it, and so be memory of the table. Numbers go to the places of near ones, so that
    they stay as likely in their class as their neighbours are. Rows that were never published, if given, are shuffled
    with the others: a model that has read the twin has read as much of these. A row that equals a real one swaps single
    cells with others of its class, or is dropped. Planted digits, if the owner gives the key, are drawn again first: a
    model that has read the twin has read none of them. The words of texts to read are shuffled, so that none of the
    table's texts stands in it. A table has the same twin each time. Raises `Skip` where the table enumerates its domain
    or keeps less than half of its rows.
    """
    if table.enumerates_domain:
        raise Skip(f"{table.name} lists every combination of its features' values, so that every twin holds its rows")
    source = replace(table, rows=(*table.rows, *table.withheld)) if table.withheld else table
    kept = _apart_from(source, enumerate(_mixed(with_other_digits(source), few=MOST_ROWS_OF_RARE_VALUE)))
    return replace(table, rows=tuple(_other_words(table, [row for _, row in kept])), whole=None)


def _other_words(table: Table, rows: Sequence[Row]) -> Iterable[Row]:
    """Yield the rows, with the words of their texts in another order, where columns of the table are texts to read."""
    texts = {table.columns.index(name) for name in table.text.texts} if table.text else set()
    rng = Random(f"words {table.sha256}")
    for row in rows:
        yield tuple(_in_disorder(cell, rng) if place in texts else cell for place, cell in enumerate(row))


def _in_disorder(cell: Cell, rng: Random) -> Cell:
    words = (cell or "").split()
    rng.shuffle(words)
    return cell if cell is None else " ".join(words)


def twin_rows(table: Table, salt: str = "") -> list[tuple[int, Row]]:
    """Return rows of a twin for decoys, each with the place of its row; equal for any order of rows and columns.

    Made of at most `MOST_ROWS_FOR_DECOYS` rows; another `salt` makes another twin. Raises `Skip` where the table has no
    twin.
    """
    return cached_fact(table, ("twin rows", salt), lambda: _twin_rows(table, salt))


def _twin_rows(table: Table, salt: str) -> list[tuple[int, Row]]:
    if table.enumerates_domain:
        raise Skip(f"{table.name} lists every combination of its features' values, so that every twin holds its rows")
    places = pool(table, by_content(table), MOST_ROWS_FOR_DECOYS)
    order = sorted(range(len(table.columns)), key=table.columns.__getitem__)
    sample = replace(
        table,
        sha256=f"{salt} {identity(table)}" if salt else identity(table),
        columns=tuple(table.columns[index] for index in order),
        rows=tuple(tuple(table.rows[place][index] for index in order) for place in places),
        whole=None,
    )
    back = sorted(range(len(order)), key=order.__getitem__)

    def is_row(row: Row) -> bool:
        return table.is_row([row[index] for index in back])

    mixed = [tuple(row[index] for index in back) for row in _mixed(sample, is_row=is_row)]
    return _apart_from(table, zip(places, mixed, strict=True))


def _apart_from(table: Table, mixed: Iterable[tuple[int, Row]]) -> list[tuple[int, Row]]:
    """Return the mixed rows that are none of the table's. Raises `Skip` where less than half of them are left."""
    rows = list(mixed)
    kept = [(place, row) for place, row in rows if not table.is_row(row)]
    if len(kept) < 2 or 2 * len(kept) < len(rows):
        raise Skip(f"{len(rows) - len(kept)} of {len(rows)} rows of a shuffled twin of {table.name} are its own rows")
    return kept


def _mixed(table: Table, few: int = 0, is_row: Callable[[Row], bool] | None = None) -> list[Row]:
    """Return each row shuffled within its class and, if possible, separated from a real row that it equals.

    Cells of features that at most `few` rows have are shuffled over all classes, numbers among those that are near.
    `is_row` decides which rows are real, where the table is a part of another one.
    """
    rng = Random(table.sha256)
    members = list(grouped(range(len(table.rows)), _classes(table).__getitem__).values())
    rows = _shuffled(table, members, rng, few)
    for indexes in members:
        for index in indexes:
            _part(rows, index, indexes, is_row or table.is_row, rng)
    return [tuple(row) for row in rows]


def _classes(table: Table) -> list[Hashable]:
    """Return each row's class: its target's value, side of the question's threshold or quartile; missing ones are one.

    A target of many texts is no class.
    """
    if table.target is None:
        return [None] * len(table.rows)
    cells = table.column(table.target)
    threshold = table.question.threshold if table.question else None
    cuts = [threshold] if threshold is not None else _quartiles(table, table.target)
    if not cuts and len(table.distinct(table.target)) > MOST_CLASSES_OF_TWINS:
        return [None] * len(cells)  # names or dates: within classes of a row or two nothing would be shuffled
    if not cuts:
        return list(cells)
    return [None if cell is None or table.is_missing(cell) else bisect_right(cuts, float(cell)) for cell in cells]


def _quartiles(table: Table, target: str) -> list[float]:
    """Return the three cuts of a numeric target with many values; none for another."""
    if len(table.distinct(target)) <= MOST_CLASSES_OF_TWINS or not table.is_numeric(target):
        return []
    cells = (cell for cell in table.column(target) if cell is not None and not table.is_missing(cell))
    return quantiles(map(float, cells), n=4)


def _shuffled(table: Table, groups: Sequence[Sequence[int]], rng: Random, few: int) -> list[list[Cell]]:
    """Return the rows with each column shuffled within each group of rows, rare cells of features among all of them."""
    columns = [list(column) for column in zip(*table.rows, strict=True)]
    for group in groups:
        for column in columns:
            _shuffle(column, group, rng)
    for name, column in zip(table.columns, columns, strict=True):
        if few and name != table.target:
            for places in _rare(table, name, column, few):
                _shuffle(column, places, rng)
    return [list(row) for row in zip(*columns, strict=True)]


def _rare(table: Table, name: str, column: Sequence[Cell], few: int) -> list[list[int]]:
    """Return the places of a column's rare cells: all of them or, of numbers, groups of those that are near in size."""
    times = Counter(column)
    rare = [index for index, cell in enumerate(column) if times[cell] <= few and not table.is_missing(cell)]
    if not table.is_numeric(name):
        return [rare]
    rare.sort(key=lambda index: float(column[index] or 0))
    return [rare[start : start + NEAR_NUMBERS] for start in range(0, len(rare), NEAR_NUMBERS)]


def _shuffle(column: list[Cell], places: Sequence[int], rng: Random) -> None:
    values = [column[index] for index in places]
    rng.shuffle(values)
    for index, value in zip(places, values, strict=True):
        column[index] = value


def _part(rows: list[list[Cell]], index: int, group: Sequence[int], is_row: Callable[[Row], bool], rng: Random) -> None:
    """Swap a cell of a row that equals a real one with a row of its group so that neither does, if possible."""
    row = rows[index]
    if not is_row(tuple(row)):
        return
    for _ in range(MOST_SWAPS):
        other, column = rows[rng.choice(group)], rng.randrange(len(row))
        row[column], other[column] = other[column], row[column]
        if not is_row(tuple(row)) and not is_row(tuple(other)):
            return
        row[column], other[column] = other[column], row[column]
