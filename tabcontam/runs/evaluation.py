"""Few-shot classification as a run: the test that asks for it, and what the answers in the run's folder come to."""

from pathlib import Path

from tabcontam.asking.trials import RESULTS, Journal
from tabcontam.errors import UsageError, option
from tabcontam.evidence.base import Test
from tabcontam.evidence.score.few_shot import FewShot, FewShotScored, notes
from tabcontam.reading.words import english
from tabcontam.runs.rescoring import read_again
from tabcontam.runs.run import Outcome, Run
from tabcontam.tables.draws import seeded
from tabcontam.verdicts.cells import CellName
from tabcontam.verdicts.evaluation import Evaluation, evaluation


def few_shot(shots: tuple[int, ...], draws: int, rows: int, *, twins: bool, in_words: bool) -> Test:
    """What is asked: of LLMs that tell log-probabilities by these, unless all are to be asked in words."""
    kind = FewShot if in_words else FewShotScored
    return kind(shots=shots, draws=draws, rows=rows, twins=twins)


def check_same_evaluation(folder: Path, run: Run) -> None:
    """Raises `UsageError` where the folder has answers to what this run does not ask: these would be mixed up."""
    if not (folder / RESULTS).exists():
        return
    planned = {cell.name: {query.id for query in cell.written} for cell in run.cells}
    for line in Journal(folder).lines():
        name = CellName(*(str(line[field]) for field in CellName._fields))
        if name in planned and line["query"] not in planned[name]:
            raise UsageError(
                f"{folder} holds an evaluation with other numbers of shots, draws or queries; choose another folder "
                f"with {option('out')}"
            )


def evaluations(run: Run, outcome: Outcome) -> list[Evaluation]:
    """What the run found of each LLM and table."""
    tables = {(table.name, table.edition, table.split): table for table in run.tables}
    lines = {
        place: notes(test, table, seeded(table, run.order.options.seed, test.draws_as or test.id))
        for place, table in tables.items()
        for test in run.order.tests
        if isinstance(test, FewShot)
    }
    read = read_again(outcome.folder, outcome.results, english())
    return [
        evaluation(
            cell,
            [trial for _, trial in read[cell.key]],
            lines.get((cell.dataset, cell.edition or "", cell.split or ""), ()),
        )
        for cell in outcome.results.cells
    ]
