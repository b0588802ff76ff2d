"""The baseline's chances of what the snapshots are asked, kept with the answers: every CPU plans the same questions."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.exposed.asked import Study, forget, groups
from benchmarks.exposed.tables import NAMES
from benchmarks.real.asked import Place
from benchmarks.real.chances import look_into, of_record, store
from tabcontam.asking.query_plan import PlannedResult
from tests.golden.chances import Archive, computed, holds, stored


def fit(record: Path, study: Study, names: Iterable[str] = NAMES) -> Archive:
    """Return the chances about these parts of tables, and store those that were not there."""
    archive = of_record(record)
    lacking = [name for name in names if not holds(study.table(name), archive)]
    for name in lacking:
        archive |= fitted(study, name)
    if lacking:
        store(record, archive)
    return archive


def fitted(study: Study, name: str) -> Archive:
    """Return the chances about a part of a table, fitted anew."""
    forget()
    made = Archive()
    with computed(study.table(name), made):
        for place in groups(name):
            look_into(study.planned(place))
    forget()
    return made


def planned_by(archive: Archive, study: Study, place: Place) -> Sequence[PlannedResult]:
    """The cells of a place by these chances."""
    with stored(study.table(place.table), archive):
        return study.planned(place)
