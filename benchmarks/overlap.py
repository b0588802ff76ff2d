"""Does `row_overlap` find a table that documents hold, and no other? `python -m benchmarks.overlap [TABLE…]`

For every carded table, or those that are named: bodies of documents that do not hold it (its shuffled twin, the half of
its rows that is not asked about, other carded tables, lists of its numbers, its columns' values, pairs of its columns),
and bodies that hold 1, 3 or 10 of the rows that are asked about. The corpus is searched as `corpus:` searches it. For
each pair the p-value and the one that stands without any one column. Most tables need TABCONTAM_DATA.
"""

import asyncio
import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

from tabcontam.errors import Skip, UsageError
from tabcontam.evidence.base import Evidence, Query, Trial
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.extensions.corpora.search.provider import CorpusModel
from tabcontam.models.base import ModelRequest
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Cell, Table, load_table
from tabcontam.tables.twin_tables import twin

TEST, IS = by_id()["row_overlap"], load_serializer("is")
LEVEL, PLANTED, TIMES = 0.01, (1, 3, 10), 3
QUERIES = 450  # of a table: about 150 rows, each with its second column and its twin's row
MOST = 1000  # rows of a table that one body holds
Row = tuple[Cell, ...]


def half(table: Table) -> tuple[Table, list[Row]]:
    """A table of every other row, drawn, and the rest: as a test split and a training split."""
    rows = list(dict.fromkeys(table.rows))
    Random("halves").shuffle(rows)
    own = tuple(rows[: len(rows) // 2][:MOST])
    return replace(table, rows=own, sha256=f"half {table.sha256}"[:64]), rows[len(rows) // 2 :][:MOST]


def as_csv(rows: Sequence[Sequence[Cell]]) -> str:
    """Lines of CSV."""
    file = io.StringIO()
    csv.writer(file).writerows([[cell or "" for cell in row] for row in rows])
    return file.getvalue()


def as_json(table: Table, rows: Sequence[Row]) -> str:
    """A JSON object a line."""
    return "\n".join(json.dumps(dict(zip(table.columns, row, strict=True))) for row in rows)


def as_text(table: Table, rows: Sequence[Row]) -> str:
    """Sentences."""
    return "\n".join(f"{IS.row(table.columns, row)}." for row in rows)


def without_it(table: Table, rest: Sequence[Row], others: Sequence[Table]) -> Iterator[tuple[str, str]]:
    """Bodies that do not hold the table, by what they are."""
    rng = Random(f"bodies {table.sha256}")
    try:
        shuffled = list(twin(table).rows)[:MOST]
        yield "twin, CSV", as_csv(shuffled)
        yield "twin, sentences", as_text(table, shuffled)
    except Skip:
        pass
    yield "other rows, CSV", as_csv(rest)
    yield "other rows, JSON", as_json(table, rest)
    cells = [cell for row in table.rows for cell in row if cell]
    yield "all cells", " ".join(rng.choices(cells, k=5_000))
    columns = [sorted({cell for cell in table.column(name) if cell}) for name in table.columns]
    yield "columns", "\n".join(f"{name}: {', '.join(own)}" for name, own in zip(table.columns, columns, strict=True))
    pairs = [as_csv([row[place : place + 2] for row in table.rows]) for place in range(len(table.columns) - 1)]
    yield "pairs of columns", "\n\n".join(pairs)
    columns_apart = [[row[place] for row in table.rows] for place in range(len(table.columns))]
    for one in columns_apart:
        rng.shuffle(one)
    yield "columns shuffled", as_csv(list(zip(*columns_apart, strict=True)))
    for other in rng.sample([one for one in others if one.name != table.name], min(2, len(others) - 1)):
        yield f"{other.name}", as_csv(other.rows[:MOST])


async def _searched(queries: Sequence[Query], folder: Path) -> list[Trial]:
    model = CorpusModel(str(folder))
    await model.connect()
    answers = await asyncio.gather(*(model.search(ModelRequest(query.question)) for query in queries))
    await model.close()
    return [read_trial(TEST, Trial(query, one), IS) for query, one in zip(queries, answers, strict=True)]


def weighed(queries: Sequence[Query], text: str) -> Evidence:
    """What a body of one document a line weighs, and of the same text whole."""
    with TemporaryDirectory() as name:
        (Path(name) / "document.txt").write_text(text, "utf-8", "replace")
        return TEST.weigh(asyncio.run(_searched(queries, Path(name))), LEVEL)


def standing(found: Evidence) -> float:
    """The p-value that stands without any one column."""
    return max([found.p_value or 0.0, *found.without.values()])


def main(names: list[str]) -> None:
    """Print a line a pair, then the shares found."""
    tables = []
    for name in names or sorted(load_cards()):
        try:
            tables.append(load_table(name))
        except UsageError as error:
            print(f"{name}: {error}")
    clean: list[tuple[float, float]] = []
    power: dict[int, list[float]] = {count: [] for count in PLANTED}
    for whole in tables:
        table, rest = half(whole)
        try:
            start = perf_counter()
            queries = TEST.planned(table, IS, seeded(table, 0, TEST.id))[:QUERIES]
        except Skip as skip:
            print(f"{whole.name}: {skip}", flush=True)
            continue
        own = list(dict.fromkeys(query.row for query in queries if query.row is not None))
        texts = sum(len(query.chance[query.asked[0]].values) for query in queries) / len(queries)
        reason = TEST.uninformative(queries, LEVEL)
        print(
            f"{whole.name}: {len(own)} rows, {len(queries)} lookups of {texts:.0f} texts, "
            f"{perf_counter() - start:.0f} s; {reason or 'can tell'}",
            flush=True,
        )
        for what, text in without_it(table, rest, tables):
            start, found = perf_counter(), weighed(queries, text)
            clean.append((found.p_value or 0.0, standing(found)))
            mark = "FOUND" if standing(found) <= LEVEL else ""
            print(
                f"   {what:<18} {found.hits:>4} {found.expected_hits:>7.2f} p {found.p_value:.2g} "
                f"stands {standing(found):.2g} {perf_counter() - start:.0f} s {mark}",
                flush=True,
            )
        for count in PLANTED:
            for time in range(TIMES):
                rows = [table.rows[row] for row in Random(time).sample(own, min(count, len(own))) if row is not None]
                form = (as_csv(rows), as_json(table, rows), as_text(table, rows))[time % 3]
                power[count].append(standing(weighed(queries, f"What follows.\n\n{form}\n\nThe end.")))
            told = power[count][-TIMES:]
            print(f"   {count:>2} planted: found {sum(p <= LEVEL for p in told)} of {TIMES}", flush=True)
    for at in (0.2, 0.1, 0.05, 0.01, 0.001):
        print(
            f"p <= {at}: {sum(p <= at for p, _ in clean)} of {len(clean)} pairs without the table, "
            f"{sum(p <= at for _, p in clean)} without any one column"
        )
    for count, told in power.items():
        print(f"{count} planted: {sum(p <= LEVEL for p in told)} of {len(told)} found at {LEVEL}")


if __name__ == "__main__":
    main(sys.argv[1:])
