"""The kinds of recorded answers, recognised by the keys of their lines. A new kind is added only here."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabcontam.extensions.papers import memcheck_records, recorded_quiz, time_travel
from tabcontam.reading.word_decision import Dictionary
from tabcontam.replay import table_1
from tabcontam.replay.record_lines import Lines, read_lines
from tabcontam.replay.replay_outcome import ReplayOutcome

Judge = Callable[[Path, Lines, str, Dictionary, bool], ReplayOutcome]


@dataclass(frozen=True)
class RecordKind:
    """A kind of recorded answers: the `keys` of its lines, and the function that judges the lines of a file.

    `judge` gets the file's path, its lines, the rules, the dictionary, and whether disagreements are wanted. It raises
    `UsageError` for a line that is no record of this kind.
    """

    keys: tuple[str, ...]
    judge: Judge


KINDS = (
    RecordKind(table_1.KEYS, table_1.judged),
    RecordKind(time_travel.KEYS, time_travel.judged),
    RecordKind(recorded_quiz.KEYS, recorded_quiz.judged),
    RecordKind(memcheck_records.KEYS, memcheck_records.judged),
)


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
        {place: compared for one in found for place, compared in one.compared.items()},
        [judgement for one in found for judgement in one.judgements],
    )


def kind_of(lines: Lines) -> RecordKind:
    """Return the kind with the largest share of its keys in the first line; the first kind if no key is there."""
    try:
        raw = json.loads(lines[0][1])
    except (ValueError, RecursionError):
        return KINDS[0]
    keys = set(raw) if isinstance(raw, dict) else set()
    return max(KINDS, key=lambda kind: len(keys.intersection(kind.keys)) / len(kind.keys))
