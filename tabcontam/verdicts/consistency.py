"""A check of a run's results. Content that no run writes, for example after an edit by hand, is an error."""

from collections.abc import Iterator

from tabcontam.config import PAPER
from tabcontam.errors import UsageError
from tabcontam.evidence.base import UNDECIDED, Verdict
from tabcontam.verdicts.result_types import Result, TableVerdict
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.training_evidence import rows_of
from tabcontam.verdicts.wording import visible


def check_whole(view: RunResults) -> None:
    """Raise `UsageError` unless these are a run's complete results, and no part contradicts another part."""
    if view.run.recorded:
        raise UsageError("the gate needs the results of a run; these are recorded answers that `replay` judged")
    if view.run.alpha is None:
        raise UsageError("the gate needs the level of a run, but the results have no `alpha`; make the run again")
    if fault := next(_faults(view, view.run.alpha), None):
        raise UsageError(f"the results contradict themselves: {visible(fault, line=True)}; make the run again")


def _faults(view: RunResults, alpha: float) -> Iterator[str]:
    """Yield a line for each contradiction that the gate would not notice otherwise."""
    stated = [llm.spec for llm in view.run.llms if not llm.control]
    subjects = {(result.llm, result.table) for result in view.results if result.test in view.row_tests}
    llms = {result.llm for result in view.results}
    asked = {(result.dataset, result.edition or "", result.split or "") for result in view.results}
    for_others = {one.llm for one in view.run.trained_on}  # a corpus that is declared for a model need not be asked
    if view.run.shard is None:  # other parts have the results that are missing in this part
        yield from (f"{llm} has no result" for llm in stated if llm not in {*llms, *for_others})
        tables = (dataset for dataset in view.run.datasets if dataset.key not in asked)
        yield from (f"{dataset.named} has no result" for dataset in tables)
    yield from no_controls(view)
    declared = {(one.llm, one.corpus) for one in view.run.trained_on}
    searched = {(result.llm, rows_of(result)) for result in view.results if result.test in view.row_tests}
    for table in view.tables:
        corpora = [name for one in table.families for name in one.corpora]
        for name in corpora:
            if (table.llm, name) not in declared:
                yield f"{name} counts for {table.llm} on {view.label(table)} but was not declared as its training data"
            if (name, rows_of(table)) not in searched:
                yield f"{name} has no result on {view.label(table)}"
        if (table.llm, table.table) not in subjects and not corpora:
            yield f"{table.llm} has no result on {view.label(table)}"
    for result in view.results:
        if result.evidence.memory is not None and result.evidence.memory.interval != result.evidence.interval:
            yield f"memory's share of {result.llm} on {view.label(result)} has two different intervals"
    parts: list[Result | TableVerdict] = [*view.results, *view.tables]
    for part in parts if view.run.rules != PAPER else ():
        decision = part.decision if isinstance(part, Result) else part
        of_one_column = decision.rests_on and part.verdict in UNDECIDED and not _stands(part, alpha)
        significant = decision.q_value is not None and decision.q_value <= alpha
        if significant and part.verdict is not Verdict.CONTAMINATED and not of_one_column:
            yield f"{part.llm} on {view.label(part)} is {part.outcome} although its q-value is at most {alpha:g}"


def no_controls(view: RunResults) -> Iterator[str]:
    """Yield a line for each model that is marked as a control that joined the run, but is not one."""
    stated = [llm.spec for llm in view.run.llms if not llm.control]
    controls = {llm.spec for llm in view.run.llms if llm.control}
    for llm in view.joined:
        own = [result for result in view.results if result.llm == llm]
        known = llm in view.checking or (llm in controls and all(result.exposure is not None for result in own))
        if not known or llm in stated or not all(result.control for result in own):
            yield f"{llm} is marked as a control of this run, but it is not one"


def _stands(part: Result | TableVerdict, alpha: float) -> bool:
    """Return whether a finding would count whichever one column is left out."""
    least = [part.decision.q_without] if isinstance(part, Result) else [one.q_without for one in part.families]
    return any(q_value is None or q_value <= alpha for q_value in least)
