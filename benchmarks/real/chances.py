"""The baseline's chances of what the record's LLMs are asked: fitted in minutes, and stored next to the answers."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.real.asked import Place, forget, places_of, planned, table_of
from benchmarks.real.judging import Found, Recorded, found
from tabcontam.asking.query_plan import PlannedResult
from tests.golden.chances import Archive, Trimmer, computed, holds, read, stored, write

FILE = "chances.json.xz"
RECORD = Path(__file__).parent / "record"  # the one that is part of the project


def by_chances(every: Sequence[Recorded], tables: Iterable[str], archive: Archive) -> Iterator[Found]:
    """What is found by these chances. Raises `Missing` where they lack something, `UsageError` for a table."""
    for name in tables:
        forget()  # what was found out about a table in another way
        with stored(table_of(name), archive):
            yield from found(every, name)


def planned_by(archive: Archive, place: Place) -> Sequence[PlannedResult]:
    """The cells of a place as the judge plans them: which rows a test asks about may rest on the chances' last digits.

    A table without stored chances is planned by those of a run. Raises `Missing` where a table's lack something.
    """
    if not holds(table_of(place.table), archive):
        return planned(place)
    with stored(table_of(place.table), archive):
        return planned(place)


def fitted(every: Sequence[Recorded], table: str) -> Archive:
    """All chances about a table that the record rests on, fitted anew."""
    forget()
    own, trimmer = Archive(), Trimmer()
    with computed(table_of(table), own):
        list(found(every, table))
    forget()
    with trimmer.watched(table_of(table), own):
        list(found(every, table))
        for place in places_of(table):  # the next LLM's answers are weighed by guesses that no answer needs yet
            look_into(planned(place))
    trimmer.trim(own)
    return own


def look_into(cells: Iterable[PlannedResult]) -> None:
    """Look into every guess about these cells: it is computed when somebody does so first."""
    for query in (query for cell in cells for query in cell.queries):
        list(map(dict, (guess.values for guess in query.chance.values())))


def store(folder: Path, made: Archive) -> None:
    """Store chances in place of those of the same tables."""
    write(folder / FILE, of_record(folder) | made)


def of_record(folder: Path) -> Archive:
    """The stored chances of a record."""
    path = folder / FILE
    return read(path) if path.exists() else {}
