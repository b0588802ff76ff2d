"""`judgements.jsonl` in a run's folder: one judgement a line, appended as soon as it is made."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from tabcontam.asking.trial_file import Journal, Line, line_key, trial_of
from tabcontam.evidence.base import Reading, Trial
from tabcontam.evidence.completion_pairs import CompletionPair, Likeness
from tabcontam.evidence.registry import by_id
from tabcontam.extensions.papers.completion_judgements import TEXT, Judgement, Judgements, compared_of, judgement_of
from tabcontam.groups import grouped
from tabcontam.verdicts.result_types import ResultKey

JUDGEMENTS = "judgements.jsonl"


class JudgementJournal(Journal):
    """The file of a run's judgements. It is read and written like trials.jsonl."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / JUDGEMENTS

    def numbered(self) -> Iterator[tuple[int, Line]]:
        """Yield the judgements in the file, oldest first, each with the number of its line, from 1."""
        for number, one in self._found():
            yield number, one.line()

    def judgements(self) -> Judgements:
        """Return the judgements in the file. Lines that contain no judgement, or only a part of one, are skipped."""
        return Judgements(one for _, one in self._found())

    def note(self, one: Judgement) -> None:
        """Append a judgement and flush it to the system. Raises OSError, and then keeps the line in memory."""
        self.append(one.line())

    def _found(self) -> Iterator[tuple[int, Judgement]]:
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for number, text in enumerate(file, start=1):
                try:
                    yield number, judgement_of(json.loads(text))
                except (ValueError, TypeError, KeyError, RecursionError):
                    continue


def judgements_in(folder: Path) -> Judgements:
    """Return the judgements in a run's folder; empty if it has no such file."""
    return JudgementJournal(folder).judgements()


def compared_in(lines: Iterable[Line]) -> dict[ResultKey, list[CompletionPair]]:
    """Return, by result, the completions of a run that judges and people may be shown.

    `lines`: the run's trials. Their answers are not read anew.
    """
    known = by_id()
    judgeable = [line for line in lines if line["test"] in known and known[line["test"]].judgeable]
    found = {}
    for key, result_key in grouped(judgeable, lambda line: line_key(line)[:-1]).items():
        place = ResultKey(*key)
        found[place] = compared_of(known[place.test], list(map(_read, result_key)))
    return found


def with_judgements(lines: Iterable[Line], judgements: Judgements) -> list[Line]:
    """Return the trials. If a trial's completion is compared, "judged" lists each judge with its word."""
    own = list(lines)
    words_of: dict[tuple[str, ...], list[list[str]]] = {}
    for place, compared in compared_in(own).items():
        for one in compared:
            words = [[TEXT, Likeness.EXACT.value]] if one.exact else []
            words += [
                [by, judged.word or f"not judged: {judged.detail}"] for by, judged in judgements.of(place, one).items()
            ]
            words_of[(*place, one.query_id)] = words
    return [line | {"judged": own_words} if (own_words := words_of.get(line_key(line))) else line for line in own]


def _read(line: Line) -> Trial:
    reading = Reading(line.get("parsed"), line.get("hit"), line.get("hit") is True, line.get("readable") is True)
    return replace(trial_of(line), reading=reading)


def judgement_lines(judgements: Iterable[Judgement]) -> list[Line]:
    return [one.line() for one in judgements]
