"""Recorded answers judged again, with no model asked: one cell per (LLM, dataset, serializer, test, file)."""

from collections.abc import Iterable

from tabcontam.reading.words import Dictionary
from tabcontam.replay.calibrated import replay_calibrated
from tabcontam.replay.published import differences, replay_published
from tabcontam.replay.records import Record, read_records
from tabcontam.verdicts.cells import Result
from tabcontam.verdicts.rules import PAPER

__all__ = ["Record", "differences", "read_records", "replay", "replay_calibrated", "replay_published"]


def replay(records: Iterable[Record], dictionary: Dictionary, rules: str) -> list[Result]:
    """The cells of a results file, in the order of the records."""
    return replay_published(records, dictionary) if rules == PAPER else replay_calibrated(records, dictionary)[0]
