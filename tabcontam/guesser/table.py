"""The guesser applied to a table's rows, once for each table: fitted out of fold and kept under the table's content."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

from tabcontam.guesser.chance import Guess, bits
from tabcontam.tables.draws import by_content, identity, seeded
from tabcontam.tables.editions import cache_folder
from tabcontam.tables.facts import cached_fact
from tabcontam.tables.table import Cell, Table

PREVIOUS = "previous "  # stands before a feature's name where the cell of the row before is meant
POOL = 400  # rows of a table that are ever asked in one way: they share one fit
VERSION = 2  # of the guesser: what another one made is not read


@dataclass(frozen=True)
class Guessed:
    """What the guesser makes of one row's asked cells.

    `unsure` are the bits it lacks by what the prompt shows alone: -log2 of the likeliest value's probability of the
    first asked feature; of each later one the mean over the rows, since its guess is given hidden cells.
    """

    cells: Mapping[str, Guess]
    unsure: float


def guessed(
    table: Table, asked: Sequence[str], shown: Sequence[str], rows: Sequence[int], previous: bool = False
) -> dict[int, Guessed]:
    """For each row the guesses of its asked features, each given the shown ones and the asked ones before it.

    With `previous` the row before, in the order of the file, is shown too. Kept under the table's content, also in the
    user's cache folder.
    """
    key = ("guessed", tuple(asked), tuple(sorted(shown)), tuple(rows), previous)
    return cached_fact(table, key, lambda: _kept(table, asked, shown, rows, previous))


def least_sure(table: Table, columns: Sequence[str], count: int, previous: bool = False) -> tuple[str, ...]:
    """So many of these columns that are hardest to guess, hardest first, without a fit of the guesser.

    Each is taken as asked by itself with the table's other columns shown; with `previous`, as asked after those chosen
    before it with the row before shown, in the order of the file. The order of the columns does not matter nor,
    without `previous`, that of the rows.
    """
    key = ("least sure", tuple(sorted(columns)), count, previous)
    return cached_fact(table, key, lambda: _least_sure(table, columns, count, previous))


def _least_sure(table: Table, columns: Sequence[str], count: int, previous: bool) -> tuple[str, ...]:
    from tabcontam.guesser.guesser import least_sure_of

    cells, given = _cells(table, columns if previous else table.columns, () if previous else table.columns, previous)
    found = least_sure_of(cells, given, columns, count, table.missing, _order(table), apart=not previous)
    return tuple(found)


def _cells(
    table: Table, names: Sequence[str], shown: Sequence[str], previous: bool
) -> tuple[dict[str, Sequence[Cell]], list[str]]:
    """The columns that a guesser needs, and the names of the shown ones."""
    cells: dict[str, Sequence[Cell]] = {name: table.column(name) for name in names}
    if not previous:
        return cells, list(shown)
    before = {PREVIOUS + name: (None, *table.column(name)[:-1]) for name in table.columns}
    return cells | before, [*shown, *before]


def _order(table: Table) -> list[int]:
    def drawn() -> list[int]:
        rows = by_content(table)
        return seeded(table, "guesser").sample(rows, len(rows))

    return cached_fact(table, "guesser's order", drawn)


def _kept(
    table: Table, asked: Sequence[str], shown: Sequence[str], rows: Sequence[int], previous: bool
) -> dict[int, Guessed]:
    path = _path(table, asked, shown, rows, previous)
    chains = _stored(path, len(rows), len(asked)) if path else None
    if chains is None:
        chains = _guess(table, asked, shown, rows, previous)
        if path:
            _store(path, chains)
    return _with_unsure(chains, asked, rows)


def _guess(
    table: Table, asked: Sequence[str], shown: Sequence[str], rows: Sequence[int], previous: bool
) -> list[list[Guess]]:
    from tabcontam.guesser.guesser import guess_chain

    cells, given = _cells(table, [*asked, *shown], shown, previous)
    return guess_chain(cells, given, asked, rows, table.missing, _order(table))


def _with_unsure(chains: Sequence[Sequence[Guess]], asked: Sequence[str], rows: Sequence[int]) -> dict[int, Guessed]:
    lacking = [[bits(guess.surest) for guess in chain] for chain in chains]
    later = sum(sum(row[1:]) for row in lacking) / max(1, len(lacking))
    return {
        row: Guessed(dict(zip(asked, chain, strict=True)), lacks[0] + later)
        for row, chain, lacks in zip(rows, chains, lacking, strict=True)
    }


def _path(table: Table, asked: Sequence[str], shown: Sequence[str], rows: Sequence[int], previous: bool) -> Path | None:
    """The file of these guesses; None where nobody knows where this user's home is."""
    # the rows stand for what they hold: in another order of the file, the same places are other rows
    place = {row: number for number, row in enumerate(by_content(table))}
    order = by_content(table) if previous else None
    which = [list(asked), sorted(shown), [place[row] for row in rows], order, _made_by(), sorted(table.missing)]
    name = sha256(json.dumps(which).encode("ascii")).hexdigest()
    try:
        return cache_folder().parent / "guesses" / identity(table)[:16] / f"{name[:32]}.json"
    except RuntimeError:
        return None


@cache
def _made_by() -> list[str]:
    return [str(VERSION), version("numpy"), version("scikit-learn"), version("scipy")]


def _stored(path: Path, rows: int, asked: int) -> list[list[Guess]] | None:
    """What the file holds; None where there is none, or not the guesses of so many cells."""
    try:
        held = json.loads(path.read_bytes())
        chains = [[_read(guess) for guess in chain] for chain in held]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return chains if len(chains) == rows and all(len(chain) == asked for chain in chains) else None


def _read(held: Any) -> Guess:
    values, rest, missing = held["values"], held["rest"], held["missing"]
    for chance in (rest, 1 - missing, *values.values()):
        if not isinstance(chance, float) or not isfinite(chance) or not 0 <= chance <= 1:
            raise ValueError("no probability")
    if not rest:
        raise ValueError("a value is ruled out")
    return Guess(values, rest, missing)


def _store(path: Path, chains: Sequence[Sequence[Guess]]) -> None:
    """Write the file at once or not at all; a folder that cannot be written is passed over."""
    held = [[asdict(guess) for guess in chain] for chain in chains]
    with suppress(OSError, ValueError):  # ValueError: half a surrogate pair
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, made = tempfile.mkstemp(dir=path.parent)  # of mode 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(held))
            os.replace(made, path)
        except BaseException:
            Path(made).unlink(missing_ok=True)
            raise
