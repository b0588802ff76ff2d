"""The null model of recorded rows: the baseline's predictions for hidden cells, from the table but without the prompt.

No prompt is recorded and no row number. The row is found in the edition by its values, and is left out of what the
baseline learns from: the frequencies of the column, those given the asked cells before it, those among the rows that
are nearest to the shown part of the row, and where the fifth row is asked the cells of the first four.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise, starmap
from operator import lt

import numpy as np
from numpy.typing import NDArray

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.errors import UsageError
from tabcontam.reading.answer_text import value_key
from tabcontam.replay.thresholds import FIRST_ROWS_SHOWN, LARGEST_NUMBER_DISTANCE, NEAREST_ROWS, PRINTED_CHARACTERS
from tabcontam.tables.dataset_cards import Edition, find_card
from tabcontam.tables.editions import edition_bytes
from tabcontam.tables.table import Cell, Table, load_table

PAPER_EDITION = "paper"
Values = Mapping[str, Cell]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class NumberedColumn:
    """A column in numbers: `codes` number its values, and `values` are these as written, None where missing.

    `numbers` are in standard deviations where the column is numeric, else the codes.
    """

    codes: NDArray[np.intp]
    values: tuple[Cell, ...]
    numbers: Numbers

    @property
    def missing(self) -> float:
        """The share of rows whose cell is missing."""
        absent = np.array([value is None for value in self.values])
        return float(absent[self.codes].mean())

    def frequencies(self, rows: NDArray[np.bool_]) -> CellPrediction:
        """Return the frequencies of values in these rows, for one more row: an unseen value has 1 in n + 1."""
        counts = np.bincount(self.codes[rows], minlength=len(self.values))
        total = int(counts.sum()) + 1
        listed = np.flatnonzero(counts)
        values = ((self.values[code], int(counts[code]) / total) for code in listed)
        return CellPrediction({value: chance for value, chance in values if value is not None}, 1 / total)


@dataclass(frozen=True)
class KnownEdition:
    """An edition at hand, its rows found by their printed values."""

    table: Table

    def place(self, values: Values) -> int | None:
        """Return the place of the row with these values; None where there is none."""
        return self._places.get(tuple(self._printed(values.get(name)) for name in self.table.columns))

    def row(self, place: int) -> dict[str, Cell]:
        """Return the row's cells, None for missing ones."""
        cells = dict(zip(self.table.columns, self.table.rows[place], strict=True))
        return {name: None if self.table.is_missing(cell) else cell for name, cell in cells.items()}

    @cached_property
    def predictions(self) -> Callable[[int, tuple[str, ...], bool], dict[str, CellPrediction]]:
        """A cached function that predicts each asked cell, given the rest of the row and the asked cells before it.

        It takes the row's place, the asked features, and whether the query shows four other rows, which are the first
        rows where the fifth is asked. A feature that only counts the rows has no prediction: counting gives its cells.
        """
        return cache(self._predictions)

    def _predictions(self, place: int, asked: tuple[str, ...], shows_rows: bool) -> dict[str, CellPrediction]:
        predicted: dict[str, CellPrediction] = {}
        distances = np.zeros(len(self.table.rows))
        others = np.arange(len(distances)) != place
        known = [name for name in self.table.columns if name not in asked]
        alike = others
        for name in known:
            distances += self._apart(name, place)
        for name in asked:
            if name not in self._numbering:
                samples = [others, alike]
                if known:
                    agree = self._columns[known[-1]].codes == self._columns[known[-1]].codes[place]
                    samples += [_nearest(distances, others), others & agree]
                column = self._columns[name]
                options = [column.frequencies(rows) for rows in samples if rows is others or rows.any()]
                if shows_rows and place == FIRST_ROWS_SHOWN:  # elsewhere the authors shuffled the rows
                    options.append(self._repeated(name))
                predicted[name] = _most(options, column.missing)
            known = [*known, name]
            distances += self._apart(name, place)
            alike = alike & (self._columns[name].codes == self._columns[name].codes[place])
        return predicted

    def _apart(self, name: str, place: int) -> Numbers:
        """Return the distance of each row's cell to this row's, in standard deviations; 1 between categories."""
        numbers = self._columns[name].numbers
        apart = np.abs(numbers - numbers[place]) if self.table.is_numeric(name) else 1.0 * (numbers != numbers[place])
        near: Numbers = np.minimum(np.nan_to_num(apart, nan=1.0), LARGEST_NUMBER_DISTANCE)
        return near

    def _repeated(self, name: str) -> CellPrediction:
        """Return the cells of the first rows, each as likely as a cell repeats one of the rows before it."""
        codes = self._columns[name].codes
        repeats = [
            (codes[FIRST_ROWS_SHOWN:] == codes[FIRST_ROWS_SHOWN - back : len(codes) - back])
            for back in range(1, FIRST_ROWS_SHOWN + 1)
        ]
        share = float(np.mean(np.any(repeats, axis=0)))
        shown = {cell for cell in self.table.column(name)[:FIRST_ROWS_SHOWN] if cell is not None}
        return CellPrediction(dict.fromkeys(shown, share), 0)

    @cached_property
    def _columns(self) -> dict[str, NumberedColumn]:
        return {name: _column(self.table, name) for name in self.table.columns}

    @cached_property
    def _numbering(self) -> frozenset[str]:
        """The columns that only count the rows: they rise from each row to the next, as 1, 2, 3 and 0001_01 do.

        No row number is recorded, but the first rows are asked, and counting needs no memory of the table.
        """

        def counts(name: str) -> bool:
            cells = [cell for cell in self.table.column(name) if cell is not None and not self.table.is_missing(cell)]
            steps = pairwise(map(float, cells)) if self.table.is_numeric(name) else pairwise(cells)
            return 1 < len(cells) == len(self.table.rows) and all(starmap(lt, steps))

        return frozenset(filter(counts, self.table.columns))

    @cached_property
    def _places(self) -> dict[tuple[str, ...], int]:
        printed = cache(self._printed)
        rows = [tuple(map(printed, row)) for row in self.table.rows]
        return {row: place for place, row in reversed(list(enumerate(rows)))}  # the first of equal rows

    def _printed(self, cell: Cell) -> str:
        """Return the part of a cell that is printed, with numbers in one form."""
        return "" if cell is None or self.table.is_missing(cell) else value_key(cell[:PRINTED_CHARACTERS])


