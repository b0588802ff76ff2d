"""Whether a trick is taken for memory: `python -m benchmarks.attacks`.

Every manipulation of answers that has a name (`tests/manipulations.py`) is tried on seven tables, in three runs whose
rows are written in three ways; and every odd table (`tests/odd_tables.py`) is answered by the simulated answerers who
know no row; and every table with a card that is at hand by the strongest predictors, trained on all rows but the asked
one. All go through the real prompts, the real reading and the real decision of the row tests. Prints Markdown: a line
for each, how many runs there were, how many tables and how many cells were found contaminated, and how many tables got
no answer. `--part` measures one of the three, `--kind NAME` only these.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory

from benchmarks.rate_tables import Rate
from benchmarks.skills.answerers import Silent, asked
from benchmarks.skills.predictors import KINDS as PREDICTORS
from benchmarks.skills.predictors import Predictors
from benchmarks.skills.unstated import shares_unstated
from tabcontam.calibration.power_study import (
    EXPERT,
    IGNORANT,
    AnswererPlan,
    AnswererResults,
    Trials,
    ask,
    judge,
    planned,
)
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Reply, ReplyState, Test, Trial, Verdict
from tabcontam.evidence.mixins import FeatureTest
from tabcontam.evidence.registry import all_tests
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Table, load_table
from tabcontam.verdicts.thresholds import ALPHA
from tests.made_tables import ships
from tests.manipulations import MANIPULATIONS, of
from tests.odd_tables import KINDS, SIZES, odd_table

ROWS = [test for test in all_tests() if test.decides and test.row_test and Capability.SCORE not in test.needs]
USUAL = [test for test in ROWS if not test.on_request]
ANSWERERS = (*IGNORANT, EXPERT)  # nobody of them knows a row
FORMS = ("is", "csv", "json")  # of the rows, by run
PARTS = ("manipulations", "tables", "predictors")
MANIPULATED: Mapping[str, Callable[[], Table]] = {
    "iris": lambda: load_table("iris"),
    "wine": lambda: load_table("wine"),
    "ships": ships,
    "penguins": lambda: load_table("penguins"),
    "titanic": lambda: load_table("titanic"),
    "adult": lambda: load_table("adult"),
    "heart": lambda: load_table("heart"),
}


@dataclass
class Counts:
    """What came of all runs, by the name of a manipulation or of a kind of table."""

    tables: Counter[tuple[str, str]] = field(default_factory=Counter)  # the verdict on the table
    cells: Counter[str] = field(default_factory=Counter)  # that were found contaminated
    which: list[str] = field(default_factory=list)  # who was accused, and on what

    def add(self, name: str, on: str, judged: AnswererResults) -> None:
        """Count one run."""
        verdict = judged.table.verdict if judged.table else Verdict.SKIPPED
        self.tables[name, str(verdict)] += 1
        found = [test for test, cell in judged.results.items() if cell.verdict is Verdict.CONTAMINATED]
        self.cells[name] += len(found)
        if found or verdict is Verdict.CONTAMINATED:
            self.which.append(f"{name}, {on}: table {verdict}, {', '.join(found) or 'no cell'} contaminated")

    @property
    def accused(self) -> list[str]:
        """Those by whom a table was called contaminated."""
        return [name for name, verdict in self.tables if verdict == str(Verdict.CONTAMINATED)]

    def lines(self) -> Iterator[str]:
        """A line for each name, then all together."""
        names = list(dict.fromkeys(name for name, _ in self.tables))
        yield "| | runs | accused | cells | no answer |"
        yield "|---|---|---|---|---|"
        for name in names:
            runs, accused, silent = (self._of([name], verdict) for verdict in (None, "contaminated", "no answer"))
            yield f"| {name} | {runs} | {accused} | {self.cells[name]} | {silent} |"
        runs, accused, silent = (self._of(names, verdict) for verdict in (None, "contaminated", "no answer"))
        yield f"| **all** | {runs} | {Rate(accused, runs)} | {self.cells.total()} | {silent} |"

    def _of(self, names: Sequence[str], verdict: str | None) -> int:
        return sum(n for (name, word), n in self.tables.items() if name in names and verdict in (None, word))


def manipulated(run: AnswererPlan, name: str) -> Trials:
    """Every query of a planned run, by test, as a manipulation answers it, and its reading."""
    answer, trials = of(name), Trials()
    for cell in run.cells:
        own = trials.setdefault(cell.test.id, [])
        for query in cell.queries:
            reply = Reply(answer(query, cell.table, not isinstance(cell.test, FeatureTest)), ReplyState.OK)
            own.append(Trial(query, reply, run.read(cell, query, reply)))
    return trials


def manipulate(counts: Counts, table: Table, seed: int, names: Sequence[str] = tuple(MANIPULATIONS)) -> None:
    """Try manipulations in one run on a table."""
    form = FORMS[seed % len(FORMS)]
    with shares_unstated():
        run = planned(table, ROWS, load_serializer(form), seed, ALPHA)
        for name in names:
            counts.add(name, f"{table.name}, {form}, seed {seed}", judge(run, manipulated(run, name), ALPHA))


def answered(counts: Counts, kind: str, rows: int, tests: Sequence[Test] = tuple(ROWS)) -> None:
    """Have an odd table answered by all who know no row of it."""
    table = odd_table(kind, rows)
    with shares_unstated():
        run = planned(table, tests, load_serializer(FORMS[rows % len(FORMS)]), rows, ALPHA)
        for answerer in ANSWERERS:
            counts.add(kind, f"{rows} rows, {answerer}", judge(run, ask(run, answerer, rows), ALPHA))


def predict(counts: Counts, table: Table, runs: int) -> None:
    """Have a table answered by the strongest predictors, which learn from all of its rows but the asked one."""
    predictors = Predictors(table)
    for seed in range(runs):
        with shares_unstated():
            run = planned(table, ROWS, load_serializer(FORMS[seed % len(FORMS)]), seed, ALPHA)
            for kind in PREDICTORS:
                judged = judge(run, asked(run, Silent(predictors, kind)), ALPHA)
                counts.add(table.name, f"{kind}, seed {seed}", judged)


def carded() -> Iterator[Table]:
    """The tables with a card that are at hand."""
    for name in (name for name, card in load_cards().items() if not card.dates.completed):
        with suppress(UsageError):
            yield load_table(name)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--kind", nargs="+", choices=(*MANIPULATIONS, *KINDS), metavar="NAME")
    parser.add_argument("--runs", type=int, default=len(FORMS), help="of each manipulation or predictor on each table")
    options = parser.parse_args()
    parts = (options.part,) if options.part else PARTS
    tricks = [name for name in MANIPULATIONS if name in (options.kind or MANIPULATIONS)]
    kinds = [name for name in KINDS if name in (options.kind or KINDS)]
    began = time.perf_counter()
    with TemporaryDirectory() as folder:  # nothing is read from another time
        os.environ["XDG_CACHE_HOME"] = folder
        if "manipulations" in parts and tricks:
            counts = Counts()
            for table in MANIPULATED.values():
                for seed in range(options.runs):
                    manipulate(counts, table(), seed, tricks)
            print("\nManipulated answers\n", *counts.lines(), "", *counts.which, sep="\n")
        if "tables" in parts and kinds:
            counts = Counts()
            for kind in kinds:
                for rows in SIZES:
                    answered(counts, kind, rows)
            print(f"\n{len(kinds) * len(SIZES)} odd tables\n", *counts.lines(), "", *counts.which, sep="\n")
        if "predictors" in parts and not options.kind:
            counts = Counts()
            for whole in carded():
                predict(counts, whole, options.runs)
            print("\nPredictors on carded tables\n", *counts.lines(), "", *counts.which, sep="\n")
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
