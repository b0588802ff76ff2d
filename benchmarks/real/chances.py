"""The baseline's chances of what the record's LLMs are asked: fitted in minutes, and stored next to the answers."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.real.asked import forget, places_of, planned, table_of
from benchmarks.real.judging import Found, found, recorded
from tests.golden.chances import Archive, Trimmer, computed, read, stored, write

FILE = "chances.json.xz"
RECORD = Path(__file__).parent / "record"  # the one that is part of the project


def by_chances(folder: Path, tables: Iterable[str], archive: Archive) -> Iterator[Found]:
    """What is found by these chances. Raises `Missing` where they lack something, `UsageError` for a table."""
    every = recorded(folder)
    for name in tables:
        forget()  # what was found out about a table in another way
        with stored(table_of(name), archive):
            yield from found(every, name)


def fitted(folder: Path, table: str) -> Archive:
    """All chances about a table that the record rests on, fitted anew."""
    forget()
    own, trimmer, every = Archive(), Trimmer(), recorded(folder)
    with computed(table_of(table), own):
        list(found(every, table))
    forget()
    with trimmer.watched(table_of(table), own):
        list(found(every, table))
        for place in places_of(table):  # the next LLM's answers are weighed by guesses that no answer needs yet
            for query in (query for cell in planned(place) for query in cell.queries):
                list(map(dict, (guess.values for guess in query.chance.values())))
    trimmer.trim(own)
    return own


def store(folder: Path, made: Archive) -> None:
    """Store chances in place of those of the same tables."""
    write(folder / FILE, of_record(folder) | made)


def of_record(folder: Path) -> Archive:
    """The stored chances of a record."""
    path = folder / FILE
    return read(path) if path.exists() else {}
