"""Every cell with every query, before anything is sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from tabcontam.datasets import Table
from tabcontam.errors import Skip
from tabcontam.judge import CellName
from tabcontam.models.base import Model
from tabcontam.serializers import Serializer
from tabcontam.suite.base import Query, Test


@dataclass(frozen=True)
class Subject:
    """An LLM of the run; `joined` says that it is a control beside the LLMs under test."""

    model: Model
    joined: bool = False


@dataclass(frozen=True)
class PlannedCell:
    """A cell with every query that was written for it, or the reason why the table allows none."""

    name: CellName
    subject: Subject
    table: Table
    serializer: Serializer
    test: Test
    written: tuple[Query, ...] = ()
    unfit: str | None = None

    @property
    def skip(self) -> str | None:
        """Why nothing is asked: because of the table, or of what the LLM, once it is connected, is found to lack."""
        return self.unfit or lacking(self.subject.model, self.test)

    @property
    def queries(self) -> tuple[Query, ...]:
        """What is to be asked."""
        return () if self.skip else self.written


@dataclass(frozen=True)
class Options:
    """How a session runs. `connections`: requests at a time, None to find out; the most requests and dollars."""

    seed: int = 0
    rules: str = "calibrated"
    queries: int | None = None
    connections: int | None = None
    stop_at_first: bool = False
    retry_unanswered: bool = False
    most_requests: int | None = None
    most_dollars: Decimal | None = None


def plan(
    subjects: Sequence[Subject],
    tables: Sequence[Table],
    serializers: Sequence[Serializer],
    tests: Sequence[Test],
    options: Options,
) -> list[PlannedCell]:
    """Every cell with every query, before anything is sent. The same seed plans the same queries for every LLM.

    Tests that show no rows are planned once, under the first serializer.
    """
    cells = []
    for table in tables:
        for number, serializer in enumerate(serializers):
            for test in tests:
                if number and not test.shows_rows:
                    continue
                queries, reason = _queries(test, table, serializer, options)
                for subject in subjects:
                    spec = subject.model.spec
                    name = CellName(spec, table.name, table.edition, serializer.name, test.id, subject.joined)
                    cells.append(PlannedCell(name, subject, table, serializer, test, queries, reason))
    order = {id(subject): number for number, subject in enumerate(subjects)}
    return sorted(cells, key=lambda cell: order[id(cell.subject)])


def _queries(
    test: Test, table: Table, serializer: Serializer, options: Options
) -> tuple[tuple[Query, ...], str | None]:
    rng = Random(f"{options.seed} {table.sha256} {test.id}")
    try:
        return tuple(test.queries(table, serializer, rng))[: options.queries], None
    except Skip as skip:
        return (), str(skip)


def lacking(model: Model, test: Test) -> str | None:
    """Why a test cannot be asked of a model; None where it can."""
    needs = sorted(test.needs - model.capabilities)
    return f"{model.spec} cannot take part: the test needs {' and '.join(needs)}" if needs else None


def rows_shown(cells: Sequence[PlannedCell]) -> dict[tuple[str, str], int]:
    """For each (LLM, FILE) whose rows would leave this machine, how many distinct rows the prompts show."""
    rows: dict[tuple[str, str], set[int]] = {}
    for cell in cells:
        if cell.table.private and not cell.subject.model.local:
            shown = rows.setdefault((cell.name.llm, cell.name.dataset), set())
            shown.update(index for query in cell.queries for index in query.rows)
    return {key: len(shown) for key, shown in rows.items() if shown}
