"""Does `perplexity` tell who has read a table from who has not? `python -m benchmarks.likelihood [TABLE…]`

For every carded table that has a twin, or those that are named: the bits a character that `control:exposed` and
`control:unexposed` need for its rows and for the rows of a twin that neither has read. They are told apart where the
interval of the difference lies higher for the one that has read the table. Most tables need TABCONTAM_DATA.
"""

import asyncio
import sys
from time import perf_counter

from tabcontam.errors import Skip, UsageError
from tabcontam.evidence.base import Evidence, Trial
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.models.base import ModelRequest
from tabcontam.models.known.control import KINDS, open_control
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Table, load_table

HEADER = f"{'table':<14}" + "".join(f"{kind:>12} {'twin':>5} {'more, 95% interval':>21}" for kind in KINDS) + "  apart"


def found(kind: str, table: Table, serializer_name: str = "is", seed: int = 0) -> Evidence:
    """What the scores of one control weigh. Raises `Skip` where the table has no twin."""
    test, serializer = by_id()["perplexity"], load_serializer(serializer_name)
    queries = test.planned(table, serializer, seeded(table, seed, test.id))
    model = open_control(kind, [serializer]).prepare(table, queries)

    async def scored() -> list[Trial]:
        return [Trial(query, await model.score(ModelRequest(query.question, query.max_tokens))) for query in queries]

    trials = [read_trial(test, trial, serializer) for trial in asyncio.run(scored())]
    return test.weigh(trials, 0.01)


def apart(exposed: Evidence, unexposed: Evidence) -> bool:
    """Whether the interval of the difference lies higher for the one that has read the table."""
    return bool(exposed.interval and unexposed.interval and exposed.interval[0] > unexposed.interval[1])


def main(names: list[str]) -> None:
    """Print a line a table, and how many are told apart."""
    told, tables = 0, 0
    print(HEADER)
    for name in names or sorted(name for name, card in load_cards().items() if not card.dates.completed):
        start = perf_counter()
        try:
            table = load_table(name)
            both = [found(kind, table) for kind in KINDS]
        except (Skip, UsageError) as error:
            print(f"{name:<14} {error}", flush=True)
            continue
        tables += 1
        told += (differ := apart(*both))
        words = "".join(_figures(one) for one in both)
        print(f"{name:<14}{words}  {'yes' if differ else 'NO':<5} {perf_counter() - start:.0f} s", flush=True)
    print(f"{told} of {tables} tables told apart")


def _figures(one: Evidence) -> str:
    low, high = one.interval or (0.0, 0.0)
    twin = one.measured.expected or 0.0
    return f"{one.measured.value:>12.2f} {twin:>5.2f} {f'{twin - one.measured.value:+.2f} [{low:.2f}, {high:.2f}]':>21}"


if __name__ == "__main__":
    main(sys.argv[1:])
