"""The gate with an earlier run: only contamination that the earlier run did not find fails.

Results are compared for the same model (by its name), edition, serializer and prompt set. A contaminated table is new
in three cases: the earlier run did not test it; the gate could not tell in the earlier run; or rows are found now, but
in the earlier run only tests of knowledge had found the dataset. If the gate cannot tell now, the table is undecided.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabcontam.errors import UsageError
from tabcontam.verdicts.consistency import check_whole
from tabcontam.verdicts.gate import (
    SHARE,
    Conclusion,
    GateDecision,
    GateFinding,
    Tested,
    combine_findings,
    findings_of,
    mark_partial,
    rulings,
)
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import visible


@dataclass(frozen=True)
class EarlierRun:
    """An earlier run with known findings: the folder, and the results."""

    folder: str
    results: RunResults

    @property
    def name(self) -> str:
        """The name of the folder, in characters that are safe to print in a line."""
        return visible(self.folder, line=True)


def judge_new(
    view: RunResults,
    earlier: EarlierRun | None,
    *,
    llms: Sequence[str] = (),
    datasets: Sequence[str] = (),
    fail_on: Sequence[str] = (),
    min_power: float | None = None,
    max_memory_share: float | None = None,
) -> GateDecision:
    """Return the gate's decision as `gate.judge` does, but contamination that the `earlier` run found does not fail.

    A memory's share above the limit is known, too, if it was above the limit in the earlier run. Raises `UsageError` as
    `judge` does, and for an earlier run that is not a run's results.
    """
    now = findings_of(view, llms, datasets, fail_on, min_power, max_memory_share)
    undecided_fails = "undecided" in fail_on
    if earlier is None:
        return mark_partial(view, combine_findings(tuple(finding for _, finding in now), undecided_fails))
    check_whole(earlier.results)
    if (shard := earlier.results.run.shard) is not None:
        raise UsageError(f"the baseline {earlier.name} holds only {shard} of a run; join all parts with `report`")
    by_rows = rulings(view, llms, datasets)
    named = earlier.results.llms  # includes controls, which are tested if the user named them
    before = {knowledge: rulings(earlier.results, named, knowledge=knowledge) for knowledge in (False, True)}
    past = findings_of(earlier.results, named, (), (), None, max_memory_share)
    shares = {tested: finding.conclusion for tested, finding in past if finding.subject == SHARE}

    def was(tested: Tested, finding: GateFinding) -> Conclusion | None:
        if finding.subject == SHARE:
            return shares.get(tested)
        ruling = before[by_rows[tested].conclusion is not Conclusion.CONTAMINATED].get(tested)
        return ruling.conclusion if ruling else None

    findings = tuple(_compared(finding, was(tested, finding), earlier) for tested, finding in now)
    return replace(mark_partial(view, combine_findings(findings, undecided_fails)), baseline=earlier.name)


def _compared(finding: GateFinding, before: Conclusion | None, earlier: EarlierRun) -> GateFinding:
    """Return the finding, marked as known or new by the earlier run's conclusion on the same model and table."""
    if finding.conclusion is not Conclusion.CONTAMINATED:
        return finding
    if before is Conclusion.CONTAMINATED:
        found = "above the limit" if finding.subject == SHARE else "contaminated"
        known = f"{finding.reason}; it was {found} in {earlier.name} as well"
        return replace(finding, conclusion=Conclusion.KNOWN, reason=known)
    was = "it was not tested" if before is None else f"the gate's conclusion was {before}"
    return replace(finding, reason=f"{finding.reason}; new: in {earlier.name} {was}")
