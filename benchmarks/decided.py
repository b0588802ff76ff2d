"""What bets on the answers decide, and after how many queries: `python -m benchmarks.decided`.

Simulated answerers go through the real prompts, the real reading and the real decision of tests 7 to 9 on every shipped
table that is at hand (TABCONTAM_DATA): once with all queries, once in turns until the table is decided. Those who know
no row must not be found. Prints Markdown; with --docs it also takes the place of its tables in the docs.
"""

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from statistics import median, quantiles

from benchmarks.rate_tables import Rate, RateTable
from benchmarks.verdicts import at_hand, constant, constant_cells, likeliest_of_all, share
from tabcontam.asking.query_plan import PlannedResult
from tabcontam.asking.table_turns import turns_of
from tabcontam.calibration.power_study import EXPERT, IGNORANT, SHARES, AnswererPlan, ask, judge, planned
from tabcontam.config import CALIBRATED, RunConfig
from tabcontam.evidence.base import Reply, ReplyState, Trial, Verdict
from tabcontam.evidence.mixins import BettingTest
from tabcontam.evidence.registry import all_tests
from tabcontam.models.base import ModelRequest
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.tables.serializers import DEFAULT, load_serializer
from tabcontam.tables.table import load_table
from tabcontam.verdicts.result_building import conclude, tables
from tabcontam.verdicts.sequential_results import result_in_turns
from tabcontam.verdicts.sequential_test import SequentialOutcome
from tabcontam.verdicts.thresholds import ALPHA

RUNS, FULL_RUNS = 105, 40  # a table: with fourteen tables more than 10,000 of those who know no row
CONSTANT = "constant"  # says the same to every query of a cell, chosen after it has seen all prompts
KNOWING_NOTHING = (*IGNORANT, CONSTANT, EXPERT)
SILENT = ("yes", "no", "rambler")  # of them, whose answers cannot be read
GUESSING = tuple(who for who in KNOWING_NOTHING if who not in SILENT)
FIFTEEN = 15  # tables of one LLM, of which a single one is found
BETTING = [test for test in all_tests() if isinstance(test, BettingTest)]
IN_WORDS = {0.05: "a twentieth", 0.1: "a tenth", 0.25: "a quarter", 0.5: "half", 1.0: "all rows"}


@dataclass
class Measured:
    """What came of the runs on one table: by answerer the p-values of full runs, and how asking in turns ended."""

    dataset: str
    p_values: dict[str, list[float]] = field(default_factory=dict)
    decided: dict[str, list[SequentialOutcome]] = field(default_factory=dict)
    accused: Counter[str] = field(default_factory=Counter)


def measured(dataset: str, first: int, runs: int, full_runs: int) -> Measured:
    """Runs of every answerer on one table; all queries are asked, and those who remember some answer, in the first."""
    found, table, serializer = Measured(dataset), load_table(dataset), load_serializer(DEFAULT)
    for seed in range(first, first + runs):
        in_turns, in_full = planned(table, BETTING, serializer, seed, ALPHA, until_decided=True), seed < full_runs
        memorisers = [f"memoriser:{share:g}" for share in SHARES] if in_full else []
        for who in (*KNOWING_NOTHING, *memorisers):
            if not any(cell.sequential and cell.queries for cell in in_turns.cells):
                continue
            decided, verdict = until_decided(in_turns, who, seed)
            found.decided.setdefault(who, []).append(decided)
            found.accused[who] += verdict is Verdict.CONTAMINATED
        if in_full:
            full = planned(table, BETTING, serializer, seed, ALPHA)
            for who in (*KNOWING_NOTHING, *memorisers):
                judged = judge(full, constant(full) if who == CONSTANT else ask(full, who, seed), ALPHA)
                if judged.table and judged.table.families:
                    own = judged.table.families[0]
                    found.p_values.setdefault(who, []).append(max(own.p_value, own.p_without or 0.0))
    return found


def until_decided(run: AnswererPlan, who: str, seed: int) -> tuple[SequentialOutcome, Verdict]:
    """How asking an answerer about one table in turns ends, and its verdict."""
    (turns,) = turns_of(run.cells, RunConfig(seed=seed, until_decided=True), lambda cell, trial: trial).values()
    taken: dict[str, list[Trial]] = {cell.test.id: [] for cell in run.cells}
    queries = [query for cell in run.cells for query in cell.queries]
    kept = {cell.test.id: likeliest_of_all(cell.queries) for cell in run.cells} if who == CONSTANT else {}
    model = SimulatedModel("mode" if kept else who, seed).prepare(run.cells[0].table, queries)

    def take(cell: PlannedResult, trial: Trial) -> None:
        taken[cell.test.id].append(trial)

    while needed := turns.next:
        for cell, query in needed:
            if kept:
                reply = Reply(constant_cells(query, kept[cell.test.id]), ReplyState.OK)
            else:
                reply = asyncio.run(model.generate(ModelRequest(query.prompt, query.max_tokens)))
            turns.wait(cell, Trial(query, reply, run.read(cell, query, reply)))
        turns.take(take)
    decided = turns.decided
    assert decided is not None
    if not decided.detected:  # E is below what the level asks for, so that the table cannot be called contaminated
        return decided, Verdict.NOT_DETECTED
    own = [cell for cell in run.cells if cell.sequential]
    results = [result_in_turns(cell.name, cell.test, taken[cell.test.id], len(cell.written), decided) for cell in own]
    (table,) = tables(conclude(results, CALIBRATED, ALPHA), CALIBRATED, ALPHA)
    return decided, table.verdict


