"""What follows from shown cells by a law: each kind of law is a module, looked for in all shown columns of a table.

A law is found in the rows that a fit learns from, and weighed like every other predictor on rows held out from it: so
it counts where it holds, and costs nothing where it does not.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from tabcontam.guesser.columns import Column, Floats, Ints
from tabcontam.guesser.fit import Fit
from tabcontam.guesser.laws.base import Follows as Follows
from tabcontam.guesser.laws.base import Law
from tabcontam.guesser.laws.one_column import one_column

LOOKED_AT = 300  # rows in which a law is looked for before a guesser is fitted
LAWS: Mapping[str, Law] = {"one column": one_column}


def follows(fit: Fit) -> dict[str, Follows]:
    """What follows in the predicted rows of a fit by the laws found in its trained ones, by the kind of the law."""
    return {f"{name} {number}": found for name, law in LAWS.items() for number, found in enumerate(law(fit))}


def held(fit: Fit) -> dict[str, tuple[Floats, Floats]]:
    """How far each law holds in the predicted rows of a fit, two numbers a row.

    The first is the probability that it gives to the row's real value, the second what it leaves for other values.
    """
    keys = [fit.target.keys[row] for row in fit.predicted]
    return {
        name: (np.array([values.get(key, 0.0) for key, values in zip(keys, found.values, strict=True)]), found.left)
        for name, found in follows(fit).items()
    }


def law_bits(target: Column, given: Sequence[Column], rows: Ints) -> float:
    """The mean bits of a cell of the target for who knows the values' frequencies and the best law that holds.

    Each law is found in one half of these rows, of which 300 are looked at, and checked in the other half. Missing
    cells have no bits.
    """
    looked_at = rows[:LOOKED_AT]
    if len(looked_at) < 2:
        return 0.0
    halves, best = (looked_at[::2], looked_at[1::2]), 0.0
    for train, predicted in (halves, halves[::-1]):
        fit = Fit(target, tuple(given), (), train, predicted)
        codes = target.codes
        counts = np.bincount(codes[train], minlength=int(codes.max()) + 1)
        alone = np.maximum(counts[codes[predicted]], 1) / (len(train) + 1)
        known = codes[predicted] > 0
        chances = [alone, *(chance + left * alone for chance, left in held(fit).values())]
        best += min(float(-np.log2(np.minimum(chance, 1))[known].sum()) for chance in chances)
    return best / len(looked_at)
