"""The null model of recorded rows: the baseline's predictions for hidden cells, from the table without the prompt.

No prompt and no row number is recorded. The row is found in the edition by its values, and the baseline does not learn
from it. The baseline uses the frequencies of the column in four ways: over all rows; over rows with the same values in
the asked cells before it; over the rows that are nearest to the known part of the row; over rows with the same last
known cell. If the fifth row is asked, it also uses the cells of the first four rows.
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
    """A column in numbers. `values`: its distinct values, None for missing. `codes`: each row's index in `values`.

    `numbers`: the values, in standard deviations, if the column is numeric, else the codes.
    """

    codes: NDArray[np.intp]
    values: tuple[Cell, ...]
    numbers: Numbers

    @property
    def missing(self) -> float:
        """The share of rows with a missing cell."""
        absent = np.array([value is None for value in self.values])
        return float(absent[self.codes].mean())

    def frequencies(self, rows: NDArray[np.bool_]) -> CellPrediction:
        """Return the frequencies of values in `rows` as chances in a further row. All other values get 1/(n + 1)."""
        counts = np.bincount(self.codes[rows], minlength=len(self.values))
        total = int(counts.sum()) + 1
        listed = np.flatnonzero(counts)
        values = ((self.values[code], int(counts[code]) / total) for code in listed)
        return CellPrediction({value: chance for value, chance in values if value is not None}, 1 / total)


@dataclass(frozen=True)
class KnownEdition:
    """An edition on this machine, with its rows by their printed values."""

    table: Table

    def place(self, values: Values) -> int | None:
        """Return the index of the row with these values; None if there is none."""
        return self._places.get(tuple(self._printed(values.get(name)) for name in self.table.columns))

    def row(self, place: int) -> dict[str, Cell]:
        """Return the cells of the row with index `place`, by column; None for a missing cell."""
        cells = dict(zip(self.table.columns, self.table.rows[place], strict=True))
        return {name: None if self.table.is_missing(cell) else cell for name, cell in cells.items()}

    @cached_property
    def predictions(self) -> Callable[[int, tuple[str, ...], bool], dict[str, CellPrediction]]:
        """A cached function that predicts each asked cell, given the rest of the row and the asked cells before it.

        Its arguments are the row's index, the asked features, and whether the query shows four other rows. If the fifth
        row is asked, these are the first four rows. A feature that only counts the rows gets no prediction, since
        counting gives its cells.
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
                if shows_rows and place == FIRST_ROWS_SHOWN:  # for other rows the authors shuffled the table
                    options.append(self._repeated(name))
                predicted[name] = _most(options, column.missing)
            known = [*known, name]
            distances += self._apart(name, place)
            alike = alike & (self._columns[name].codes == self._columns[name].codes[place])
        return predicted

    def _apart(self, name: str, place: int) -> Numbers:
        """Return the distance of each cell of column `name` to that in row `place`: in standard deviations, or 1
        between two categories.
        """
        numbers = self._columns[name].numbers
        apart = np.abs(numbers - numbers[place]) if self.table.is_numeric(name) else 1.0 * (numbers != numbers[place])
        near: Numbers = np.minimum(np.nan_to_num(apart, nan=1.0), LARGEST_NUMBER_DISTANCE)
        return near

    def _repeated(self, name: str) -> CellPrediction:
        """Return the first rows' cells, each with the share of cells that repeat one of the four cells above them."""
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
        """The columns that only count the rows: each cell is larger than the one before, as in 1, 2, 3 or 0001_01.

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
        return {row: place for place, row in reversed(list(enumerate(rows)))}  # of equal rows the first

    def _printed(self, cell: Cell) -> str:
        """Return the part of a cell that pandas prints, with all numbers in one form."""
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
    """Return the edition with these columns, preferably the paper's, or why there is none. Nothing is downloaded."""
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
    """Return the table with the names of its classes. The authors write these in place of scikit-learn's numbers."""
    if edition.loader is None or table.question is None or table.question.threshold is not None:
        return table
    index = table.columns.index(str(table.target))
    answers = table.question.answers
    rows = tuple((*row[:index], answers.get(str(row[index]), row[index]), *row[index + 1 :]) for row in table.rows)
    return replace(table, rows=rows)


def _most(options: Sequence[CellPrediction], missing: float) -> CellPrediction:
    """Return each value's highest chance in the predictions. Other values get the first prediction's `rest`."""
    most: dict[str, float] = {}
    for prediction in options:
        for value, chance in prediction.values.items():
            most[value] = max(most.get(value, 0.0), chance)
    return CellPrediction(most, options[0].rest, missing)
