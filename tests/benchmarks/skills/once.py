"""What is the same for all who answer a run is found once, and what no verdict needs is left out."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from tabcontam.evidence.base import Query
from tabcontam.evidence.rows.rows import RowTest
from tabcontam.statistics import power


@contextmanager
def found_once() -> Iterator[None]:
    """Inside, whether queries could tell memory from guessing is found once for the same queries.

    So all who answer share it. The share of rows that would have been found, which only a sentence states, is not
    looked for.
    """
    known: dict[tuple[object, ...], str | None] = {}
    kept: list[Sequence[Query]] = []  # so that no other query gets the place in memory of one
    find = RowTest.uninformative

    def once(test: RowTest, queries: Sequence[Query], level: float) -> str | None:
        key = (test.id, level, *(id(query.chance) for query in queries))
        if key not in known:
            kept.append(queries)
            known[key] = find(test, queries, level)
        return known[key]

    with patch.object(RowTest, "uninformative", once), patch.object(power, "detectable_share", lambda *_, **__: None):
        yield