def _column(table: Table, name: str) -> NumberedColumn:
    cells = table.column(name)
    key_of = {cell: "" if cell is None or table.is_missing(cell) else value_key(cell) for cell in dict.fromkeys(cells)}
    code_of = {key: code for code, key in enumerate(dict.fromkeys(key_of.values()))}
    codes = np.array([code_of[key_of[cell]] for cell in cells])
    written = {key: cell for cell, key in key_of.items()}
    values = tuple(written[key] if key else None for key in code_of)
    if not table.is_numeric(name):
        return NumberedColumn(codes, values, codes.astype(float))
    sizes = np.array([float(key) if key else np.nan for key in code_of])
    numbers = sizes[codes]
    return NumberedColumn(codes, values, numbers / (float(np.nanstd(numbers)) or 1.0))


def _nearest(distances: Numbers, others: NDArray[np.bool_]) -> NDArray[np.bool_]:
    order = np.argsort(np.where(others, distances, np.inf), kind="stable")
    return others & np.isin(np.arange(len(order)), order[:NEAREST_ROWS])


def known_edition(dataset: str, columns: Sequence[str]) -> KnownEdition | str:
    """Return the edition with these columns, the paper's own first, or why there is none. Nothing is fetched."""
    card = find_card(dataset)
    if card is None:
        return "not recorded: no card states the table's content"
    for edition in sorted(card.editions, key=lambda edition: edition.name != PAPER_EDITION):
        try:
            edition_bytes(card, replace(edition, addresses=()))
        except UsageError:
            continue
        table = load_table(f"{card.name}@{edition.name}")
        if set(table.columns) == set(columns):
            return KnownEdition(_in_words(table, edition))
    return f"not recorded: no edition of {card.name} with these features is on this machine"


def _in_words(table: Table, edition: Edition) -> Table:
    """Return the table with the names of its classes, which the authors write for scikit-learn's numbers."""
    if edition.loader is None or table.question is None or table.question.threshold is not None:
        return table
    index = table.columns.index(str(table.target))
    answers = table.question.answers
    rows = tuple((*row[:index], answers.get(str(row[index]), row[index]), *row[index + 1 :]) for row in table.rows)
    return replace(table, rows=rows)


def _most(options: Sequence[CellPrediction], missing: float) -> CellPrediction:
    """Return for each value the most that any of several predictions gives; unlisted ones have the first's rest."""
    most: dict[str, float] = {}
    for prediction in options:
        for value, chance in prediction.values.items():
            most[value] = max(most.get(value, 0.0), chance)
    return CellPrediction(most, options[0].rest, missing)
