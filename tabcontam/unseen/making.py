"""The twins of tables: made, checked, and cached on disk under the table's content for later runs."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from tabcontam.errors import Skip
from tabcontam.guesser.kept import kept, ranks
from tabcontam.tables.draws import by_content
from tabcontam.tables.facts import cached_fact
from tabcontam.tables.table import Table
from tabcontam.unseen.base import Twin, Unseen
from tabcontam.unseen.bordt import LastDigits, Original, Standardised, Task
from tabcontam.unseen.checked import checked
from tabcontam.unseen.conditional import Conditional, conditional
from tabcontam.unseen.perturbed import Perturbed
from tabcontam.unseen.recoded import Recoded
from tabcontam.unseen.resampled import Resampled
from tabcontam.unseen.sample import Sample, sample
from tabcontam.unseen.statistical import Statistical

VERSION = 8  # of the twins: cached twins of other versions are not read
BORDT = (Original(), LastDigits(), Task(), Standardised())
TWINS: Mapping[str, Twin] = {one.kind: one for one in (Recoded(), Resampled(), Perturbed(), Statistical(), *BORDT)}


def unseen(table: Table, kind: str, seed: int = 0) -> Unseen:
    """Return the twin of a table, of one of the kinds in `TWINS`.

    It depends on the rows and the seed, not on the rows' order. At most 1,000 rows get a twin, chosen by the table's
    content; learners see at most 2,000. Raises `Skip` with the reason if the table has no such twin, and if the twin
    fails its check: see `checked`.
    """
    found = cached_fact(table, ("unseen", kind, seed), lambda: _kept(table, TWINS[kind], seed))
    if isinstance(found, str):
        raise Skip(found)
    return found


def _kept(table: Table, twin: Twin, seed: int) -> Unseen | str:
    rank = ranks(table)

    def write(found: Unseen | str) -> object:
        if isinstance(found, str):
            return found
        of = [rank[row] for row in found.of]
        words = [of, found.features, found.rows, found.labels, found.own, found.twins, found.kept, found.classes]
        return [*words, found.own_chances, found.twin_chances]

    def read(held: Any) -> Unseen | str:
        return held if isinstance(held, str) else _read(table, twin, held)

    asked = table.question and [dict(table.question.answers), table.question.threshold]
    question = ["unseen", VERSION, twin.kind, seed, table.target, asked, sorted(table.missing)]
    return kept(table, question, lambda: _made(table, twin, seed), write, read)


def _read(table: Table, twin: Twin, held: Any) -> Unseen:
    of, features, rows, labels, own, twins, stayed, classes, own_chances, twin_chances = held
    places = by_content(table)
    cells = tuple(tuple(row) for row in rows)
    own, twins = (tuple(tuple(each) for each in said) for said in (own, twins))
    chances = tuple(tuple(tuple(map(float, each)) for each in of_one) for of_one in (own_chances, twin_chances))
    said = (*features, *labels, *stayed, *classes, *chain.from_iterable((*own, *twins)))
    whole = all(isinstance(one, str) for one in said)
    if not whole or not all(len(row) == len(table.columns) - 1 for row in (features, *cells)):
        raise ValueError("no rows of a twin")
    if len({len(each) for each in (of, cells, labels, own, twins, *chances)}) > 1:
        raise ValueError("not a twin for each row")
    if any(len(each) != len(classes) for each in chain.from_iterable(chances)):
        raise ValueError("not a chance for each class")
    rows_of = tuple(places[rank] for rank in of)
    words = tuple(features), cells, tuple(labels), own, twins, tuple(stayed), tuple(classes)
    return Unseen(twin.kind, rows_of, *words, *chances)


def _made(table: Table, twin: Twin, seed: int) -> Unseen | str:
    """Return the first draw that passes, or why the first one did not."""
    why = ""
    for number in range(twin.tries):
        try:
            found, guesser = _learned(table)
            return checked(found, twin, twin.make(found, guesser, found.rng(twin.kind, seed, number)))
        except Skip as skip:
            why = why or str(skip)
    return why


def _learned(table: Table) -> tuple[Sample, Conditional]:
    def learn() -> tuple[Sample, Conditional]:
        found = sample(table)
        return found, conditional(found)

    return cached_fact(table, "unseen: learned", learn)
