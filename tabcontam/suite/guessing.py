"""The guesser applied to a table's rows, once for each table: fitted out of fold and kept under the table's content."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabcontam.datasets import Table
from tabcontam.decide.chance import Guess, guess_chain
from tabcontam.suite.facts import once

PREVIOUS = "previous "  # stands before a feature's name where the cell of the row before is meant
POOL = 400  # rows of a table that are ever asked in one way: they share one fit


@dataclass(frozen=True)
class Guessed:
    """What the guesser makes of one row's asked cells. `unsure` are the bits it lacks, by what the prompt shows."""

    cells: Mapping[str, Guess]
    unsure: float


def guessed(
    table: Table, asked: Sequence[str], shown: Sequence[str], rows: Sequence[int], previous: bool = False
) -> dict[int, Guessed]:
    """For each row the guesses of its asked features, each given the shown ones and the asked ones before it.

    With `previous` the row before, in the order of the file, is shown too. Kept under the table's content.
    """
    key = ("guessed", tuple(asked), tuple(shown), tuple(rows), previous)
    return once(table, key, lambda: _guessed(table, asked, shown, rows))


def _guessed(table: Table, asked: Sequence[str], shown: Sequence[str], rows: Sequence[int]) -> dict[int, Guessed]:
    columns = {name: table.column(name) for name in table.columns}
    chains = guess_chain(columns, shown, asked, rows)
    return {
        row: Guessed(dict(zip(asked, chain, strict=True)), 1 - chain[0].surest)
        for row, chain in zip(rows, chains, strict=True)
    }
