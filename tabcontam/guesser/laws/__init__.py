"""What follows from shown cells by a law: each kind of law is a module, looked for in all shown columns of a table.

A law is found in the rows that a fit learns from, and weighed like every other predictor on rows held out from it: so
it counts where it holds, and costs nothing where it does not.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tabcontam.guesser.fit import Fit
from tabcontam.guesser.laws.base import Follows as Follows
from tabcontam.guesser.laws.base import Law
from tabcontam.guesser.laws.context import in_context
from tabcontam.guesser.laws.dates import dates
from tabcontam.guesser.laws.formulas import formulas
from tabcontam.guesser.laws.one_column import one_column
from tabcontam.guesser.laws.order import order
from tabcontam.guesser.laws.periods import periods
from tabcontam.guesser.laws.strings import strings

LAWS: Mapping[str, Law] = {
    "one column": one_column,
    "formula": formulas,
    "period": periods,
    "date": dates,
    "order": order,
    "string": strings,
}


def follows(fit: Fit) -> dict[str, Follows]:
    """What follows in the predicted rows of a fit by the laws found in its trained ones, by the kind of the law."""
    both = replace(fit, predicted=np.concatenate([fit.train, fit.predicted]))
    return {
        f"{name} {number}": in_context(fit, found)
        for name, law in LAWS.items()
        for number, found in enumerate(law(both))
    }