def full_table(results: Sequence[Measured]) -> RateTable:
    """Return how often a table is contaminated by all queries, at the level for one table and for one of fifteen."""
    table = RateTable(["remembers", "runs", "contaminated, of one table", "contaminated, of fifteen"])
    for who, words in _answerers().items():
        p_values = [p_value for one in results for name in who for p_value in one.p_values.get(name, ())]
        found = [sum(p_value <= ALPHA / tables for p_value in p_values) for tables in (1, FIFTEEN)]
        shown = [
            Rate(hits, len(p_values)) if who in (GUESSING, SILENT) else share(hits, len(p_values)) for hits in found
        ]
        table.rows.append([words, f"{len(p_values):,}", *shown])
    return table


def turns_table(results: Sequence[Measured]) -> RateTable:
    """Return how often a table that is asked in turns is contaminated, and after how many queries it is decided."""
    table = RateTable(["remembers", "runs", "contaminated", "not detected", "queries: median", "95 % quantile", "most"])
    for who, words in _answerers().items():
        ended = [one for each in results for name in who for one in each.decided.get(name, ())]
        if not ended:
            continue
        accused, asked = sum(each.accused[name] for each in results for name in who), [one.asked for one in ended]
        found = Rate(accused, len(ended)) if who in (GUESSING, SILENT) else share(accused, len(ended))
        let_go, most = share(sum(one.not_detected for one in ended), len(ended)), quantiles(asked, n=20)[-1]
        numbers = [f"{median(asked):g}", f"{most:.0f}", str(max(asked))]
        table.rows.append([words, f"{len(ended):,}", found, let_go, *numbers])
    return table


def _answerers() -> dict[tuple[str, ...], str]:
    """Who answers, with what they remember."""
    found: dict[tuple[str, ...], str] = {GUESSING: "no row", SILENT: "no row, nothing readable"}
    return found | {(f"memoriser:{share:g}",): IN_WORDS[share] for share in SHARES}


def by_table(results: Sequence[Measured]) -> list[str]:
    """For each table how often a tenth is found by all queries, and when one who guesses is let go."""
    lines = []
    for one in results:
        if tenths := one.p_values.get("memoriser:0.1"):
            found = share(sum(p_value <= ALPHA for p_value in tenths), len(tenths))
            asked = [ended.asked for who in GUESSING for ended in one.decided.get(who, ())]
            lines.append(
                f"{one.dataset}: a tenth found {found}; who guesses: median {median(asked):g}, most {max(asked)}"
            )
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", action="append", help="only these tables")
    parser.add_argument("--runs", type=int, default=RUNS, help="of a table, by each who knows no row")
    parser.add_argument(
        "--full-runs", type=int, default=FULL_RUNS, help="of these with all queries, too, and by who remembers a share"
    )
    parser.add_argument("--docs", action="store_true", help="put the tables into the docs")
    options = parser.parse_args()
    began, parts = time.perf_counter(), 10
    results: list[Measured] = []
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        jobs = {
            pool.submit(measured, name, first, min(parts, options.runs - first), options.full_runs): name
            for name in options.dataset or at_hand()
            for first in range(0, options.runs, parts)
        }
        for job in as_completed(jobs):
            results.append(job.result())
            print(f"{len(results)}/{len(jobs)} {jobs[job]}", file=sys.stderr, flush=True)
    whole = [_joined([one for one in results if one.dataset == name]) for name in dict.fromkeys(jobs.values())]
    full, turns = full_table(whole), turns_table(whole)
    for lines in (full.lines, turns.lines, by_table(whole)):
        print(*lines, "", sep="\n")
    if options.docs:
        full.put("bets")
        turns.put("until-decided")
    print(f"{time.perf_counter() - began:.0f} s")


def _joined(parts: Sequence[Measured]) -> Measured:
    found = Measured(parts[0].dataset)
    for part in parts:
        for who, p_values in part.p_values.items():
            found.p_values.setdefault(who, []).extend(p_values)
        for who, decided in part.decided.items():
            found.decided.setdefault(who, []).extend(decided)
        found.accused.update(part.accused)
    return found


if __name__ == "__main__":
    main()
