"""What follows from shown cells by a law: each kind of law is a module, looked for in all shown columns of a table.

A law is found in the rows that a fit learns from, and weighed like every other predictor on rows held out from it: so
it counts where it holds, and costs nothing where it does not.
"""

from collections.abc import Mapping

from tabcontam.guesser.fit import Fit
from tabcontam.guesser.laws.base import Follows as Follows
from tabcontam.guesser.laws.base import Law
from tabcontam.guesser.laws.one_column import one_column
from tabcontam.guesser.laws.strings import strings

LAWS: Mapping[str, Law] = {"one column": one_column, "strings": strings}


def follows(fit: Fit) -> dict[str, Follows]:
    """What follows in the predicted rows of a fit by the laws found in its trained ones, by the kind of the law."""
    return {f"{name} {number}": found for name, law in LAWS.items() for number, found in enumerate(law(fit))}
