"""A test whether an accuracy exceeds the curve of several reference LLMs, after ConStat (Dekoninck et al. 2024)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabcontam.statistics.paired_gains import gained
from tabcontam.statistics.thresholds import REFERENCE_DRAWS

Right = npt.NDArray[np.float64]


@dataclass(frozen=True)
class AboveCurve:
    """An accuracy on rows, compared with the one that the references' curve expects from the accuracy on twins.

    `apart` is the least and the greatest `above` if one reference is left out. `outside` is true if the accuracy on
    twins is outside the range of the references.
    """

    expected: float
    above: float
    interval: tuple[float, float]
    p_value: float
    apart: tuple[float, float]
    outside: bool


def above_curve(own: Right, twin: Right, rows: Right, twins: Right) -> AboveCurve:
    """Return by how much the accuracy of an LLM on rows exceeds the accuracy that the references' curve expects.

    `own` and `twin` are the LLM's answers on the rows and the twins, one number for each pair: 1 is right, 0 is wrong.
    `rows` and `twins` are the answers of the references, references by pairs. The curve goes from (0, 0) to (1, 1) and
    has one fitted number, its bend c: an LLM with accuracy x on twins is expected to have x + c x (1 - x) on rows. So
    two references suffice, even if alike. (ConStat, section 3, fits a smoothing spline with these ends to five or
    more.)

    The 95 % interval and the one-sided p-value come from the basic bootstrap over pairs and references. Pairs are
    redrawn equally for all LLMs. Of n references n - 1 are drawn, so that few references do not seem too alike (Rao and
    Wu 1988). `gained` gives a second interval and p-value, over the pairs with the curve fixed. The result covers both
    intervals and has the larger p-value. So the interval has a width even if no pair differs. Raises `ValueError` for
    fewer than two references or no pair.
    """
    if len(rows) < 2 or not len(own):
        raise ValueError("there are fewer than two references, or there is no pair")
    x, accuracies = twin.mean(), twins.mean(axis=1)
    bent = _weights(x, accuracies[None, :], np.ones((1, len(accuracies))))[0]
    pairs = gained([float(each) for each in (own - twin) - bent @ (rows - twins)])
    drawn = np.sort(np.concatenate(list(_drawn(own, twin, rows, twins))))
    low, high = 2 * pairs.mean - np.quantile(drawn, (0.975, 0.025))
    p_value = (1 + int((2 * pairs.mean - drawn <= 0).sum())) / (REFERENCE_DRAWS + 1)
    without = [
        float((own - twin).mean() - _bend(x, np.delete(accuracies, one), np.delete((rows - twins).mean(axis=1), one)))
        for one in range(len(accuracies))
    ]
    return AboveCurve(
        expected=float(own.mean()) - pairs.mean,
        above=pairs.mean,
        interval=(max(-1.0, min(low, pairs.interval[0])), min(1.0, max(high, pairs.interval[1]))),
        p_value=max(p_value, pairs.p_value),
        apart=(min(without), max(without)),
        outside=bool(not accuracies.min() <= x <= accuracies.max()),
    )


def _bend(x: float, accuracies: Right, lost: Right) -> float:
    """Return by how much the accuracy on rows is expected to exceed the accuracy `x` on twins."""
    return float(_weights(x, accuracies[None, :], np.ones((1, len(accuracies))))[0] @ lost)


def _weights(x: Right | float, accuracies: Right, counted: Right) -> Right:
    """Return the weight of each reference's loss in the expectation at `x`; `counted` is how often each was drawn."""
    lever = accuracies * (1 - accuracies)
    total = (counted * lever**2).sum(axis=1, keepdims=True)
    at = np.reshape(x * (1 - x), (-1, 1))
    return np.asarray(np.divide(counted * lever * at, total, out=np.zeros(lever.shape), where=total > 0))


def _drawn(own: Right, twin: Right, rows: Right, twins: Right, *, part: int = 500) -> Iterator[Right]:
    """Yield the excess for redrawn pairs and references, `part` draws at a time."""
    rng = np.random.default_rng(0)
    number, references = len(own), len(rows)
    for _ in range(REFERENCE_DRAWS // part):
        of_pairs = rng.multinomial(number, np.full(number, 1 / number), part) / number
        counted = rng.multinomial(references - 1, np.full(references, 1 / references), part).astype(np.float64)
        lost, x = of_pairs @ (rows - twins).T, of_pairs @ twin
        weights = _weights(x, of_pairs @ twins.T, counted)
        yield of_pairs @ (own - twin) - (weights * lost).sum(axis=1)
