"""The check of a twin: it must be as hard for learners as the table, and hard to distinguish from the table's rows."""

from dataclasses import replace

import numpy as np

from tabcontam.errors import Skip
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.twins.base import Twin, UnseenTwin
from tabcontam.twins.blind_classifier import BlindClassifier
from tabcontam.twins.label_baseline import BOOSTING, LINEAR, models
from tabcontam.twins.thresholds import MOST_TWIN_AUC
from tabcontam.twins.twin_sample import Flags, Floats, Ints, TwinSample


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
