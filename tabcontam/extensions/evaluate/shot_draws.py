"""The choice of rows as in TabLLM: asked rows are from one fifth of the table, shown rows from the other four."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import floor
from random import Random

from tabcontam.evidence.thresholds import FIFTHS
from tabcontam.groups import grouped
from tabcontam.reading.answer_text import value_key
from tabcontam.tables.row_draws import by_content
from tabcontam.tables.table import Cell, Table

Labels = Mapping[int, str]
Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Draw:
    """Asked rows and shown rows. A prompt with n shots shows the first n of the shown rows.

    For any number of shots no class has two rows more than another, if the table has enough rows.
    """

    asked: tuple[int, ...]
    shown: tuple[int, ...]


def draw_shots(
    table: Table, labels: Labels, askable: Iterable[int], draws: int, rows: int, most: int, seed: int
) -> list[Draw]:
    """Return `draws` draws, with `rows` asked rows in all, and at most `most` shown rows in each draw.

    No row is asked by two draws. The asked rows have the class shares of the askable rows in their fifth of the table.
    A shown row is in another fifth and equals no asked row in all features, so no prompt contains the answer to a
    question. The order of the table's rows and columns does not change the result.
    """
    order = [row for row in by_content(table) if row in labels]
    Random(seed).shuffle(order)
    allowed, found = set(askable), []
    for number in range(draws):
        rng = Random(f"{seed} {number}")  # the numbers of draws and of shots do not change this draw
        own = [row for row in order[number::FIFTHS] if row in allowed]
        asked = _sampled(own, labels, rows // draws + (number < rows % draws), rng)
        asked_features = {_features(table, row) for row in asked}
        left = [row for place, row in enumerate(order) if place % FIFTHS != number]
        shown = islice(_balanced(table, left, labels, asked_features, rng), most)
        found.append(Draw(tuple(asked), tuple(shown)))
    return found


def _features(table: Table, row: int) -> Row:
    """Return the features of a row as a key; rows that differ only in notation (`5.0` and `5`) have equal keys."""
    cells = zip(table.columns, table.rows[row], strict=True)
    return tuple(None if cell is None else value_key(cell) for name, cell in cells if name != table.target)


def _sampled(rows: Sequence[int], labels: Labels, count: int, rng: Random) -> list[int]:
    """Return `count` random rows with the class shares of `rows`. The largest fractions are rounded up first."""
    by_class = dict(sorted(grouped(rows, labels.__getitem__).items()))
    shares = {name: count * len(own) / len(rows) for name, own in by_class.items()}
    counts = {name: min(len(by_class[name]), floor(share)) for name, share in shares.items()}
    for name in sorted(by_class, key=lambda name: (floor(shares[name]) - shares[name], name)):
        if sum(counts.values()) < min(count, len(rows)) and counts[name] < len(by_class[name]):
            counts[name] += 1
    found = [row for name, own in by_class.items() for row in rng.sample(own, counts[name])]
    rng.shuffle(found)
    return found


def _balanced(table: Table, rows: Sequence[int], labels: Labels, held: Collection[Row], rng: Random) -> Iterator[int]:
    """Yield the rows whose features are not in `held`, in rounds: one row of every class that has some left."""
    by_class = sorted(grouped(rows, labels.__getitem__).items())
    left = {
        name: (row for row in rng.sample(own, len(own)) if _features(table, row) not in held) for name, own in by_class
    }
    while left:
        for name in rng.sample(list(left), len(left)):
            row = next(left[name], None)
            if row is None:
                del left[name]
            else:
                yield row
