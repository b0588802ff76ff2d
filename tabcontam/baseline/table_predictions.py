"""The baseline's predictions of a table's rows, each learned from other rows, and cached by the table's content."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from tabcontam.baseline.cell_prediction import CellPrediction, bits
from tabcontam.baseline.coded_columns import Column, column, previous
from tabcontam.baseline.laws.sequence_laws import runs
from tabcontam.baseline.stored_facts import order_digest, ranks, stored_fact, working_order
from tabcontam.baseline.thresholds import LAGS, MOST_RUN_COLUMNS
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.known_rows import extra_rows, known_rows
from tabcontam.tables.large.adjoining_rows import AdjoiningRows
from tabcontam.tables.row_draws import by_content, seeded
from tabcontam.tables.table import Cell, Table

if TYPE_CHECKING:
    from tabcontam.baseline.chains import FeatureChain

VERSION = 21  # version of the baseline; cached results of other versions are not used


@dataclass(frozen=True)
class RowPrediction:
    """The baseline's prediction of one row's hidden cells.

    `unsure` is the baseline's uncertainty in bits: -log2 of the probability of the likeliest value, summed over the
    cells. For later cells, which are predicted from earlier hidden cells, the mean over all rows is used.
    """

    cells: Mapping[str, CellPrediction]
    unsure: float


def predict_rows(
    table: Table, asked: Sequence[str], shown: Sequence[str], rows: Sequence[int], before: bool = False
) -> dict[int, RowPrediction]:
    """Return the predictions of each row's hidden features, each from the shown features and earlier hidden ones.

    If `before`, the four preceding rows of the file are shown too. The baseline learns from the table and from known
    files.
    """
    if not rows:
        return {}
    key = ("guessed", tuple(asked), tuple(sorted(shown)), tuple(rows), before)
    return cached_fact(table, key, lambda: _predicted(table, asked, shown, rows, before))


def _predicted(
    table: Table, asked: Sequence[str], shown: Sequence[str], rows: Sequence[int], before: bool
) -> dict[int, RowPrediction]:
    rank, order = ranks(table), order_digest(table) if before else None
    which = [sorted(shown), [rank[row] for row in rows], order, sorted(table.missing)]

    @cache
    def chain() -> "FeatureChain":
        return chain_of(table, asked, shown, rows, before)

    def predictions(place: int) -> list[CellPrediction]:
        def write(found: Sequence[CellPrediction]) -> object:
            return [prediction.fields() for prediction in found]

        def read(stored: Any) -> list[CellPrediction]:
            return [CellPrediction.read(fields) for _, fields in zip(rows, stored, strict=True)]

        # if rows before are shown, a wide table's columns depend on the hidden features
        question = ["guesses", VERSION, which, asked[: place + 1], sorted(asked) if before else None]
        return stored_fact(table, question, lambda: chain().predictions(place), write, read)

    def silent() -> list[dict[int, str]]:
        def write(found: Sequence[Mapping[int, str]]) -> object:
            return [[answers.get(row) for row in rows] for answers in found]

        def read(stored: Any) -> list[dict[int, str]]:
            if not all(isinstance(value, str | None) for answers in stored for value in answers):
                raise ValueError("an answer is neither a text nor missing")
            found = [zip(rows, answers, strict=True) for _, answers in zip(asked, stored, strict=True)]
            return [{row: value for row, value in answers if value is not None} for answers in found]

        return stored_fact(table, ["silent", VERSION, which, asked], lambda: chain().silent(), write, read)

    every: list[Callable[[], Any]] = [*(partial(predictions, place) for place in range(len(asked))), silent]
    results = {place: every[place]() for place in working_order(len(every))}
    answers = results.pop(len(asked))
    of_rows = list(zip(*(results[place] for place in range(len(asked))), strict=True))
    uncertainty = [[bits(guess.surest) for guess in of_row] for of_row in of_rows]
    later = sum(sum(lacks[1:]) for lacks in uncertainty) / len(uncertainty)
    found = {}
    for row, of_row, lacks in zip(rows, of_rows, uncertainty, strict=True):
        cells = [replace(guess, silent=answer.get(row)) for guess, answer in zip(of_row, answers, strict=True)]
        found[row] = RowPrediction(dict(zip(asked, cells, strict=True)), lacks[0] + later)
    return found


def chain_of(
    table: Table, asked: Sequence[str], shown: Sequence[str], rows: Sequence[int], before: bool = False
) -> "FeatureChain":
    """Return the chain of hidden features in these rows, each predicted from the shown and earlier hidden features."""
    from tabcontam.baseline.chains import FeatureChain

    cells, given = _cells(table, [*asked, *shown], shown, asked if before else ())
    near = _last_row(table) if before else None
    if adjoining := _adjoining(table, shown):
        cells |= {one.name: one for one in adjoining}
        near, given = near or list(shown), [*given, *(one.name for one in adjoining)]
    return FeatureChain(cells, given, asked, rows, table.missing, _order(table), near, _known(table))


def least_sure(table: Table, columns: Sequence[str], count: int, before: bool = False) -> tuple[str, ...]:
    """Return the `count` of these columns that are hardest to predict, hardest first, without fitting the baseline.

    Each column is assumed to be queried alone, with all other columns shown. If `before`, it is queried after the
    columns chosen earlier, and the preceding rows are shown.
    """

    def find() -> tuple[str, ...]:
        from tabcontam.baseline.hardest_columns import least_sure_of

        given = () if before else table.columns
        lagged = table.columns[:MOST_RUN_COLUMNS] if before else ()
        cells, shown = _cells(table, columns if before else table.columns, given, lagged)
        near = _last_row(table) if before else None
        adjoining = _adjoining(table, given)
        cells, shown = cells | {one.name: one for one in adjoining}, [*shown, *(one.name for one in adjoining)]
        order = _order(table)
        return tuple(least_sure_of(cells, shown, columns, count, table.missing, order, apart=not before, near=near))

    def read(stored: Any) -> tuple[str, ...]:
        if len(set(stored) & set(columns)) != len(stored) or len(stored) != min(count, len(set(columns))):
            raise ValueError("the columns are not as many of the given ones as wanted")
        return tuple(stored)

    order = order_digest(table) if before else None
    which = [sorted(columns), count, order, sorted(table.missing)]
    key = ("least sure", tuple(sorted(columns)), count, before)
    return cached_fact(table, key, lambda: stored_fact(table, ["least sure", VERSION, which], find, list, read))


def _cells(
    table: Table, names: Sequence[str], shown: Sequence[str], lagged: Collection[str] = ()
) -> tuple[dict[str, Column], list[str]]:
    """Return the columns that a baseline needs, and the names of the shown columns.

    If `lagged` is not empty, preceding rows are shown: cells of four rows for `lagged` features, and of one row for
    other features. Run lengths of equal cells are added, in a wide table for `lagged` features only.
    """
    columns = {name: column_of(table, name) for name in names}
    if not lagged:
        return columns, list(shown)
    before = [
        column_of(table, name, by) for name in table.columns for by in range(1, LAGS + 1 if name in lagged else 2)
    ]
    running = table.columns if len(table.columns) <= MOST_RUN_COLUMNS else lagged
    before += [cached_fact(table, ("run", name), partial(_run, table, name)) for name in running]
    return columns | {one.name: one for one in before}, [*shown, *(one.name for one in before)]


def _run(table: Table, name: str) -> Column:
    return runs(name, [column_of(table, name, by) for by in range(1, LAGS + 1)])


def column_of(table: Table, name: str, by: int = 0) -> Column:
    """Return a column over all rows, or its cells `by` rows earlier.

    After the table's rows come the rows of known files and, for a large table, its `key_rows`: further rows of the file
    that share an informative value with a sampled row.
    """

    def made() -> Column:
        extra, own, place = extra_rows(table), table.column(name), table.columns.index(name)
        key_rows = () if table.whole is None else table.whole.key_rows
        if by and not extra and table.whole is None:
            return column_of(table, name).later(previous(name, by), by)
        cells = [*(None,) * by, *own[: len(own) - by]]
        if by and table.whole is not None:
            cells = [cell if before >= by else None for cell, before in zip(cells, table.rows_before, strict=True)]
        cells += [row[place] if (row := one.earlier(by)) else None for one in extra]
        cells += [None if by else row[place] for row in key_rows]
        return column(previous(name, by) if by else name, cells, table.missing)

    return cached_fact(table, ("guesser's column", name, by), made)


def _adjoining(table: Table, shown: Collection[str]) -> list[Column]:
    """Return the cells of the adjoining rows (the nearest rows of one kind in the file).

    They are used only if the columns that decide a row's kind and its position are shown: see `AdjoiningRows`.
    """
    found: list[Column] = []
    for line in () if table.whole is None else table.whole.adjoining:
        if line.order in shown and (line.by is None or line.by in shown):
            found += [
                one for name in line.informative if name in table.columns for one in _adjoining_cells(table, line, name)
            ]
    return found


def _adjoining_cells(table: Table, line: AdjoiningRows, name: str) -> list[Column]:
    """Return a column's cells in the rows before and after each row; missing for rows outside the table."""
    place, length = table.columns.index(name), len(column_of(table, name).keys)

    def made(called: str, rows: Sequence[Sequence[Cell] | None]) -> Column:
        own = [None if row is None else row[place] for row in rows]
        return column(called, [*own, *(None,) * (length - len(own))], table.missing)

    return [
        cached_fact(table, ("guesser's column", called), partial(made, called, rows))
        for called, rows in line.columns(name)
    ]


def _last_row(table: Table) -> list[str]:
    """Return the names of the features of the preceding row."""
    return [previous(name) for name in table.columns]


def _known(table: Table) -> frozenset[int]:
    """Return the indices of the rows that a model may rightly know. Rows of known files follow the table's rows."""
    return known_rows(table) | frozenset(range(len(table.rows), len(table.rows) + len(extra_rows(table))))


def _order(table: Table) -> list[int]:
    rows = by_content(table)
    own = cached_fact(table, "guesser's order", lambda: seeded(table, "guesser").sample(rows, len(rows)))
    extra = len(extra_rows(table))
    known = [len(rows) + place for place in seeded(table, "known").sample(range(extra), extra)]
    key_rows = () if table.whole is None else table.whole.key_rows
    return [*own, *known, *range(len(rows) + extra, len(rows) + extra + len(key_rows))]
