"""The outcome of a file of recorded answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tabcontam.evidence.completion_pairs import CompletionPair
from tabcontam.verdicts.completion_judgements import Judgement
from tabcontam.verdicts.recorded_differences import RecordedDifference, RuleDifference
from tabcontam.verdicts.result_types import Result, ResultKey


@dataclass(frozen=True)
class ReplayOutcome:
    """The results of recorded answers, with the verdict of both rule sets in each, and their disagreements.

    `results` have the verdicts of the rules that were asked for. `differences` are those from the recorded decisions,
    `rule_differences` those between the calibrated rules and the published ones. `compared` has, by the result, the
    recorded completions that `judgements` compare with the true pieces; the edition of its keys is the name of the
    file.
    """

    results: Sequence[Result]
    differences: Sequence[RecordedDifference] = field(default=())
    rule_differences: Sequence[RuleDifference] = field(default=())
    compared: Mapping[ResultKey, Sequence[CompletionPair]] = field(default_factory=dict)
    judgements: Sequence[Judgement] = field(default=())


def place_of(result: Result) -> dict[str, Any]:
    """Return the fields that distinguish a result of recorded answers, in the order in which differences state them."""
    return {name: getattr(result, name) for name in ("llm", "dataset", "split", "serializer", "test", "source")}
