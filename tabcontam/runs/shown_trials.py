"""The trials of a run as a report shows them: with the chances used for their evidence, and with parts' records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tabcontam.asking.part_records import Records
from tabcontam.asking.stored_trial_index import StoredTrialIndex, Stretch, TrialPlaces
from tabcontam.asking.trial_file import TRIALS, Line, trial_of
from tabcontam.evidence.base import Reading
from tabcontam.evidence.mixins import ReferredTest
from tabcontam.evidence.registry import by_id
from tabcontam.runs.folder_part import records_in
from tabcontam.verdicts.reference_correction import same_query
from tabcontam.verdicts.result_types import Result, ResultKey


@dataclass(frozen=True)
class TrialConversion:
    """A conversion of a result's trials into the trials that a report shows.

    Right answers that the reference also gave get chance 1. `of_reference` returns the trials of a reference, and
    `stretches` their places in the file.
    """

    references: Mapping[ResultKey, ResultKey]
    of_reference: Callable[[ResultKey], list[Line]]
    records: Records
    stretches: Callable[[ResultKey], list[Stretch]] = lambda name: []

    def __call__(self, name: ResultKey, lines: list[Line]) -> list[Line]:
        if other := self.references.get(name):
            answered = {line["query"]: line for line in self.of_reference(other)}
            lines = [_conceded(line, answered.get(line["query"])) for line in lines]
        for own in self.records.values():
            lines = own.shown(name, lines)
        return lines


def reference_keys(result: Result) -> list[ResultKey]:
    """Return the keys of the trials in which references were asked this result's queries."""
    named = [result.reference, *(result.evidence.memory.further if result.evidence.memory else ())]
    return [result.key._replace(llm=llm) for llm in named if llm]


def reference_lines(folder: Path, results: Sequence[Result]) -> StoredTrialIndex:
    """Return the newest trial of every query that a reference was asked for these results."""
    return StoredTrialIndex(
        folder / TRIALS, dict.fromkeys(name for result in results for name in reference_keys(result))
    )


def shown_lines(folder: Path, results: Sequence[Result], written: TrialPlaces | None = None) -> StoredTrialIndex:
    """Return the newest trial of every query of these results, read one result at a time and converted for a report.

    If the file was just written, `written` has the places of its lines.
    """
    named = dict.fromkeys(name for result in results for name in reference_keys(result))
    of_references = StoredTrialIndex(folder / TRIALS, named, written=written)
    shown = TrialConversion(references(results), of_references.trials_of, records_in([folder]), of_references.stretches)
    return StoredTrialIndex(folder / TRIALS, {result.key: result.queries or 0 for result in results}, shown, written)


def references(results: Sequence[Result]) -> dict[ResultKey, ResultKey]:
    """Return for each result with a reference the key of the reference's trials."""
    return {result.key: result.key._replace(llm=result.reference) for result in results if result.reference}


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
