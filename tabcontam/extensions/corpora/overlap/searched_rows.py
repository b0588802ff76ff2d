"""The choice of the hidden cell of a row that is searched for, and of other values that could replace it.

All cells of a column are reassigned to its rows at random, each to a row whose other cells make it likely. A column
that repeats another one in other values is left out of the search: it would reveal the hidden cell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabcontam.baseline.cell_draws import CellDraws, draw_cells
from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.table_predictions import least_sure
from tabcontam.evidence.rows.bits_by_column import entity_names
from tabcontam.evidence.rows.drawable_cells import can_be_drawn, rows_unlike_others
from tabcontam.evidence.thresholds import LEAST_CHANCE, MOST_HIDDEN_FEATURES, MOST_RANKED_ROWS
from tabcontam.extensions.corpora.thresholds import LEAST_SEARCHED_VALUES, MOST_EQUAL_SLOTS, SEARCHED_SURROGATES
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.entities import reduce_table
from tabcontam.tables.known_rows import known_rows
from tabcontam.tables.row_draws import pool
from tabcontam.tables.table import Cell, Table


@dataclass(frozen=True)
class SearchedRow:
    """A row with one hidden cell: the row's other values, and the slots of each value that the cell could have.

    There is a slot for the own cell and for each draw. `slots` is in the order of the values, which does not reveal the
    own one.
    """

    feature: str
    own: str
    slots: Mapping[str, int]
    context: tuple[str, ...]
    lies_in: str  # the feature, or the features of one entity that it belongs to

    @property
    def prediction(self) -> CellPrediction:
        """The chance of each value if all slots are equally likely."""
        total = sum(self.slots.values())
        return CellPrediction({value: count / total for value, count in self.slots.items()}, LEAST_CHANCE)


def can_be_found(cell: Cell) -> bool:
    """Return whether a cell has a letter or a digit: documents are searched by their words."""
    return cell is not None and any(sign.isalnum() or ord(sign) > 127 for sign in cell)


def others(table: Table, row: Sequence[Cell], feature: str) -> tuple[str, ...]:
    """Return the row's cells in the other columns that are not missing and can be found."""
    named = zip(table.columns, row, strict=True)
    return tuple(
        cell for name, cell in named if name != feature and cell and can_be_found(cell) and not table.is_missing(cell)
    )


def choose_searched_rows(table: Table) -> dict[int, tuple[SearchedRow, ...]]:
    """Return for each searched row its hidden cell, and a second hidden cell of another column if there is one.

    Each feature is the first hidden one in about equally many rows. A row is left out if it may be known, or equals
    another row in all other cells. The result is empty if no column has cells with other possible values.
    """
    return cached_fact(table, "dealt for documents", lambda: _choose(table))


def _choose(table: Table) -> dict[int, tuple[SearchedRow, ...]]:
    known, table = known_rows(table), reduce_table(table).table
    fit = [name for name in table.columns if can_be_drawn(table, name)]
    if not fit or len(table.columns) < LEAST_SEARCHED_VALUES:
        return {}
    features = least_sure(table, fit, min(MOST_HIDDEN_FEATURES, len(fit)))
    lies = entity_names(table, features)
    rows = pool(table, [row for row in range(len(table.rows)) if row not in known], MOST_RANKED_ROWS)
    draws = {
        feature: draw_cells(table, feature, rows_unlike_others(table, feature, rows), SEARCHED_SURROGATES)
        for feature in features
    }
    found: dict[int, tuple[SearchedRow, ...]] = {}
    for number, row in enumerate(rows):
        turned = [*features[number % len(features) :], *features[: number % len(features)]]
        each = [
            _hidden(table, row, name, draws[name][row], lies.get(name, name)) for name in turned if row in draws[name]
        ]
        able = [one for one in each if one is not None]
        second = [one for one in able[1:] if one.lies_in != able[0].lies_in]
        if able:
            found[row] = (able[0], *second[:1])
    return found


def _hidden(table: Table, row: int, feature: str, draws: CellDraws, lies_in: str) -> SearchedRow | None:
    """Return the row with this cell hidden, or None if a match would show nothing, whatever the cell's value is."""
    own = table.rows[row][table.columns.index(feature)]
    context = others(table, table.rows[row], feature)
    if own is None or len(context) + 1 < LEAST_SEARCHED_VALUES:
        return None
    slots = with_own(draws.times, own)
    if max(slots.values()) > MOST_EQUAL_SLOTS * sum(slots.values()) or not all(map(can_be_found, slots)):
        return None
    return SearchedRow(feature, own, slots, context, lies_in)


def with_own(times: Mapping[str, int], own: str) -> dict[str, int]:
    """Return the slots of the draws and of the own cell, in the order of the values."""
    counts = {**times, own: times.get(own, 0) + 1}
    return {value: counts[value] for value in sorted(counts)}
