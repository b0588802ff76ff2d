"""A kind of recorded answers."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tabcontam.reading.word_decision import Dictionary
from tabcontam.replay.record_lines import Lines
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
