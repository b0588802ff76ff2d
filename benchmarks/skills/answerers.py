"""Who answers in the skill benchmark: one who knows the rules, and the strongest predictors; none saw the asked row."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from random import Random

from benchmarks.skills.made import Made
from benchmarks.skills.predictors import Predictors
from tabcontam.asking.query_plan import PlannedResult
from tabcontam.calibration.power_study import AnswererPlan, Trials
from tabcontam.evidence.base import Query, Reply, ReplyState, Trial
from tabcontam.evidence.mixins import FeatureTest
from tabcontam.models.known.simulated import SimulatedQuery, is_remembered
from tabcontam.tables.serializers import TemplateRows
from tabcontam.tables.table import Cell, Table

PAPERS = find_spec("tabcontam.extensions.papers") is not None  # an extension: its tests are asked if it is there
GRANTED = 4  # rows, of which `list_instances` counts none
Answers = Callable[[PlannedResult, Query], Sequence[Cell]]  # for each asked feature, or the one choice
Form = Callable[[Query, Sequence[Cell]], str]  # how an answer about cells is worded


@dataclass(frozen=True)
class Solver:
    """Knows the rules of a table, and none of its rows: cells that follow are right, the others are guessed.

    It solves the given share of the queries, by the seed, and guesses in the others.
    """

    made: Made
    share: float
    seed: int

    def __call__(self, cell: PlannedResult, query: Query) -> Sequence[Cell]:
        """The asked cells; whether the row is one of the table's."""
        rng = Random(f"{self.seed} {query.id}")
        solves = rng.random() < self.share
        if lettered := options(cell, query):
            lawful = [letter for letter, row in lettered.items() if not solves or self._lawful(row)]
            return (
                [rng.choice(lawful)]
                if 0 < len(lawful) < len(lettered)
                else query.answering.predicted(query, cell.table, rng)
            )
        if not isinstance(cell.test, FeatureTest):
            return [self._told(cell, query) if solves else "Yes"]
        table = self.made.table
        guesses = query.answering.predicted(query, table, rng)
        if not solves:
            return guesses
        if of_several_rows(query):
            return self._written_on(table, query, rng)
        if of_first_characters(query):
            return [begins(table, self.made.after([shown_cells(table, row) for row in query.rows])) or guesses[0]]
        follows = self.known(table, query)
        return [follows.get(name, guess) for name, guess in zip(query.asked, guesses, strict=True)]

    def known(self, table: Table, query: Query) -> Mapping[str, str]:
        """What follows from the cells that a prompt shows."""
        if set(query.asked) == set(table.columns):
            return self.made.after([shown_cells(table, row) for row in query.rows])
        shown = {name: cell for name, cell in shown_cells(table, query.rows[-1]).items() if name not in query.asked}
        return self.made.derived(shown)

    def _written_on(self, table: Table, query: Query, rng: Random) -> list[Cell]:
        """Rows one after another: what follows from those before, its own among them, and within a row from its cells.

        A cell that does not follow is that of another row, or as in the row before, and what follows from it goes with
        it: the guesser's likeliest values are none to begin with, since it knows the other hidden cells. Who lists rows
        from the first one on is granted those that any page shows, from which the others may follow.
        """
        from tabcontam.extensions.papers.answers_of_several_rows import column_of, group_by_row

        said: dict[str, Cell] = {}
        rows, places = group_by_row(query.asked), dict(zip(query.asked, query.answering.places(query), strict=True))
        first = places[rows[0][0]]
        before = [shown_cells(table, row) for row in query.rows if row < first]
        granted = 0 if query.rows else GRANTED
        for names in rows[:granted]:
            before.append(shown_cells(table, places[names[0]]))
            said |= {name: before[-1].get(column_of(name)) for name in names}
        for names in rows[granted:]:
            own = {column_of(name): name for name in names}
            shown = shown_cells(table, places[names[0]]) if len(own) < len(table.columns) else {}
            known = {name: cell for name, cell in shown.items() if name not in own} | self.made.after(before)
            for column in (name for name in table.columns if name not in known):
                another = shown_cells(table, rng.randrange(len(table.rows)))
                guess = rng.choice([another, *before[-1:]]).get(column)
                if (cell := self.made.derived(known).get(column, guess)) is not None:
                    known[column] = cell
            said |= {name: known.get(column) for column, name in own.items()}
            before.append(known)
        return [said[name] for name in query.asked]

    def _told(self, cell: PlannedResult, query: Query) -> str:
        """No to a row in which a cell is not the one that follows from the others."""
        return "Yes" if self._lawful(_last_row(cell, query)) else "No"

    def _lawful(self, row: Mapping[str, str]) -> bool:
        for name in self.made.rules if row else ():
            if name in row:
                others = {other: value for other, value in row.items() if other != name}
                if (follows := self.made.derived(others).get(name)) is not None and follows != row[name]:
                    return False
        return True


