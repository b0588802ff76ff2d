"""The choice of asked and shown rows as in TabLLM: four fifths to show from, one fifth to ask about."""

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
    """Rows that are asked, and rows that are shown: for each number of shots, the first of them.

    No class has two shown rows more than another, for any number of shots, as far as the table has them.
    """

    asked: tuple[int, ...]
    shown: tuple[int, ...]


def draw_shots(
    table: Table, labels: Labels, askable: Iterable[int], draws: int, rows: int, most: int, seed: int
) -> list[Draw]:
    """Return `draws` draws, with `rows` asked rows in all and at most `most` shown ones in each.

    No row is asked by two draws. The classes have the shares among the asked rows that they have among those that may
    be asked in their fifth of the table. A shown row is of another fifth, and equal to no asked one in all features, so
    that no prompt holds the answer to its own question or another's. The order of the table's rows and columns does not
    change the result.
    """
    order = [row for row in by_content(table) if row in labels]
    Random(seed).shuffle(order)
    allowed, found = set(askable), []
    for number in range(draws):
        rng = Random(f"{seed} {number}")  # so that neither the number of draws nor that of shots changes another's
        own = [row for row in order[number::FIFTHS] if row in allowed]
        asked = _sampled(own, labels, rows // draws + (number < rows % draws), rng)
        asked_features = {_features(table, row) for row in asked}
        left = [row for place, row in enumerate(order) if place % FIFTHS != number]
        shown = islice(_balanced(table, left, labels, asked_features, rng), most)
        found.append(Draw(tuple(asked), tuple(shown)))
    return found


def _features(table: Table, row: int) -> Row:
    """Return a row's features in a form that equal rows share, however values are written: `5.0` and `5` are one."""
    cells = zip(table.columns, table.rows[row], strict=True)
    return tuple(None if cell is None else value_key(cell) for name, cell in cells if name != table.target)


def _sampled(rows: Sequence[int], labels: Labels, count: int, rng: Random) -> list[int]:
    """Return `count` of the rows, in which each class has its share; the largest fractions are rounded up first."""
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
    """Yield the rows whose features are not `held`, in rounds.

    Each round has a row of every class that has one left, the classes in random order.
    """
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
