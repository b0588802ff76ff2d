"""Whether skill is taken for memory: `python -m benchmarks.skill`.

Made and real tables of many kinds, whose cells follow from others by a rule, from facts of the world or from the order,
are answered by who knows the rule and no row (in all queries, and in one of twenty), by the strongest predictors
trained on all rows but the asked one, and by one who remembers a quarter of the rows. All go through the real prompts,
the real reading and the real decision of the row tests, in four languages. Prints Markdown; with --docs it also takes
the place of its table in the docs. `--kind NAME` measures only these kinds, `--test NAME` these tests, whose
table by test --docs writes then; `--why` says what accused.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import log2
from multiprocessing import get_context
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.rate_tables import Rate, RateTable
from benchmarks.skills import chosen, commerce, dated, few_rows, measures, ordered, panels, people, real, world, written
from benchmarks.skills.answerers import Answers, Form, Memoriser, Silent, Solver, asked
from benchmarks.skills.made import Made, arranged
from benchmarks.skills.predictors import FOREST, NEAREST, SQUARES, Predictors
from benchmarks.skills.unstated import shares_unstated
from tabcontam.asking.query_plan import PlannedResult
from tabcontam.baseline.cell_prediction import bits
from tabcontam.calibration.power_study import TOGETHER, AnswererPlan, AnswererResults, Trials, judge, planned
from tabcontam.evidence.base import Trial, Verdict
from tabcontam.evidence.bet_order import in_turn
from tabcontam.evidence.mixins import BettingTest
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.statistics.eprocess import join_bets, place_bets, standing
from tabcontam.tables.serializers import DEFAULT, load_serializer
from tabcontam.verdicts.reference_correction import Reference, concede
from tabcontam.verdicts.thresholds import ALPHA
from tests.answer_forms import FORMS, form

KINDS = {
    kind.name: kind
    for module in (commerce, measures, chosen, people, dated, ordered, world, panels, few_rows, written, real)
    for kind in module.KINDS
}
RUNS, TABLES = 300, 6  # a kind
ASKED = ("incomplete_completion", "full_completion", "feature_completion", "matched_membership")
SOLVER, SELDOM, MEMORISER = "solver", "one in twenty", "memoriser"
SILENT = (FOREST, NEAREST, SQUARES)
ALONE, APART = "without the reference", 500_000  # the solver of facts, and the seed of one that knows the same
SKILLED = (SOLVER, SELDOM, *SILENT)  # and no row
SHARES = {SOLVER: 1.0, SELDOM: 0.05}
REMEMBERED = 0.25
ONE_OF = 3  # runs in which the predictors answer, and who remembers
LANGUAGES = ("bare", "bare", "german", "bare", "french", "spanish")
SHOWN_WHY = 3
Jobs = Mapping[tuple[str, int], int]  # runs by kind and number of the table


@dataclass
class Counts:
    """What came of the runs on one table of a kind."""

    kind: str
    number: int
    rows: int
    columns: int
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)  # by answerer
    by_test: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # by answerer and test, each asked alone
    reasons: Counter[str] = field(default_factory=Counter)  # why the solver's table is undecided
    why: dict[tuple[str, str, str], float] = field(default_factory=dict)  # bits by answerer, test and column
    right: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # cells that gave them
    in_turns: Counter[str] = field(default_factory=Counter)  # runs in which bets find an answerer at some time
    seconds: float = 0.0  # of the processor

    def add(self, answerer: str, judged: AnswererResults, trials: Trials) -> None:
        """Count one run."""
        table = judged.table
        verdict = table.verdict if table else Verdict.SKIPPED
        self.verdicts[answerer, str(verdict)] += 1
        if answerer == SOLVER and table and verdict in (Verdict.UNINFORMATIVE, Verdict.SKIPPED):
            self.reasons[f"{verdict}: {judged.undecided(TOGETHER)[1] or table.reason}"] += 1
        if verdict is Verdict.CONTAMINATED and answerer in SKILLED:
            self._explain(answerer, judged, trials)

    def _explain(self, answerer: str, judged: AnswererResults, trials: Trials) -> None:
        """Which cells gave the bits in the test of the smallest p-value."""
        with_p = [test for test in trials if judged.results[test].evidence.p_value is not None]
        test = min(with_p, key=lambda one: judged.results[one].evidence.p_value or 0.0)
        for trial in trials[test]:
            for name, worth in _worth(trial):
                key = (answerer, test, name)
                self.why[key] = self.why.get(key, 0.0) + worth
                self.right[key] += 1


def _worth(trial: Trial) -> list[tuple[str, float]]:
    """The bits of each right cell, by feature; of a membership answer, whether it is right."""
    query, reading = trial.query, trial.reading
    if reading is None:
        return []
    if not isinstance(reading.parsed, Mapping):
        return [("Yes/No", 1.0)] if reading.hit else []
    cells = reading.parsed
    return [
        (name, bits(min(1.0, guess.chance_of(cells[name] or ""))))
        for name, guess in query.chance.items()
        if name in reading.right and cells.get(name) is not None
    ]


def measured(
    name: str, number: int, runs: int, languages: Sequence[str] = LANGUAGES, asked_in: Sequence[str] = ASKED
) -> Counts:
    """All runs of every answerer on one table of a kind."""
    began = time.process_time()
    rng = Random(f"{name} {number}")
    made = KINDS[name].make(rng, number)
    if not KINDS[name].real:
        made = arranged(made, rng, number)
    table, serializer = made.table, load_serializer(DEFAULT)
    counts, predictors = Counts(name, number, len(table.rows), len(table.columns)), Predictors(table)
    for run_number in range(runs):
        seed = 1000 * number + run_number
        with shares_unstated():
            run = planned(table, [by_id()[test] for test in asked_in], serializer, seed, ALPHA)
            knowing = asked(run, Solver(made, 1.0, seed + APART), None) if KINDS[name].facts else {}
            for answerer, answers in answerers(made, predictors, seed).items():
                if answerer in (*SILENT, MEMORISER) and run_number % ONE_OF:
                    continue
                trials = asked(run, answers, worded(languages[run_number % len(languages)]))
                if knowing and answerer == SOLVER:
                    counts.add(ALONE, judge(run, trials, ALPHA), trials)
                trials = beside_reference(run, trials, knowing) if knowing else trials
                judged = judge(run, trials, ALPHA)
                counts.add(answerer, judged, trials)
                for cell in run.cells:
                    counts.by_test[answerer, cell.test.id, str(alone(cell, trials, judged))] += 1
                counts.in_turns[answerer] += ever_found(run, trials)
    counts.seconds = time.process_time() - began
    return counts


def alone(cell: PlannedResult, trials: Trials, judged: AnswererResults) -> Verdict | None:
    """The verdict of a test that is asked alone, where no other shares its level."""
    own = judged.results[cell.test.id]
    if own.evidence.p_value is None or own.evidence.p_value > ALPHA or own.verdict is Verdict.CONTAMINATED:
        return own.verdict
    by_itself = judge(AnswererPlan([replace(cell, level=ALPHA)]), {cell.test.id: trials[cell.test.id]}, ALPHA)
    return by_itself.results[cell.test.id].verdict


def ever_found(run: AnswererPlan, trials: Trials) -> bool:
    """Whether bets on the answers, in their turns, come at any time to what the level asks for."""
    betting = [(cell.test, trials[cell.test.id]) for cell in run.cells if isinstance(cell.test, BettingTest)]
    tests = {id(trial): test for test, own in betting for trial in own}
    turns = in_turn(trial for _, own in betting for trial in own)
    placed_so_far = accumulate(
        (place_bets(tests[id(trial)].stakes(trial)) for trial in turns), lambda *two: join_bets(two)
    )
    return any(standing(bets)[0] >= -log2(ALPHA) for bets in placed_so_far)


def beside_reference(run: AnswererPlan, trials: Trials, knowing: Trials) -> Trials:
    """The trials with chance 1 for what a reference answered that knows the same facts."""
    tests = {cell.test.id: cell.test for cell in run.cells}
    return {
        test: list(concede(tests[test], own, Reference("reference", knowing[test])).weighed)
        for test, own in trials.items()
    }


def answerers(made: Made, predictors: Predictors, seed: int) -> dict[str, Answers]:
    """Who answers in one run."""
    return {
        **{name: Solver(made, share, seed) for name, share in SHARES.items()},
        **{kind: Silent(predictors, kind) for kind in SILENT},
        MEMORISER: Memoriser(made.table, REMEMBERED, seed),
    }


def worded(language: str) -> Form | None:
    """How answers are worded in a language; None for the form that is asked for."""
    wording = form(language)
    return None if language == LANGUAGES[0] else lambda query, values: wording(query.asked, values)


def measure(jobs: Jobs, processes: int, languages: Sequence[str], tests: Sequence[str] = ASKED) -> list[Counts]:
    """The runs on every table, side by side, with a line of progress for each."""
    done: dict[tuple[str, int], Counts] = {}
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        futures = {pool.submit(measured, *job, runs, languages, tests): job for job, runs in jobs.items()}
        try:
            for future in as_completed(futures):
                job = futures[future]
                done[job] = found = future.result()
                accused = ", ".join(f"{who} {found.verdicts[who, 'contaminated']}" for who in (*SKILLED, MEMORISER))
                by = Counter(
                    test for who, test, word in found.by_test.elements() if word == "contaminated" and who in SKILLED
                )
                accused += "".join(f", {test} alone {count}" for test, count in by.items())
                print(f"{len(done)}/{len(jobs)} {job[0]} {job[1]}: {accused}; {found.seconds:.0f} s", file=sys.stderr)
        finally:
            pool.shutdown(cancel_futures=True)
    return [done[job] for job in jobs]


def counted(results: Iterable[Counts], answerers: Sequence[str], verdict: str = "contaminated") -> tuple[int, int]:
    """How many runs came to a verdict, and how many there were."""
    of_all = [(who, word, runs) for counts in results for (who, word), runs in counts.verdicts.items()]
    own = [(word, runs) for who, word, runs in of_all if who in answerers]
    return sum(runs for word, runs in own if word == verdict), sum(runs for _, runs in own)


def skill_table(results: Sequence[Counts]) -> RateTable:
    """A line for each kind, then all of them together."""
    table = RateTable(["kind", "runs", "rows", *SKILLED, "uninformative", "detected at a quarter"])
    for name in dict.fromkeys(counts.kind for counts in results):
        own, kind = [counts for counts in results if counts.kind == name], KINDS[name]
        sizes = sorted({counts.rows for counts in own})
        rows = f"{sizes[0]:,} to {sizes[-1]:,}" if len(sizes) > 1 else f"{sizes[0]:,}"
        accused = [str(counted(own, [who])[0]) for who in SKILLED]
        undecided = sum(counted(own, [SOLVER], word)[0] for word in ("uninformative", "skipped"))
        found, remembered = counted(own, [MEMORISER])
        power = f"{100 * found / remembered:.0f} %" + (f" ({kind.few})" if kind.few else "")
        runs = counted(own, [SOLVER])[1]
        about = f"{name}{'*' if kind.facts else ''}: {kind.about}"
        table.rows.append([about, f"{runs} on {len(own)}", rows, *accused, str(undecided), power])
    pooled = [Rate(*counted(results, [who])) for who in SKILLED]
    able = [counts for counts in results if not KINDS[counts.kind].few]
    undecided, runs = (sum(counted(results, [SOLVER], w)[0] for w in ("uninformative", "skipped")), 0)
    found, runs = counted(able, [MEMORISER])
    share = f"{100 * found / max(runs, 1):.1f} %"
    table.rows.append(["**all**", str(len(results)), "", *pooled, str(undecided), share])
    asked = ", ".join(
        f"{who} {Rate(sum(one.in_turns[who] for one in results), counted(results, [who])[1])}" for who in SKILLED
    )
    alone = Rate(*counted(results, [ALONE]))
    with_reference = "* with a reference that knows the same facts; without it the solver is contaminated in"
    table.notes = [
        f"Asked in turns until a table is decided, contaminated at any time: {asked}.",
        *([f"{with_reference} {alone}"] if alone.runs else []),
    ]
    return table


def test_table(results: Sequence[Counts], tests: Sequence[str]) -> RateTable:
    """A line for each test: how often it accuses who is skilled, and finds who remembers, where it is asked alone."""

    def judged_by(test: str, who: str) -> tuple[int, int]:
        of_all = [(key, runs) for counts in results for key, runs in counts.by_test.items()]
        own = [(word, runs) for (name, of, word), runs in of_all if name == who and of == test]
        asked = [(word, runs) for word, runs in own if word not in ("skipped", "uninformative")]
        return sum(runs for word, runs in asked if word == "contaminated"), sum(runs for _, runs in asked)

    table = RateTable(["test", *SKILLED, "detected at a quarter"])
    for test in tests:
        found, runs = judged_by(test, MEMORISER)
        accused = [Rate(*judged_by(test, who)) for who in SKILLED]
        table.rows.append([test, *accused, f"{100 * found / max(runs, 1):.0f} %"])
    return table


def why(results: Sequence[Counts]) -> list[str]:
    """Where the bits lay in the runs in which somebody without memory was accused."""
    lines = []
    for counts in results:
        for who in SKILLED:
            accused = counts.verdicts[who, "contaminated"]
            own = sorted((key for key in counts.why if key[0] == who), key=lambda key: -counts.why[key])
            for key in own[:SHOWN_WHY]:
                worth, cells = counts.why[key], counts.right[key]
                where = f"{counts.kind} {counts.number} ({counts.rows} rows), {who}, {accused} accused"
                lines.append(f"{where}: {key[1]} {key[2]}: {cells} cells right, {worth / max(cells, 1):.1f} bits each")
    return lines


def undecided(results: Sequence[Counts]) -> list[str]:
    """Why a solver's table was not decided."""
    return [
        f"{counts.kind} {counts.number} ({counts.rows} rows): {runs} runs {reason}"
        for counts in results
        for reason, runs in counts.reasons.items()
    ]


