"""Bodies of documents made for tests: what holds a table, and what might be taken for it."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random

from tabcontam.evidence.base import Evidence, Lookup, Matches, Query, Test, Trial
from tabcontam.evidence.registry import by_id
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Cell, Table
from tests.made_tables import made_table
from tests.searched import Searched

IS = load_serializer("is")
Rows = Sequence[Sequence[Cell]]
LEVEL = 0.01


@lru_cache(maxsize=8)  # what is found out about a table is kept with it
def crops(rows: int = 150, seed: int = 0) -> Table:
    """Fields whose size goes with the crop, and what has nothing to do with it; commas that have to be quoted."""
    rng = Random(f"crops {seed}")

    def field() -> tuple[Cell, ...]:
        crop = rng.choice(["rye", "oats", "flax"])
        size, soil = f"{rng.gauss(len(crop) * 10, 4):.1f}", rng.choice(["loam", "clay, wet", "sand"])
        return crop, size, soil, str(rng.randrange(40)), f"{rng.expovariate(1 / 40):.0f}"

    return made_table(("crop", "size", "soil", "age", "walk"), [field() for _ in range(rows)], f"crops {seed}")


def as_csv(rows: Rows) -> str:
    file = io.StringIO()
    csv.writer(file).writerows([[cell or "" for cell in row] for row in rows])
    return file.getvalue()


def as_json(table: Table, rows: Rows) -> str:
    return "\n".join(json.dumps(dict(zip(table.columns, row, strict=True))) for row in rows)


def as_markdown(table: Table, rows: Rows) -> str:
    head = f"| {' | '.join(table.columns)} |\n|{'---|' * len(table.columns)}\n"
    return head + "\n".join(f"| {' | '.join(cell or '' for cell in row)} |" for row in rows)


def as_sentences(table: Table, rows: Rows) -> str:
    return " ".join(f"In one case {IS.row(table.columns, row)}." for row in rows)


RENDERED: dict[str, Callable[[Table, Rows], str]] = {
    "csv": lambda table, rows: as_csv(rows),
    "json": as_json,
    "markdown": as_markdown,
    "sentences": as_sentences,
    "turned": lambda table, rows: as_csv([row[::-1] for row in rows]),
}


def asked(test: str, table: Table, seed: int = 0) -> tuple[Query, ...]:
    """The queries of a test about a table."""
    return cached_fact(table, (test, seed), lambda: tuple(by_id()[test].planned(table, IS, Random(seed))))


def rows_asked(table: Table) -> list[int]:
    """The table's rows that are searched for, in the order of their queries."""
    return list(dict.fromkeys(query.row for query in asked("row_overlap", table) if query.row is not None))


def searched(test: Test, queries: Sequence[Query], documents: dict[str, str]) -> list[Trial]:
    """What the documents bring to light, read."""
    body, trials = Searched(documents), []
    for query in queries:
        question = query.question
        assert isinstance(question, Lookup)
        trials.append(read(test, query, body.find(question)))
    return trials


def read(test: Test, query: Query, answer: Matches) -> Trial:
    return Trial(query, answer, test.read(query, answer, IS))


def evidence(table: Table, documents: dict[str, str], test: str = "row_overlap") -> Evidence:
    """What the documents weigh."""
    one = by_id()[test]
    return one.weigh(searched(one, asked(test, table), documents), LEVEL)


def standing(found: Evidence) -> float:
    """The p-value that stands whichever column is left out."""
    assert found.p_value is not None
    return max([found.p_value, *found.without.values()])
