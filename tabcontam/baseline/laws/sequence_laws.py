"""Laws between a row of the file and the rows before it: constant steps and growth, rounded like the column."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabcontam.baseline.coded_columns import Bools, Column, Floats, Ints, column, number_key, previous, scaled
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.thresholds import LAGS, LEAST_SEQUENCE_SHARE, MOST_SEQUENCE_FORMS, MOST_SEQUENCE_OFFSETS


def order(fit: Fit) -> list[LawPredictions]:
    """Return numbers that follow from the last four numbers of the column: 2a - b, a * a / b and similar forms."""
    known = {one.name: one for one in fit.shown}
    lags = [known.get(previous(fit.target.name, by)) for by in range(1, LAGS + 1)]
    numbers = [one.numbers if one is not None else None for one in lags]
    target = fit.target.numbers
    if target is None or any(one is None for one in numbers[:2]):
        return []
    forms = _forms([np.full(len(target), np.nan) if one is None else one for one in numbers])
    step = _step(fit)
    found = [form for numbers in forms if (form := _followed(fit, target, numbers, step)) is not None]
    found.sort(key=lambda form: -form.right)
    return [form.follows(fit) for form in found[:MOST_SEQUENCE_FORMS]]


def _forms(x: list[Floats]) -> list[Floats]:
    """Return the result of each form for the last four numbers, the latest first."""
    a, b, c, d = x
    with np.errstate(all="ignore"):
        return [
            2 * a - b,
            a + (a - d) / 3,
            3 * a - 3 * b + c,
            a * a / b,
            a * np.cbrt(a / d),
            a + b - c,
            a + c - d,
            2 * b - d,
            a + b,
            *(a * rate for rate in _rates(a / b)),
            (a + b) / 2,
            2 * a,
        ]


def _rates(ratios: Floats) -> list[float]:
    """Return the median growth from one row to the next: exact, and rounded to two and three decimals."""
    known = ratios[np.isfinite(ratios)]
    middle = float(np.median(known)) if len(known) else 1.0
    return list(dict.fromkeys([middle, round(middle, 2), round(middle, 3)]))


def _step(fit: Fit) -> int:
    """Return the usual step between the column's values, in units of the last decimal."""
    if fit.numbers is None:
        return 1
    middle = float(np.median(fit.step(fit.numbers[np.isfinite(fit.numbers)])))
    return max(1, round(middle * float(10**fit.target.decimals)))


@dataclass(frozen=True, eq=False)
class _SequenceForm:
    """A form (an expression such as 2a - b) that was right in some training rows, up to an offset."""

    right: float  # how often it was right, for ranking
    wholes: Ints  # its result in each row, in units of the last decimal
    known: Bools  # mask of the rows in which it has a result
    offsets: Sequence[tuple[int, float]]  # (offset, frequency)

    def follows(self, fit: Fit) -> LawPredictions:
        """Return the predictions for the predicted rows."""
        values: list[dict[str, float]] = [{} for _ in fit.predicted]
        for place in np.flatnonzero(self.known[fit.predicted]).tolist():
            whole = int(self.wholes[fit.predicted[place]])
            values[place] = {number_key(whole + more, fit.target.decimals): share for more, share in self.offsets}
        return LawPredictions.of(values)


def _followed(fit: Fit, target: Floats, form: Floats, step: int) -> _SequenceForm | None:
    """Return the form with its offsets and how often it was right; None if it is seldom right."""
    known = np.isfinite(form) & (np.abs(np.nan_to_num(form, posinf=0, neginf=0)) < 1e12)
    wholes = np.rint(scaled(np.where(known, form, 0), fit.target.decimals) / step).astype(np.int64) * step
    both = fit.train[known[fit.train] & np.isfinite(target[fit.train])]
    if len(both) < 5:
        return None
    apart = Counter((scaled(target[both], fit.target.decimals) - wholes[both]).tolist())
    least = max(1, LEAST_SEQUENCE_SHARE * len(fit.train))
    common = [(offset, count) for offset, count in apart.most_common(MOST_SEQUENCE_OFFSETS) if count > least]
    if not common:
        return None
    right = sum(count * count for _, count in common) / len(both)
    return _SequenceForm(right, wholes, known, [(offset, count / (len(both) + 1)) for offset, count in common])


def runs(name: str, lags: list[Column]) -> Column:
    """Return a column of run lengths: how many of the latest rows have equal cells. A group may be about to end."""
    alike = np.ones(len(lags[0].keys), dtype=np.bool_)
    length = np.ones(len(alike), dtype=np.int64)
    codes = [np.array(one.keys, dtype=object) for one in lags]
    for earlier in codes[1:]:
        alike = alike & (earlier == codes[0])
        length += alike
    return column(f"run {name}", tuple(map(str, length.tolist())))
