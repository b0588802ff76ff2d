"""The gate against a baseline, an earlier run: what was contaminated there is known, and only what is new fails.

The same LLM, by its name, on the same edition, written and worded the same way: a table that was not tested in the
baseline is new, and so is one of which rows are found now, where only tests of knowledge had found the dataset. Where
the gate could not tell before, what is found now is new. What it cannot tell now stays so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabcontam.errors import UsageError
from tabcontam.verdicts.gate import (
    SHARE,
    Conclusion,
    Finding,
    Judgement,
    Tested,
    findings_of,
    in_parts,
    rulings,
    together,
)
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.whole import check_whole
from tabcontam.verdicts.wording import visible


@dataclass(frozen=True)
class Baseline:
    """An earlier run whose findings are known: the name of its folder, and its results."""

    folder: str
    results: RunResults

    @property
    def name(self) -> str:
        """The folder, as a line can show it."""
        return visible(self.folder, line=True)


def judge_new(
    view: RunResults,
    baseline: Baseline | None,
    *,
    llms: Sequence[str] = (),
    datasets: Sequence[str] = (),
    fail_on: Sequence[str] = (),
    min_power: float | None = None,
    max_memory_share: float | None = None,
) -> Judgement:
    """The gate's decision as `judge` makes it, but what is contaminated in the baseline as well is known.

    So is a memory's share above the limit that was above it there.

    Raises `UsageError` as `judge` does, and for a baseline that is not a run's results.
    """
    now = findings_of(view, llms, datasets, fail_on, min_power, max_memory_share)
    undecided_fails = "undecided" in fail_on
    if baseline is None:
        return in_parts(view, together(tuple(finding for _, finding in now), undecided_fails))
    check_whole(baseline.results)
    if (shard := baseline.results.run.shard) is not None:
        raise UsageError(f"the baseline {baseline.name} has {shard} of a run alone; join all parts with report")
    by_rows = rulings(view, llms, datasets)
    named = baseline.results.llms  # also controls, which are tested where they are named
    before = {knowledge: rulings(baseline.results, named, knowledge=knowledge) for knowledge in (False, True)}
    past = findings_of(baseline.results, named, (), (), None, max_memory_share)
    shares = {tested: finding.conclusion for tested, finding in past if finding.of == SHARE}

    def was(tested: Tested, finding: Finding) -> Conclusion | None:
        if finding.of == SHARE:
            return shares.get(tested)
        ruling = before[by_rows[tested].conclusion is not Conclusion.CONTAMINATED].get(tested)
        return ruling.conclusion if ruling else None

    findings = tuple(_compared(finding, was(tested, finding), baseline) for tested, finding in now)
    return replace(in_parts(view, together(findings, undecided_fails)), baseline=baseline.name)


def _compared(finding: Finding, before: Conclusion | None, baseline: Baseline) -> Finding:
    """A finding with what the baseline says of the same."""
    if finding.conclusion is not Conclusion.CONTAMINATED:
        return finding
    if before is Conclusion.CONTAMINATED:
        found = "above it" if finding.of == SHARE else "contaminated"
        known = f"{finding.reason}; {found} in {baseline.name} as well"
        return replace(finding, conclusion=Conclusion.KNOWN, reason=known)
    was = "it was not tested" if before is None else f"the gate said {before} of it"
    return replace(finding, reason=f"{finding.reason}; new: in {baseline.name} {was}")
