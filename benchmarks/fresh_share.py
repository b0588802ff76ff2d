"""Is memory's share by fresh rows right? `python -m benchmarks.fresh_share [--runs N] [--docs] [TABLE…]`

As `memory_share`, with rows that nobody can have read in place of twins, as `run --fresh FILE` has them. A run takes
some rows of a table away, which are the fresh ones, and asks about the others and about these, through the real
queries, reading and weighing. The answerer recalls the labels of a share m of the rows that stayed. Skills are those of
`memory_share`: `coin`, `linear` and `nearest`. Fresh rows are

- `alike`: drawn as the others are;
- `harder`, `easier`: drawn the oftener, the less (the more) sure logistic regression is of their label, as where the
  world has drifted since. Whoever learned from such rows is worse, or better, on them, and recalls nothing for that;
  the coin is as good on all, and so seems to recall rows where models gain on the fresh ones.

What models that learned say of a row is found once a table, out of fold, and dealt out with its rows. Prints Markdown,
which with --docs takes the place of its table in the docs. Most tables need TABCONTAM_DATA.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from statistics import fmean

import numpy as np

from benchmarks.memory_share import COIN, IS, TEST, Run, nearest, share_table
from tabcontam.baseline.stored_facts import one_thread
from tabcontam.errors import Skip, UsageError
from tabcontam.evidence.base import Query, Reply, ReplyState, Trial
from tabcontam.evidence.score.shares import is_fresh
from tabcontam.evidence.thresholds import MEMORY_SHARE_LEVEL
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.table import Table, load_table
from tabcontam.twins.label_baseline import BOOSTING, LINEAR, FreshPredictions, models
from tabcontam.twins.twin_sample import sample

RUNS = 1000  # a line
SHARES = (0.0, 0.1, 0.25, 0.5)
ALIKE, HARDER, EASIER = "alike", "harder", "easier"
DRIFTS = {
    ALIKE: 0.0,
    HARDER: 2.0,
    EASIER: -2.0,
}  # by which the log of a row's chance rises from the surest to the least
MOST = 100  # fresh rows of a run
FEWEST = 120  # rows of a table


@dataclass(frozen=True)
class Pool:
    """Rows of a table, what models say of each, on which each skill is right, and how unsure they are: from 0 to 1."""

    table: Table
    rows: tuple[tuple[str | None, ...], ...]
    said: tuple[tuple[str, ...], ...]
    right: Mapping[str, tuple[bool, ...]]
    unsure: tuple[float, ...]


def pool(table: Table) -> Pool:
    """Every row that may be asked about. Raises `Skip` where models cannot learn from the table."""
    with one_thread():
        found = sample(table)
        rows = list(range(found.twins))
        if len(rows) < FEWEST:
            raise Skip(f"{len(rows)} rows, and {FEWEST} are needed")
        cells, parts = [found.rows[row] for row in rows], found.parts("fresh")
        chances = [models(found, kind, parts).chances(cells, rows) for kind in (BOOSTING, LINEAR)]
        skilled = {
            LINEAR: models(found, LINEAR, found.parts("benchmark")).chances(cells, rows).argmax(axis=1),
            "nearest": nearest(found, cells, rows),
        }
        sure = models(found, LINEAR, found.parts("drift")).chances(cells, rows).max(axis=1)
    names = np.array(found.classes, dtype=object)
    said = np.column_stack([names[one.argmax(axis=1)] for one in chances])
    return Pool(
        table,
        tuple(table.rows[found.places[row]] for row in rows),
        tuple(map(tuple, said.tolist())),
        {skill: tuple((codes == found.codes[rows]).tolist()) for skill, codes in skilled.items()},
        tuple((np.argsort(np.argsort(-sure)) / (len(rows) - 1)).tolist()),
    )


def dealt(own: Pool, drift: float, rng: Random) -> tuple[list[int], list[int]]:
    """The places of rows that stay, and of fresh ones, of which each is as likely as its drift says."""
    chosen = sorted(
        range(len(own.rows)), key=lambda place: drift * own.unsure[place] - np.log(-np.log(rng.random())), reverse=True
    )
    fresh = chosen[: min(MOST, len(chosen) // 3)]
    return sorted(set(range(len(own.rows))) - set(fresh)), fresh


def run(own: Pool, skill: str, share: float, drift: float, rng: Random) -> Run:
    """One run of one who recalls the label of each row that stayed with this chance."""
    stay, fresh = dealt(own, drift, rng)
    table = replace(
        own.table,
        rows=tuple(own.rows[place] for place in stay),
        fresh=tuple(own.rows[place] for place in fresh),
        known=(),
        withheld=(),
        drawn_cells=(),
    )
    said = FreshPredictions(
        {number: own.said[place] for number, place in enumerate(stay)}, tuple(own.said[one] for one in fresh)
    )
    cached_fact(table, "fresh rows", lambda: said)
    accuracy = rng.uniform(0.6, 0.9) if skill == COIN else fmean(own.right[skill][place] for place in stay)

    def is_right(query: Query) -> bool:
        if not is_fresh(query) and rng.random() < share:
            return True
        place = fresh[_place(query)] if is_fresh(query) else stay[query.rows[-1]]
        return rng.random() < accuracy if skill == COIN else own.right[skill][place]

    trials = []
    for query in TEST.queries(table, IS, rng):
        truth = str(query.expected[0])
        answer = truth if is_right(query) else next(one for one in query.asked if one != truth)
        reply = Reply(answer, ReplyState.OK)
        trials.append(Trial(query, reply, TEST.read(query, reply, IS)))
    return Run(own.table.name, TEST.weigh(trials, MEMORY_SHARE_LEVEL), share * (1 - accuracy))


def _place(query: Query) -> int:
    """Which of the fresh rows is asked about: the last word of what writes its prompt."""
    assert isinstance(query.write, partial)
    return int(query.write.args[-1])


def pools(names: Sequence[str]) -> tuple[dict[str, Pool], list[str]]:
    """The tables, and why others are left out."""
    found, left = {}, []
    for name in names or sorted(load_cards()):
        try:
            table = load_table(name)
            if table.question is not None and table.text is None:
                found[name] = pool(table)
        except (Skip, UsageError) as error:
            left.append(f"{name}: {error}")
    return found, left


def cases() -> Iterator[tuple[str, str, float]]:
    """How fresh rows are drawn, the skill, and the share of labels that is recalled."""
    for drift in DRIFTS:
        for skill in (COIN, LINEAR, "nearest"):
            for share in SHARES if drift == ALIKE else (0.0, 0.25):
                yield drift, skill, share


def main() -> None:
    """Print, and with --docs write, what the answerers come to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="TABLE")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--docs", action="store_true")
    given = parser.parse_args()
    by_name, left = pools(given.names)
    order = list(by_name)
    print(f"tables: {', '.join(order)}", flush=True)
    found: dict[tuple[str, float], list[Run]] = {}
    for drift, skill, share in cases():
        own = found.setdefault((f"{skill}, fresh rows {drift}", share), [])
        for number in range(given.runs):
            rng = Random(f"{drift} {skill} {share} {number}")
            own.append(run(by_name[order[number % len(order)]], skill, share, DRIFTS[drift], rng))
        print(share_table({(f"{skill}, fresh rows {drift}", share): own}).lines[-1], flush=True)
    made = share_table(found)
    made.notes = [f"Tables: {', '.join(order)}. {given.runs:,} runs a line."]
    made.notes += [f"Left out: {'; '.join(left)}."] if left else []
    print(*made.notes, sep="\n")
    if given.docs:
        made.put("memory-share-by-fresh-rows")


if __name__ == "__main__":
    main()
