"""The guesser applied to a table's rows, once for each table: fitted out of fold and kept under the table's content."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabcontam.guesser.chance import Guess, bits
from tabcontam.guesser.kept import kept, order_digest, ranks
from tabcontam.tables.draws import by_content, seeded
from tabcontam.tables.facts import cached_fact
from tabcontam.tables.known import extra_rows, known_rows
from tabcontam.tables.table import Cell, Table

PREVIOUS = "previous "  # stands before a feature's name where the cell of the row before is meant
POOL = 400  # rows of a table that are ever asked in one way: they share one fit
VERSION = 3  # of the guesser: what another one made is not read


@dataclass(frozen=True)
class Guessed:
    """What the guesser makes of one row's asked cells.

    `unsure` says in bits how unsure it is by what the prompt shows: -log2 of the likeliest value's probability. A later
    asked cell is guessed from hidden ones before it, so that for these the mean over all rows is added instead.
    """

    cells: Mapping[str, Guess]
    unsure: float


def guessed(
    table: Table, asked: Sequence[str], shown: Sequence[str], rows: Sequence[int], previous: bool = False
) -> dict[int, Guessed]:
    """For each row the guesses of its asked features, each given the shown ones and the asked ones before it.

    With `previous` the row before, in the order of the file, is shown too. It is learned from the table and from known
    files.
    """
    if not rows:
        return {}
    rank, order = ranks(table), order_digest(table) if previous else None
    which = [list(asked), sorted(shown), [rank[row] for row in rows], order, sorted(table.missing)]

    def find() -> list[Guessed]:
        from tabcontam.guesser.guesser import guess_chain

        cells, given = _cells(table, [*asked, *shown], shown, previous)
        chains = guess_chain(cells, given, asked, rows, table.missing, _order(table), _known(table))
        lacking = [[bits(guess.surest) for guess in chain] for chain in chains]
        later = sum(sum(row[1:]) for row in lacking) / len(lacking)
        return [
            Guessed(dict(zip(asked, chain, strict=True)), lacks[0] + later)
            for chain, lacks in zip(chains, lacking, strict=True)
        ]

    def write(found: Sequence[Guessed]) -> object:
        return [[one.unsure, *(guess.fields() for guess in one.cells.values())] for one in found]

    def read(held: Any) -> list[Guessed]:
        if len(held) != len(rows):
            raise ValueError("not the guesses of so many rows")
        return [
            Guessed(dict(zip(asked, map(Guess.read, guesses), strict=True)), float(unsure)) for unsure, *guesses in held
        ]

    def by_row() -> dict[int, Guessed]:
        found = kept(table, ["guesses", VERSION, which], find, write, read)
        return dict(zip(rows, found, strict=True))

    key = ("guessed", tuple(asked), tuple(sorted(shown)), tuple(rows), previous)
    return cached_fact(table, key, by_row)


def least_sure(table: Table, columns: Sequence[str], count: int, previous: bool = False) -> tuple[str, ...]:
    """So many of these columns that are hardest to guess, hardest first, without a fit of the guesser.

    Each is taken as asked by itself with the table's other columns shown; with `previous`, as asked after those chosen
    before it with the row before shown, in the order of the file.
    """

    def find() -> tuple[str, ...]:
        from tabcontam.guesser.guesser import least_sure_of

        given = () if previous else table.columns
        cells, shown = _cells(table, columns if previous else table.columns, given, previous)
        return tuple(least_sure_of(cells, shown, columns, count, table.missing, _order(table), apart=not previous))

    def read(held: Any) -> tuple[str, ...]:
        if len(set(held) & set(columns)) != len(held) or len(held) != min(count, len(set(columns))):
            raise ValueError("not so many of these columns")
        return tuple(held)

    order = order_digest(table) if previous else None
    which = [sorted(columns), count, order, sorted(table.missing)]
    key = ("least sure", tuple(sorted(columns)), count, previous)
    return cached_fact(table, key, lambda: kept(table, ["least sure", VERSION, which], find, list, read))


def _cells(
    table: Table, names: Sequence[str], shown: Sequence[str], previous: bool
) -> tuple[dict[str, Sequence[Cell]], list[str]]:
    """The columns that a guesser needs, the rows of known files behind the table's; and the names of the shown ones."""
    extra, places = extra_rows(table), {name: place for place, name in enumerate(table.columns)}
    cells: dict[str, Sequence[Cell]] = {
        name: (*table.column(name), *(row.cells[places[name]] for row in extra)) for name in names
    }
    if not previous:
        return cells, list(shown)
    before = {
        PREVIOUS + name: (
            *(None, *table.column(name)[:-1]),
            *(row.before[place] if row.before else None for row in extra),
        )
        for name, place in places.items()
    }
    return cells | before, [*shown, *before]


def _known(table: Table) -> frozenset[int]:
    """The places of the rows that may be known, behind the table's those of known files."""
    return known_rows(table) | frozenset(range(len(table.rows), len(table.rows) + len(extra_rows(table))))


def _order(table: Table) -> list[int]:
    rows = by_content(table)
    own = cached_fact(table, "guesser's order", lambda: seeded(table, "guesser").sample(rows, len(rows)))
    extra = len(extra_rows(table))
    return [*own, *(len(rows) + place for place in seeded(table, "known").sample(range(extra), extra))]
