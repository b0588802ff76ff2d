"""How often verdicts err, under both rule sets: `python -m benchmarks.verdicts`.

Simulated answerers go through the real prompts, the real reading and the real decision on every shipped table that is
at hand (TABCONTAM_DATA), 200 seeded runs a table for the row tests and 50 for the others; then both controls, 20 seeds.
Prints Markdown; with --docs it also takes the place of its table in the docs. `--part controls` measures only
these. `--every` asks all row tests that ask in words, those of other papers that are asked on request among them: what
the verdict on a table is worth where all are selected.
"""

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context

from benchmarks.rate_tables import Rate, RateTable
from tabcontam.asking.query_plan import PlannedResult
from tabcontam.calibration.power_study import (
    EXPERT,
    IGNORANT,
    TOGETHER,
    AnswererPlan,
    AnswererResults,
    ask,
    asked_of,
    judge,
    planned,
)
from tabcontam.errors import Skip, UsageError
from tabcontam.evidence.base import Capability, Family, Query, Reply, ReplyState, Test, Trial, Verdict
from tabcontam.evidence.mixins import FeatureTest
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.models.known.control import open_control
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.serializers import DEFAULT, load_serializer
from tabcontam.tables.table import load_table
from tabcontam.verdicts.decisions import published
from tabcontam.verdicts.thresholds import ALPHA

ROW_RUNS, WORD_RUNS, CONTROL_RUNS = 200, 50, 20
CONSTANT = "constant"  # says the same to every query of a cell, chosen after it has seen all prompts
SILENT = ("decliner", "refuser")
ECHO = "echo"  # says of other data what is right of the table
POWER = ("memoriser:0.5", "memoriser:0.1")
READERS = ("reader:0.5", EXPERT)  # of half of the page, and of all of it
ANSWERERS = (*IGNORANT, EXPERT, CONSTANT, ECHO, *POWER, READERS[0], *SILENT, "oracle", "formatter")
ON_ROWS = (*IGNORANT, EXPERT, CONSTANT, *POWER)  # who is asked where only row tests are, with --every
CONTROLS = ("exposed", "unexposed")
NOT_ASKED = (Verdict.UNINFORMATIVE, Verdict.SKIPPED)
KNOWN = "known"  # by any test of knowledge
ONE_COLUMN = "one column"  # asked, and what was found rests on it: not found
LEVELS = (0.5, 0.2, 0.1, 0.05, 0.01, 0.001)
DECIDED = [test for test in all_tests() if test.decides]
IN_WORDS = [test for test in DECIDED if test.row_test and Capability.SCORE not in test.needs]
ROWS = [test for test in IN_WORDS if not test.on_request]
KNOWING = [test for test in DECIDED if test.family is Family.KNOWLEDGE and not test.on_request]
USUAL = [*KNOWING, *ROWS]
TAKEN = [test for test in USUAL if Capability.INSTRUCTIONS not in test.needs]  # those that a control takes part in


@dataclass
class Counts:
    """What came of the runs on one table, by answerer and test."""

    dataset: str
    calibrated: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    paper: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    low: Counter[tuple[str, float]] = field(default_factory=Counter)  # guesser's p-values at or below each level
    tests: Counter[str] = field(default_factory=Counter)  # ... of so many
    queries: dict[str, int] = field(default_factory=dict)
    idle: dict[str, str] = field(default_factory=dict)  # why a test was not asked in some run
    unequal: int = 0  # runs in which the formatter's outcome is not the oracle's
    seconds: float = 0.0

    def add(self, answerer: str, judged: AnswererResults, paper: Mapping[str, Verdict | None]) -> None:
        """Count one run."""
        for test, outcome in judged.parts.items():
            self.calibrated[answerer, test, ONE_COLUMN if outcome["rests_on"] else str(outcome["verdict"])] += 1
            if queries := judged.queries(test):
                self.queries[test] = max(self.queries.get(test, 0), queries)
            else:
                self.idle[test] = f"{outcome['verdict']}: {outcome['reason']}"
            if answerer == "guesser" and outcome["p_value"] is not None and test != TOGETHER:
                self.tests[test] += 1
                self.low.update((test, level) for level in LEVELS if outcome["p_value"] <= level)
        known = [judged.results[test.id] for test in KNOWING if test.id in judged.results]
        if any(cell.queries for cell in known):
            found = any(cell.verdict is Verdict.CONTAMINATED for cell in known)
            self.calibrated[answerer, KNOWN, str(Verdict.CONTAMINATED if found else Verdict.NOT_DETECTED)] += 1
        for test, verdict in paper.items():
            self.paper[answerer, test, str(verdict)] += 1


