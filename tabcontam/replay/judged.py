"""What a file of recorded answers comes to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tabcontam.verdicts.cells import Result
from tabcontam.verdicts.recorded import RecordedDifference, RuleDifference


@dataclass(frozen=True)
class Judged:
    """The cells of recorded answers, with the verdict of both rule sets in each, and their disagreements.

    `cells` have the verdicts of the rules that were asked for. `differences` are those with the recorded decisions,
    `rule_differences` those of the calibrated rules with the published ones.
    """

    cells: Sequence[Result]
    differences: Sequence[RecordedDifference] = field(default=())
    rule_differences: Sequence[RuleDifference] = field(default=())
