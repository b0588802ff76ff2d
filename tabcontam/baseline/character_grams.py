"""A predictor of classes by the characters of shown texts: a first name suggests the sex, a title the product."""

from typing import TYPE_CHECKING

import numpy as np

from tabcontam.baseline.coded_columns import MISSING, Column, Floats, Ints, cached_by_column
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.regression import frequent, spread
from tabcontam.baseline.thresholds import (
    FEW_VALUES,
    GRAM_FOLDS,
    GRAM_HASHES,
    GRAM_PRIOR_ROWS,
    GRAM_SIZES,
    GRAM_STRENGTHS,
    LONGEST_GRAM_TEXT,
    MOST_CLASS_VALUES,
    MOST_GRAM_TEXTS,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def by_characters(fit: Fit) -> Floats | None:
    """Return naive Bayes probabilities of the frequent values by character n-grams of shown texts, or None.

    The result has one line per predicted row and one column per key (value) of the fit. It is None if no text helps.
    Each text column has a weight, found on held-out training rows: uninformative columns have weight 0.
    """
    texts = sorted(
        (one for one in fit.shown if one.numbers is None and one.distinct > MOST_CLASS_VALUES),
        key=lambda one: (-one.distinct, one.name),
    )[:MOST_GRAM_TEXTS]
    many = fit.target.numbers is not None and fit.target.distinct > FEW_VALUES + 1
    classes = None if many or not texts else frequent(fit)
    if classes is None:
        return None
    labels = classes[fit.codes]
    count = int(classes.max()) + 1
    prior = np.log((np.bincount(labels, minlength=count) + 0.5) / (len(labels) + 0.5 * count))
    train_scores = np.tile(prior, (len(labels), 1))
    scores = np.tile(prior, (len(fit.predicted), 1))
    learned = False
    for one in texts:
        grams = _grams(one)
        train, predicted = grams[fit.train], grams[fit.predicted]
        own = _out_of_fold(train, labels, count)
        strength = max(GRAM_STRENGTHS, key=lambda power: _likelihood(train_scores + power * own, labels))
        if strength:
            train_scores, learned = train_scores + strength * own, True
            scores += strength * (predicted @ _evidence(train, labels, count))
    return spread(fit, classes, _shares(scores), np.arange(count)) if learned else None


def _evidence(grams: "csr_matrix", labels: Ints, count: int) -> Floats:
    """Return for each gram and class a log ratio: the gram's frequency in the class to its frequency in all rows."""
    members = np.zeros((count, len(labels)))
    members[labels, np.arange(len(labels))] = 1.0
    within = np.asarray((grams.T @ members.T).T)
    overall = within.sum(axis=0) / len(labels)
    prior = GRAM_PRIOR_ROWS * count
    rates = (within + prior * overall + 1e-9) / (members.sum(axis=1, keepdims=True) + prior)
    return np.asarray(np.log(rates / np.maximum(overall, 1e-9)) * (overall > 0)).T


def _out_of_fold(grams: "csr_matrix", labels: Ints, count: int) -> Floats:
    """Return how strongly each row's grams suggest each class, learned from the rows of other folds."""
    folds = np.arange(len(labels)) % GRAM_FOLDS
    found = np.zeros((len(labels), count))
    for fold in range(GRAM_FOLDS):
        others, rows = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        found[rows] = grams[rows] @ _evidence(grams[others], labels[others], count)
    return found


def _likelihood(scores: Floats, labels: Ints) -> float:
    chances = 0.99 * _shares(scores) + 0.01 / scores.shape[1]
    return float(np.log(chances[np.arange(len(labels)), labels]).sum())


def _shares(scores: Floats) -> Floats:
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


@cached_by_column
def _grams(one: Column) -> "csr_matrix":
    """Return a sparse matrix, rows by gram hashes: 1 if the row's text, with spaces around words, has the gram."""
    from scipy.sparse import csr_matrix

    texts = [
        f" {' '.join((cell or '')[:LONGEST_GRAM_TEXT].casefold().split())} " if key != MISSING else ""
        for key, cell in zip(one.keys, one.cells, strict=True)
    ]
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    letters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    rows = np.repeat(np.arange(len(texts)), lengths)
    places, buckets = [], []
    for size in GRAM_SIZES:
        last = len(letters) - size + 1
        if last <= 0:
            continue
        hashed = np.full(last, size, dtype=np.int64)
        for offset in range(size):
            hashed = (hashed * 1_000_003 + letters[offset : last + offset]) % (2**31 - 1)
        within = rows[:last] == rows[size - 1 :]  # no gram spans two texts
        places.append(rows[:last][within])
        buckets.append(hashed[within] % GRAM_HASHES)
    row, column = (np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64) for parts in (places, buckets))
    found = csr_matrix((np.ones(len(row)), (row, column)), shape=(len(texts), GRAM_HASHES))
    found.sum_duplicates()
    found.data[:] = 1.0
    return found
