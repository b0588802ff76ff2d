"""Milliseconds that reading a reply takes, by test: `python -m benchmarks.read adult titanic`, or any FILE.

Each query is answered in every way below, and read as the session reads it: what was cut is first asked whether it was
complete. Planning, the journal and the wire are not in it.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from time import perf_counter

from tabcontam.asking.query_plan import PlannedResult, RunSource, plan
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Query, Reply, ReplyState
from tabcontam.evidence.registry import all_tests
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import load_table
from tests.answerers import reply_of

LIMIT = 0.5  # milliseconds, the mean over all queries of the tables
TALK = "Let me think about the rows of this table, one after the other, before I write an answer: "
Answer = Callable[[PlannedResult, Query], Reply]


def simulated(kind: str) -> Answer:
    """The answers of one simulated kind."""
    return lambda cell, query: reply_of(kind, query, cell.table)


def talk(cell: PlannedResult, query: Query) -> Reply:
    """Some hundred words before the answer."""
    return Reply(f"{TALK * 20}\n\n{query.answering.text(query, query.expected)}", ReplyState.OK)


def echo(cell: PlannedResult, query: Query) -> Reply:
    """The prompt repeated before an answer that is cut."""
    return Reply(f"{query.prompt.completion}\n{query.answering.text(query, query.expected)}", ReplyState.TRUNCATED)


ANSWERS: Mapping[str, Answer] = {
    **{kind: simulated(kind) for kind in ("oracle", "guesser", "decliner", "rambler", "formatter", "truncates")},
    "talk": talk,
    "echo": echo,
}


def readings(cells: Sequence[PlannedResult], answer: Answer) -> Iterator[tuple[str, float]]:
    """The test and the milliseconds of each query's reading."""
    for cell in cells:
        for query in cell.queries:
            reply = answer(cell, query)
            start = perf_counter()
            if reply.state is ReplyState.TRUNCATED:
                cell.test.complete(query, reply.text, cell.serializer)
            cell.test.read(query, reply, cell.serializer)
            yield cell.test.id, (perf_counter() - start) * 1e3


def main() -> None:
    """Mean and longest milliseconds of each test and way to answer, and the mean over all queries."""
    tables = [load_table(name) for name in sys.argv[1:] or ["iris", "wine"]]
    subjects = [RunSource(SimulatedModel("oracle"))]
    cells = plan(subjects, tables, list(load_serializers().values()), all_tests(), RunConfig())
    taken = {way: list(readings(cells, answer)) for way, answer in ANSWERS.items()}
    print(f"{'mean/longest ms':25}" + "".join(f"{way:>13}" for way in ANSWERS))
    for test in all_tests():
        own = [[time for name, time in times if name == test.id] or [0.0] for times in taken.values()]
        print(f"{test.id:25}" + "".join(f"{f'{fmean(times):.2f}/{max(times):.1f}':>13}" for times in own))
    means = {way: fmean(time for _, time in times) for way, times in taken.items()}
    print(f"{'all queries':25}" + "".join(f"{f'{mean:.3f}':>13}" for mean in means.values()))
    print(f"slowest way to answer: {max(means.values()):.3f} ms a query; limit {LIMIT} ms")


if __name__ == "__main__":
    main()