def simulated(dataset: str, runs: int, word_runs: int, rows: Sequence[str]) -> Counts:
    """All runs of every simulated answerer on one table."""
    counts, table, serializer = Counts(dataset), load_table(dataset), load_serializer(DEFAULT)
    began = time.perf_counter()
    for seed in range(max(runs, word_runs)):
        tests = [*(KNOWING if seed < word_runs else ()), *(map(by_id().__getitem__, rows) if seed < runs else ())]
        run = planned(table, tests, serializer, seed, ALPHA)
        of_seed: dict[str, AnswererResults] = {}
        for answerer in ANSWERERS if word_runs else ON_ROWS:
            made = {CONSTANT: constant, ECHO: echo}.get(answerer)
            trials = made(run) if made else ask(run, answerer, seed)
            of_seed[answerer] = judge(run, trials, ALPHA)
            counts.add(answerer, of_seed[answerer], of_paper(run, trials, of_seed[answerer]))
        if word_runs:
            right = [of_seed[name].parts.items() for name in ("oracle", "formatter")]
            counts.unequal += len({tuple((test, each["verdict"]) for test, each in parts) for parts in right}) > 1
    counts.seconds = time.perf_counter() - began
    return counts


def of_paper(
    run: AnswererPlan, trials: Mapping[str, Sequence[Trial]], judged: AnswererResults
) -> dict[str, Verdict | None]:
    """The published verdicts: of a test of the paper by its own queries of the run alone, of others the run's own."""
    verdicts = {}
    for cell in run.cells:
        own = [trial for trial in trials[cell.test.id] if trial.query.paper]
        if own and cell.test.published and cell.test.number is not None:
            verdicts[cell.test.id] = published(cell.test.published, own).verdict
        elif (said := judged.results[cell.test.id].decision.paper_verdict) is not None:
            verdicts[cell.test.id] = said
    return verdicts


def echo(run: AnswererPlan) -> dict[str, list[Trial]]:
    """What is right of the table, said of every decoy, too; of rows nothing."""
    return {cell.test.id: list(_echoed(run, cell)) for cell in run.cells}


def _echoed(run: AnswererPlan, cell: PlannedResult) -> Iterator[Trial]:
    by_id = {query.id: query for query in cell.queries}
    for query in cell.queries:
        true = by_id.get(query.decoy_of, query)
        text = "I do not know." if cell.test.row_test else true.answering.text(true, true.answering.truth(true))
        reply = Reply(text, ReplyState.OK)
        yield Trial(query, reply, run.read(cell, query, reply))


def constant(run: AnswererPlan) -> dict[str, list[Trial]]:
    """One answer for each cell that, by all of its prompts together, is right most often; nothing for words."""
    return {cell.test.id: _constant_trials(run, cell) for cell in run.cells}


def _constant_trials(run: AnswererPlan, cell: PlannedResult) -> list[Trial]:
    likeliest, trials = likeliest_of_all(cell.queries), []
    for query in cell.queries:
        if isinstance(cell.test, FeatureTest):
            text = constant_cells(query, likeliest)
        else:
            text = likeliest["Yes"] if query.asked == ("Yes", "No") else "id, name, age"
        reply = Reply(text, ReplyState.OK)
        trials.append(Trial(query, reply, run.read(cell, query, reply)))
    return trials


