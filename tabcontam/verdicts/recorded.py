"""What results.json holds of recorded answers alone: where they disagree."""

from dataclasses import dataclass
from typing import Literal

from tabcontam.evidence.base import Verdict
from tabcontam.verdicts.checked import Count, Truth


@dataclass(frozen=True, kw_only=True)
class InRecords:
    """What each difference in recorded answers states first: which LLM, dataset and test, and in which file."""

    llm: str
    """The LLM, by the record's own name."""
    dataset: str
    """The dataset, by the record's own name."""
    split: str | None = None
    """Its split, by the record's own name; null where none is recorded."""
    serializer: str | None
    """The template of a serializer study; null for main runs."""
    test: str
    """The id of the contamination test."""
    source: str
    """The file that the answers come from."""


@dataclass(frozen=True, kw_only=True)
class RecordedDifference(InRecords):
    """Where this reading of the published rules differs from the recorded decision."""

    level: Literal["answer", "cell"]
    """Of one answer, or of the whole cell."""
    line: Count
    """The line of the record, from 1."""
    ours: Truth
    """Whether it counts as detected here."""
    recorded: Truth | None
    """Whether it was recorded as detected."""
    group: str
    """The cause, in words that differences share."""
    explanation: str
    """The cause in this case."""


@dataclass(frozen=True, kw_only=True)
class RuleDifference(InRecords):
    """Where the calibrated rules come to another verdict than the published ones."""

    paper: Verdict | None
    """The verdict by the published rules."""
    calibrated: Verdict | None
    """The verdict by the calibrated rules."""
    group: str
    """The cause, in words that cells share."""
    explanation: str | None
    """The cause in this case."""
