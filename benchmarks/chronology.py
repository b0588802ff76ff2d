"""How often dates tell something in made worlds: `python -m benchmarks.chronology`.

A world has tables with release dates and LLMs with training cut-offs, as in Li and Flanigan (2024), tables 1 and 2, and
accuracies on a hundred rows each. Tables differ in how hard they are, which all LLMs feel, and later LLMs are better.
In some worlds the LLMs have read tables that came out before their cut-off, in others later tables are harder. How
often do our test of dates and the tests of the paper find a difference, and what says the control of difficulty?
Prints Markdown; with --docs it also takes the place of its table in the docs.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.rate_tables import Rate, RateTable
from tabcontam.extensions.dates.date_exchange import exchanged_p_values, without
from tabcontam.extensions.dates.thresholds import DATE_EXCHANGES
from tabcontam.verdicts.dating import BEFORE

LEVEL, SIGN_LEVEL = 0.01, 0.05  # the second is that of the paper's sign test
WORLDS = 10_000
MORE = 4  # times as many where nothing was read: how often it errs is the smaller rate
TOGETHER = 250  # worlds that share the ways in which dates are exchanged
ROWS = 100  # that an LLM is asked about a table
YEARS = (2009, 2011, 2011, 2013, 2015, 2018, 2019, 2019, 2019, 2021, 2021, 2021, 2022, 2023, 2023, 2023)
CUTOFFS = (2019, 2019, 2019, 2020, 2021, 2021, 2021, 2021, 2022, 2022, 2022, 2022)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """What is true: how many of the older pairs were `read`, by how much their accuracy `gains`, and whether later
    tables are harder (`drifts`: by how much of what can be learned at all, from the first to the last)."""

    read: float = 0.0
    gains: float = 0.0
    drifts: float = 0.0


KINDS: Mapping[str, World] = {
    "nothing was read": World(),
    "all older tables were read, for 10 points": World(1.0, 0.10),
    "all older tables were read, for 20 points": World(1.0, 0.20),
    "half of the older tables were read, for 20 points": World(0.5, 0.20),
    "nothing was read, and later tables are harder": World(drifts=0.8),
    "all older tables were read, for 20 points, and later tables are harder": World(1.0, 0.20, 0.8),
}
FINDS = ("dates", "dates, without difficulty", "difficulty explains it", "above", "significant", "signs")
HEADS = (
    "dates exchanged",
    "dates exchanged, difficulty removed",
    "“difficulty explains it”",
    "Mann-Whitney, above",
    "Mann-Whitney, significant",
    "sign test (5 %)",
)


def sides() -> NDArray[np.int64]:
    """Before (1) or after (-1), a line an LLM and a column a table; a table of the cut-off's year counts as before, as
    in the paper."""
    return np.where(np.asarray(YEARS) <= np.asarray(CUTOFFS)[:, None], BEFORE, -BEFORE)


def made(world: World, worlds: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Accuracies of many worlds (world, LLM, table), the majority's (world, 1, table), and the lift of a baseline that
    learns the task from many rows (world, table)."""
    tables, llms = len(YEARS), len(CUTOFFS)
    majority = rng.uniform(0.4, 0.7, (worlds, 1, tables))
    learned = rng.uniform(0.0, 1.0, (worlds, tables)) * (0.95 - majority[:, 0])
    if world.drifts:
        easy = np.linspace(1.0, 1.0 - world.drifts, tables)
        learned = easy * (0.5 + 0.5 * rng.uniform(size=learned.shape)) * (0.95 - majority[:, 0])
    skill = np.linspace(0.0, 0.9, llms) + rng.normal(0.0, 0.1, (worlds, llms))  # later LLMs are better
    taste = rng.normal(0.0, 0.03, (worlds, llms, tables))  # what each LLM can do about each table
    read = (sides() == BEFORE) & (rng.uniform(size=(worlds, 1, tables)) < world.read)
    share = np.clip(majority + skill[..., None] * learned[:, None] + taste + world.gains * read, 0.01, 0.99)
    baseline = learned + rng.normal(0.0, 0.02, learned.shape)
    return rng.binomial(ROWS, share) / ROWS, majority, baseline


def found(world: World, worlds: int, seed: int = 0, draws: int = DATE_EXCHANGES) -> dict[str, int]:
    """In how many worlds each test finds that older tables are classified otherwise than later ones."""
    counts = dict.fromkeys(FINDS, 0)
    for number, first in enumerate(range(0, worlds, TOGETHER)):
        rng = np.random.default_rng([seed, number])
        accuracy, majority, baseline = made(world, min(TOGETHER, worlds - first), rng)
        lifts = accuracy - majority
        dates = exchanged_p_values(lifts, sides(), seed + number, draws) <= LEVEL
        left = exchanged_p_values(without(lifts, baseline[:, None]), sides(), seed + number, draws) <= LEVEL
        above, significant, signs = published(accuracy, majority)
        hits = (dates, dates & left, dates & ~left, above <= LEVEL, significant <= LEVEL, signs <= SIGN_LEVEL)
        for name, own in zip(FINDS, hits, strict=True):
            counts[name] += int(own.sum())
    return counts


def published(accuracy: Floats, majority: Floats) -> tuple[Floats, Floats, Floats]:
    """The p-values of the paper's tests in each world: Mann and Whitney's of the pairs above the majority, and of those
    significantly so by the t-test at 99%, and the paired sign test over LLMs."""
    from scipy.stats import binomtest, mannwhitneyu, t

    error = np.sqrt(np.maximum(accuracy * (1 - accuracy), 1e-9) / (ROWS - 1))
    above = (accuracy > majority).astype(float)
    significant = ((accuracy - majority) / error > t.ppf(1 - LEVEL, ROWS - 1)).astype(float)
    before = sides() == BEFORE

    def u_test(values: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            p_values = mannwhitneyu(values[:, before], values[:, ~before], axis=1, method="asymptotic").pvalue
        return np.nan_to_num(np.asarray(p_values), nan=1.0)

    shares = [(above * own).sum(axis=2) / own.sum(axis=1) for own in (before, ~before)]
    more, less = (shares[0] > shares[1]).sum(axis=1), (shares[0] < shares[1]).sum(axis=1)
    known = {(a, b): float(binomtest(a, a + b).pvalue) if a + b else 1.0 for a, b in set(zip(more, less, strict=True))}
    signs = np.array([known[pair] for pair in zip(more, less, strict=True)])
    return u_test(above), u_test(significant), signs


def table(worlds: int) -> RateTable:
    """Return in how many of so many worlds each test finds a difference."""
    made = RateTable(["worlds in which", *HEADS])
    for name, world in KINDS.items():
        many = worlds if world.read else MORE * worlds
        counts = found(world, many)
        made.rows.append([name, *(Rate(counts[one], many) for one in FINDS)])
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    command.add_argument("--worlds", type=int, default=WORLDS)
    command.add_argument("--docs", action="store_true", help="put it into the docs, too")
    options = command.parse_args(arguments)
    began = time.monotonic()
    made = table(options.worlds)
    print("\n".join(made.lines), f"\n{time.monotonic() - began:.0f} s")
    if options.docs:
        made.put("chronology")


if __name__ == "__main__":
    main()
