"""Who answers in the skill benchmark: one who knows the rules, and the strongest predictors; none saw the asked row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tabcontam.asking.plan import PlannedCell
from tabcontam.calibration.power import Planned, Trials
from tabcontam.evidence.base import Query, Reply, State, Trial
from tabcontam.subjects.known.simulated import Turn, remembered
from tabcontam.tables.serializers import Template
from tabcontam.tables.table import Cell, Table
from tests.benchmarks.skills.made import Made
from tests.benchmarks.skills.predictors import Predictors

Answers = Callable[[PlannedCell, Query], Sequence[Cell]]  # for each asked feature, or the one choice
Form = Callable[[Query, Sequence[Cell]], str]  # how an answer about cells is worded


@dataclass(frozen=True)
class Solver:
    """Knows the rules of a table, and none of its rows: cells that follow are right, the others are guessed.

    It solves the given share of the queries, by the seed, and guesses in the others.
    """

    made: Made
    share: float
    seed: int

    def __call__(self, cell: PlannedCell, query: Query) -> Sequence[Cell]:
        """The asked cells; whether the row is one of the table's."""
        rng = Random(f"{self.seed} {query.id}")
        solves = rng.random() < self.share
        if not cell.test.by_feature:
            return [self._told(cell, query) if solves else "Yes"]
        table = self.made.table
        guesses = query.answering.guessed(query, table, rng)
        if not solves:
            return guesses
        follows = self.known(table, query)
        return [follows.get(name, guess) for name, guess in zip(query.asked, guesses, strict=True)]

    def known(self, table: Table, query: Query) -> Mapping[str, str]:
        """What follows from the cells that a prompt shows."""
        if set(query.asked) == set(table.columns):
            return self.made.after([shown_cells(table, row) for row in query.rows])
        shown = {name: cell for name, cell in shown_cells(table, query.rows[-1]).items() if name not in query.asked}
        return self.made.derived(shown)

    def _told(self, cell: PlannedCell, query: Query) -> str:
        """No to a row in which a cell is not the one that follows from the others."""
        row = _last_row(cell, query)
        for name in self.made.rules if row else ():
            if name in row:
                others = {other: value for other, value in row.items() if other != name}
                if (follows := self.made.derived(others).get(name)) is not None and follows != row[name]:
                    return "No"
        return "Yes"


def shown_cells(table: Table, row: int) -> dict[str, str]:
    """The cells of a row by column, the missing ones aside."""
    cells = zip(table.columns, table.rows[row], strict=True)
    return {name: cell for name, cell in cells if cell is not None and not table.is_missing(cell)}


def _last_row(cell: PlannedCell, query: Query) -> dict[str, str]:
    """The row that a prompt of membership asks about, as it stands there."""
    table, text = cell.table, query.prompt.completion
    if not isinstance(cell.serializer, Template):
        raise TypeError(f"rows of {cell.serializer.name} are not read here")
    line = text[text.rindex(cell.serializer.start(table.columns[0])) :].splitlines()[0]
    values = cell.serializer.parse(line, table.columns)
    return {name: value for name, value in zip(table.columns, values, strict=True) if value is not None}


@dataclass(frozen=True)
class Silent:
    """Answers each asked cell by a predictor that learned from all rows but the asked one; says nothing else."""

    predictors: Predictors
    kind: str

    def __call__(self, cell: PlannedCell, query: Query) -> Sequence[Cell]:
        """The asked cells; in membership the likelier answer."""
        if not cell.test.by_feature:
            return query.answering.guessed(query, cell.table, Random(query.id))
        whole = set(query.asked) == set(cell.table.columns)
        row = query.rows[-1] + 1 if whole else query.rows[-1]
        shown = () if whole else tuple(name for name in cell.table.columns if name not in query.asked)
        counted = query.chance
        return [
            self.predictors.said(self.kind, name, shown, row, whole) if name in counted else None
            for name in query.asked
        ]


@dataclass(frozen=True)
class Memoriser:
    """Remembers a share of the rows, by the seed, and guesses in the others."""

    table: Table
    share: float
    seed: int

    def __call__(self, cell: PlannedCell, query: Query) -> Sequence[Cell]:
        """The truth about a row that is remembered."""
        turn = Turn(query, self.table, query.prompt, self.seed, self.share)
        return turn.truth() if remembered(turn) else query.answering.guessed(query, self.table, turn.random())


def asked(run: Planned, answers: Answers, form: Form | None = None) -> Trials:
    """Every query of a planned run, by test, with the answer and its reading."""
    trials: Trials = {}
    for cell in run.cells:
        own = trials.setdefault(cell.test.id, [])
        for query in cell.queries:
            values = answers(cell, query)
            said = form(query, values) if form and cell.test.by_feature else None
            reply = Reply(query.answering.text(query, values, query.prompt) if said is None else said, State.OK)
            own.append(Trial(query, reply, run.read(cell, query, reply)))
    return trials
