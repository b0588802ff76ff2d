"""The measure by which Algorithm 1 compares texts (`--overlap`). It is fixed before anything is asked or judged."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from tabcontam.errors import UsageError, option, option_name
from tabcontam.evidence.base import Test
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.extensions.papers.guided.algorithm_one import BY_WORDS, compares
from tabcontam.extensions.papers.guided.overlap_measures import OverlapMeasure, measure_of
from tabcontam.verdicts.run_facts import RunFacts


def measure_for(spec: str | None, tests: Sequence[Test], load: bool = True) -> OverlapMeasure:
    """Return the measure that a run names, loaded if `load` is true; ROUGE-L if it names none.

    Raises `UsageError` for an unknown or unavailable measure, and if no chosen test uses a measure.
    """
    if spec is None:
        return BY_WORDS
    if not any(map(compares, tests)):
        names = " or ".join(test.id for test in all_tests() if compares(test))
        raise UsageError(
            f"{option_name('overlap')}: no chosen test compares texts by it; add {option('tests', names)}, "
            f"or leave {option('overlap')} out"
        )
    return _named(spec, load)


def measure_again(folder: Path, run: RunFacts, spec: str | None) -> OverlapMeasure:
    """Return the loaded measure for judging a past run again: `spec` or, without it, the run's own measure.

    Raises `UsageError` for an unknown or unavailable measure, and for a `spec` if no test of the run uses a measure.
    """
    if spec is not None:
        if not has_overlap_test(run):
            raise UsageError(f"{option_name('overlap')}: no test in {folder} compares texts by it; leave it out")
        return _named(spec)
    if run.overlap is None:
        return BY_WORDS
    try:
        return measure_of(run.overlap)
    except UsageError as error:
        again = f"python -m tabcontam rescore {folder} --overlap {BY_WORDS.spec}"
        raise UsageError(f"{folder} compares texts by {run.overlap}: {error}; or type {again}") from None


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


def common(runs: Iterable[RunFacts]) -> str | None:
    """Return the one measure of several runs; runs without such a test do not count. Raises `UsageError`."""
    found = {run.overlap for run in runs if has_overlap_test(run)}
    if len(found) > 1:
        named = ", ".join(sorted(each or BY_WORDS.spec for each in found))
        raise UsageError(
            f"the runs compare texts by different measures ({named}); rescore one of them with "
            f"{option('overlap', 'MEASURE')}"
        )
    return found.pop() if found else None
