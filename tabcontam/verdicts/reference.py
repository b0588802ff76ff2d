"""What a reference LLM knows counts for nothing: it has not seen the table, so that no row is needed to know it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tabcontam.evidence.base import Reading, Test, Trial

ENOUGH = 0.5  # of the queries have to be answered by the reference; else a cell says how few were


@dataclass(frozen=True)
class Reference:
    """A reference LLM, and its own read trials of the queries of a cell; with those of further references, if any.

    What the first one answers counts for nothing. The others stand beside memory's share, and are asked nothing else.
    """

    llm: str
    trials: Sequence[Trial]
    further: Mapping[str, Sequence[Trial]] = field(default_factory=dict)


@dataclass(frozen=True)
class Conceded:
    """The trials of a cell beside what the reference answered.

    In `weighed` each of its answers has chance 1. In `telling` only its right ones have: where it was wrong, memory can
    still be told. `said` is what a cell says of it.
    """

    weighed: Sequence[Trial]
    telling: Sequence[Trial]
    said: str = ""


def concede(test: Test, trials: Sequence[Trial], reference: Reference | None) -> Conceded:
    """The trials with the chances that the reference's answers leave.

    Where it gave no readable answer, or was not asked the same, a trial stays as it is.
    """
    if reference is None or not test.referred:
        return Conceded(trials, trials)
    answers = {trial.query.id: trial for trial in reference.trials if trial.readable}
    weighed, telling, answered, shared = list(trials), list(trials), 0, 0
    for place, trial in enumerate(trials):
        other = answers.get(trial.query.id)
        if other is None or other.reading is None or not same_query(trial, other):
            continue
        answered += 1
        shared += bool(_right(trial.reading) & _right(other.reading))
        weighed[place] = replace(trial, query=test.conceded(trial.query, other.reading))
        telling[place] = replace(trial, query=test.conceded(trial.query, _without_errors(other.reading)))
    few = answered < ENOUGH * len(trials) or len(reference.trials) < len(trials)
    return Conceded(weighed, telling, _said(reference.llm, len(trials), answered, few, shared))


def asked_of_reference(test: Test, *, further: bool = False) -> bool:
    """Whether a reference LLM, or a further one, is asked the queries of a test."""
    return test.set_beside or (test.referred and not further)


def same_query(one: Trial, other: Trial) -> bool:
    """Whether two trials ask the same of the same row, as far as the answers tell."""
    return (one.query.asked, one.query.expected) == (other.query.asked, other.query.expected)


def _said(llm: str, asked: int, answered: int, few: bool, shared: int) -> str:
    if few:
        return f"the reference {llm} answered only {answered} of {asked} queries"
    if not shared:
        return ""
    return f"the reference {llm} has right values of {shared} of {asked} in common with it, which count for nothing"


def _right(reading: Reading | None) -> frozenset[str]:
    """The asked features that a reading has right, or that it has the one answer."""
    if reading is None:
        return frozenset()
    return frozenset(reading.right) or frozenset({"answer"} if reading.hit else ())


def _without_errors(reading: Reading) -> Reading:
    """The reading without the cells that are not the row's."""
    if not isinstance(reading.parsed, Mapping):
        return reading
    return replace(reading, parsed={name: cell for name, cell in reading.parsed.items() if name in reading.right})
