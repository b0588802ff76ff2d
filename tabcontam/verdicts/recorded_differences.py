"""The parts of results.json that only recorded answers have: differences between decisions."""

from dataclasses import dataclass
from typing import Literal

from tabcontam.evidence.base import Verdict
from tabcontam.statistics.number_types import Count, Truth


@dataclass(frozen=True, kw_only=True)
class RecordedFields:
    """A difference in recorded answers, and the fields that name its model, dataset, test and file."""

    llm: str
    """The model, by the record's own name."""
    dataset: str
    """The dataset, by the record's own name."""
    split: str | None = None
    """Its split, by the record's own name; null if none is recorded."""
    serializer: str | None
    """The template of a serializer study; null for main runs."""
    test: str
    """The id of the contamination test."""
    source: str
    """The file that the answers come from."""


@dataclass(frozen=True, kw_only=True)
class RecordedDifference(RecordedFields):
    """A difference between the recorded decision and our decision by the published rules."""

    level: Literal["answer", "cell"]
    """The level of the difference: one answer, or all answers to one test."""
    line: Count
    """The line of the record, from 1."""
    ours: Truth
    """True if our reading counts as detected."""
    recorded: Truth | None
    """True if it was recorded as detected."""
    group: str
    """The cause, in words that differences share."""
    explanation: str
    """The cause in this case."""


@dataclass(frozen=True, kw_only=True)
class RuleDifference(RecordedFields):
    """A difference between the verdicts of the calibrated rules and of the published ones."""

    paper: Verdict | None
    """The verdict by the published rules."""
    calibrated: Verdict | None
    """The verdict by the calibrated rules."""
    group: str
    """The cause, in words that results share."""
    explanation: str | None
    """The cause in this case."""
