"""Recorded answers to the tests of Table 1 of Ronval, Dupont and Nijssen 2024, in the form of their authors."""

from pathlib import Path

from tabcontam.reading.words import Dictionary
from tabcontam.replay.calibrated import replay_calibrated
from tabcontam.replay.judged import Judged
from tabcontam.replay.lines import Lines, parse_lines
from tabcontam.replay.published import differences, replay_published
from tabcontam.replay.records import KEYS as KEYS
from tabcontam.replay.records import parse_record
from tabcontam.verdicts.rules import PAPER


def judged(path: Path, lines: Lines, rules: str, dictionary: Dictionary, told: bool) -> Judged:
    """Return the outcome of a file under the `rules`; with disagreements if `told`. Raises `UsageError`."""
    records = parse_lines(path, lines, parse_record, KEYS)
    if rules == PAPER and not told:
        return Judged(replay_published(records, dictionary))
    cells, by_rules = replay_calibrated(records, dictionary)
    if rules == PAPER:
        cells = replay_published(records, dictionary)
    return Judged(cells, differences(records, dictionary) if told else (), by_rules)
