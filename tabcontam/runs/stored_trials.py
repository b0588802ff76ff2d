"""The trials of a run's results, read from trials.jsonl one result at a time, as memory may not suffice for all.

Only the places of the trials in their file are in memory. By hand, because a database would be a second copy of a file
of 900 MB, and an index of its lines in SQLite takes twice the time. Lines that are appended meanwhile are not seen. If
another file replaces this one, the open file is still read.
"""

import os
import re
import weakref
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain
from pathlib import Path

from tabcontam.asking.part_records import Records
from tabcontam.asking.trial_file import NUMBER, TRIALS, Line, line_key, line_of, trial_of
from tabcontam.evidence.base import Reading
from tabcontam.evidence.mixins import ReferredTest
from tabcontam.evidence.registry import by_id
from tabcontam.runs.folder_part import records_in
from tabcontam.verdicts.reference_correction import same_query
from tabcontam.verdicts.result_types import Result, ResultKey

TrialPlaces = Mapping[ResultKey, Sequence[int]]  # three numbers for each trial: first byte, length, line from 1


def newest_trials(path: Path, asked: Mapping[ResultKey, int | None]) -> TrialPlaces:
    """Return the places of the newest trial of every query of these results, in the order of results and queries.

    `asked` has the number of queries of each result, after which surplus trials of an earlier run are left out; None:
    as many as the file has.
    """
    newest: dict[ResultKey, dict[str, tuple[int, int, int]]] = {}
    start = 0
    if asked and path.exists():
        with path.open("rb") as file:
            for number, text in enumerate(file, start=1):
                if (line := line_of(text)) is not None:
                    *names, query = line_key(line)
                    if (key := ResultKey(*names)) in asked:
                        newest.setdefault(key, {})[query] = start, len(text), number
                start += len(text)
    return {
        key: array("Q", chain.from_iterable(newest[key][query] for query in sorted(newest[key], key=_numbers)[:most]))
        for key, most in asked.items()
        if key in newest
    }


@cache
def _numbers(query: str) -> tuple[int, ...]:
    """Return the numbers in a query's name, by which queries are sorted: `-0`, then `-0-decoy-1`, then `-1`."""
    return tuple(map(int, re.findall(r"-(\d+)", query)))


class StoredTrials:
    """The trials at these places of a file, each with the number of its line under "line". `shown` converts them."""

    def __init__(self, path: Path, places: TrialPlaces, shown: "TrialConversion | None" = None) -> None:
        self.path, self.places, self.shown = path, places, shown
        if places:
            self._file = path.open("rb")
            weakref.finalize(self, self._file.close)

    @property
    def identity(self) -> tuple[int, int] | None:
        """The device and inode of the open file, which a new file of this name does not have; None without trials."""
        if not self.places:
            return None
        found = os.fstat(self._file.fileno())
        return found.st_dev, found.st_ino

    def __iter__(self) -> Iterator[Line]:
        for name in self.places:
            yield from self.trials_of(name)

    def __len__(self) -> int:
        return sum(map(len, self.places.values())) // 3

    def trials_of(self, name: ResultKey) -> list[Line]:
        """Return the trials of a result, in the order of its queries; empty for an unknown result."""
        lines = []
        for text, number in self.texts_of(name):
            if (line := line_of(text)) is not None:
                lines.append(line | {NUMBER: number})
        return self.shown(name, lines) if self.shown else lines

    def texts_of(self, name: ResultKey) -> Iterator[tuple[bytes, int]]:
        """Yield each line of a result with its number."""
        places = self.places.get(name, ())
        for start, length, number in zip(places[::3], places[1::3], places[2::3], strict=True):
            self._file.seek(start)
            yield self._file.read(length), number


@dataclass(frozen=True)
class TrialConversion:
    """A conversion of a result's trials into the trials that a report shows.

    Right answers that the reference also gave get chance 1, and each extension's part adds its records.
    """

    of_references: StoredTrials
    reference_of: Mapping[ResultKey, ResultKey]
    records: Records

    def __call__(self, name: ResultKey, lines: list[Line]) -> list[Line]:
        if other := self.reference_of.get(name):
            answered = {line["query"]: line for line in self.of_references.trials_of(other)}
            lines = [_conceded(line, answered.get(line["query"])) for line in lines]
        for own in self.records.values():
            lines = own.shown(name, lines)
        return lines

    def reference_places(self, names: Iterable[ResultKey]) -> TrialPlaces:
        """Return the places of the references' trials that the conversion of these results needs."""
        others = (self.reference_of[name] for name in names if name in self.reference_of)
        return {other: self.of_references.places[other] for other in others if other in self.of_references.places}


def last_lines(folder: Path, results: Iterable[Result]) -> StoredTrials:
    """Return the newest trial of every query of these results, without the queries of an earlier, larger run."""
    path = folder / TRIALS
    return StoredTrials(path, newest_trials(path, {result.key: result.queries or 0 for result in results}))


def reference_keys(result: Result) -> list[ResultKey]:
    """Return the keys of the trials in which references were asked this result's queries."""
    named = [result.reference, *(result.evidence.memory.further if result.evidence.memory else ())]
    return [result.key._replace(llm=llm) for llm in named if llm]


def reference_lines(folder: Path, results: Sequence[Result]) -> StoredTrials:
    """Return the newest trial of every query that a reference was asked for these results."""
    named = dict.fromkeys(name for result in results for name in reference_keys(result))
    return StoredTrials(folder / TRIALS, newest_trials(folder / TRIALS, named))


def shown_lines(folder: Path, results: Sequence[Result], written: TrialPlaces | None = None) -> StoredTrials:
    """Return the trials of `last_lines`, converted for a report.

    If the file was just written, `written` has the places of all its trials.
    """
    path = folder / TRIALS
    if written is None:
        own: TrialPlaces = last_lines(folder, results).places
        of_references = reference_lines(folder, results)
    else:
        own = {result.key: written[result.key] for result in results if result.key in written}
        of_references = StoredTrials(path, written)
    return StoredTrials(path, own, conversion(results, of_references, records_in([folder])))


def conversion(results: Iterable[Result], of_references: StoredTrials, records: Records) -> TrialConversion:
    """Return the conversion of the trials of these results."""
    reference_of = {result.key: result.key._replace(llm=result.reference) for result in results if result.reference}
    return TrialConversion(of_references, reference_of, records)


def _conceded(line: Line, other: Line | None) -> Line:
    """Return a trial with chance 1 for each right answer that the reference's trial also has."""
    if other is None or not other.get("readable"):
        return line
    one, read = trial_of(line), Reading(other.get("parsed"), other.get("hit"), paper_hit=False, readable=True)
    if not same_query(one, trial_of(other)):
        return line
    test = by_id()[line["test"]]
    chance = (test.conceded(one.query, read) if isinstance(test, ReferredTest) else one.query).chance
    return line | {"chance": {name: asdict(prediction) for name, prediction in chance.items()}}
