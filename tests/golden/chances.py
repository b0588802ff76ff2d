"""What the guesser made of the golden tables, stored as numbers: results can be judged again without a fit.

A cell of a table stands as its place among the table's cells, so that no table can be read from the file.
Stored facts have the names that the guesser's cache gives them, which hold its version: a guesser of another
version reads none of them.
"""

import json
import lzma
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tabcontam.baseline import stored_facts
from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.tables.row_draws import identity
from tabcontam.tables.table import Table

CELL, OTHER = "\x01", "\x02"  # what begins the place of a cell; a value that nobody needs to know
DIGITS = 5
Chances = Callable[[Table, "Archive"], AbstractContextManager[None]]
Archive = dict[str, dict[str, Any]]  # findings by their names, by the beginning of the table's identity


class Missing(AssertionError):
    """Something is asked of the guesser that the file does not have."""


@contextmanager
def computed(table: Table, archive: Archive) -> Iterator[None]:
    """Compute what is asked of the guesser, and put it into the archive."""
    with _unshipped(), stored_facts.collect_stored_facts() as found:
        yield
    archive.setdefault(identity(table)[:16], {}).update(
        {name: _walked(json.loads(text), _encoder(table)) for name, text in found.items()}
    )


@contextmanager
def stored(table: Table, archive: Archive) -> Iterator[None]:
    """Read what is asked of the guesser from the archive. Raises `Missing` for what it does not have."""

    def refuse(own: Table, find: Callable[[], object]) -> object:
        raise Missing(f"the stored chances lack a finding about {own.name}; type: python -m tests.golden")

    with _unshipped(), stored_facts.collect_stored_facts() as found, patch.object(stored_facts, "_computed", refuse):
        for name, held in archive.get(identity(table)[:16], {}).items():
            found[name] = json.dumps(_walked(held, _decoder(table)))
        yield


def holds(table: Table, archive: Archive) -> bool:
    """Whether the archive has findings about a table."""
    return identity(table)[:16] in archive


class Trimmer:
    """Finds which guesses are looked into while results are judged from the stored ones, and leaves out the others."""

    def __init__(self) -> None:
        self._asked: set[tuple[str, str]] = set()  # the table and the name of a finding
        self._used: set[tuple[str, int]] = set()  # the name of a finding and the place of a guess in it

    @contextmanager
    def watched(self, table: Table, archive: Archive) -> Iterator[None]:
        """Read from the archive, and note which guesses are looked into."""
        key, used, asked = identity(table)[:16], self._used, self._asked

        class Looked(Mapping[str, float]):
            """The values of a guess, which note that somebody looked into them."""

            def __init__(self, guess: CellPrediction, place: tuple[str, int]) -> None:
                self.surest, self._values, self._place = guess.surest, guess.values, place

            def _looked(self) -> Mapping[str, float]:
                used.add(self._place)
                return self._values

            def __getitem__(self, value: str) -> float:
                return self._looked()[value]

            def __iter__(self) -> Iterator[str]:
                return iter(self._looked())

            def __len__(self) -> int:
                return len(self._looked())

        read_guess, surest = CellPrediction.read, vars(CellPrediction)["surest"].fget

        def read(held: Any) -> CellPrediction:
            guess = read_guess(held)
            if "place" not in held:
                return guess
            name, at = held["place"]
            asked.add((key, name))
            return replace(guess, values=Looked(guess, (name, at)))

        def sure(guess: CellPrediction) -> float:
            return guess.values.surest if isinstance(guess.values, Looked) else surest(guess)

        marked = {name: _marked(name, held) for name, held in archive.get(key, {}).items()}
        with patch.multiple(CellPrediction, read=read, surest=property(sure)), stored(table, {key: marked}):
            yield

    def trim(self, archive: Archive) -> None:
        """Keep of guesses that nobody has looked into how sure they are, and no more."""
        for key, name in self._asked:
            guesses = archive[key][name]
            archive[key][name] = [one if (name, at) in self._used else _surest(one) for at, one in enumerate(guesses)]


def _are_guesses(held: Any) -> bool:
    return isinstance(held, list) and all(isinstance(one, dict) and "values" in one for one in held)


def _marked(name: str, held: Any) -> Any:
    return [one | {"place": [name, at]} for at, one in enumerate(held)] if _are_guesses(held) else held


def _surest(guess: dict[str, Any]) -> dict[str, Any]:
    chances = guess["values"].values()
    return {**guess, "values": {OTHER: max(chances)} if chances else {}, "coarser": []}


def read(path: Path) -> Archive:
    """Return the stored findings."""
    archive: Archive = json.loads(lzma.decompress(path.read_bytes()))
    return archive


def write(path: Path, archive: Archive) -> None:
    """Store findings; equal ones make equal bytes."""
    path.write_bytes(lzma.compress(json.dumps(archive, sort_keys=True, separators=(",", ":")).encode(), preset=9))


@contextmanager
def _unshipped() -> Iterator[None]:
    """Name findings without the versions of libraries, and read none that come with the package."""
    with patch.multiple(stored_facts, libraries=dict, SHIPPED=Path("none")):
        yield


def _walked(held: Any, change: Callable[[str], str]) -> Any:
    if isinstance(held, str):
        return change(held)
    if isinstance(held, float):
        return float(f"{held:.{DIGITS}g}")
    if isinstance(held, list):
        return [_walked(one, change) for one in held]
    if isinstance(held, dict):
        return {change(key): _walked(one, change) for key, one in held.items()}
    return held


def _cells(table: Table) -> list[str]:
    cells = {cell for row in (*table.rows, *table.withheld) for cell in row if cell is not None}
    return sorted(cells | set(table.columns))


def _encoder(table: Table) -> Callable[[str], str]:
    places = {cell: place for place, cell in enumerate(_cells(table))}
    return lambda text: f"{CELL}{places[text]}" if text in places else text


def _decoder(table: Table) -> Callable[[str], str]:
    cells = _cells(table)
    return lambda text: cells[int(text[1:])] if text.startswith(CELL) else text
