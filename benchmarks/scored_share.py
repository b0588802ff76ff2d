"""Is memory's share of log-loss and AUC right? `python -m benchmarks.scored_share [--runs N] [--docs] [TABLE…]`

Answerers who tell how likely each class is are weighed by `log_loss_share`, on rows and their real twins. Each
recalls the labels of a share m of the rows, for which it is sure of the class, and on all else has a way to be sure:

- `models`: as gradient boosting and logistic regression find it, on the row and on its twin;
- `sure`: the same, sharpened to its fourth power, so that a wrong answer costs much;
- `flat`: the same, flattened to its square root;
- `noise`: drawn anew for each row and twin, whatever stands there;
- `one class`: the first class, with a chance of 0.9.

Printed for each are the mean share of log-loss and of AUC, how often the interval of the log-loss leaves out 0 where
nothing is recalled, and how often its share is said to be above 0. Prints Markdown, which with --docs takes the place
of its table in the docs. Needs TABCONTAM_DATA.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from random import Random
from statistics import fmean
from unittest import mock

from benchmarks.rate_tables import Rate, RateTable
from tabcontam.evidence.base import Likelihoods, Query, ReplyState, Trial
from tabcontam.evidence.score import scored_share
from tabcontam.evidence.score.scored_share import LIKELY, ChanceShares, MemoryShareScored
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import load_table

TABLES = ("diabetes", "heart", "titanic", "penguins", "adult")
RUNS = 1000
SHARES = (0.0, 0.1, 0.25, 0.5)
RESAMPLES = 20  # of an AUC, whose interval is not looked at here
SURE, LEAST = 0.98, 1e-4
Chances = Mapping[str, float]


def raised(chances: Chances, power: float) -> Chances:
    """Chances to a power, adding up to 1 again."""
    found = {name: max(LEAST, value) ** power for name, value in chances.items()}
    return {name: value / sum(found.values()) for name, value in found.items()}


def noise(query: Query, rng: Random) -> Chances:
    """Chances that have nothing to do with the row."""
    return raised({name: rng.random() for name in query.asked}, 2.0)


def one_class(query: Query, rng: Random) -> Chances:
    """Nearly sure of the first class."""
    others = len(query.asked) - 1
    return {name: 0.9 if number == 0 else 0.1 / others for number, name in enumerate(query.asked)}


def by_models(power: float) -> Callable[[Query, Random], Chances]:
    """What models that learned say, to a power."""
    return lambda query, rng: raised(query.chance[LIKELY].values, power)


WAYS = {
    "models": by_models(1.0),
    "sure": by_models(4.0),
    "flat": by_models(0.5),
    "noise": noise,
    "one class": one_class,
}


@dataclass
class Line:
    """What came of the runs of one way at one share."""

    losses: list[float] = field(default_factory=list)
    aucs: list[float] = field(default_factory=list)
    outside: int = 0
    above: int = 0


def run(
    queries: Sequence[Query], way: Callable[[Query, Random], Chances], share: float, rng: Random
) -> ChanceShares | None:
    """One run: who recalls this share of the rows, in this way sure of all else."""
    recalled = {query.id for query in queries if not query.decoy_of and rng.random() < share}
    trials = []
    for query in queries:
        chances = way(query, rng)
        if query.id in recalled:
            rest = (1 - SURE) / (len(query.asked) - 1)
            chances = {name: SURE if name == query.expected[0] else rest for name in query.asked}
        values = tuple(log(max(LEAST, chances.get(name, 0.0))) for name in query.asked)
        trials.append(Trial(query, Likelihoods(values, ReplyState.OK)))
    return scored_share.shared(trials)


def main() -> None:
    """Run, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=list(TABLES), metavar="TABLE")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--docs", action="store_true")
    options = parser.parse_args()
    asked = {}
    for name in options.tables:
        table = load_table(name)
        asked[name] = [MemoryShareScored().queries(table, load_serializer("is"), Random(seed)) for seed in range(5)]
    shares = ["of the log-loss", "of the AUC", "95 % interval leaves out 0", "reported above 0"]
    written = RateTable(["stated confidence", "m", *shares])
    for way, share in ((way, share) for way in WAYS for share in SHARES):
        line, rng = Line(), Random(f"{way} {share}")
        with mock.patch("tabcontam.statistics.auc_difference.AUC_RESAMPLES", RESAMPLES):
            for number in range(options.runs):
                queries = asked[options.tables[number % len(options.tables)]]
                found = run(queries[number // len(options.tables) % len(queries)], WAYS[way], share, rng)
                if found is None:
                    continue
                low, high = found.interval
                line.losses.append(found.log_loss)
                line.aucs += [] if found.auc is None else [found.auc.difference]
                line.outside += not low <= 0 <= high
                line.above += found.above
        outside = Rate(line.outside, options.runs) if share == 0 else "-"
        above = Rate(line.above, options.runs) if share == 0 else f"{line.above / options.runs:.0%}"
        means = [f"{fmean(line.losses):+.3f} nats", f"{fmean(line.aucs):+.3f}"]
        written.rows.append([way, f"{share:g}", *means, outside, above])
        print(written.lines[-1], flush=True)
    written.notes = [f"Tables: {', '.join(options.tables)}, 100 rows each. {options.runs:,} runs a line."]
    if options.docs:
        written.put("scored-share")


if __name__ == "__main__":
    main()
