"""The correction by a reference, a model that cannot have read the table: what it also answers is no evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tabcontam.evidence.base import Reading, Test, Trial
from tabcontam.evidence.mixins import ReferredTest, ShareTest
from tabcontam.verdicts.thresholds import LEAST_REFERENCE_SHARE


@dataclass(frozen=True)
class Reference:
    """A reference model with its read trials of a test's queries, and the trials of further references, if any.

    Right answers that the reference also gives are no evidence. Further references serve only to compare memory's
    share.
    """

    llm: str
    trials: Sequence[Trial]
    further: Mapping[str, Sequence[Trial]] = field(default_factory=dict)


@dataclass(frozen=True)
class ReferenceCorrection:
    """The trials of a test, corrected for the answers of the reference.

    In `weighed`, each of the reference's answers has chance 1 (no evidence). In `informative`, only its right answers
    have chance 1: where it was wrong, memory is still detectable. `sentence` is the result's sentence on the reference.
    """

    weighed: Sequence[Trial]
    informative: Sequence[Trial]
    sentence: str = ""


def concede(test: Test, trials: Sequence[Trial], reference: Reference | None) -> ReferenceCorrection:
    """Return the trials, in which each answer that the reference also gives has chance 1: it is no evidence.

    A trial is unchanged if the reference gave no readable answer to its query, or was asked something else.
    """
    if reference is None or not isinstance(test, ReferredTest):
        return ReferenceCorrection(trials, trials)
    answers = {trial.query.id: trial for trial in reference.trials if trial.readable}
    weighed, informative, answered, shared = list(trials), list(trials), 0, 0
    for place, trial in enumerate(trials):
        other = answers.get(trial.query.id)
        if other is None or other.reading is None or not same_query(trial, other):
            continue
        answered += 1
        shared += bool(_right(trial.reading) & _right(other.reading))
        weighed[place] = replace(trial, query=test.conceded(trial.query, other.reading))
        informative[place] = replace(trial, query=test.conceded(trial.query, _without_errors(other.reading)))
    few = answered < LEAST_REFERENCE_SHARE * len(trials) or len(reference.trials) < len(trials)
    return ReferenceCorrection(weighed, informative, _sentence(reference.llm, len(trials), answered, few, shared))


def asked_of_reference(test: Test, *, further: bool = False) -> bool:
    """Return whether the reference (with `further`, each further reference) also gets a test's queries."""
    return isinstance(test, ShareTest) or (isinstance(test, ReferredTest) and not further)


def same_query(one: Trial, other: Trial) -> bool:
    """Return whether two trials have the same asked cells and the same expected cells."""
    return (one.query.asked, one.query.expected) == (other.query.asked, other.query.expected)


def _sentence(llm: str, asked: int, answered: int, few: bool, shared: int) -> str:
    if few:
        return f"the reference {llm} answered only {answered} of {asked} queries"
    if not shared:
        return ""
    return f"the reference {llm} has the same right values in {shared} of {asked} queries, which count for nothing"


def _right(reading: Reading | None) -> frozenset[str]:
    """Return the asked features that are right in a reading, or `answer` for a test with a single answer."""
    if reading is None:
        return frozenset()
    return frozenset(reading.right) or frozenset({"answer"} if reading.hit else ())


def _without_errors(reading: Reading) -> Reading:
    """Return the reading without the wrong cells."""
    if not isinstance(reading.parsed, Mapping):
        return reading
    return replace(reading, parsed={name: cell for name, cell in reading.parsed.items() if name in reading.right})
