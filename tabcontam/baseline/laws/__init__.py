"""Laws that predict a cell from shown cells: one module for each kind of law, applied to all shown columns.

Laws are learned from the training rows of a `Fit`. Their weights, like those of all predictors, are found on held-out
rows. So a law counts where it is right, and costs nothing elsewhere.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tabcontam.baseline.coded_columns import Column, Floats, cached_by_column, previous
from tabcontam.baseline.failures import attempt
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.laws.base import Law
from tabcontam.baseline.laws.base import LawPredictions as LawPredictions
from tabcontam.baseline.laws.choice_laws import choices
from tabcontam.baseline.laws.date_laws import dates, with_dates
from tabcontam.baseline.laws.digit_laws import digits
from tabcontam.baseline.laws.formula_laws import formulas
from tabcontam.baseline.laws.law_contexts import in_context
from tabcontam.baseline.laws.numerals import with_numerals
from tabcontam.baseline.laws.one_column_laws import one_column, surprise
from tabcontam.baseline.laws.quantities import quantity
from tabcontam.baseline.laws.remainder_laws import periods
from tabcontam.baseline.laws.sequence_laws import order
from tabcontam.baseline.laws.text_laws import strings
from tabcontam.baseline.thresholds import LAGS, LAW_SAMPLE_ROWS, LEAST_PROBABILITY

FURTHER = tuple(previous("", by) for by in range(2, LAGS + 1))  # prefixes of features of rows before the last row
LAWS: Mapping[str, Law] = {
    "one column": one_column,
    "formula": formulas,
    "period": periods,
    "date": dates,
    "order": order,
    "string": strings,
    "digit": digits,
    "choice": choices,
}


def predict_by_laws(fit: Fit) -> dict[str, LawPredictions]:
    """Return the predictions of laws for the predicted rows of a fit, by kind of law and number.

    The laws are learned from the training rows.
    """
    both = replace(fit, predicted=np.concatenate([fit.train, fit.predicted]))
    with np.errstate(all="ignore"):  # a formula may overflow on unusual cells
        every: dict[str, list[LawPredictions]] = {
            name: attempt(f"{name} of {fit.target.name}", partial(_found, fit, law, both), [])
            for name, law in LAWS.items()
        }
    return {f"{name} {number}": found for name, several in every.items() for number, found in enumerate(several)}


def _found(fit: Fit, law: Law, both: Fit) -> list[LawPredictions]:
    """Return the predictions of one kind of law for the predicted rows, weighted by context (`in_context`)."""
    return [in_context(fit, found) for found in law(both)]


def with_derived(columns: Iterable[Column]) -> list[Column]:
    """Return the columns and all columns derived from them: words, parts of dates, numerals."""
    return with_dates(_with_words(with_numerals(columns)))


def _with_words(columns: Iterable[Column]) -> list[Column]:
    """Return the columns and their words.

    From numbers with a unit, only words that are no numbers are added. Otherwise laws would use parts of the number.
    """
    found = []
    for one in columns:
        measured = one.numbers is None and quantity(one) is not None
        found += [one, *(more for more in one.words if not measured or more.numbers is None)]
    return found


@cached_by_column
def derived(one: Column) -> list[Column]:
    """Return the column and all columns derived from it."""
    return with_derived([one])


def visible_features(target: str, shown: Sequence[str], near: Collection[str] | None) -> list[str]:
    """Return the shown features from which laws are learned.

    Of rows before, these are all features of the last row, and the target in all four rows. `near` are the last row's
    features if rows before are shown, otherwise None.
    """
    if near is None:
        return list(shown)
    own = own_lags(target)
    return [name for name in shown if name in near or name in own or not name.startswith(FURTHER)]


def own_lags(target: str) -> set[str]:
    """Return the names of the target's features in the four rows before."""
    return {previous(target, by) for by in range(1, LAGS + 1)}


def law_likelihoods(fit: Fit) -> dict[str, tuple[Floats, Floats]]:
    """Return for each law the probability of each predicted row's true value, and that left to other predictors."""
    keys = [fit.target.keys[row] for row in fit.predicted]
    return {
        name: (np.array([values.get(key, 0.0) for key, values in zip(keys, found.values, strict=True)]), found.left)
        for name, found in predict_by_laws(fit).items()
    }


def law_bits(target: Column, given: Sequence[Column]) -> float:
    """Return the mean bits of a target's cell under the values' frequencies and the best law.

    Each law is learned from one half of the first 300 rows and tested on the other half. It reduces the bits there to a
    share; the bits under frequencies in all rows (`surprise`) are multiplied by the smallest share. Missing cells have
    no bits.
    """
    sample = np.arange(min(LAW_SAMPLE_ROWS, len(target.keys)))
    whole, train, predicted = surprise(target, []), sample[::2], sample[1::2]
    if not len(train) or not len(predicted):
        return whole
    counts = np.bincount(target.codes[train], minlength=int(target.codes.max()) + 1)
    frequent = np.maximum(counts[target.codes[predicted]], 1) / (len(train) + 1)
    laws = law_likelihoods(Fit(target, tuple(given), (), train, predicted)).values()
    known = target.codes[predicted] > 0
    alone, *left = (
        float(-np.log2(np.clip(one, LEAST_PROBABILITY, 1))[known].sum())
        for one in [frequent, *(chance + others * frequent for chance, others in laws)]
    )
    return whole * min([alone, *left]) / alone if alone else whole
