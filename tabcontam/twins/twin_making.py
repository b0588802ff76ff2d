"""The making of twins: they are made, checked, and stored in the cache under the table's content."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from tabcontam.baseline.stored_facts import ranks, stored_fact
from tabcontam.errors import Skip
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.row_draws import by_content
from tabcontam.tables.table import Table
from tabcontam.twins.base import Twin, UnseenTwin
from tabcontam.twins.bordt_twins import LastDigitsTwin, OriginalTwin, StandardisedTwin, TaskTwin
from tabcontam.twins.drawn_twins import ResampledTwin, StatisticalTwin
from tabcontam.twins.label_baseline import LabelBaseline, conditional
from tabcontam.twins.perturbed_twin import PerturbedTwin
from tabcontam.twins.recoded_twin import RecodedTwin
from tabcontam.twins.twin_check import checked
from tabcontam.twins.twin_sample import TwinSample, sample

BORDT = (OriginalTwin(), LastDigitsTwin(), TaskTwin(), StandardisedTwin())
TWINS: Mapping[str, Twin] = {
    one.kind: one for one in (RecodedTwin(), ResampledTwin(), PerturbedTwin(), StatisticalTwin(), *BORDT)
}


def unseen(table: Table, kind: str, seed: int = 0) -> UnseenTwin:
    """Return the twin of a table; `kind` is a key of `TWINS`.

    The twin depends on the rows and the seed, but not on the order of rows. At most 1,000 rows get a twin, chosen by
    the table's content; learners see at most 2,000. Raises `Skip` with the reason if the table has no such twin, or if
    the twin fails its check: see `checked`.
    """
    found = cached_fact(table, ("unseen", kind, seed), lambda: _cached(table, TWINS[kind], seed))
    if isinstance(found, str):
        raise Skip(found)
    return found


# version: cached twins of other versions are not read
def _cached(table: Table, twin: Twin, seed: int, *, version: int = 8) -> UnseenTwin | str:
    rank = ranks(table)

    def write(found: UnseenTwin | str) -> object:
        if isinstance(found, str):
            return found
        of = [rank[row] for row in found.originals]
        words = [of, found.features, found.rows, found.labels, found.own, found.twins, found.unchanged, found.classes]
        return [*words, found.own_chances, found.twin_chances]

    def read(stored: Any) -> UnseenTwin | str:
        return stored if isinstance(stored, str) else _read(table, twin, stored)

    asked = table.question and [dict(table.question.answers), table.question.threshold]
    question = ["unseen", version, twin.kind, seed, table.target, asked, sorted(table.missing)]
    return stored_fact(table, question, lambda: _made(table, twin, seed), write, read)


def _read(table: Table, twin: Twin, stored: Any) -> UnseenTwin:
    of, features, rows, labels, own, twins, stayed, classes, own_chances, twin_chances = stored
    places = by_content(table)
    cells = tuple(tuple(row) for row in rows)
    own, twins = (tuple(tuple(each) for each in texts) for texts in (own, twins))
    chances = tuple(tuple(tuple(map(float, each)) for each in of_one) for of_one in (own_chances, twin_chances))
    texts = (*features, *labels, *stayed, *classes, *chain.from_iterable((*own, *twins)))
    whole = all(isinstance(one, str) for one in texts)
    if not whole or not all(len(row) == len(table.columns) - 1 for row in (features, *cells)):
        raise ValueError("no rows of a twin")
    if len({len(each) for each in (of, cells, labels, own, twins, *chances)}) > 1:
        raise ValueError("not a twin for each row")
    if any(len(each) != len(classes) for each in chain.from_iterable(chances)):
        raise ValueError("not a chance for each class")
    rows_of = tuple(places[rank] for rank in of)
    words = tuple(features), cells, tuple(labels), own, twins, tuple(stayed), tuple(classes)
    return UnseenTwin(twin.kind, rows_of, *words, *chances)


def _made(table: Table, twin: Twin, seed: int) -> UnseenTwin | str:
    """Return the first draw that passes its check; if none does, the reason why the first draw failed."""
    why = ""
    for number in range(twin.tries):
        try:
            found, baseline = _learned(table)
            return checked(found, twin, twin.make(found, baseline, found.rng(twin.kind, seed, number)))
        except Skip as skip:
            why = why or str(skip)
    return why


def _learned(table: Table) -> tuple[TwinSample, LabelBaseline]:
    found = cached_fact(table, "unseen: sample", lambda: sample(table))
    return found, cached_fact(table, "unseen: baseline", lambda: conditional(found))