def constant_cells(query: Query, likeliest: Mapping[str, str]) -> str:
    """The answer that gives the same value for a feature in every query."""
    return query.answering.text(query, [likeliest.get(name, "0") for name in query.asked], query.prompt)


def likeliest_of_all(queries: Sequence[Query]) -> dict[str, str]:
    """For each feature the value, and for the choice the answer, that has most chance over all queries."""
    worth: dict[str, dict[str, float]] = {}
    for query in queries:
        for name, guess in query.chance.items():
            own = worth.setdefault("Yes" if name == "No" else name, {})
            for value, chance in guess.values.items():
                own[value] = own.get(value, 0.0) + chance
    return {name: max(own, key=own.__getitem__) for name, own in worth.items() if own}


def controls(dataset: str, runs: int) -> dict[str, Counter[tuple[str, str]]]:
    """What the row tests make of both controls."""
    table, serializer = load_table(dataset), load_serializer(DEFAULT)
    found: dict[str, Counter[tuple[str, str]]] = {}
    plans = [planned(table, TAKEN, serializer, seed, ALPHA) for seed in range(runs)]
    for kind in CONTROLS:
        found[kind] = Counter()
        control = open_control(kind)
        try:
            model = control.prepare(table)
        except Skip as skip:
            found[kind]["", f"skipped: {skip}"] += 1
            continue
        for run in plans:
            trials = asyncio.run(asked_of(run, model))
            for test, outcome in judge(run, trials, ALPHA).parts.items():
                found[kind][test, str(outcome["verdict"])] += 1
    return found


def share(found: int, runs: int) -> str:
    """A share in per cent."""
    return f"{100 * found / runs:.1f} %" if runs else "-"


def counted(
    results: Iterable[Counts], answerers: Sequence[str], test: str, paper: bool = False, verdict: str = "contaminated"
) -> tuple[int, int]:
    """How many runs came to a verdict, and how many there were in which the test was asked."""
    found = runs = 0
    for counts in results:
        counter = counts.paper if paper else counts.calibrated
        for (who, what, word), number in counter.items():
            if who in answerers and what == test and word not in NOT_ASKED:
                found, runs = found + number * (word == verdict), runs + number
    return found, runs


def error_table(results: Sequence[Counts], tests: Sequence[Test]) -> RateTable:
    """Return false positives and power of each test, both rule sets side by side."""
    power = [column for share in (50, 10) for column in (f"detected at {share} %", "paper")]
    table = RateTable(["test", "tables", "queries", "false positives", "paper", *power])
    for test in [*(test.id for test in tests), TOGETHER]:
        ignorant = (*IGNORANT, CONSTANT, EXPERT)
        asked = sum(test in counts.queries for counts in results)
        queries = max((counts.queries.get(test, 0) for counts in results), default=0)
        row: list[str | Rate] = [
            test if test != TOGETHER else "**table**",
            f"{asked} of {len(results)}",
            str(queries),
            Rate(*counted(results, ignorant, test)),
            share(*counted(results, ignorant, test, paper=True)),
        ]
        for answerer in POWER:
            row += [share(*counted(results, [answerer], test, paper=paper)) for paper in (False, True)]
        table.rows.append(row)
    return table


