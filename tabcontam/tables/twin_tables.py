"""Twins: tables with the same columns and none of the table's rows, for controls and decoys."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from random import Random
from statistics import quantiles

from tabcontam.errors import Skip
from tabcontam.groups import grouped
from tabcontam.tables.cached_facts import table_fact
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
    """Return a table with the same columns, shuffled within the target's classes, that has no row of `table`.

    Values that few rows have are shuffled again over all classes. Otherwise a value that occurs once would show the
    class of its row to a model that has read the row: that would be memory of the table. Such numbers are exchanged
    with near numbers, and so stay about as likely in their class. Withheld rows, if given, are shuffled together with
    the published rows: a model that has read the twin has read as much of both. If a shuffled row equals a real row, it
    exchanges single cells with rows of its class, or is dropped. If the key of planted digits is given, the digits are
    first drawn again: the twin has none of the published digits. The words of texts are shuffled: the twin has none of
    the table's texts. The twin of a table is always the same. Raises `Skip` if the table has all combinations of
    feature values, or if less than half of the rows are left.
    """
    if table.enumerates_domain:
        raise Skip(f"{table.name} lists every combination of its features' values, so that every twin holds its rows")
    source = replace(table, rows=(*table.rows, *table.withheld)) if table.withheld else table
    kept = _apart_from(source, enumerate(_mixed(_with_other_digits(source), few=MOST_ROWS_OF_RARE_VALUE)))
    return replace(table, rows=tuple(_other_words(table, [row for _, row in kept])), whole=None)


def _other_words(table: Table, rows: Sequence[Row]) -> Iterable[Row]:
    """Yield the rows, with the words of texts in another order if the table has columns of texts."""
    texts = {table.columns.index(name) for name in table.text.texts} if table.text else set()
    rng = Random(f"words {table.sha256}")

    def in_disorder(cell: Cell) -> Cell:
        words = (cell or "").split()
        rng.shuffle(words)
        return cell if cell is None else " ".join(words)

    for row in rows:
        yield tuple(in_disorder(cell) if place in texts else cell for place, cell in enumerate(row))


@table_fact
def twin_rows(table: Table, salt: str = "") -> list[tuple[int, Row]]:
    """Return twin rows for decoys, each with the place of its original row. Row and column order do not change them.

    At most `MOST_ROWS_FOR_DECOYS` rows are used. Each `salt` makes another twin. Raises `Skip` if the table has no
    twin.
    """
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
    """Return the rows in `mixed` that the table does not contain. Raises `Skip` if less than half are left."""
    rows = list(mixed)
    kept = [(place, row) for place, row in rows if not table.is_row(row)]
    if len(kept) < 2 or 2 * len(kept) < len(rows):
        raise Skip(f"{len(rows) - len(kept)} of {len(rows)} rows of a shuffled twin of {table.name} are its own rows")
    return kept


def _mixed(table: Table, few: int = 0, is_row: Callable[[Row], bool] | None = None) -> list[Row]:
    """Return each row shuffled within its class; a result that equals a real row is changed, if possible.

    Feature values that at most `few` rows have are shuffled over all classes, numbers among near numbers. `is_row`
    decides which rows are real, if the table is a part of another table.
    """
    rng = Random(table.sha256)
    members = list(grouped(range(len(table.rows)), _classes(table).__getitem__).values())
    rows = _shuffled(table, members, rng, few)
    for indexes in members:
        for index in indexes:
            _part(rows, index, indexes, is_row or table.is_row, rng)
    return [tuple(row) for row in rows]


def _classes(table: Table) -> list[Hashable]:
    """Return each row's class: the target's value, its side of the question's threshold, or its quartile.

    All missing values are one class. If the target is a column of many texts, all rows are one class.
    """
    if table.target is None:
        return [None] * len(table.rows)
    cells = table.column(table.target)
    if table.question and table.question.threshold is not None:
        cuts = [table.question.threshold]
    elif len(table.distinct(table.target)) <= MOST_CLASSES_OF_TWINS:
        return list(cells)
    elif table.is_numeric(table.target):
        cuts = quantiles((float(cell) for cell in cells if cell is not None and not table.is_missing(cell)), n=4)
    else:
        return [None] * len(cells)  # names or dates: with one or two rows a class, nothing would be shuffled
    return [None if cell is None or table.is_missing(cell) else bisect_right(cuts, float(cell)) for cell in cells]


def _shuffled(table: Table, groups: Sequence[Sequence[int]], rng: Random, few: int) -> list[list[Cell]]:
    """Return the rows, each column shuffled within `groups`; rare cells of features are shuffled over all rows."""
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
    """Return groups of places of a column's rare cells: one group, or, for numbers, groups of near numbers."""
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
    """Change a row that equals a real row: exchange one cell with a row of its group, so that neither is a real row."""
    row = rows[index]
    if not is_row(tuple(row)):
        return
    for _ in range(MOST_SWAPS):
        other, column = rows[rng.choice(group)], rng.randrange(len(row))
        row[column], other[column] = other[column], row[column]
        if not is_row(tuple(row)) and not is_row(tuple(other)):
            return
        row[column], other[column] = other[column], row[column]


def _with_other_digits(table: Table) -> Table:
    """Return the table with its planted digits drawn from another secret; unchanged if no key was given.

    A model that reads the new table has seen none of the published digits, except by chance.
    """
    rows, rng = [list(row) for row in table.rows], Random(f"other digits {table.sha256}")
    for cell in table.drawn_cells:
        rows[cell.row][table.columns.index(cell.column)] = rng.choice(cell.alternatives)
    return replace(table, rows=tuple(map(tuple, rows))) if table.drawn_cells else table