def of_several_rows(query: Query) -> bool:
    """Whether the answer is rows one after another: a test of the papers."""
    if not PAPERS:
        return False
    from tabcontam.extensions.papers.answers_of_several_rows import SeveralRowsAnswers

    return isinstance(query.answering, SeveralRowsAnswers)


def of_first_characters(query: Query) -> bool:
    """Whether the answer is how a row begins: a test of the papers."""
    if not PAPERS:
        return False
    from tabcontam.extensions.papers.memcheck.first_token import FirstCharactersAnswers

    return isinstance(query.answering, FirstCharactersAnswers)


def options(cell: PlannedResult, query: Query) -> dict[str, dict[str, str]]:
    """The rows that a question with lettered options could mean, by their letter; none of any other question."""
    if not PAPERS:
        return {}
    from tabcontam.extensions.papers.quiz.quiz_answers import LETTERS, NONE, options_of

    if query.asked != LETTERS:
        return {}
    listed = {letter: text for letter, text in options_of(query.prompt.completion).items() if letter != NONE}
    row = shown_cells(cell.table, query.rows[-1])
    found = re.search("without (.+):$", query.prompt.completion, re.MULTILINE)
    if found:
        return {letter: {**row, found[1]: text} for letter, text in listed.items()}
    if not isinstance(cell.serializer, TemplateRows):
        raise TypeError(f"rows of {cell.serializer.name} are not read here")
    rows = {letter: cell.serializer.parse(text, cell.table.columns) for letter, text in listed.items()}
    return {
        letter: {name: one for name, one in zip(cell.table.columns, cells, strict=True) if one is not None}
        for letter, cells in rows.items()
    }


def begins(table: Table, row: Mapping[str, Cell]) -> str:
    """The characters that are compared of a row's beginning; none where its first cells are not all known."""
    from tabcontam.extensions.papers.memcheck.csv_row_tests import csv_serializer
    from tabcontam.extensions.papers.memcheck.first_token import length_of

    length, line = length_of(table), ""
    for count, name in enumerate(table.columns, 1):
        if name not in row:
            return ""
        line = csv_serializer().row(table.columns[:count], [row[one] for one in table.columns[:count]])
        if len(line) >= length:
            break
    return line[:length]


def shown_cells(table: Table, row: int) -> dict[str, str]:
    """The cells of a row by column, the missing ones aside."""
    cells = zip(table.columns, table.rows[row], strict=True)
    return {name: cell for name, cell in cells if cell is not None and not table.is_missing(cell)}


def _last_row(cell: PlannedResult, query: Query) -> dict[str, str]:
    """The row that a prompt of membership asks about, as it stands there."""
    table, text = cell.table, query.prompt.completion
    if not isinstance(cell.serializer, TemplateRows):
        raise TypeError(f"rows of {cell.serializer.name} are not read here")
    line = text[text.rindex(cell.serializer.start(table.columns[0])) :].splitlines()[0]
    values = cell.serializer.parse(line, table.columns)
    return {name: value for name, value in zip(table.columns, values, strict=True) if value is not None}


