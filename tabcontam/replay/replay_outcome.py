"""The outcome of a file of recorded answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tabcontam.verdicts.recorded_differences import RecordedDifference, RuleDifference
from tabcontam.verdicts.result_types import Result


@dataclass(frozen=True)
class ReplayOutcome:
    """The results of recorded answers, each with the verdicts of both rule sets, and their disagreements.

    `results` have the verdicts of the rules that the user chose. `differences`: from the recorded decisions.
    `rule_differences`: between the calibrated rules and the published ones. `further` is for the extension that read
    the file: its part of a run makes more fields of the results from it (`RunPart.of_replay`).
    """

    results: Sequence[Result]
    differences: Sequence[RecordedDifference] = field(default=())
    rule_differences: Sequence[RuleDifference] = field(default=())
    further: Sequence[object] = field(default=())


def place_of(result: Result) -> dict[str, Any]:
    """Return the fields that identify a result of recorded answers, in the order in which differences state them."""
    return {name: getattr(result, name) for name in ("llm", "dataset", "split", "serializer", "test", "source")}
