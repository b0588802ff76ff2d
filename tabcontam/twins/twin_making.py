"""The making of twins: they are made, checked, and stored in the cache under the table's content.

A twin must be as hard for learners as the table, and hard to distinguish from the table's rows.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from tabcontam.baseline.stored_facts import ranks, stored_fact
from tabcontam.errors import Skip
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.tables.cached_facts import cached_fact, table_fact
from tabcontam.tables.row_draws import by_content
from tabcontam.tables.table import Table
from tabcontam.twins.base import Twin, UnseenTwin
from tabcontam.twins.blind_classifier import BlindClassifier
from tabcontam.twins.bordt_twins import LastDigitsTwin, OriginalTwin, StandardisedTwin, TaskTwin
from tabcontam.twins.drawn_twins import ResampledTwin, StatisticalTwin
from tabcontam.twins.label_baseline import BOOSTING, LINEAR, LabelBaseline, conditional, models
from tabcontam.twins.perturbed_twin import PerturbedTwin
from tabcontam.twins.recoded_twin import RecodedTwin
from tabcontam.twins.thresholds import MOST_TWIN_AUC
from tabcontam.twins.twin_sample import Flags, Floats, Ints, TwinSample, sample

BORDT = (OriginalTwin(), LastDigitsTwin(), TaskTwin(), StandardisedTwin())
TWINS: Mapping[str, Twin] = {
    one.kind: one for one in (RecodedTwin(), ResampledTwin(), PerturbedTwin(), StatisticalTwin(), *BORDT)
}

STORED = (
    *("features", "rows", "labels", "own", "twins", "unchanged", "classes", "own_chances", "twin_chances"),
)  # fields of `UnseenTwin` in the file of a stored twin


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
        return [[rank[row] for row in found.originals], *(getattr(found, name) for name in STORED)]

    def read(stored: Any) -> UnseenTwin | str:
        return stored if isinstance(stored, str) else _read(table, twin, stored)

    asked = table.question and [dict(table.question.answers), table.question.threshold]
    question = ["unseen", version, twin.kind, seed, table.target, asked, sorted(table.missing)]
    return stored_fact(table, question, lambda: _made(table, twin, seed), write, read)


def _read(table: Table, twin: Twin, stored: Any) -> UnseenTwin:
    """Return the twin that `write` stored. Raises an error for anything else."""
    of, *values = stored
    places = by_content(table)
    parts = dict(zip(STORED, map(_as_tuples, values), strict=True))
    made = UnseenTwin(twin.kind, tuple(places[rank] for rank in of), **parts)
    predicted, chances = chain(*made.own, *made.twins), (*made.own_chances, *made.twin_chances)
    texts = (*made.features, *made.labels, *made.unchanged, *made.classes, *predicted)
    cells = all(len(row) == len(table.columns) - 1 for row in (made.features, *made.rows))
    if not cells or not all(isinstance(text, str) for text in texts):
        raise ValueError("no rows of a twin")
    of_rows = (of, made.rows, made.labels, made.own, made.twins, made.own_chances, made.twin_chances)
    if len(set(map(len, of_rows))) > 1 or any(len(each) != len(made.classes) for each in chances):
        raise ValueError("not a twin, or a chance for each class, for each row")
    return made


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def _made(table: Table, twin: Twin, seed: int) -> UnseenTwin | str:
    """Return the first draw that passes its check; if none does, the reason why the first draw failed."""
    why = ""
    for number in range(twin.tries):
        try:
            baseline = _baseline(table)
            found = baseline.sample
            return checked(found, twin, twin.make(found, baseline, found.rng(twin.kind, seed, number)))
        except Skip as skip:
            why = why or str(skip)
    return why


@table_fact
def _baseline(table: Table) -> LabelBaseline:
    return conditional(sample(table))


# digits: digits of a stored chance
def checked(sample: TwinSample, twin: Twin, made: UnseenTwin, *, digits: int = 4) -> UnseenTwin:
    """Return the twin with the predictions of two learners. Raises `Skip` with the reason if it fails its check.

    Gradient boosting and logistic regression learn from rows other than the predicted row; the rows are divided into
    other folds than for the baseline. Their accuracy on the twins must be within the exact 95 % interval of their
    accuracy on the rows. If `twin.relearned`, learners of twins predict the twins, and learners of the twins' original
    rows predict these rows. If the twin claims to be like the table, a classifier tries to distinguish its rows and
    labels from the table's. The 95 % interval of its AUC on held-out rows must reach down to 0.55.
    """
    place = {row: number for number, row in enumerate(sample.places)}
    rows = [place[row] for row in made.originals]
    labels = np.array([sample.classes.index(label) for label in made.labels])
    chances = [_chances(sample, made, rows, kind, twin.relearned) for kind in (BOOSTING, LINEAR)]
    predicted = [(own.argmax(axis=1), other.argmax(axis=1)) for own, other in chances]
    for kind, (own, other) in zip((BOOSTING, LINEAR), predicted, strict=True):
        _compare(sample, made, rows, kind, own, other == labels)
    if twin.like:
        _check_likeness(sample, made, rows, labels)
    names = np.array(sample.classes, dtype=object)
    own, twins = (tuple(map(tuple, names[np.column_stack(each)].tolist())) for each in zip(*predicted, strict=True))
    means = (np.mean(each, axis=0).round(digits) for each in zip(*chances, strict=True))
    own_chances, twin_chances = (tuple(map(tuple, each.tolist())) for each in means)
    return replace(
        made, own=own, twins=twins, classes=sample.classes, own_chances=own_chances, twin_chances=twin_chances
    )


def _chances(
    sample: TwinSample, made: UnseenTwin, rows: list[int], kind: str, relearned: bool
) -> tuple[Floats, Floats]:
    """Return a learner's chances of each class, for the rows and for their twins, each of shape (rows, classes)."""
    parts, own = sample.parts("checked"), tuple(sample.rows[row] for row in rows)
    if not relearned:
        learned = models(sample, kind, parts)
        return learned.chances(own, rows), learned.chances(made.rows, rows)
    each = tuple(range(len(rows)))
    labels = tuple(sample.labels[row] for row in rows)
    both = (
        TwinSample(sample.table, sample.features, each, own, labels, len(rows)),
        TwinSample(made.table(sample.table), made.features, each, made.rows, made.labels, len(rows)),
    )
    of_rows, of_twins = (np.zeros((len(rows), len(sample.classes))) for _ in both)
    for one, chances in zip(both, (of_rows, of_twins), strict=True):
        columns = [sample.classes.index(name) for name in one.classes]
        chances[:, columns] = models(one, kind, parts[rows]).chances(one.rows, each)
    return of_rows, of_twins


def _compare(sample: TwinSample, made: UnseenTwin, rows: list[int], kind: str, own: Ints, rights: Flags) -> None:
    right, twins = int((own == sample.codes[rows]).sum()), float(rights.mean())
    low, high = clopper_pearson(right, len(rows))
    if not low <= twins <= high:
        harder = "harder" if twins < low else "easier"
        raise Skip(
            f"the {made.kind} twin is {harder} than the table: {kind} is right on {twins:.2f} of its rows, and on "
            f"{right / len(rows):.2f} of the rows that it was made of ({low:.2f} to {high:.2f})"
        )


def _check_likeness(sample: TwinSample, made: UnseenTwin, rows: list[int], labels: Ints) -> None:
    blind = BlindClassifier(sample, rows, made.kind)
    ranking = blind.ranking(blind.read(made.rows, labels))
    low = ranking.interval[0] if ranking.interval else 0.0
    if low > MOST_TWIN_AUC:
        raise Skip(
            f"the {made.kind} twin can be distinguished from the table: a classifier's AUC is {ranking.value:.2f} "
            f"(at least {low:.2f}), and at most {MOST_TWIN_AUC} is allowed"
        )