@dataclass(frozen=True)
class Silent:
    """Answers each asked cell by a predictor that learned from all rows but the asked one; says nothing else."""

    predictors: Predictors
    kind: str

    def __call__(self, cell: PlannedResult, query: Query) -> Sequence[Cell]:
        """The asked cells; in membership the likelier answer; of lettered options the one nearest to what it says."""
        if lettered := options(cell, query):
            return [self._nearest(cell, query, lettered)]
        if not isinstance(cell.test, FeatureTest):
            return query.answering.predicted(query, cell.table, Random(query.id))
        if of_several_rows(query):
            return self._written_on(query)
        if of_first_characters(query):
            row = query.rows[-1] + 1
            columns = cell.table.columns
            next_row = {name: self.predictors.said(self.kind, name, (), row, True) for name in columns}
            return [begins(cell.table, next_row)]
        whole = set(query.asked) == set(cell.table.columns)
        row = query.rows[-1] + 1 if whole else query.rows[-1]
        shown = () if whole else tuple(name for name in cell.table.columns if name not in query.asked)
        counted = query.chance
        return [
            self.predictors.said(self.kind, name, shown, row, whole) if name in counted else None
            for name in query.asked
        ]

    def _written_on(self, query: Query) -> list[Cell]:
        """Every row as it follows from the true ones before it; one that is begun, from its first cells."""
        from tabcontam.extensions.papers.answers_of_several_rows import column_of, group_by_row

        said: list[Cell] = []
        for names in group_by_row(query.asked):
            own, row = list(map(column_of, names)), query.answering.places(query)[len(said)]
            shown = tuple(name for name in self.predictors.table.columns if name not in own)
            said += [self.predictors.said(self.kind, name, shown, row, not shown) for name in own]
        return said

    def _nearest(self, cell: PlannedResult, query: Query, lettered: Mapping[str, Mapping[str, str]]) -> str:
        """The option whose cell is the predicted one, or the number nearest to it; the likeliest where none is."""
        rows = list(lettered.values())
        altered = [name for name in cell.table.columns if len({row.get(name) for row in rows}) > 1]
        shown = tuple(name for name in cell.table.columns if name not in altered)
        said = self.predictors.said(self.kind, altered[0], shown, query.rows[-1], False)
        if said is not None and cell.table.is_numeric(altered[0]):
            return min(lettered, key=lambda letter: abs(float(lettered[letter][altered[0]]) - float(said)))
        same = [letter for letter, row in lettered.items() if row.get(altered[0]) == said]
        likeliest = query.answering.predicted(query, cell.table, Random(query.id))
        return (same or [str(one) for one in likeliest])[0]


@dataclass(frozen=True)
class Memoriser:
    """Remembers a share of the rows, by the seed, and guesses in the others."""

    table: Table
    share: float
    seed: int

    def __call__(self, cell: PlannedResult, query: Query) -> Sequence[Cell]:
        """The truth about a row that is remembered."""
        turn = SimulatedQuery(query, self.table, query.prompt, self.seed, self.share)
        return turn.truth() if is_remembered(turn) else query.answering.predicted(query, self.table, turn.random())


def asked(run: AnswererPlan, answers: Answers, form: Form | None = None) -> Trials:
    """Every query of a planned run, by test, with the answer and its reading."""
    trials: Trials = {}
    for cell in run.cells:
        own = trials.setdefault(cell.test.id, [])
        for query in cell.queries:
            values = answers(cell, query)
            said = form(query, values) if form and isinstance(cell.test, FeatureTest) else None
            reply = Reply(query.answering.text(query, values, query.prompt) if said is None else said, ReplyState.OK)
            own.append(Trial(query, reply, run.read(cell, query, reply)))
    return trials
