"""How often guided completion errs, and what it finds: `python -m tests.benchmarks.guided`.

Simulated answerers go through the real queries, the real reading and the real decision on every shipped table that is
at hand (TABCONTAM_DATA): who guesses, who says what is usual, who knows the schema, and who remembers half of the rows.
With `--recorded FILE…` it counts how long the runs of words are that two LLMs, by recorded answers of Golchin and
Surdeanu, have in common with texts of which a judge saw no match: the measure of what a fluent writer hits.
Prints Markdown.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tabcontam.calibration.power import ask, judge, planned
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Verdict
from tabcontam.evidence.rows.guided.completion import RECITED, GuidedCompletion, several
from tabcontam.evidence.rows.guided.verbatim import longest
from tabcontam.tables.cards import load_cards
from tabcontam.tables.serializers import DEFAULT, load_serializer
from tabcontam.tables.table import Table, load_table
from tabcontam.verdicts.rules import ALPHA

ANSWERERS = ("mode", "guesser", "rambler", "schema-expert", "memoriser:0.5", "memoriser:0.1")
IGNORANT = ANSWERERS[:4]
REMEMBERED = 50  # runs of those who remember, of any number


def measured(table: Table, runs: int) -> Mapping[tuple[str, str], int]:
    """How often each answerer got each verdict, by the calibrated and by the published rule, over seeded runs."""
    found: Counter[tuple[str, str]] = Counter()
    serializer = load_serializer(DEFAULT)
    for seed in range(runs):
        run = planned(table, [GuidedCompletion()], serializer, seed, ALPHA)
        for answerer in ANSWERERS:
            if answerer not in IGNORANT and seed >= REMEMBERED:
                continue
            cell = judge(run, ask(run, answerer, seed), ALPHA).cells[GuidedCompletion.id]
            found[answerer, str(cell.verdict)] += 1
            found[answerer, f"paper: {cell.paper_verdict}"] += 1
            found[answerer, "runs"] += 1
    return found


def tables() -> Iterator[Table]:
    """The first edition of each card of rows that is at hand."""
    for name in load_cards():
        try:
            table = load_table(name)
            if table.text is None:
                yield table
        except UsageError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)


def recorded(lines: Iterable[Mapping[str, Any]]) -> None:
    """The longest runs in answers without a match, and what each setting's answers come to together."""
    alone: Counter[int] = Counter()
    settings: dict[tuple[str, str, str], list[Any]] = {}
    for line in lines:
        pairs = [("guided", line["guided"]), ("general", line.get("general"))]
        for arm, said in pairs:
            run = longest(line["expected"], said or "")
            if arm == "general" or str(line["judge"]).startswith("No"):
                alone[len(run.text)] += bool(said)
            if arm == "guided":
                settings.setdefault((line["llm"], line["dataset"], line["split"]), []).append((run, line["judge"]))
    total = sum(alone.values())
    print(f"\n| words | runs of at least so many, of {total} answers without a match |\n|---|---|")
    for length in sorted(alone)[1:]:
        print(f"| {length} | {sum(count for other, count in alone.items() if other >= length)} |")
    print("\n| LLM, dataset, split | instances | matches seen by the judge | recited | p |\n|---|---|---|---|---|")
    for name, runs in settings.items():
        seen = sum(str(word).startswith("Yes") for _, word in runs)
        recited = sum(run.chance <= RECITED for run, _ in runs)
        print(f"| {', '.join(name)} | {len(runs)} | {seen} | {recited} | {several([run for run, _ in runs]):.2g} |")


def main() -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--dataset", action="append")
    parser.add_argument("--recorded", type=Path, nargs="+", default=())
    options = parser.parse_args()
    if options.recorded:
        recorded(json.loads(line) for path in options.recorded for line in path.read_text("utf-8").splitlines())
        return
    chosen = [load_table(name) for name in options.dataset] if options.dataset else tables()
    print(f"| table | {' | '.join(ANSWERERS)} | guesser, published rule | seconds |")
    print(f"|---|{'---|' * len(ANSWERERS)}---|---|")
    for table in chosen:
        began = time.perf_counter()
        found = measured(table, options.runs)
        rates = [f"{found[one, str(Verdict.CONTAMINATED)]} of {found[one, 'runs']}" for one in ANSWERERS]
        idle = [verdict for _, verdict in found if verdict in (Verdict.SKIPPED, Verdict.UNINFORMATIVE)]
        paper = f"{found['guesser', f'paper: {Verdict.CONTAMINATED}']} of {found['guesser', 'runs']}"
        note = f" ({idle[0]})" if idle else ""
        spent = time.perf_counter() - began
        print(f"| {table.name}{note} | {' | '.join(rates)} | {paper} | {spent:.0f} |", flush=True)


if __name__ == "__main__":
    main()
