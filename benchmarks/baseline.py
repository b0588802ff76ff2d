"""Whether the guesser is calibrated, and its seconds: `python -m benchmarks.baseline [-v] [adult bank ...]`.

Each column in turn is asked with all others shown, and each column given the row before. The hidden cells are never
seen by those who answer: the likeliest value, the most frequent one, one drawn from the guess, the nearest row's and
the mean of the three nearest rows'. For each the hits stand beside those that the guesser expects; z tells by how many
standard deviations they are more, taking cells as independent. With `-v` for each column, with the bits of a cell.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from tabcontam.baseline.cell_prediction import CellPrediction, bits
from tabcontam.baseline.coded_columns import column
from tabcontam.baseline.coded_columns import previous as before
from tabcontam.baseline.table_predictions import least_sure, predict_rows
from tabcontam.baseline.thresholds import QUERY_POOL
from tabcontam.reading.answer_text import same_value
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.row_draws import by_content, pool
from tabcontam.tables.table import Table, load_table

ROWS = 400
MOST_TIME = 3  # seconds for a new table
Trial = tuple[float, bool]


def near(table: Table, shown: Mapping[str, Sequence[str | None]], rows: Sequence[int]) -> dict[int, list[int]]:
    """The three nearest of 2,000 other rows, over all shown columns alike."""
    others = by_content(table)
    others = tuple(others[:: max(1, len(others) // 2000)])
    taken = [*others, *rows]
    total = np.zeros((len(rows), len(others)))
    for name, cells in shown.items():
        one = column(name, [cells[row] for row in taken], table.missing)
        here, there = one.ranks[len(others) :][:, None], one.ranks[: len(others)][None, :]
        apart = np.abs(here - there) if one.numbers is not None else (here != there).astype(float)
        total += np.nan_to_num(apart, nan=1.0)
    total[np.array(rows)[:, None] == np.array(others)[None, :]] = np.inf
    order = np.argsort(total, axis=1, kind="stable")[:, :3]
    return {row: [others[place] for place in places] for row, places in zip(rows, order, strict=True)}


def mean(cells: Sequence[str | None]) -> str | None:
    """The mean of numbers, with the decimals of the first."""
    try:
        numbers = [float(cell) for cell in cells if cell is not None]
    except ValueError:
        return None
    first = next((cell for cell in cells if cell is not None), "")
    decimals = len(first.partition(".")[2])
    return f"{sum(numbers) / len(numbers):.{decimals}f}" if numbers else None


def drawn(guess: CellPrediction, rng: Random) -> str | None:
    """A value drawn from the guess."""
    return rng.choices(list(guess.values), list(guess.values.values()))[0] if guess.values else None


def answers(
    table: Table, name: str, row: int, guess: CellPrediction, neighbours: Sequence[int], rng: Random
) -> Iterator[tuple[str, str | None]]:
    """What each answerer says."""
    cells = table.column(name)
    yield "likeliest", guess.likeliest
    yield "most frequent", table.distinct(name)[0] if table.distinct(name) else None
    yield "drawn", drawn(guess, rng)
    yield "nearest", cells[neighbours[0]]
    yield "mean of three", mean([cells[other] for other in neighbours])


def trials(table: Table, name: str, previous: bool) -> tuple[dict[str, list[Trial]], float, float]:
    """The trials of each answerer, the seconds, and the mean bits of a known cell."""
    rows = pool(table, range(1, len(table.rows)), ROWS)
    shown = [] if previous else [other for other in table.columns if other != name]
    start = perf_counter()
    found = predict_rows(table, [name], shown, rows, previous)
    seconds = perf_counter() - start
    cells: dict[str, Sequence[str | None]] = {other: table.column(other) for other in shown}
    if previous:
        cells = {before(other): (None, *table.column(other)[:-1]) for other in table.columns}
    nearest = near(table, cells, rows)
    rng = Random(0)
    said: dict[str, list[Trial]] = defaultdict(list)
    lacking = []
    for row in rows:
        guess, truth = found[row].cells[name], table.column(name)[row]
        truth = None if table.is_missing(truth) else truth
        for who, answer in answers(table, name, row, guess, nearest[row], rng):
            if answer is not None and not table.is_missing(answer):
                said[who].append((guess.chance_of(answer), same_value(answer, truth)))
        if truth is not None:
            lacking.append(bits(guess.chance_of(truth)))
    return said, seconds, sum(lacking) / max(1, len(lacking))


def z(trials: Sequence[Trial]) -> float:
    """By how many standard deviations there are more hits than expected."""
    variance = sum(chance * (1 - chance) for chance, _ in trials)
    return (sum(hit for _, hit in trials) - sum(chance for chance, _ in trials)) / sqrt(max(variance, 1e-9))


def line(label: str, said: Mapping[str, Sequence[Trial]]) -> str:
    """Expected and actual hits, and z, of each answerer."""
    parts = [f"{sum(c for c, _ in t):7.1f} {sum(h for _, h in t):5d} {z(t):+5.1f}" for t in said.values() if t]
    return f"{label:24}" + " |".join(parts)


def needed(table: Table) -> float:
    """The seconds of all that a new table needs: the chains of tests 7, 8 and 9."""
    start = perf_counter()
    rows = pool(table, range(1, len(table.rows)), QUERY_POOL)
    if len(table.columns) > 3:
        predict_rows(table, table.columns[-3:], table.columns[:-3], rows)
    for name in least_sure(table, table.columns, 2):
        predict_rows(table, [name], [other for other in table.columns if other != name], rows)
    five = set(least_sure(table, table.columns, 5, before=True))
    predict_rows(table, [name for name in table.columns if name in five], [], rows, before=True)
    return perf_counter() - start


def main() -> None:
    """Print the tables, and the seconds."""
    details = "-v" in sys.argv
    whole: dict[bool, dict[str, list[Trial]]] = {False: defaultdict(list), True: defaultdict(list)}
    print(f"{'expected, hits, z of':24}likeliest | most frequent | drawn | nearest | mean of three")
    for dataset in [name for name in sys.argv[1:] if name != "-v"] or load_cards():
        table = load_table(dataset)
        print(f"{dataset}: {needed(table):.2f} s for tests 7 to 9; limit {MOST_TIME} s", flush=True)
        for previous in (False, True):
            pooled: dict[str, list[Trial]] = defaultdict(list)
            spent = 0.0
            for name in table.columns:
                said, seconds, lacking = trials(table, name, previous)
                spent += seconds
                for who, their in said.items():
                    pooled[who] += their
                    whole[previous][who] += their
                if details:
                    print(line(f"  {name[:20]} {lacking:.1f}", said), f"{seconds:.2f} s")
            label = f"{dataset}{', next row' if previous else ''}"
            print(line(label, pooled), f" {spent / len(table.columns):.2f} s a column", flush=True)
    for previous, pooled in whole.items():
        print(line(f"all{', next row' if previous else ''}", pooled))


if __name__ == "__main__":
    with TemporaryDirectory() as folder:  # nothing is read from another time
        os.environ["XDG_CACHE_HOME"] = str(Path(folder))
        main()
