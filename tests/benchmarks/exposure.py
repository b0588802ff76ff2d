"""What copies of rows leave in a model: `python -m tests.benchmarks.exposure [--seeds N] TABLE…`.

For each seed one small model is trained by `expose`, in which the rows of each table are dealt into arms of 0, 1, 4, 16
and 64 copies, and `surrogate_rank` is asked about every row through the command line. Printed are, for each table and
arm, the mean place of the rows' own cells and the p-value of the arm's rows alone; then the share of (table, seed) that
is found at each number of copies, the p-values at 0 copies, and how well rows are ranked by their copies.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import fmean, median
from typing import Any

from tabcontam.statistics.exact import clopper_pearson, spearman
from tabcontam.statistics.ranks import rank_sum_tail
from tabcontam.subjects.known.exposed.card import read_card
from tabcontam.tables.table import load_table

COPIES = (0, 1, 4, 16, 64)
TABLES = ("penguins", "tips", "iris", "wine")
LEVEL = 0.01
TABCONTAM = (sys.executable, "-m", "tabcontam")
Arms = dict[int, list[tuple[int, int]]]  # by copies the ranks of the rows, each with of how many


def arms_of(folder: Path, model: Path, name: str) -> Arms:
    """The ranks of a run's rows by the copies that the model has read of them."""
    table, card = load_table(name), read_card(model)
    assert card is not None
    found: Arms = defaultdict(list)
    for text in (folder / "trials.jsonl").read_text("utf-8").splitlines():
        line: dict[str, Any] = json.loads(text)
        if line["llm"].startswith("hf:") and line["parsed"]:
            _, rank, _, of = line["parsed"].split()
            copies = card.copies(table, line["row"])
            assert copies is not None
            found[round(copies)].append((int(rank), int(of)))
    return found


def tail(ranks: list[tuple[int, int]]) -> float:
    """The p-value of some rows' ranks."""
    return rank_sum_tail([rank for rank, _ in ranks], [of for _, of in ranks])


def measured(seed: int, tables: list[str], work: Path) -> dict[str, Arms]:
    """The arms of each table in one model."""
    out, began = work / f"models-{seed}", time.perf_counter()
    named = [word for name in tables for word in ("--dataset", name)]
    copies = ",".join(map(str, COPIES))
    made = [*TABCONTAM, "expose", *named, "--copies", copies, "--rendering", "csv", "--seed", str(seed)]
    subprocess.run([*made, "--out", str(out)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    trained, model, found = time.perf_counter() - began, out / "model-0", {}
    for name in tables:
        run = work / f"run-{seed}-{name}"
        ask = [*TABCONTAM, "run", "--llm", f"hf:{model}", "--dataset", name, "-k", "surrogate_rank", "--no-controls"]
        began = time.perf_counter()
        subprocess.run([*ask, "--serializer", "csv", "--out", str(run)], check=True, capture_output=True)
        asked = time.perf_counter() - began
        found[name] = arms_of(run, model, name)
        shown = ", ".join(
            f"{copies}: {fmean((rank - 0.5) / of for rank, of in ranks):.2f} (p {tail(ranks):.2g}, {len(ranks)} rows)"
            for copies, ranks in sorted(found[name].items())
        )
        print(f"seed {seed}, {name} ({asked:.0f} s): {shown}", flush=True)
    print(f"seed {seed}: trained in {trained:.0f} s", flush=True)
    return found


def main() -> None:
    """Print the dose-response of `surrogate_rank`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES), metavar="TABLE")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    every: list[Arms] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("XDG_CACHE_HOME", folder)
        for seed in range(options.seeds):
            every += measured(seed, options.tables, Path(folder)).values()
    for copies in COPIES:
        tails = [tail(arms[copies]) for arms in every if arms.get(copies)]
        found = sum(one <= LEVEL for one in tails)
        low, high = clopper_pearson(found, len(tails))
        print(f"{copies} copies: found in {found} of {len(tails)} ({low:.0%} to {high:.0%}) at p <= {LEVEL}")
    print("p-values at 0 copies:", " ".join(f"{one:.2g}" for one in sorted(tail(arms[0]) for arms in every)))
    ranked = []
    for arms in every:
        pairs = [(copies, -rank / of) for copies, ranks in arms.items() for rank, of in ranks]
        correlated = spearman([copies for copies, _ in pairs], [place for _, place in pairs])
        ranked += [correlated.value] if correlated else []
    print(f"Spearman of a row's copies and its place: {median(ranked):.2f} (median)")


if __name__ == "__main__":
    main()
