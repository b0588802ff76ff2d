"""How often guided completion errs, and what it finds: `python -m benchmarks.guided`.

Simulated answerers go through the real queries, the real reading and the real decision on every shipped table that is
at hand (TABCONTAM_DATA): who guesses, who says what is usual, who knows the schema, and who remembers half of the rows.
With `--recorded FILE…` it counts how long the runs of words are that two LLMs, by recorded answers of Golchin and
Surdeanu, have in common with texts of which a judge saw no match: the measure of what a fluent writer hits.
With `--texts FILE`, a CSV file of label, title and text without a header (AG News), answerers write: who remembers ten
of the texts that are asked, who remembers one, who ends each text as another one, and who has learned the table's style
from all texts but the asked one and writes in it under the right name alone, words drawn or the likeliest ones.
Prints Markdown.
"""

import argparse
import csv
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from tabcontam.calibration.power_study import ask, judge, planned
from tabcontam.config import CALIBRATED
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Query, Reply, ReplyState, Trial, Verdict
from tabcontam.extensions.papers.guided.guided_completion import GuidedCompletion, partial_conjunction
from tabcontam.extensions.papers.guided.guided_test import WRONG_LABEL, arm_of, first_piece
from tabcontam.extensions.papers.guided.word_runs import longest
from tabcontam.extensions.papers.thresholds import MOST_RECITED_CHANCE
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import DEFAULT, load_serializer
from tabcontam.tables.table import Table, load_table
from tabcontam.tables.text_tasks import TextForm, TextTask
from tabcontam.verdicts.result_building import build_result
from tabcontam.verdicts.result_types import ResultKey
from tabcontam.verdicts.thresholds import ALPHA

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
            cell = judge(run, ask(run, answerer, seed), ALPHA).results[GuidedCompletion.id]
            found[answerer, str(cell.verdict)] += 1
            found[answerer, f"paper: {cell.decision.paper_verdict}"] += 1
            found[answerer, "runs"] += 1
    return found


def tables() -> Iterator[Table]:
    """The first edition of each card of rows that is at hand."""
    for name in (name for name, card in load_cards().items() if not card.dates.completed):
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
        recited = sum(run.chance <= MOST_RECITED_CHANCE for run, _ in runs)
        print(
            f"| {', '.join(name)} | {len(runs)} | {seen} | {recited} | "
            f"{partial_conjunction([run for run, _ in runs]):.2g} |"
        )


def texts_of(path: Path) -> Table:
    """A headerless CSV file of label, title and text as a table of texts."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = tuple(tuple(row) for row in csv.reader(file))
    names = {"1": "World", "2": "Sports", "3": "Business", "4": "Sci/Tech"}
    return Table(
        "ag-news", "AG News", "test", "0" * 64, ("class", "title", "description"), rows, ("AG News",), target="class",
        split="test", text=TextTask(TextForm.CLASSIFICATION, ("title", "description"), "class", names),
    )  # fmt: skip


class Style:
    """Who has read every text of a table but the asked one: three words in a row say what comes next."""

    def __init__(self, table: Table) -> None:
        self.next: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        self.texts = [" ".join(" ".join(map(str, row[1:])).split()).split() for row in table.rows]
        for text in self.texts:
            self._count(text, 1)

    def _count(self, text: list[str], by: int) -> None:
        for size in (1, 2, 3):
            for place in range(len(text) - size):
                self.next[tuple(text[place : place + size])][text[place + size]] += by

    def writes(self, query: Query, likeliest: bool) -> str:
        """As many words as are asked, after the first piece."""
        own, rng = self.texts[query.rows[0]], Random(query.id)
        self._count(own, -1)
        said = first_piece(query).split()
        for _ in range(len((query.expected[0] or "").split()) + 5):
            for size in (3, 2, 1):
                known = +self.next[tuple(said[-size:])]
                if known:
                    break
            words = known or Counter(rng.choice(self.texts))
            drawn = words.most_common(1)[0][0] if likeliest else rng.choices(list(words), list(words.values()))[0]
            said.append(drawn)
        self._count(own, 1)
        return " ".join(said[len(first_piece(query).split()) :])


def written(path: Path, runs: int) -> None:
    """How often each writer is found on a table of texts, by both rules."""
    table, serializer, test = texts_of(path), load_serializer(DEFAULT), GuidedCompletion()
    style, name_of = Style(table), ResultKey("llm", "ag-news", "test", "is", test.id)

    def other(query: Query) -> str:
        rng = Random(query.id)
        place = rng.randrange(len(style.texts))
        place = place if place != query.rows[0] else place - 1
        return " ".join(style.texts[place][-len((query.expected[0] or "").split()) :])

    def remembers(count: int) -> Callable[[Query], str]:
        def says(query: Query) -> str:
            number = int((query.decoy_of or query.id).rpartition("-")[2])
            return query.expected[0] or "" if number < count and arm_of(query) in ("", WRONG_LABEL) else other(query)

        return says

    writers: dict[str, Callable[[Query], str]] = {
        "ten": remembers(10),
        "five": remembers(5),
        "one": remembers(1),
        "another text's end": other,
        "style, drawn": lambda query: other(query) if query.decoy_of else style.writes(query, likeliest=False),
        "style, likeliest": lambda query: other(query) if query.decoy_of else style.writes(query, likeliest=True),
    }
    found: Counter[tuple[str, str]] = Counter()
    for seed in range(runs):
        queries = test.planned(table, serializer, seeded(table, seed, test.id))
        for name, says in writers.items():
            replies = [(query, Reply(says(query), ReplyState.OK)) for query in queries]
            trials = [Trial(query, reply, test.read(query, reply, serializer)) for query, reply in replies]
            cell = build_result(name_of, test, trials, len(trials), CALIBRATED, ALPHA)
            found[name, "calibrated"] += (cell.evidence.p_value or 0) <= ALPHA
            found[name, "paper"] += cell.decision.paper_verdict is Verdict.CONTAMINATED
    print(f"| {path.name}, {len(table.rows)} texts | calibrated | Algorithm 1 |\n|---|---|---|")
    for name in writers:
        print(f"| {name} | {found[name, 'calibrated']} of {runs} | {found[name, 'paper']} of {runs} |")


def main() -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--dataset", action="append")
    parser.add_argument("--recorded", type=Path, nargs="+", default=())
    parser.add_argument("--texts", type=Path)
    options = parser.parse_args()
    if options.texts:
        written(options.texts, options.runs)
        return
    if options.recorded:
        recorded(json.loads(line) for path in options.recorded for line in path.read_text("utf-8").splitlines())
        return
    chosen = [load_table(name) for name in options.dataset] if options.dataset else tables()
    print(f"| table | {' | '.join(ANSWERERS)} | schema-expert, Algorithm 1 | seconds |")
    print(f"|---|{'---|' * len(ANSWERERS)}---|---|")
    for table in chosen:
        began = time.perf_counter()
        found = measured(table, options.runs)
        rates = [f"{found[one, str(Verdict.CONTAMINATED)]} of {found[one, 'runs']}" for one in ANSWERERS]
        undecided = (Verdict.SKIPPED, Verdict.UNINFORMATIVE)
        idle = [verdict for verdict in undecided if found["guesser", str(verdict)] == found["guesser", "runs"]]
        paper = f"{found['schema-expert', f'paper: {Verdict.CONTAMINATED}']} of {found['schema-expert', 'runs']}"
        note = f" ({idle[0]})" if idle else ""
        spent = time.perf_counter() - began
        print(f"| {table.name}{note} | {' | '.join(rates)} | {paper} | {spent:.0f} |", flush=True)


if __name__ == "__main__":
    main()
