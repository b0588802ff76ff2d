"""Is memory's share right? `python -m benchmarks.memory_share [--runs N] [--docs] [TABLE…]`

Answerers whose memory share is known by construction are asked through the real queries, reading and weighing of
`memory_share`, on every carded table with a question that has a twin, or on those that are named. Each has a skill, by
which it answers rows and twins alike, and recalls the labels of a share m of the rows: what it gains by that on average
is m times the share of rows that its skill gets wrong. Skills:

- `coin`: right with a chance of 0.6 to 0.9, drawn anew for each row and each twin;
- `steady`: the same, but a twin is answered as its row is: one who knows what the guesser does not;
- `linear`, `nearest`: what logistic regression, or the 15 nearest rows, say after they learned from other rows, so that
  a twin that is harder, or mistaken, shows.

`by likeness` recalls rows by their twins, too: what it gains cannot be seen, and the share is too small. Prints
Markdown, which with --docs takes the place of its table in the docs. Most tables need TABCONTAM_DATA.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from time import perf_counter

import numpy as np

from benchmarks.rate_tables import Rate, RateTable
from tabcontam.baseline.stored_facts import one_thread
from tabcontam.errors import Skip, UsageError
from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Trial
from tabcontam.evidence.score.memory_share import TWIN, MemoryShare
from tabcontam.evidence.thresholds import MEMORY_SHARE_LEVEL
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Table, load_table
from tabcontam.twins.base import UnseenTwin
from tabcontam.twins.label_baseline import LINEAR, models
from tabcontam.twins.row_encoder import Encoder
from tabcontam.twins.thresholds import TWIN_FOLDS
from tabcontam.twins.twin_making import unseen
from tabcontam.twins.twin_sample import Ints, Row, TwinSample, sample

TEST, IS = MemoryShare(), load_serializer("is")
RUNS = 1000  # for each skill and share
SHARES = (0.0, 0.1, 0.25, 0.5)
COIN, STEADY, LIKENESS = "coin", "steady", "by likeness"
NEAREST = 15
Says = Callable[[int], bool]  # whether a row of the table is answered right


@dataclass(frozen=True)
class Answerer:
    """Whether it is right on a row, and on its twin, without memory; and how often it is right on rows on average."""

    own: Says
    twin: Says
    accuracy: float


Skill = Callable[[Random], Answerer]


def coin(rng: Random) -> Answerer:
    """Right with one chance, on each row and on each twin."""
    accuracy = rng.uniform(0.6, 0.9)
    return Answerer(lambda row: rng.random() < accuracy, lambda row: rng.random() < accuracy, accuracy)


def steady(rng: Random) -> Answerer:
    """Right with one chance, on a row and its twin alike."""
    accuracy, seed = rng.uniform(0.6, 0.9), rng.random()

    def right(row: int) -> bool:
        return Random(f"{seed} {row}").random() < accuracy

    return Answerer(right, right, accuracy)


def learned(own: Mapping[int, bool], twins: Mapping[int, bool]) -> Skill:
    """A skill whose answers are known."""
    answerer = Answerer(own.__getitem__, twins.__getitem__, fmean(own.values()))
    return lambda rng: answerer


def skills(table: Table) -> dict[str, Skill]:
    """Every skill on a table. Raises `Skip` where it has no twin."""
    twin = unseen(table, TWIN)
    with one_thread():
        found = sample(table)
        place = {row: number for number, row in enumerate(found.places)}
        rows = [place[row] for row in twin.originals]
        linear = models(found, LINEAR, found.parts("benchmark"))
        said = {
            "linear": lambda cells: linear.chances(cells, rows).argmax(axis=1),
            "nearest": lambda cells: nearest(found, cells, rows),
        }
        named = {name: _right(found, twin, rows, say) for name, say in said.items()}
    return {COIN: coin, STEADY: steady, **named, LIKENESS: steady}


def _right(found: TwinSample, twin: UnseenTwin, rows: Sequence[int], say: Callable[[Sequence[Row]], Ints]) -> Skill:
    own = say([found.rows[row] for row in rows])
    other = say(twin.rows)
    named = [found.classes[code] for code in own], [found.classes[code] for code in other]
    return learned(
        {row: said == found.labels[place] for row, place, said in zip(twin.originals, rows, named[0], strict=True)},
        {row: said == label for row, label, said in zip(twin.originals, twin.labels, named[1], strict=True)},
    )


def nearest(found: TwinSample, cells: Sequence[Row], rows: Sequence[int]) -> Ints:
    """The class that most of the 15 nearest rows of other parts have."""
    from sklearn.neighbors import KNeighborsClassifier

    encoder, parts = Encoder.of(found), found.parts("benchmark")
    learned_from, asked = (encoder.spread_of(encoder.plain(own)) for own in (found.rows, cells))
    answers = np.zeros(len(cells), dtype=np.int64)
    for part in range(TWIN_FOLDS):
        own = parts[list(rows)] == part
        model = KNeighborsClassifier(NEAREST).fit(learned_from[parts != part], found.codes[parts != part])
        if own.any():
            answers[own] = model.predict(asked[own])
    return answers


def asked(queries: Sequence[Query], answerer: Answerer, share: float, likeness: bool, rng: Random) -> Evidence:
    """What the answers weigh of one who recalls each row's label with this chance."""
    recalls: dict[int, bool] = {}
    trials = []
    for query in queries:
        row = query.rows[-1]
        recalled = recalls.setdefault(row, rng.random() < share) and (likeness or not query.decoy_of)
        right = recalled or (answerer.twin if query.decoy_of else answerer.own)(row)
        truth = str(query.expected[0])
        wrong = next(answer for answer in query.asked if answer != truth)
        reply = Reply(truth if right else wrong, ReplyState.OK)
        trials.append(Trial(query, reply, TEST.read(query, reply, IS)))
    return TEST.weigh(trials, MEMORY_SHARE_LEVEL)