def knowledge_table(results: Sequence[Counts]) -> RateTable:
    """Return how often each test of knowledge detects a model that knows no page, half of one, and a whole one."""
    read = [column for pages in ("no page", "half a page", "the page") for column in (pages, "paper")]
    table = RateTable(["test", "tables", "queries", *read])
    knowing = [test.id for test in KNOWING]
    for test in [*knowing, KNOWN]:
        counted_in = knowing if test == KNOWN else [test]
        row: list[str | Rate] = [
            "**any**" if test == KNOWN else test,
            f"{sum(any(one in counts.queries for one in counted_in) for counts in results)} of {len(results)}",
            str(max((sum(counts.queries.get(one, 0) for one in counted_in) for counts in results), default=0)),
        ]
        for who in ((*IGNORANT, CONSTANT, ECHO), (READERS[0],), (READERS[1],)):
            row.append(
                Rate(*counted(results, who, test)) if who[0] in IGNORANT else share(*counted(results, who, test))
            )
            of_paper = [one for one in who if one != ECHO]  # which says what the paper's rules look for
            row.append(share(*counted(results, of_paper, test, paper=True)) if test != KNOWN else "-")
        table.rows.append(row)
    return table


def unknown(results: Sequence[Counts]) -> list[str]:
    """The tables on which one who has read the page, or half of it, is sometimes found by no test of knowledge."""
    lines = []
    for counts in results:
        rates = {who: counted([counts], [who], KNOWN) for who in READERS}
        if any(found < runs for found, runs in rates.values()):
            told = ", ".join(f"{who} {share(*pair)}" for who, pair in rates.items())
            lines.append(f"{counts.dataset}: {told}")
    return lines


def false_positives_by(results: Sequence[Counts], tests: Sequence[Test]) -> list[str]:
    """False positives by answerer, the worst test of each."""
    lines = []
    for answerer in (*IGNORANT, CONSTANT, EXPERT):
        own = [test for test in tests if answerer != EXPERT or test.row_test]
        rates = {test.id: counted(results, [answerer], test.id) for test in own}
        found, runs = (sum(pair[place] for pair in rates.values()) for place in (0, 1))
        worst = max(rates, key=lambda test: rates[test][0] / max(rates[test][1], 1))
        lines.append(f"{answerer}: {Rate(found, runs)}; most on {worst}: {Rate(*rates[worst])}")
    return lines


def uninformative(results: Sequence[Counts]) -> list[str]:
    """The tables on which a row test is not asked, and why."""
    return [
        f"{counts.dataset} {test}: {reason}"
        for counts in results
        for test, reason in counts.idle.items()
        if test not in counts.queries and (test == TOGETHER or by_id()[test].row_test)
    ]


def table_power(results: Sequence[Counts]) -> list[str]:
    """The table verdict's power on each table."""
    return [
        f"{counts.dataset}: " + ", ".join(f"{name} {share(*counted([counts], [name], TOGETHER))}" for name in POWER)
        for counts in results
    ]


def uniformity(results: Sequence[Counts], tests: Sequence[Test]) -> list[str]:
    """How often the guesser's p-values are at or below each level, by test."""
    lines = []
    for test in tests:
        runs = sum(counts.tests[test.id] for counts in results)
        shares = [
            f"{level:g}: {share(sum(counts.low[test.id, level] for counts in results), runs)}" for level in LEVELS
        ]
        lines.append(f"{test.id} ({runs} p-values): {', '.join(shares)}")
    return lines


def silence(results: Sequence[Counts], tests: Sequence[Test]) -> list[str]:
    """Whether who does not answer is always called so, and the formatter is judged as the oracle."""
    lines = []
    for answerer in SILENT:
        pairs = [counted(results, [answerer], test.id, verdict="no answer") for test in tests]
        found, runs = (sum(pair[place] for pair in pairs) for place in (0, 1))
        lines.append(f"{answerer}: no answer in {found:,} of {runs:,} cells")
    runs = sum(sum(v for (who, _, _), v in counts.calibrated.items() if who == "oracle") for counts in results)
    unequal = sum(counts.unequal for counts in results)
    return [*lines, f"formatter: judged otherwise than the oracle in {unequal} runs (of {runs:,} verdicts)"]


