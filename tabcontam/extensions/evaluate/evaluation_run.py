"""Few-shot classification as a run: its test, and the evaluations of the answers in the run's folder."""

from pathlib import Path

from tabcontam.asking.trial_file import RESULTS, Journal
from tabcontam.errors import UsageError, option
from tabcontam.evidence.base import Test
from tabcontam.extensions.evaluate.evaluation_results import Evaluation, evaluation
from tabcontam.extensions.evaluate.few_shot import FewShot, FewShotScored, notes
from tabcontam.runs.rescoring import read_again
from tabcontam.runs.run import Outcome, Run
from tabcontam.tables.row_draws import seeded
from tabcontam.verdicts.result_types import ResultKey


def few_shot(shots: tuple[int, ...], draws: int, rows: int, *, twins: bool, in_words: bool) -> Test:
    """Return the test. It uses log-probabilities for LLMs that have them, unless all LLMs are asked `in_words`."""
    kind = FewShot if in_words else FewShotScored
    return kind(shots=shots, draws=draws, rows=rows, twins=twins)


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
        evaluation(
            result,
            [trial for _, trial in read[result.key]],
            lines.get((result.dataset, result.edition or "", result.split or ""), ()),
        )
        for result in outcome.results.results
    ]