def missed(results: Sequence[Counts]) -> list[str]:
    """The tables on which a memory of a quarter of the rows is found in fewer than 95 % of the runs."""
    rates = {
        (one.kind, one.number, one.rows): counted([one], [MEMORISER]) for one in results if not KINDS[one.kind].few
    }
    return [
        f"{key[0]} {key[1]} ({key[2]} rows): {found} of {runs}"
        for key, (found, runs) in rates.items()
        if found < 0.95 * runs
    ]


def jobs_of(names: Sequence[str], tables: int, runs: int) -> dict[tuple[str, int], int]:
    """The runs of each table: those of a kind are shared out among its tables; a real table is there once."""
    jobs: dict[tuple[str, int], int] = {}
    for name in names:
        count = 1 if KINDS[name].real else tables
        jobs |= {(name, number): runs // count for number in range(count)}
    return jobs


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", nargs="+", choices=KINDS, metavar="NAME", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--runs", type=int, default=RUNS, help="of a kind")
    parser.add_argument("--tables", type=int, default=TABLES, help="of a kind")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="12 runs of 3 tables of a kind")
    parser.add_argument(
        "--language", nargs="+", default=LANGUAGES, choices=FORMS, help="the wording of answers, by run"
    )
    parser.add_argument("--test", nargs="+", default=ASKED, choices=[one.id for one in all_tests() if one.row_test])
    parser.add_argument("--why", action="store_true", help="say where the bits lay of who was accused")
    parser.add_argument("--docs", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    began = time.perf_counter()
    tables, runs = (3, 12) if options.quick else (options.tables, options.runs)
    with TemporaryDirectory() as folder:  # nothing is read from another time
        os.environ["XDG_CACHE_HOME"] = folder
        results = measure(
            jobs_of(options.kind or list(KINDS), tables, runs), options.processes, options.language, options.test
        )
    table, by_test = skill_table(results), test_table(results, options.test)
    sections = [
        ("", table.lines),
        ("By test", by_test.lines),
        ("Not decided", undecided(results)),
        ("Found in fewer than 95 %", missed(results)),
    ]
    for title, lines in [*sections, *([("Where the bits lay", why(results))] if options.why else [])]:
        print(f"\n{title}\n" if title else "", *lines, sep="\n")
    if options.docs:
        if tuple(options.test) == ASKED:
            table.put("skill")
        else:
            by_test.put("skill-by-test")
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
