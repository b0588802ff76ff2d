"""What a file of recorded answers comes to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tabcontam.evidence.compared import Compared
from tabcontam.verdicts.cells import CellName, Result
from tabcontam.verdicts.judgements import Judgement
from tabcontam.verdicts.recorded import RecordedDifference, RuleDifference


@dataclass(frozen=True)
class Judged:
    """The cells of recorded answers, with the verdict of both rule sets in each, and their disagreements.

    `cells` have the verdicts of the rules that were asked for. `differences` are those with the recorded decisions,
    `rule_differences` those of the calibrated rules with the published ones. `compared` has the recorded completions
    of which `judgements` say how like they are to the true pieces, by the cell; its edition is the name of the file.
    """

    cells: Sequence[Result]
    differences: Sequence[RecordedDifference] = field(default=())
    rule_differences: Sequence[RuleDifference] = field(default=())
    compared: Mapping[CellName, Sequence[Compared]] = field(default_factory=dict)
    judgements: Sequence[Judgement] = field(default=())


def place_of(cell: Result) -> dict[str, Any]:
    """What tells a cell of recorded answers from others, as each difference states it first."""
    return {name: getattr(cell, name) for name in ("llm", "dataset", "split", "serializer", "test", "source")}
