"""Groups of rows whose numbers in one column may be exchanged: most differ only in their last digits."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from tabcontam.baseline.coded_columns import as_number, column
from tabcontam.baseline.table_predictions import predict_rows
from tabcontam.evidence.thresholds import (
    ADJACENT_GROUP_ROWS,
    EXCHANGED_TAILS,
    LEAST_EXCHANGED_ROWS,
    LEAST_NUMBER_DIGITS,
    MOST_GROUP_ROWS,
    MOST_SEPARATE_VALUES,
    PRIOR_COUNT,
)
from tabcontam.groups import grouped
from tabcontam.statistics.permutation_tests import Floats, Ints, permute_within_groups
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.row_draws import by_content
from tabcontam.tables.table import Table

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class ExchangeGroup:
    """Rows of the table, by place, whose numbers in a column may be exchanged, and these numbers."""

    rows: tuple[int, ...]
    values: tuple[str, ...]


def distinguishable_rows(table: Table, place: int) -> list[int]:
    """Return the rows with a long number in this column and other cells that no other row has.

    Rows that may be known are left out.
    """
    cells = table.column(table.columns[place])
    others = [row[:place] + row[place + 1 :] for row in table.all_stored]
    times = Counter(others)

    def is_long(cell: str) -> bool:  # the number as written, without leading zeros
        return bool(NUMBER.fullmatch(cell)) and len(cell.lstrip("-0.").replace(".", "")) >= LEAST_NUMBER_DIGITS

    alone = (row for row in by_content(table) if times[others[row]] == 1)
    return not_known(table, (row for row in alone if is_long(cells[row] or "")))


def groups_of(table: Table, place: int, rows: Sequence[int], most: int, rng: Random) -> list[ExchangeGroup]:
    """Return random groups with at most `most` of these rows in all, or [] if there are too few.

    The numbers of a group have the same form and differ in the last digit or the last two; if there are too few such
    rows, they are adjacent in size. So the groups do not depend on which row has which number.
    """
    cells = [cell or "" for cell in table.column(table.columns[place])]
    found: list[ExchangeGroup] = []
    for tail in EXCHANGED_TAILS:
        heads = {row: (_form(cells[row]), cells[row][:-tail]) for row in rows}
        alike = grouped(rows, heads.__getitem__)
        found = _several(cells, [rng.sample(part, len(part)) for part in alike.values()], MOST_GROUP_ROWS)
        if sum(len(group.rows) for group in found) >= LEAST_EXCHANGED_ROWS:
            break
    else:
        near = grouped(rows, lambda row: str(_form(cells[row])))
        found = _several(
            cells, [sorted(part, key=lambda row: float(cells[row])) for part in near.values()], ADJACENT_GROUP_ROWS
        )
    rng.shuffle(found)
    chosen: list[ExchangeGroup] = []
    for group in found:
        if sum(len(one.rows) for one in chosen) + len(group.rows) <= most:
            chosen.append(group)
    return chosen if sum(len(group.rows) for group in chosen) >= LEAST_EXCHANGED_ROWS else []


def _several(cells: Sequence[str], parts: Sequence[Sequence[int]], size: int) -> list[ExchangeGroup]:
    """Return groups of at most `size` adjacent rows, without groups in which all numbers are equal."""
    chunks = [part[start : start + size] for part in parts for start in range(0, len(part), size)]
    groups = [ExchangeGroup(tuple(chunk), tuple(sorted({cells[row] for row in chunk}))) for chunk in chunks]
    return [group for group in groups if len(group.values) > 1]


def _form(cell: str) -> tuple[bool, int, int]:
    """Return a number's form: whether it has a minus sign, and how many digits it has before and after the point."""
    whole, _, decimals = cell.partition(".")
    return cell.startswith("-"), len(whole), len(decimals)


def strongest_reader(table: Table, place: int, groups: Sequence[ExchangeGroup], seed: int) -> tuple[str, float]:
    """Return the predictor without memory that best matches rows to their numbers, and its p-value.

    Three predictors see the same other cells as the model: the baseline, a weighted sum of the other cells, and a count
    of the last digits for each other cell. The p-value is corrected for three predictors.
    """
    readers = {
        "the baseline": _by_baseline(table, place, groups),
        "a weighted sum of the other cells": _by_sum(table, place, groups),
        "a count of the last digits that go with other cells": _by_digits(table, place, groups),
    }
    cells = table.column(table.columns[place])
    own = [np.array([group.values.index(cells[row] or "") for row in group.rows]) for group in groups]
    p_values = {
        reader: permute_within_groups(list(zip(matrices, own, strict=True)), seed).p_value
        for reader, matrices in readers.items()
    }
    reader = min(p_values, key=p_values.__getitem__)
    return reader, min(1.0, len(readers) * p_values[reader])


