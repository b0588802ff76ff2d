"""Few-shot classification as a run: the evaluations of the answers in its folder, and TabLLM's published results."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tabcontam.asking.trial_file import RESULTS, Journal
from tabcontam.errors import UsageError, option
from tabcontam.evidence.base import Trial
from tabcontam.extensions.evaluate.few_shot import FewShot, notes
from tabcontam.extensions.evaluate.shot_results import MemoryFading, ShotResult, evaluated, fading
from tabcontam.runs.rescoring import read_again
from tabcontam.runs.run import Outcome, Run
from tabcontam.tables.row_draws import seeded
from tabcontam.verdicts.result_types import Result, ResultKey, TableFields

FILE = Path(__file__).with_name("tabllm.toml")  # the published results and their source
ABOVE, BELOW = "grows with shots", "fades with shots"
UNCLEAR = "is not shown to change with shots"


@dataclass(frozen=True, kw_only=True)
class Evaluation(TableFields):
    """A model's accuracies on a table at each number of shots; empty if nothing was asked.

    `reason` states why there are fewer answers than planned, and `unanswered` how many fewer. `notes` state what is
    missing: shots that cannot be shown, twins or learners.
    """

    reason: str
    unanswered: int
    shots: tuple[ShotResult, ...]
    fading: MemoryFading | None
    notes: tuple[str, ...]

    @property
    def learners(self) -> list[str]:
        return list(dict.fromkeys(one.name for at in self.shots for one in at.learners))


def trend(found: MemoryFading) -> str:
    """Return in words whether memory's share changes with the number of shots, by the interval of the difference."""
    low, high = found.interval
    return ABOVE if low > 0 else BELOW if high < 0 else UNCLEAR


def check_same_evaluation(folder: Path, run: Run) -> None:
    """Raise `UsageError` if the folder has answers to other queries than this run's: their answers would be mixed."""
    if not (folder / RESULTS).exists():
        return
    planned = {planned_result.name: {query.id for query in planned_result.written} for planned_result in run.plan}
    for line in Journal(folder).lines():
        name = ResultKey(*(str(line[field]) for field in ResultKey._fields))
        if name in planned and line["query"] not in planned[name]:
            raise UsageError(
                f"{folder} holds an evaluation with other numbers of shots, draws or queries; choose another folder "
                f"with {option('out')}"
            )


def evaluations(run: Run, outcome: Outcome) -> list[Evaluation]:
    """Return the evaluation of each LLM and table of the run."""
    tables = {(table.name, table.edition, table.split): table for table in run.tables}
    lines = {
        place: notes(test, table, seeded(table, run.config.seed, test.draws_as or test.id))
        for place, table in tables.items()
        for test in run.config.own_tests
        if isinstance(test, FewShot)
    }
    read = read_again(outcome.folder, outcome.results)
    return [
        _evaluation(
            result,
            [trial for _, trial in read[result.key]],
            lines.get((result.dataset, result.edition or "", result.split or ""), ()),
        )
        for result in outcome.results.results
    ]


def _evaluation(result: Result, trials: Sequence[Trial], notes: Sequence[str]) -> Evaluation:
    unanswered = (result.queries or 0) - len(trials)
    return Evaluation(
        **result.table_fields,
        reason=(result.decision.reason or "") if unanswered or not trials else "",
        unanswered=unanswered,
        shots=evaluated(trials),
        fading=fading(trials),
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class PublishedAuc:
    """A published AUC at 0 shots: table, LLM, template and source. The text `compares` states how comparable it is."""

    dataset: str
    llm: str
    template: str
    auc: float
    name: str
    citation: str
    address: str
    compares: str


@cache
def published_auc(dataset: str) -> PublishedAuc | None:
    """Return the published AUC of a table, by the name of the table's card; None if there is none."""
    held: dict[str, Any] = tomllib.loads(FILE.read_text("utf-8"))
    auc = held.pop("zero_shot").get(dataset)
    return None if auc is None else PublishedAuc(dataset=dataset, auc=auc, **held)