@dataclass(frozen=True)
class Run:
    """What one run found, and what was to be found."""

    table: str
    found: Evidence
    true: float

    @property
    def error(self) -> float:
        """The estimate less the truth."""
        return self.found.measured.value - self.true

    @property
    def covered(self) -> bool:
        """Whether the interval holds the truth."""
        low, high = self.found.interval or (0.0, 0.0)
        return low <= self.true <= high

    @property
    def above(self) -> bool:
        """Whether a share above 0 is reported."""
        return ", above 0 " in self.found.sentence


def tables(names: Sequence[str]) -> tuple[dict[str, tuple[Table, dict[str, Skill]]], list[str]]:
    """The tables with their skills, and why others are left out."""
    found, left = {}, []
    for name in names or sorted(load_cards()):
        try:
            table = load_table(name)
            if table.question is None or table.text is not None:
                continue
            began = perf_counter()
            found[name] = table, skills(table)
            print(f"{name}: {perf_counter() - began:.1f} s", flush=True)
        except (Skip, UsageError) as error:
            left.append(f"{name}: {error}")
    return found, left


def share_table(runs: Mapping[tuple[str, float], Sequence[Run]]) -> RateTable:
    """Return the table by skill and share."""
    table = RateTable(["skill", "m", "true", "mean error", "95 % interval covers", "reported above 0"])
    for (skill, share), own in runs.items():
        covered, above = sum(run.covered for run in own), sum(run.above for run in own)
        reported = Rate(above, len(own)) if not share else f"{above / len(own):.0%}"
        means = f"{fmean(run.true for run in own):.3f}", f"{fmean(run.error for run in own):+.3f}"
        table.rows.append([skill, f"{share:g}", *means, f"{covered / len(own):.1%}", reported])
    return table


def by_table(runs: Mapping[tuple[str, float], Sequence[Run]]) -> str:
    """The largest mean error on a table, of each skill but the one that recalls by likeness."""
    errors = defaultdict(list)
    for (skill, _), own in runs.items():
        for run in own:
            if skill != LIKENESS:
                errors[skill, run.table].append(run.error)
    means = {key: fmean(own) for key, own in errors.items()}
    worst = sorted(means, key=lambda key: -abs(means[key]))[:5]
    return ", ".join(f"{skill} on {table} {means[skill, table]:+.3f}" for skill, table in worst)


def main() -> None:
    """Print, and with --docs write, what the answerers come to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="TABLE")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--docs", action="store_true")
    given = parser.parse_args()
    by_name, left = tables(given.names)
    order = list(by_name)
    runs: dict[tuple[str, float], list[Run]] = {}
    for skill in (COIN, STEADY, "linear", "nearest", LIKENESS):
        for share in SHARES:
            own = runs.setdefault((skill, share), [])
            for number in range(given.runs):
                name = order[number % len(order)]
                table, of_table = by_name[name]
                rng = Random(f"{skill} {share} {number}")
                answerer = of_table[skill](rng)
                found = asked(TEST.queries(table, IS, rng), answerer, share, skill == LIKENESS, rng)
                own.append(Run(name, found, share * (1 - answerer.accuracy)))
            print(share_table({(skill, share): own}).lines[-1], flush=True)
    made = share_table(runs)
    made.notes = [f"Tables: {', '.join(order)}. {given.runs:,} runs a line. Largest mean errors: {by_table(runs)}."]
    made.notes += [f"Without a twin, and so skipped: {'; '.join(left)}."] if left else []
    print(*made.lines, sep="\n")
    if given.docs:
        made.put("memory-share")


if __name__ == "__main__":
    main()
