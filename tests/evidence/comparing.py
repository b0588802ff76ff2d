"""What the tests of tests that score text share: tables made of any cells, and the question of a query."""

from collections.abc import Sequence
from dataclasses import replace

from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import Endings
from tabcontam.tables.table import Table
from tests.made_tables import ships


def made(rows: Sequence[Sequence[object]], *columns: str) -> Table:
    """A table of these cells, each as it is written."""
    cells = tuple(tuple(None if cell is None else str(cell) for cell in row) for row in rows)
    return replace(ships(), name="made", title="Made", columns=columns, rows=cells, target=None, question=None)


def question_of(query: Query) -> Endings:
    """The endings that a query compares."""
    question = query.question
    assert isinstance(question, Endings)
    return question
