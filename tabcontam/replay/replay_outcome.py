"""The outcome of a file of recorded answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tabcontam.evidence.completion_pairs import CompletionPair
from tabcontam.extensions.papers.completion_judgements import Judgement
from tabcontam.verdicts.recorded_differences import RecordedDifference, RuleDifference
from tabcontam.verdicts.result_types import Result, ResultKey


@dataclass(frozen=True)
class ReplayOutcome:
    """The results of recorded answers, each with the verdicts of both rule sets, and their disagreements.

    `results` have the verdicts of the rules that the user chose. `differences`: from the recorded decisions.
    `rule_differences`: between the calibrated rules and the published ones. `compared`: by result, the recorded
    completions that `judgements` compare with the true pieces of text; the edition in its keys is the name of the file.
    """

    results: Sequence[Result]
    differences: Sequence[RecordedDifference] = field(default=())
    rule_differences: Sequence[RuleDifference] = field(default=())
    compared: Mapping[ResultKey, Sequence[CompletionPair]] = field(default_factory=dict)
    judgements: Sequence[Judgement] = field(default=())


def place_of(result: Result) -> dict[str, Any]:
    """Return the fields that identify a result of recorded answers, in the order in which differences state them."""
    return {name: getattr(result, name) for name in ("llm", "dataset", "split", "serializer", "test", "source")}
