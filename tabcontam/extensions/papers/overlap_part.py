"""The part of a run that fixes by which measure Algorithm 1 compares texts (`--overlap`)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError, option, option_name
from tabcontam.evidence.base import Test
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.extensions.papers.guided.algorithm_one import BY_WORDS, compares, measured_by
from tabcontam.extensions.papers.guided.overlap_measures import OverlapMeasure, measure_of
from tabcontam.extensions.papers.papers_settings import OVERLAP
from tabcontam.models.provider_registry import ModelSettings
from tabcontam.runs.folder_part import FolderPart
from tabcontam.runs.run_part import RunPart
from tabcontam.verdicts.run_facts import RunFacts


class OverlapPart(RunPart):
    """The measure that a run names."""

    setting = "overlap"
    measure: OverlapMeasure

    def open(self, tests: Sequence[Test], settings: ModelSettings, asks: bool) -> None:
        """Find the measure, and load it if the run `asks`. Raises `UsageError`, also if no chosen test uses one."""
        if not any(map(compares, tests)):
            names = " or ".join(test.id for test in all_tests() if compares(test))
            raise UsageError(
                f"{option_name('overlap')}: no chosen test compares texts by it; add {option('tests', names)}, "
                f"or leave {option('overlap')} out"
            )
        self.measure = _named(OVERLAP.of(self.config) or "", asks)

    def judging(self) -> AbstractContextManager[None]:
        return measured_by(self.measure)

    def facts(self) -> Mapping[str, Any]:
        return {"overlap": measure_name(self.measure)}


class OverlapOfFolders(FolderPart):
    """The measure of past runs."""

    @contextmanager
    def again(self, folder: Path, run: RunFacts, value: str | None) -> Iterator[Mapping[str, Any]]:
        """Judge a run again by the measure that `value` names, or by the run's own. Raises `UsageError`."""
        measure = self.measure_again(folder, run, value)
        with measured_by(measure):
            yield {"overlap": measure_name(measure)}

    def measure_again(self, folder: Path, run: RunFacts, spec: str | None) -> OverlapMeasure:
        """Return the loaded measure by which a past run is judged again."""
        if spec is not None and not has_overlap_test(run):
            raise UsageError(f"{option_name('overlap')}: no test in {folder} compares texts by it; leave it out")
        if spec is not None:
            return _named(spec)
        if run.overlap is None:
            return BY_WORDS
        try:
            return measure_of(run.overlap)
        except UsageError as error:
            again = f"python -m tabcontam rescore {folder} --overlap {BY_WORDS.spec}"
            raise UsageError(f"{folder} compares texts by {run.overlap}: {error}; or type {again}") from None

    def merged_facts(self, runs: Sequence[RunFacts]) -> Mapping[str, Any]:
        """Return the one measure of several runs; runs without such a test do not count. Raises `UsageError`."""
        found = {run.overlap for run in runs if has_overlap_test(run)}
        if len(found) > 1:
            named = ", ".join(sorted(each or BY_WORDS.spec for each in found))
            raise UsageError(
                f"the runs compare texts by different measures ({named}); rescore one of them with "
                f"{option('overlap', 'MEASURE')}"
            )
        return {"overlap": found.pop() if found else None}


PART = OverlapOfFolders()


def _named(spec: str, load: bool = True) -> OverlapMeasure:
    try:
        return measure_of(spec, load)
    except UsageError as error:
        raise UsageError(f"{option_name('overlap')}: {error}") from None


def measure_name(measure: OverlapMeasure) -> str | None:
    """Return a measure in the form of results.json; None for ROUGE-L."""
    return None if measure == BY_WORDS else measure.spec


def has_overlap_test(run: RunFacts) -> bool:
    """Return whether a run has a test that uses a measure."""
    known = by_id()
    return any(compares(known[test.id]) for test in run.tests if test.id in known)
