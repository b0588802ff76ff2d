"""The gate: the decision whether an experiment may continue, for `gate`, the pytest plugin and Python.

It rests on the ruling on each model and table (`table_ruling`). A limit of memory's share is a separate condition: see
`memory_share_limit`. Each model and table then has one finding on its rows and one on the share, and the worst of all
findings decides. A table with only scores has only the finding on the share, and the finding states so.

With an earlier run, only contamination that the earlier run did not find fails. Results are compared for the same model
(by its name), edition, serializer and prompt set. A contaminated table is new in three cases: the earlier run did not
test it; the gate could not tell in the earlier run; or rows are found now, but in the earlier run only tests of
knowledge had found the dataset. If the gate cannot tell now, the table is undecided.

A results.json with parts that contradict each other, for example after an edit by hand, is an error. No table is clean
unless its results show it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from tabcontam.config import FAILURES
from tabcontam.errors import Exit, UsageError, unknown
from tabcontam.groups import grouped
from tabcontam.verdicts import memory_share_limit
from tabcontam.verdicts.consistency import check_whole
from tabcontam.verdicts.name_lookup import llms_named, places_named
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.rules import Conclusion as Conclusion
from tabcontam.verdicts.table_ruling import TableRuling, TableRulings, Tested
from tabcontam.verdicts.wording import shorten, visible

ROWS, SHARE = "rows", "memory's share"  # the possible subjects of a finding

EXIT = {
    Conclusion.CLEAN: Exit.DONE,
    Conclusion.KNOWN: Exit.DONE,
    Conclusion.CONTAMINATED: Exit.CONTAMINATED,
    Conclusion.CANNOT_TELL: Exit.CANNOT_TELL,
}


@dataclass(frozen=True)
class GateFinding:
    """The gate's finding on one model and table: `dataset` is its label in the report, `reason` one sentence.

    `subject` is "rows", or "memory's share" for a finding on this share and its limit.
    """

    llm: str
    dataset: str
    conclusion: Conclusion
    reason: str
    subject: str = ROWS

    def __str__(self) -> str:
        return f"{self.llm} on {self.dataset}: {self.reason}"


@dataclass(frozen=True)
class GateDecision:
    """The gate's decision on all models and tables together, in one line, with each finding.

    `undecided_fails` is true if the gate also stops an experiment when it cannot tell. `baseline` is the folder of an
    earlier run, with known findings; empty without such a run.
    """

    conclusion: Conclusion
    reason: str
    findings: tuple[GateFinding, ...]
    undecided_fails: bool = False
    baseline: str = ""

    def __str__(self) -> str:
        return f"{self.conclusion}: {self.reason}"

    @property
    def exit_code(self) -> Exit:
        """0 for clean or known, 1 for contaminated, 6 for cannot tell (1 if `undecided_fails`)."""
        fails = self.undecided_fails and self.conclusion is Conclusion.CANNOT_TELL
        return Exit.CONTAMINATED if fails else EXIT[self.conclusion]

    def document(self) -> dict[str, Any]:
        """Return the document that `gate --json` prints."""
        findings = [asdict(finding) for finding in self.findings]
        compared = {"baseline": self.baseline} if self.baseline else {}
        return {"conclusion": self.conclusion, "reason": self.reason, **compared, "findings": findings}


@dataclass(frozen=True)
class EarlierRun:
    """An earlier run with known findings: the folder, and the results."""

    folder: str
    results: RunResults

    @property
    def name(self) -> str:
        """The name of the folder, in characters that are safe to print in a line."""
        return visible(self.folder, line=True)


def rulings(
    view: RunResults, llms: Sequence[str] = (), datasets: Sequence[str] = (), *, knowledge: bool = False
) -> dict[Tested, TableRuling]:
    """Return the gate's decision on each model and table, chosen as in `judge`; none for recorded answers.

    With `knowledge`, tests of knowledge count as well.
    """
    if view.run.recorded:
        return {}
    ruled = TableRulings(view, knowledge)
    return {tested: ruled.ruling(tested) for tested in _subjects(view, llms, datasets)}


def judge(
    view: RunResults,
    earlier: EarlierRun | None = None,
    *,
    llms: Sequence[str] = (),
    datasets: Sequence[str] = (),
    fail_on: Sequence[str] = (),
    min_power: float | None = None,
    max_memory_share: float | None = None,
) -> GateDecision:
    """Return the gate's decision on the results of a run: the worst finding on any model and table.

    `llms` and `datasets` choose from the results (default: all except controls that joined). `fail_on` contains
    "knowledge", "undecided" or both. With "knowledge", tests of knowledge count as well. With "undecided", an undecided
    table has the exit code of a contaminated one. `min_power`, in (0, 1), is a share of rows: a table is clean only if
    a model that remembers this share would have been detected. `max_memory_share`, in (0, 1), is the largest part of an
    accuracy that may be memory. What the `earlier` run found, contamination or a share above the limit, does not fail.

    Raises `UsageError` for a name that is not in the results, for another condition, and if `view` or the earlier
    results are not a run's results.
    """
    now = _findings(view, llms, datasets, fail_on, min_power, max_memory_share)
    if earlier is not None:
        now = _compared(view, now, earlier, llms, datasets, max_memory_share)
    decision = combine_findings(tuple(finding for _, finding in now), "undecided" in fail_on)
    if earlier is not None:
        decision = replace(decision, baseline=earlier.name)
    if (shard := view.run.shard) is None:
        return decision
    missing = f"part{'s' * (len(shard.missing) > 1)} {', '.join(map(str, shard.missing))}"
    line = f"these are {shard} of a run, and {missing} can change their verdicts; join all parts with `report` first"
    return replace(decision, conclusion=Conclusion.CANNOT_TELL, reason=f"{line} ({decision.reason})")


def _findings(
    view: RunResults,
    llms: Sequence[str],
    datasets: Sequence[str],
    fail_on: Sequence[str],
    min_power: float | None,
    max_memory_share: float | None,
) -> list[tuple[Tested, GateFinding]]:
    """Return each finding with its model and table. Arguments and errors are the same as in `judge`."""
    for word in fail_on:
        if word not in FAILURES:
            raise unknown("condition to fail on", str(word), FAILURES)
    if min_power is not None and not (isinstance(min_power, int | float) and 0 < min_power < 1):
        raise UsageError(f"the least power is a share between 0 and 1, not {min_power!r}")
    if max_memory_share is not None and not (isinstance(max_memory_share, int | float) and 0 < max_memory_share < 1):
        raise UsageError(f"the limit of memory's share is a number between 0 and 1, not {max_memory_share!r}")
    check_whole(view)
    ruled, subjects = TableRulings(view, "knowledge" in fail_on, min_power), _subjects(view, llms, datasets)
    found: list[tuple[Tested, Conclusion, str, str]] = []
    for tested in subjects:
        if max_memory_share is None or tested in ruled.with_verdict:
            ruling = ruled.ruling(tested)
            found.append((tested, ruling.conclusion, ruling.reason, ROWS))
    if max_memory_share is not None:
        shares = [result for result in view.results if memory_share_limit.is_share(view, result)]
        by_tested = grouped(shares, lambda result: (result.llm, result.table))
        for tested in subjects:
            if tested[0] not in view.corpora:
                own = by_tested.get(tested, ())
                conclusion, reason = memory_share_limit.rule_on_share(own, max_memory_share, view.run.rows)
                alone = conclusion is Conclusion.CLEAN and tested not in ruled.with_verdict
                found.append((tested, conclusion, reason + "; recall of rows was not tested" * alone, SHARE))
    labels = {result.table: view.label(result) for result in view.results}
    findings = []
    for tested, conclusion, reason, subject in found:
        llm, label, reason = (visible(words, line=True) for words in (tested[0], labels[tested[1]], reason))
        conclusion = conclusion if view.run.shard is None else Conclusion.CANNOT_TELL
        findings.append((tested, GateFinding(llm, label, conclusion, reason, subject)))
    return findings


def _compared(
    view: RunResults,
    now: Sequence[tuple[Tested, GateFinding]],
    earlier: EarlierRun,
    llms: Sequence[str],
    datasets: Sequence[str],
    max_memory_share: float | None,
) -> list[tuple[Tested, GateFinding]]:
    """Return the findings, of which contamination is marked as known or new. Raises `UsageError`."""
    check_whole(earlier.results)
    if (shard := earlier.results.run.shard) is not None:
        raise UsageError(f"the baseline {earlier.name} holds only {shard} of a run; join all parts with `report`")
    by_rows = rulings(view, llms, datasets)
    named = earlier.results.llms  # includes controls, which are tested if the user named them
    before = {knowledge: rulings(earlier.results, named, knowledge=knowledge) for knowledge in (False, True)}
    past = _findings(earlier.results, named, (), (), None, max_memory_share)
    shares = {tested: finding.conclusion for tested, finding in past if finding.subject == SHARE}

    compared = []
    for tested, finding in now:
        if finding.conclusion is Conclusion.CONTAMINATED:
            if finding.subject == SHARE:
                was, found = shares.get(tested), "above the limit"
            else:
                ruling = before[by_rows[tested].conclusion is not Conclusion.CONTAMINATED].get(tested)
                was, found = ruling.conclusion if ruling else None, "contaminated"
            if was is Conclusion.CONTAMINATED:
                reason = f"{finding.reason}; it was {found} in {earlier.name} as well"
                finding = replace(finding, conclusion=Conclusion.KNOWN, reason=reason)
            else:
                state = "it was not tested" if was is None else f"the gate's conclusion was {was}"
                finding = replace(finding, reason=f"{finding.reason}; new: in {earlier.name} {state}")
        compared.append((tested, finding))
    return compared


def _subjects(view: RunResults, llms: Sequence[str], datasets: Sequence[str]) -> list[Tested]:
    """Return each chosen model with each chosen table. A named pair that was not asked is included, not skipped."""
    chosen = llms_named(view, llms)
    if datasets:
        named = dict.fromkeys(place for name in datasets for place in places_named(view, name))
        return [(llm, place) for llm in chosen for place in named]
    by_llm = grouped([*view.results, *view.tables], lambda one: one.llm)
    return [
        (llm, place) for llm in view.llms if llm in chosen for place in dict.fromkeys(one.table for one in by_llm[llm])
    ]


# named: the largest number of findings that the line names
# longest: the largest number of characters of a finding in the line
def combine_findings(
    findings: tuple[GateFinding, ...], undecided_fails: bool, *, named: int = 3, longest: int = 240
) -> GateDecision:
    """Return the judgement on all findings: the worst decide. Its line names some findings and counts the rest."""
    numbers = {word: sum(finding.conclusion is word for finding in findings) for word in Conclusion}
    worst = next((word for word, number in numbers.items() if number), Conclusion.CANNOT_TELL)
    worst_findings = [shorten(str(finding), longest) for finding in findings if finding.conclusion is worst]
    more = [f"and {len(worst_findings) - named} more"] if len(worst_findings) > named else []
    line = "; ".join([*worst_findings[:named], *more]) or "no model was tested"
    others = ", ".join(f"{number} {word}" for word, number in numbers.items() if number and word is not worst)
    return GateDecision(worst, f"{line} (besides: {others})" if others else line, findings, undecided_fails)
