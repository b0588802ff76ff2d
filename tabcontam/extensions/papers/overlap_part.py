"""The part of a run that fixes by which measure Algorithm 1 compares texts (`--overlap`)."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabcontam.errors import UsageError, option, option_name
from tabcontam.evidence.base import Test
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.extensions.papers.guided.algorithm_one import BY_WORDS, compares, measured_by
from tabcontam.extensions.papers.guided.overlap_measures import OverlapMeasure, measure_of
from tabcontam.runs.run_part import PreparedPart, RunPart
from tabcontam.verdicts.run_facts import RunFacts

if TYPE_CHECKING:
    from tabcontam.models.provider_registry import ModelSettings


@dataclass(frozen=True)
class PreparedOverlap(PreparedPart):
    """The measure of a run."""

    measure: OverlapMeasure = BY_WORDS

    def judging(self) -> AbstractContextManager[None]:
        """Return a context in which Algorithm 1 compares texts by the measure."""
        return measured_by(self.measure)

    def facts(self) -> dict[str, Any]:
        """Return the measure in the form of results.json: None for ROUGE-L."""
        return {"overlap": None if self.measure == BY_WORDS else self.measure.spec}


class OverlapPart(RunPart):
    """The measure by which Algorithm 1 compares texts: ROUGE-L if a run names none."""

    def prepare(
        self, value: str | None, tests: Sequence[Test], settings: "ModelSettings | None" = None, asks: bool = True
    ) -> PreparedOverlap:
        """Return the measure that a run names, loaded if the run `asks`.

        Raises `UsageError` for an unknown or unavailable measure, and if no chosen test uses a measure.
        """
        if value is None:
            return PreparedOverlap()
        if not any(map(compares, tests)):
            names = " or ".join(test.id for test in all_tests() if compares(test))
            raise UsageError(
                f"{option_name('overlap')}: no chosen test compares texts by it; add {option('tests', names)}, "
                f"or leave {option('overlap')} out"
            )
        return PreparedOverlap(_named(value, asks))

    def prepare_again(self, value: str | None, folder: Path, run: RunFacts) -> PreparedOverlap:
        """Return the loaded measure for a past run: that of `value` or, without it, the run's own measure.

        Raises `UsageError` for an unknown or unavailable measure, and for a `value` if no test of the run uses one.
        """
        if value is not None:
            if not has_overlap_test(run):
                raise UsageError(f"{option_name('overlap')}: no test in {folder} compares texts by it; leave it out")
            return PreparedOverlap(_named(value))
        if run.overlap is None:
            return PreparedOverlap()
        try:
            return PreparedOverlap(measure_of(run.overlap))
        except UsageError as error:
            again = f"python -m tabcontam rescore {folder} --overlap {BY_WORDS.spec}"
            raise UsageError(f"{folder} compares texts by {run.overlap}: {error}; or type {again}") from None

    def merged_facts(self, runs: Sequence[RunFacts]) -> dict[str, Any]:
        """Return the one measure of several runs; runs without such a test do not count. Raises `UsageError`."""
        found = {run.overlap for run in runs if has_overlap_test(run)}
        if len(found) > 1:
            named = ", ".join(sorted(each or BY_WORDS.spec for each in found))
            raise UsageError(
                f"the runs compare texts by different measures ({named}); rescore one of them with "
                f"{option('overlap', 'MEASURE')}"
            )
        return {"overlap": found.pop() if found else None}


OVERLAP = OverlapPart()


def _named(spec: str, load: bool = True) -> OverlapMeasure:
    try:
        return measure_of(spec, load)
    except UsageError as error:
        raise UsageError(f"{option_name('overlap')}: {error}") from None


def has_overlap_test(run: RunFacts) -> bool:
    """Return whether a run has a test that uses a measure."""
    known = by_id()
    return any(compares(known[test.id]) for test in run.tests if test.id in known)
