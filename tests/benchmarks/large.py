"""Seconds and memory of a run on a large table: `python -m tests.benchmarks.large [ROWS]`, by default 100,000.

It makes a CSV file of twelve columns (an identifier, whole numbers, decimals, categories, texts, dates and a target),
asks a simulated memoriser and both controls about it through the command, in a process of its own, and prints the
seconds that it took, those of the processors, and the most memory that one process held. Nothing that was found out
about the table before is used: the run has a cache folder of its own.
"""

import csv
import os
import resource
import subprocess
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path
from random import Random
from time import perf_counter

WORDS = ["quiet", "river", "stone", "market", "lamp", "green", "paper", "early", "window", "cloud", "bread", "letter"]
COLUMNS = [
    *("id", "age", "income", "region", "comment", "opened", "score", "visits", "code", "plan", "balance"),
    "churned",
]


def write_table(path: Path, rows: int, seed: int = 1) -> None:
    """A CSV file of so many rows."""
    rng = Random(seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number in range(rows):
            writer.writerow(
                [
                    100_000 + number,
                    rng.randint(18, 90),
                    f"{rng.lognormvariate(10, 0.5):.2f}",
                    rng.choice(["north", "south", "east", "west"]),
                    " ".join(rng.choices(WORDS, k=4)),
                    date(2015, 1, 1) + timedelta(rng.randint(0, 3000)),
                    f"{rng.gauss(0, 1):.4f}",
                    rng.randint(0, 300),
                    f"{rng.choice('ABCDEF')}{rng.randint(100, 999)}",
                    rng.choice(["basic", "plus", "gold"]),
                    f"{rng.uniform(-500, 5000):.2f}",
                    rng.choice(["yes", "no"]),
                ]
            )


def main() -> None:
    """One run, from the command to its report."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.csv"
        write_table(path, rows)
        command = [sys.executable, "-m", "tabcontam", "run", "--llm", "simulated:memoriser:0.5", "--dataset", str(path)]
        out, own = str(Path(folder) / "out"), os.environ | {"XDG_CACHE_HOME": str(Path(folder) / "cache")}
        start = perf_counter()
        subprocess.run([*command, "--target", "churned", "--out", out], check=True, env=own)
        seconds, used = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 1024
    processors, peak = used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6
    print(f"{rows:,} rows: {seconds:.1f} s, {processors:.1f} s of the processors, at most {peak:,.0f} MB in a process")


if __name__ == "__main__":
    main()
