"""Fresh rows beside the table's: which of its rows are asked, and how hard both are for models that learned."""

from dataclasses import dataclass

import numpy as np

from tabcontam.guesser.kept import one_thread
from tabcontam.tables.facts import cached_fact
from tabcontam.tables.fresh import fresh_features
from tabcontam.tables.table import Table
from tabcontam.unseen.conditional import BOOSTING, LINEAR, models
from tabcontam.unseen.sample import sample

Said = tuple[str, ...]


@dataclass(frozen=True)
class Beside:
    """What gradient boosting and logistic regression say of rows of the table, by their places, and of fresh rows.

    They learned from other rows of the table, and from no fresh one.
    """

    own: dict[int, Said]
    fresh: tuple[Said, ...]


def beside(table: Table) -> Beside:
    """Of at most 1,000 rows of the table, chosen by its content, and of all its fresh rows.

    Each fresh row is put to models that learned from four fifths of the rows, as each of the table's is: which four is
    left to a seed. Raises `Skip` with the reason where models cannot learn from the table.
    """
    return cached_fact(table, "fresh rows", lambda: _find(table))


def _find(table: Table) -> Beside:
    with one_thread():
        found = sample(table)
        rows, parts = range(found.twins), found.parts("fresh")
        fresh = fresh_features(table, found.features)
        stand_for = found.rng("fresh rows").integers(0, len(found.rows), len(fresh)).tolist()
        every, of = (*found.rows[: found.twins], *fresh), [*rows, *stand_for]
        said = [models(found, kind, parts).chances(every, of).argmax(axis=1) for kind in (BOOSTING, LINEAR)]
    names = [tuple(each) for each in np.array(found.classes, dtype=object)[np.column_stack(said)].tolist()]
    own = {found.places[row]: names[row] for row in rows}
    return Beside(own, tuple(names[found.twins :]))