def control_lines(found: Mapping[str, Mapping[str, Counter[tuple[str, str]]]]) -> list[str]:
    """How often each row test finds each control."""
    lines = []
    for kind in CONTROLS:
        for test in TAKEN:
            own = {
                name: {word: n for (what, word), n in by[kind].items() if what == test.id} for name, by in found.items()
            }
            decided = {name: words for name, words in own.items() if words and not words.get("uninformative")}
            decided = {name: words for name, words in decided.items() if not words.get("skipped")}
            hits = sum(words.get("contaminated", 0) for words in decided.values())
            runs = sum(sum(words.values()) for words in decided.values())
            missed = [name for name, words in decided.items() if words.get("contaminated", 0) < sum(words.values())]
            flagged = [name for name, words in decided.items() if words.get("contaminated", 0)]
            which = f"; missed on {', '.join(missed)}" if kind == "exposed" and missed else ""
            which += f"; flagged on {', '.join(flagged)}" if kind == "unexposed" and flagged else ""
            lines.append(f"control:{kind} {test.id}: {hits} of {runs}{which}")
    return lines


def side_by_side(jobs: Mapping[str, tuple[Callable[..., object], tuple[object, ...]]]) -> dict[str, object]:
    """The jobs' results by name, in two processes, with a line of progress for each."""
    done: dict[str, object] = {}
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        futures = {pool.submit(function, *arguments): name for name, (function, arguments) in jobs.items()}
        for future in as_completed(futures):
            done[futures[future]] = future.result()
            print(f"{len(done)}/{len(jobs)} {futures[future]}", file=sys.stderr, flush=True)
    return {name: done[name] for name in jobs}


def at_hand() -> list[str]:
    """The shipped tables whose file is on this machine."""
    names = []
    for name in (name for name, card in load_cards().items() if not card.dates.completed):
        try:
            load_table(name)
        except UsageError:
            continue
        names.append(name)
    return names


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", action="append", help="only these tables")
    parser.add_argument("--runs", type=int, default=ROW_RUNS)
    parser.add_argument("--word-runs", type=int, default=WORD_RUNS)
    parser.add_argument("--control-runs", type=int, default=CONTROL_RUNS)
    parser.add_argument("--part", choices=("simulated", "controls"))
    parser.add_argument("--every", action="store_true", help="the row tests of other papers, too")
    parser.add_argument("--docs", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    names, began = options.dataset or at_hand(), time.perf_counter()
    if options.part != "controls":
        rows = IN_WORDS if options.every else ROWS
        word_runs, tests = (0, rows) if options.every else (options.word_runs, USUAL)
        ids = [test.id for test in rows]
        jobs = {name: (simulated, (name, options.runs, word_runs, ids)) for name in names}
        results: list[Counts] = list(side_by_side(jobs).values())  # type: ignore[arg-type]
        table, known = error_table(results, rows), knowledge_table(results)
        for title, lines in (
            ("", table.lines if options.runs else []),
            ("", known.lines if word_runs else []),
            ("Known by no test", unknown(results) if word_runs else []),
            ("False positives by answerer", false_positives_by(results, tests)),
            ("The table verdict's power", table_power(results)),
            ("Not asked", uninformative(results)),
            ("The guesser's p-values at or below", uniformity(results, tests)),
            ("No answer", silence(results, tests) if word_runs else []),
            ("Seconds", [f"{counts.dataset} {counts.seconds:.0f}" for counts in results]),
        ):
            print(f"\n{title}\n" if title else "", *lines, sep="\n")
        if options.docs and options.runs:
            table.put("all-row-tests" if options.every else "error-rates")
        if options.docs and word_runs:
            known.put("knowledge")
    if options.part != "simulated":
        found = side_by_side({name: (controls, (name, options.control_runs)) for name in names})
        print("\nControls\n", *control_lines(found), sep="\n")  # type: ignore[arg-type]
        for name, by in found.items():
            reasons = [word for kind in CONTROLS for (test, word) in by[kind] if not test]  # type: ignore[index]
            print(*(f"{name}: {reason}" for reason in reasons), sep="\n", end="\n" if reasons else "")
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
