"""The standard ladder: `python -m benchmarks.ladder OUT [--seeds N] [--arms rows|tables] [TABLE…]`.

For each seed `expose` trains a model of a million parameters on six tables (344 to 918 rows), whose rows are dealt into
arms of 0, 1, 4, 16 and 64 copies, and `ladder` asks it about these arms and about tables that it never read, through
the command line. Printed are what `ladder` says of all seeds together and how long each seed took. What is there in OUT
is not done again.

A seed reads 4.6 million tokens, which take 12 minutes at the 6,200 tokens a second of one core that is free; the aim is
at most 20. The order of rows is asked of whole tables alone: `--arms tables` makes five models a seed, in a Latin
square that has every table whole at every number of copies. They read 23 million tokens together, an hour a seed;
tables cut to 300 rows take less than half of that.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

COPIES = "0,1,4,16,64"
TABLES = ("penguins", "diabetes", "blood", "heart", "titanic", "thyroid")
UNREAD = ("iris", "wine", "car")
TABCONTAM = (sys.executable, "-m", "tabcontam")


def named(tables: list[str]) -> list[str]:
    """The options that name tables."""
    return [word for table in tables for word in ("--dataset", table)]


def main() -> None:
    """Train, ask, and print the dose-response of all seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("tables", nargs="*", default=list(TABLES), metavar="TABLE")
    parser.add_argument("--unread", action="append", default=[], metavar="TABLE")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--arms", choices=("rows", "tables"), default="rows")
    parser.add_argument("-k", dest="tests", default="surrogate_rank or digits or row_order or feature_completion")
    options = parser.parse_args()
    folders = [options.out / f"seed-{seed}" for seed in range(options.seeds)]
    made = ["--copies", COPIES, "--arms", options.arms, "--rendering", "csv"]
    for seed, folder in enumerate(folders):
        began = time.perf_counter()
        what = [*TABCONTAM, "expose", *named(options.tables), *made, "--seed", str(seed), "--out", str(folder)]
        subprocess.run(what, check=True, stdout=subprocess.DEVNULL)
        print(f"seed {seed}: trained in {time.perf_counter() - began:.0f} s", flush=True)
    began, asked = time.perf_counter(), [*options.tables, *(options.unread or UNREAD)]
    climbed = [*TABCONTAM, "ladder", *map(str, folders), *named(asked), "-k", options.tests, "--out", str(options.out)]
    subprocess.run(climbed, check=True)
    print(f"asked in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
