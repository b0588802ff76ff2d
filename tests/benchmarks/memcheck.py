"""Our counts beside those of tabmemcheck 0.1.6 on the same replies: `python -m tests.benchmarks.memcheck`.

The package needs pandas below 3, so that it gets an environment of its own, in a temporary folder, from the package
index; `--python` names one that has it. An LLM that is made up answers the prompts of its row completion on iris: it
knows some of the rows, and says these in several ways. Printed are the package's count and ours, by the way of saying.
"""

import argparse
import json
import subprocess
import sys
import venv
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tabcontam.evidence.base import Message, Prompt, Query
from tabcontam.evidence.rows.memcheck.row_completion import RowCompletion
from tabcontam.tables.table import load_table

PACKAGE = "tabmemcheck==0.1.6"
WAYS = {
    "bare": "{row}",
    "fenced": "```\n{row}\n```",
    "with rows behind it": "{row}\n{other}",
    "as another row's end": "9{row}",  # which holds the row and is none: the package counts it
    "without trailing zeros": "{short}",  # which is the row and is not its text: the package does not
}
ASK = """
import json, sys
import numpy as np
import tabmemcheck
from tabmemcheck.llm import LLM_Interface

file, known = sys.argv[1], json.load(open(sys.argv[2]))

class Known(LLM_Interface):
    chat_mode = True
    def chat_completion(self, messages, temperature, max_tokens):
        return known.get(messages[-1]["content"].strip().splitlines()[-1].strip(), "I do not know.")

found = tabmemcheck.row_completion_test(file, Known(), num_queries=25, rng=np.random.default_rng(0))
suffixes, responses = found[-2], found[-1]
pairs = [[suffix.strip(), response.strip()] for suffix, response in zip(suffixes, responses)]
print("PAIRS" + json.dumps(pairs))
"""


def pairs_of(python: Path, folder: Path, lines: Sequence[str], way: str) -> list[tuple[str, str]]:
    """The rows that the package asked for, with the answers, of an LLM that says the rows that it knows in this way."""
    rng = Random(0)
    known = {}
    for before, row in pairwise(lines[1:]):
        if rng.random() < 0.5:
            short = ",".join(cell.removesuffix(".0") for cell in row.split(","))
            known[before] = WAYS[way].format(row=row, other=lines[1], short=short)
    (folder / "iris.csv").write_text("\n".join([*lines, ""]))
    (folder / "known.json").write_text(json.dumps(known))
    asked = [str(python), "-c", ASK, str(folder / "iris.csv"), str(folder / "known.json")]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    found = next(line for line in said.splitlines() if line.startswith("PAIRS"))
    return [(row, answer) for row, answer in json.loads(found.removeprefix("PAIRS"))]


def ours(row: str, answer: str) -> bool:
    """Whether the answer counts here."""
    prompt = Prompt((Message("user", row),), row, row)
    cells = tuple(row.split(","))
    query = Query("query", lambda: prompt, tuple(f"cell {place}" for place in range(len(cells))), cells, 99)
    return RowCompletion().exact(query, answer)


def main() -> None:
    """Ask in every way and print both counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, help=f"of an environment that has {PACKAGE}")
    options = parser.parse_args()
    table = load_table("iris")
    lines = [",".join(cell or "" for cell in row) for row in (table.columns, *table.rows)]
    with TemporaryDirectory() as name:
        folder, python = Path(name), options.python
        if python is None:
            venv.create(folder / "own", with_pip=True)
            python = folder / "own" / "bin" / "python"
            subprocess.run([python, "-m", "pip", "install", "-q", PACKAGE, "pandas<3"], check=True, stdout=sys.stderr)
        print("| the row is said | tabmemcheck | ours |", "|---|---|---|", sep="\n")
        for way in WAYS:
            pairs = pairs_of(python, folder, lines, way)
            theirs = sum(row in answer for row, answer in pairs)
            print(f"| {way} | {theirs} of {len(pairs)} | {sum(ours(*pair) for pair in pairs)} of {len(pairs)} |")


if __name__ == "__main__":
    main()
