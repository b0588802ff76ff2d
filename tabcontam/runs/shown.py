"""The trials of a run as a report shows them: each with the chances that weighed it, and with judgements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tabcontam.asking.judgements import judgements_in, with_judgements
from tabcontam.asking.kept_trials import KeptTrials, Stretch, Written
from tabcontam.asking.trials import TRIALS, Line, trial_of
from tabcontam.evidence.base import Reading
from tabcontam.evidence.registry import by_id
from tabcontam.verdicts.cells import CellName, Result
from tabcontam.verdicts.judgements import Judgements
from tabcontam.verdicts.reference import same_query


@dataclass(frozen=True)
class Shown:
    """A conversion of a result's trials into those that a report shows.

    Answers that the result's reference gave as well have chance 1. `said` returns the trials of a reference, and
    `stretches` their places in the file.
    """

    references: Mapping[CellName, CellName]
    said: Callable[[CellName], list[Line]]
    judgements: Judgements
    stretches: Callable[[CellName], list[Stretch]] = lambda name: []

    def __call__(self, name: CellName, lines: list[Line]) -> list[Line]:
        if other := self.references.get(name):
            answered = {line["query"]: line for line in self.said(other)}
            lines = [_conceded(line, answered.get(line["query"])) for line in lines]
        return with_judgements(lines, self.judgements) if _is_judgeable(name.test) else lines


def _is_judgeable(test: str) -> bool:
    """Return whether judges compare completions of a test with true pieces."""
    return test in by_id() and by_id()[test].judgeable


def referred(cell: Result) -> list[CellName]:
    """Return the keys of the reference's trials of a result's queries, and of further references for memory's share."""
    named = [cell.reference, *(cell.memory.further if cell.memory else ())]
    return [cell.key._replace(llm=llm) for llm in named if llm]


def reference_lines(folder: Path, cells: Sequence[Result]) -> KeptTrials:
    """Return the newest trial of every query that a reference was asked for these results."""
    return KeptTrials(folder / TRIALS, dict.fromkeys(name for cell in cells for name in referred(cell)))


def shown_lines(folder: Path, cells: Sequence[Result], written: Written | None = None) -> KeptTrials:
    """Return the newest trial of every query of these results, read one result at a time, as `Shown` converts them.

    For a file that was just `written`, the places of the lines are known.
    """
    named = dict.fromkeys(name for cell in cells for name in referred(cell))
    said = KeptTrials(folder / TRIALS, named, written=written)
    shown = Shown(references(cells), said.of, judgements_in(folder), said.stretches)
    return KeptTrials(folder / TRIALS, {cell.key: cell.queries or 0 for cell in cells}, shown, written)


def references(cells: Sequence[Result]) -> dict[CellName, CellName]:
    """Return the key of the reference's trials for each result with a reference."""
    return {cell.key: cell.key._replace(llm=cell.reference) for cell in cells if cell.reference}


def _conceded(line: Line, other: Line | None) -> Line:
    """Return a trial whose right answers have chance 1 if the reference's own trial has them, too."""
    if other is None or not other.get("readable"):
        return line
    one, read = trial_of(line), Reading(other.get("parsed"), other.get("hit"), paper_hit=False, readable=True)
    if not same_query(one, trial_of(other)):
        return line
    chance = by_id()[line["test"]].conceded(one.query, read).chance
    return line | {"chance": {name: asdict(guess) for name, guess in chance.items()}}
