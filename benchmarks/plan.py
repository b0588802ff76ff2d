"""Seconds and memory of planning 100,000 queries: `python -m benchmarks.plan adult bank titanic`, or any FILE.

All tests are planned on the tables in every shipped serializer, with one seed after another until there are enough
queries. Then a session looks all of them up in an empty store, which is the last before the first call. What is
measured stands beside the limit for all of that; the memory is the process's peak beside what its imports took.
"""

import os
import resource
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from tabcontam.asking.query_plan import PlannedResult, RunSource, plan
from tabcontam.asking.reply_store import Store
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import Journal
from tabcontam.config import RunConfig
from tabcontam.evidence.questions import Capability
from tabcontam.evidence.registry import all_tests
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.reading.word_decision import english
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table, load_table

QUERIES = 100_000
MOST_MEMORY = 450  # MB
MOST_TIME = 25  # seconds
TABLES = ("adult", "bank", "titanic") if "TABCONTAM_DATA" in os.environ else ("iris", "wine")


def peak_memory() -> float:
    """The most memory that this process has held, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def planned(tables: Sequence[Table]) -> list[PlannedResult]:
    """The cells of as many seeds as it takes."""
    scores = frozenset({Capability.SCORE})  # it may turn out to have these: so its passages are planned as well
    model = OpenAIModel("model", "http://127.0.0.1:9/v1", form="chat", needs=scores)
    subjects, serializers = [RunSource(model)], list(load_serializers().values())
    cells: list[PlannedResult] = []
    queries = 0
    for seed in count():
        if queries >= QUERIES:
            break
        more = plan(subjects, tables, serializers, all_tests(), RunConfig(seed=seed))
        queries += sum(len(cell.queries) for cell in more)
        cells += more
    return cells


def look_up(cells: Sequence[PlannedResult], folder: Path) -> None:
    """Do what a session does before its first call: write each prompt, and look for its reply."""
    store = Store.open(folder / "replies.sqlite")
    session = Session(cells, RunConfig(), Journal(folder), Progress(), store)
    session.recall()
    store.close()


def main() -> None:
    """Load, plan and look up, and print each step's seconds and the memory after it."""
    import pandas  # noqa: F401 - its memory and seconds are not the plan's
    import sklearn.datasets  # noqa: F401 - nor its

    english()
    imports, start = peak_memory(), perf_counter()
    tables = [load_table(name) for name in sys.argv[1:] or TABLES]
    loaded, memory = perf_counter(), peak_memory() - imports
    print(f"{len(tables)} tables: loaded in {loaded - start:.1f} s, {memory:.0f} MB beside the imports")
    cells = planned(tables)
    done, memory = perf_counter(), peak_memory() - imports
    with TemporaryDirectory() as folder:
        look_up(cells, Path(folder))
    end, after = perf_counter(), peak_memory() - imports
    queries = sum(len(cell.queries) for cell in cells)
    rate = queries / (done - loaded)
    print(
        f"{queries} queries: planned in {done - loaded:.1f} s ({rate:.0f} a second), {memory:.0f} MB beside the imports"
    )
    print(f"prompts: written and looked up in {end - done:.1f} s, {after:.0f} MB beside the imports")
    print(f"altogether: {end - start:.1f} s, limit {MOST_TIME} s; {after:.0f} MB, limit {MOST_MEMORY} MB")


if __name__ == "__main__":
    main()
