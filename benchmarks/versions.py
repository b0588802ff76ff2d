"""Our versions of a table beside those of tabmemcheck 0.1.6: `python -m benchmarks.versions [--docs]`.

The package has recipes by hand for the five files that it ships, ours follow from the cells. Of each version of both
are printed: how many of its rows stand among those that it was made of, how many features a row has in common with the
nearest of these, the median over features of numbers of how far they are moved on average, relative to the number, and
how often cross-validated gradient boosting is right on it. With --docs the table goes into the docs. The package
runs in an environment of its own, as in `benchmarks.memcheck`. Needs TABCONTAM_DATA.
"""

import argparse
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean, median
from time import perf_counter

from benchmarks.memcheck import environment
from benchmarks.rate_tables import RateTable
from tabcontam.errors import Skip
from tabcontam.extensions.dates.table_difficulty import supervised
from tabcontam.tables.dataset_cards import ClassificationQuestion
from tabcontam.tables.table import Cell, Table, load_table
from tabcontam.tables.table_contents import is_number
from tabcontam.twins.twin_making import BORDT, unseen
from tests.made_tables import made_table

ROWS = 1000  # of a version that are looked at
SEED = 0
NEAR = 100  # of them, of which the nearest row of the file is looked for
FILES = {  # by our card the file and the recipe that the package ships
    "iris": ("iris.csv", "iris.yaml"),
    "wine": ("uci-wine.csv", "wine.yaml"),
    "diabetes": ("openml-diabetes.csv", "openml-diabetes.yaml"),
    "adult": ("adult-train.csv", "adult.yaml"),
    "housing": ("california-housing.csv", "california-housing.yaml"),
}
MADE = """
import importlib.resources, json, sys, types, warnings
sys.modules["xgboost"] = types.SimpleNamespace(XGBRegressor=None, XGBClassifier=None)
warnings.simplefilter("ignore")
from tabmemcheck.datasets.load import load_dataset
file, recipe = sys.argv[1:]
path = next(str(p) for p in importlib.resources.files("tabmemcheck").rglob(file))
made = {}
for kind in ("original", "perturbed", "task", "statistical"):
    frame = load_dataset(path, recipe, kind, seed=0)
    cells = [["" if cell != cell else str(cell) for cell in row] for row in frame.itertuples(index=False)]
    made[kind] = [list(map(str, frame.columns)), cells]
json.dump(made, sys.stdout)
"""
Rows = Sequence[Sequence[Cell]]


def theirs(python: Path, file: str, recipe: str) -> dict[str, Table]:
    """The package's four versions of a file that it ships, the target last."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(python), "-c", MADE, file, recipe]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=clean)
    text = next(line for line in reversed(done.stdout.splitlines()) if line.startswith("{"))
    return {kind: _asked(columns, cells, f"{file} {kind}") for kind, (columns, cells) in json.loads(text).items()}


def _asked(columns: Sequence[str], cells: Rows, name: str) -> Table:
    """Rows as a table whose last column is asked: by its values, or whether it is above the median."""
    made = made_table(columns, [tuple(cell or None for cell in row) for row in cells], name)
    target = columns[-1]
    values = [str(row[-1]) for row in cells]
    if len(set(values)) > 10:
        middle = median(list(map(float, values)))
        label = ["above" if float(value) > middle else "below" for value in values]
        made = replace(made, rows=tuple((*row[:-1], one) for row, one in zip(made.rows, label, strict=True)))
        values = label
    return replace(
        made, target=target, question=ClassificationQuestion("Which?", {value: value for value in sorted(set(values))})
    )


def measures(table: Table, original: Rows, rows: Rows) -> list[str]:
    """What both are compared in, of a version's rows beside the rows they were made of."""
    features = [list(row[:-1]) for row in original]
    named = set(map(tuple, features))
    inside = fmean(tuple(row[:-1]) in named for row in rows)
    some = Random(SEED).sample(range(len(rows)), min(NEAR, len(rows)))
    same = fmean(max(sum(map(_equal, rows[place], one)) for one in features) for place in some)
    moved = []
    for place in range(len(features[0])):
        both = [(own[place], other[place]) for own, other in zip(original, rows, strict=True)]
        far = [
            abs(float(str(other)) - float(str(own))) / abs(float(str(own)))
            for own, other in both
            if own and other and is_number(own) and is_number(other) and float(own)
        ]
        moved += [fmean(far)] if far else []
    accuracy = supervised(table)
    right = "-" if accuracy is None else f"{accuracy.accuracy:.2f}"
    return [f"{inside:.1%}", f"{same:.1f} of {len(features[0])}", f"{median(moved) if moved else 0:.1%}", right]


def _equal(one: Cell, other: Cell) -> bool:
    return one == other or bool(one and other and is_number(one) and is_number(other) and float(one) == float(other))


def lines(python: Path) -> RateTable:
    """Return the table."""
    measured = ["rows of the table", "features in common", "numbers moved by", "gradient boosting"]
    written = RateTable(["table", "version", "made by", *measured])
    seconds = []
    for name, (file, recipe) in FILES.items():
        table, peer = load_table(name), theirs(python, file, recipe)
        for kind in BORDT:
            short = kind.kind.removeprefix("bordt_")
            of, rows = peer["original"].rows, peer[short].rows
            some = Random(SEED).sample(range(len(rows)), min(ROWS, len(rows)))
            kept = measures(peer[short], [of[place] for place in some], [rows[place] for place in some])
            written.rows.append([name, short, "tabmemcheck", *kept])
            began = perf_counter()
            try:
                twin = unseen(table, kind.kind)
            except Skip as skip:
                written.rows.append([name, short, "tabcontam", f"refused: {skip}", "", "", ""])
                continue
            seconds.append(perf_counter() - began)
            features = sorted(set(table.columns) - {table.target})
            places = [table.columns.index(feature) for feature in features]
            source = [(*(table.rows[row][place] for place in places), None) for row in twin.originals]
            made = [(*row, None) for row in twin.rows]
            written.rows.append([name, short, "tabcontam", *measures(twin.table(table), source, made)])
    print(f"a version took {max(seconds):.1f} s at most")
    return written


def main() -> None:
    """Make and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, help="of an environment that has the package")
    parser.add_argument("--docs", action="store_true")
    options = parser.parse_args()
    written = lines(options.python or environment())
    print(*written.lines, sep="\n")
    if options.docs:
        written.put("versions")


if __name__ == "__main__":
    main()
