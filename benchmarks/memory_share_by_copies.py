"""Does memory's share rise with copies? `python -m benchmarks.memory_share_by_copies OUT [--seeds N] [--docs]`

For each seed `expose` makes four models of a million parameters in a Latin square: each of four tables, cut to its
first 300 rows, is read whole 0, 4, 16 and 64 times by one of them, as CSV with the class last. `run -k memory_share`
then asks every model about every table through the command line, in a prompt set that goes on as the file does: a row
of each class, and the asked row up to its class. Prints Markdown: for each number of copies the accuracy on rows and on
twins, the mean share over tables and seeds with a 95 % interval of that mean, how many of the single intervals hold 0,
and how many shares are said to be above 0.
With --docs it takes the place of its table in the docs. What is there in OUT is not done again. A seed takes
about half an hour of one core. Needs TABCONTAM_DATA and the extra `hf`.
"""

import argparse
import csv
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from scipy import special

from benchmarks.rate_tables import RateTable
from tabcontam.statistics.correlations import spearman
from tabcontam.tables.table import load_table

TABCONTAM = (sys.executable, "-m", "tabcontam")
TABLES, ROWS = ("penguins", "wine", "diabetes", "heart"), 300
COPIES = (0, 4, 16, 64)
PROMPTS = Path(__file__).parents[1] / "prompts" / "default.toml"
GOES_ON = """[classification]
question = "{question} {choice}\\n\\n{rows}"
completion = "{rows}"
row = "{row}\\nAnswer: {answer}"
completion_row = "{question}\\n{row},{answer}"
two = "Answer {answers}."
more = "Answer with one of: {answers}."
"""


def cut(name: str, folder: Path) -> tuple[Path, str]:
    """A table's first rows as a file whose last column is the target, and the target's name."""
    table, path = load_table(name), folder / f"{name}_{ROWS}.csv"
    target = table.target or ""
    columns = [column for column in table.columns if column != target] + [target]
    places = [table.columns.index(column) for column in columns]
    with path.open("w", newline="") as file:
        written = csv.writer(file)
        written.writerow(columns)
        written.writerows([["" if row[place] is None else row[place] for place in places] for row in table.rows[:ROWS]])
    return path, target


def prompts(folder: Path) -> Path:
    """The default set, but for a classification that goes on as a file of rows does."""
    sections = PROMPTS.read_text("utf-8").split("\n[")
    others = [section for section in sections if not section.startswith("classification]")]
    path = folder / "goes-on.toml"
    text = "\n[".join(others).replace('name = "default"', 'name = "goes-on"')
    path.write_text(f"{text}\n{GOES_ON}", "utf-8")
    return path


def shares(out: Path, seeds: int) -> dict[int, list[dict[str, Any]]]:
    """What was found at each number of copies: one `memory` for each table and seed."""
    out.mkdir(parents=True, exist_ok=True)
    worded, files = prompts(out), [cut(name, out) for name in TABLES]
    found = defaultdict(list)
    for seed in range(seeds):
        folder = out / f"seed-{seed}"
        named = [word for file, _ in files for word in ("--dataset", str(file))]
        made = ["--copies", ",".join(map(str, COPIES)), "--arms", "tables", "--rendering", "csv", "--seed", str(seed)]
        subprocess.run([*TABCONTAM, "expose", *named, *made, "--out", str(folder)], check=True)
        for model in range(len(COPIES)):
            for place, (file, target) in enumerate(files):
                kept = folder / f"asked-{model}-{file.stem}"
                asked = ["--llm", f"hf:{folder}/model-{model}", "--dataset", str(file), "--target", target]
                how = ["-k", "memory_share", "--rows", str(ROWS), "--serializer", "csv", "--prompts", str(worded)]
                subprocess.run([*TABCONTAM, "run", *asked, *how, "--no-controls", "-q", "--out", str(kept)], check=True)
                (cell,) = json.loads((kept / "results.json").read_text("utf-8"))["results"]
                found[COPIES[(place + model) % len(COPIES)]].append({"file": file.stem, "seed": seed, **cell["memory"]})
    return found


def mean(shares: Sequence[float]) -> str:
    """Their mean, and Student's interval of it."""
    middle = fmean(shares)
    reach = float(special.stdtrit(len(shares) - 1, 0.975)) * stdev(shares) / len(shares) ** 0.5
    return f"{middle:+.3f} ({middle - reach:+.3f} to {middle + reach:+.3f})"


def lines(found: dict[int, list[dict[str, Any]]], seeds: int) -> RateTable:
    """Return the table, with the rank correlation of copies and shares."""
    means = ["accuracy on rows", "on unseen twins", "mean share (95 % interval)"]
    table = RateTable(["copies", *means, "single intervals that hold 0", "reported above 0"])
    for copies in COPIES:
        cells = found[copies]
        own, twins = (fmean(cell[key] for cell in cells) for key in ("accuracy", "twin_accuracy"))
        held = sum(cell["interval"][0] <= 0 <= cell["interval"][1] for cell in cells)
        above = sum(cell["p_value"] <= 0.01 and cell["share"] > 0 for cell in cells)
        shown = [f"{own:.2f}", f"{twins:.2f}", mean([cell["share"] for cell in cells])]
        table.rows.append([str(copies), *shown, f"{held} of {len(cells)}", f"{above} of {len(cells)}"])
    pairs = [(copies, cell["share"]) for copies in COPIES for cell in found[copies]]
    correlated = spearman([copies for copies, _ in pairs], [share for _, share in pairs])
    ranks = f"{correlated.value:.2f}" if correlated else "not defined"
    table.notes = [
        f"Tables: {', '.join(TABLES)}, {ROWS} rows at most; {seeds} {'seed' if seeds == 1 else 'seeds'}. "
        f"Spearman's correlation of copies and share: {ranks}."
    ]
    return table


def main() -> None:
    """Train, ask, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--docs", action="store_true")
    options = parser.parse_args()
    written = lines(shares(options.out, options.seeds), options.seeds)
    print(*written.lines, sep="\n")
    if options.docs:
        written.put("memory-share-by-copies")


if __name__ == "__main__":
    main()
