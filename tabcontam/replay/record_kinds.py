"""The kinds of recorded answers, recognised by the keys of their lines."""

import json
from collections.abc import Sequence
from pathlib import Path

from tabcontam.config import PAPER as PUBLISHED
from tabcontam.entry_points import offered
from tabcontam.reading.word_decision import Dictionary
from tabcontam.replay.answer_records import KEYS, parse_record
from tabcontam.replay.calibrated_replay import replay_calibrated
from tabcontam.replay.published_replay import differences, replay_published
from tabcontam.replay.record_kind import RecordKind
from tabcontam.replay.record_lines import Lines, parse_lines, read_lines
from tabcontam.replay.replay_outcome import ReplayOutcome


def judged(path: Path, lines: Lines, rules: str, dictionary: Dictionary, with_differences: bool) -> ReplayOutcome:
    """Return the outcome of a file under the `rules`; with disagreements if `with_differences`. Raises `UsageError`."""
    records = parse_lines(path, lines, parse_record, KEYS)
    if rules == PUBLISHED and not with_differences:
        return ReplayOutcome(replay_published(records, dictionary))
    results, by_rules = replay_calibrated(records, dictionary)
    if rules == PUBLISHED:
        results = replay_published(records, dictionary)
    return ReplayOutcome(results, differences(records, dictionary) if with_differences else (), by_rules)


PAPER = RecordKind(KEYS, judged)


def record_kinds() -> tuple[RecordKind, ...]:
    """Return the core's kind, the paper's Table 1, and the kinds of extensions: the group `tabcontam.log_readers`."""
    return (PAPER, *offered("tabcontam.log_readers", "log reader", RecordKind).values())


def judge_files(paths: Sequence[Path], rules: str, dictionary: Dictionary, with_differences: bool) -> ReplayOutcome:
    """Return the outcome of the answers in these files under the `rules`; with disagreements if `with_differences`.

    The keys in a file's first line show its kind. Raises `UsageError`.
    """
    found = []
    for path in paths:
        lines = read_lines(path)
        found.append(kind_of(lines).judge(path, lines, rules, dictionary, with_differences))
    return ReplayOutcome(
        [result for one in found for result in one.results],
        [difference for one in found for difference in one.differences],
        [difference for one in found for difference in one.rule_differences],
        [further for one in found for further in one.further],
    )


def kind_of(lines: Lines) -> RecordKind:
    """Return the kind with the largest share of its keys in the first line; the first kind if no key is there."""
    try:
        raw = json.loads(lines[0][1])
    except (ValueError, RecursionError):
        return PAPER
    keys = set(raw) if isinstance(raw, dict) else set()
    return max(record_kinds(), key=lambda kind: len(keys.intersection(kind.keys)) / len(kind.keys))