def _others(table: Table, place: int) -> tuple[str, ...]:
    return table.columns[:place] + table.columns[place + 1 :]


def _by_baseline(table: Table, place: int, groups: Sequence[ExchangeGroup]) -> list[Floats]:
    name, shown = table.columns[place], _others(table, place)
    rows = sorted({row for group in groups for row in group.rows})
    predictions = predict_rows(table, [name], shown, rows) if shown else {}
    if not predictions:
        return [np.zeros((len(group.rows), len(group.values))) for group in groups]
    return [
        np.log([[predictions[row].cells[name].chance_of(value) for value in group.values] for row in group.rows])
        for group in groups
    ]


def _by_sum(table: Table, place: int, groups: Sequence[ExchangeGroup]) -> list[Floats]:
    """Return each number's log-likelihood, from its distance to a least-squares prediction from the other cells."""
    asked = sorted({row for group in groups for row in group.rows})
    number = np.array([as_number(cell or "") for cell in table.column(table.columns[place])])
    others = [row for row in range(len(number)) if np.isfinite(number[row])]
    if len(others) > 2000:
        others = sorted({*asked, *Random(place).sample(others, 2000)})
    features = _features(table, place)
    predicted = np.full(len(number), np.nan)
    spread = 1.0
    for fold in range(5):
        train = [row for row in others if row % 5 != fold]
        held_out = [row for row in others if row % 5 == fold]
        if not train or not held_out:
            continue
        penalty = np.eye(features.shape[1]) * 1e-3
        given = features[train]
        weights = np.linalg.solve(given.T @ given + penalty, given.T @ number[train])
        predicted[held_out] = features[held_out] @ weights
    known = np.isfinite(predicted) & np.isfinite(number)
    if known.any():
        spread = float(np.std(number[known] - predicted[known])) or 1.0
    predicted = np.where(np.isfinite(predicted), predicted, np.nanmean(number))
    return [
        -0.5 * (np.subtract.outer(predicted[list(group.rows)], [float(value) for value in group.values]) / spread) ** 2
        for group in groups
    ]


def _features(table: Table, place: int) -> Floats:
    """Return a constant, the other columns' numbers and their squares, and indicators of columns with few values."""
    found = [np.ones(len(table.rows))]
    for name in _others(table, place):
        one = column(name, table.column(name), table.missing)
        if one.numbers is not None:
            finite = np.isfinite(one.numbers)
            known = one.numbers[finite]
            middle, size = (float(np.mean(known)), float(np.std(known))) if len(known) else (0.0, 1.0)
            scaled = np.where(finite, (one.numbers - middle) / (size or 1.0), 0.0)
            found += [scaled, scaled**2]
        elif one.distinct <= 3 * MOST_SEPARATE_VALUES:
            found += [(one.codes == code).astype(np.float64) for code in np.unique(one.codes)[1:]]
    return np.array(found).T


def _by_digits(table: Table, place: int, groups: Sequence[ExchangeGroup]) -> list[Floats]:
    """Return how well each number's last digit fits the row's other cells, by their counts in all other rows."""
    cells = [cell or "" for cell in table.column(table.columns[place])]
    last = np.array([ord(cell[-1]) % 64 if cell else 0 for cell in cells])
    found = [np.zeros((len(group.rows), len(group.values))) for group in groups]
    for name in _others(table, place):
        signs = _signs(table, name)
        counts = np.full((int(signs.max()) + 1, 64), PRIOR_COUNT)
        np.add.at(counts, (signs, last), 1)
        every = counts.sum(axis=0)
        for matrix, group in zip(found, groups, strict=True):
            for line, row in enumerate(group.rows):
                own = counts[signs[row]].copy()
                own[last[row]] -= 1  # the row itself does not count
                whole = every.copy()
                whole[last[row]] -= 1
                for number, value in enumerate(group.values):
                    digit = ord(value[-1]) % 64
                    matrix[line, number] += np.log(own[digit] / own.sum()) - np.log(whole[digit] / whole.sum())
    return found


def _signs(table: Table, name: str) -> Ints:
    """Return a code for each cell: for its value if the column has few values, else for its last character."""
    cells = [cell or "" for cell in table.column(name)]
    seen = cells if len(set(cells)) <= MOST_SEPARATE_VALUES else [cell[-1:] for cell in cells]
    codes = {cell: number for number, cell in enumerate(sorted(set(seen)))}
    return np.array([codes[cell] for cell in seen], dtype=np.int64)
