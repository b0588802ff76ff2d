"""What a file of recorded answers comes to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

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


def place_of(cell: Result) -> dict[str, Any]:
    """What tells a cell of recorded answers from others, as each difference states it first."""
    return {name: getattr(cell, name) for name in ("llm", "dataset", "split", "serializer", "test", "source")}
