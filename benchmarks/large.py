"""Seconds and memory of large tables: `python -m benchmarks.large [ROWS] [--read csv,gz,parquet]`.

It makes a CSV file of twelve columns (an identifier, whole numbers, decimals, categories, texts, dates and a target)
and 100,000 rows, or as many as are wanted, asks a simulated memoriser and both controls about it through the command,
in a process of its own, and prints the seconds that it took, those of the processors, and the most memory that one
process held. Nothing that was found out about the table before is used: the run has a cache folder of its own.

With `--read` a table of twenty columns, 200 bytes a row, is written in each of these formats and read, each in a
process of its own, and nobody is asked; beside it stands what it costs to split the same CSV file into records with
Python's csv, and with pyarrow into columns. Ten million rows are 2 GB of text. Needs the extra `parquet`.
"""

import argparse
import csv
import gzip
import os
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.processes import used_by

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


def write_wide(path: Path, rows: int, form: str, seed: int = 1) -> None:
    """A table of twenty columns as CSV, packed CSV or Parquet, by half a million rows at a time."""
    import numpy as np
    import pyarrow
    import pyarrow.compute
    import pyarrow.csv
    import pyarrow.parquet

    rng, words = np.random.default_rng(seed), np.array(WORDS)
    with gzip.open(path, "wb", compresslevel=1) if form == "gz" else path.open("wb") as file:
        writer = None
        for start in range(0, rows, 500_000):
            count = min(500_000, rows - start)
            columns: dict[str, Any] = {"id": np.arange(start, start + count) + 100_000}
            columns |= {
                f"whole{k}": rng.integers(0, most, count) for k, most in enumerate([90, 300, 1000, 10**6, 10**9])
            }
            columns |= {f"decimal{k}": np.round(rng.normal(0, 10.0**k, count), 5 - k) for k in range(5)}
            columns |= {f"category{k}": words[rng.integers(0, most, count)] for k, most in enumerate([2, 4, 8, 12])}
            columns["date"] = np.datetime64("2015-01-01") + rng.integers(0, 3000, count)
            table = pyarrow.table(columns)
            for name, length in (("comment", 8), ("address", 5), ("code", 2)):
                parts = [pyarrow.array(words[rng.integers(0, len(words), count)]) for _ in range(length)]
                text = pyarrow.compute.binary_join_element_wise(*parts, " ")
                table = table.append_column(name, text)
            table = table.append_column("target", pyarrow.array(np.array(["yes", "no"])[rng.integers(0, 2, count)]))
            if writer is None and form == "parquet":
                writer = pyarrow.parquet.ParquetWriter(file, table.schema)
            elif writer is None:
                options = pyarrow.csv.WriteOptions(quoting_style="needed")
                writer = pyarrow.csv.CSVWriter(file, table.schema, write_options=options)
            writer.write_table(table)
        if writer is not None:
            writer.close()


READERS = {
    "tabcontam": "from tabcontam.tables.table import load_table; load_table({path!r}, target='target')",
    "csv": "import csv; any(not record for record in csv.reader(open({path!r}, newline='')))",
    "pyarrow": "import pyarrow.csv\nfor batch in pyarrow.csv.open_csv({path!r}): pass",
}


def timed(command: list[str], env: dict[str, str] | None = None) -> str:
    """What a process costs, in words."""
    used = used_by(command, env)
    return f"{used.seconds:.1f} s, {used.processors:.1f} s of the processors, at most {used.mb:,.0f} MB"


def read(rows: int, forms: list[str], folder: Path) -> None:
    """How long a table takes to be read, in each of these formats."""
    for form in forms:
        path = folder / {"gz": "wide.csv.gz"}.get(form, f"wide.{form}")
        write_wide(path, rows, form)
        for reader in READERS if form == "csv" else ["tabcontam"]:
            cost = timed([sys.executable, "-c", READERS[reader].format(path=str(path))])
            print(f"{rows:,} rows as {form}, {path.stat().st_size / 1e6:,.0f} MB, by {reader}: {cost}", flush=True)
        path.unlink()


def main() -> None:
    """One run, from the command to its report; or tables that are read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=100_000, metavar="ROWS")
    parser.add_argument("--read", metavar="FORMATS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.read:
            read(options.rows, options.read.split(","), folder)
            return
        write_table(folder / "big.csv", options.rows)
        command = [sys.executable, "-m", "tabcontam", "run", "--llm", "simulated:memoriser:0.5", "--target", "churned"]
        command += ["--dataset", str(folder / "big.csv"), "--out", str(folder / "out")]
        cost = timed(command, os.environ | {"XDG_CACHE_HOME": str(folder / "cache")})
        print(f"{options.rows:,} rows: {cost} in a process")


if __name__ == "__main__":
    main()
