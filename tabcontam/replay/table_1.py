"""Recorded answers to the tests of Table 1 of Ronval, Dupont and Nijssen 2024, in the form of their authors."""

from pathlib import Path

from tabcontam.config import PAPER
from tabcontam.reading.word_decision import Dictionary
from tabcontam.replay.answer_records import KEYS as KEYS
from tabcontam.replay.answer_records import parse_record
from tabcontam.replay.calibrated_replay import replay_calibrated
from tabcontam.replay.published_replay import differences, replay_published
from tabcontam.replay.record_lines import Lines, parse_lines
from tabcontam.replay.replay_outcome import ReplayOutcome


def judged(path: Path, lines: Lines, rules: str, dictionary: Dictionary, with_differences: bool) -> ReplayOutcome:
    """Return the outcome of a file under the `rules`; with disagreements if `with_differences`. Raises `UsageError`."""
    records = parse_lines(path, lines, parse_record, KEYS)
    if rules == PAPER and not with_differences:
        return ReplayOutcome(replay_published(records, dictionary))
    results, by_rules = replay_calibrated(records, dictionary)
    if rules == PAPER:
        results = replay_published(records, dictionary)
    return ReplayOutcome(results, differences(records, dictionary) if with_differences else (), by_rules)
