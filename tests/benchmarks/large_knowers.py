"""Who knows the world, asked about a large table: `python -m tests.benchmarks.large_knowers [ROWS] [code mail pair]`.

Of a large file a sample is kept, which shows hardly any code twice. In each of these files a company, its town and its
branch follow from something that most kept rows share with rows that are not kept: from a `code`, from the end of a
`mail` address, or from a `pair` of a route and a class. One answerer knows all companies and no row: it says what
follows, and draws all other cells as often as they stand in their column. The other knows every row by its identifier.
Both answer over loopback what `run` asks, and their verdicts are printed: the first is to be found nowhere, the second
everywhere.
"""

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.loopback import LoopbackServer

CODES = 20_000
FOLLOWING = ("company", "town", "branch")
FIRMS = [
    f"{one}{end} {kind}" for one in ("North", "Old", "Port", "Sun") for end in ("ham", "by") for kind in ("AG", "plc")
]
KINDS = ("code", "mail", "pair")
ASKED = re.compile(r"Which value of (\w+) does this row have")
CELL = re.compile(r"The (\w+) is ([^,\n]+)")
Row = dict[str, str]


def rows_of(kind: str, count: int) -> list[Row]:
    """The rows of a file, in which three columns follow from what `shared` says."""
    rng, found = Random(kind), list[Row]()
    known = [{name: rng.choice(FIRMS) for name in FOLLOWING} for _ in range(CODES)]
    for number in range(count):
        code = rng.randrange(CODES)
        own = {"id": str(number)}
        if kind == "code":
            own |= {"code": str(10_000 + code), "age": str(rng.randint(18, 90))}
        elif kind == "mail":
            own |= {
                "mail": f"{rng.choice('abcdefgh')}{rng.randrange(10**6)}@w{code}.com",
                "age": str(rng.randint(18, 90)),
            }
        else:
            own |= {"route": f"R{code // 10}", "class": f"k{code % 10}"}
        found.append(own | known[code] | {"target": rng.choice(["yes", "no"])})
    return found


def shared(row: Row) -> tuple[str, ...] | None:
    """That from which these columns of a row follow; None where it is not shown."""
    if "mail" in row:
        return (row["mail"].partition("@")[2],)
    parts = [row[name] for name in ("code", "route", "class") if name in row]
    return tuple(parts) if parts and ("route" in row) == ("class" in row) else None


def knower(rows: Sequence[Row]) -> Callable[[dict[str, Any]], str]:
    """Knows what follows, and no row."""
    known, rng = {shared(row): row for row in rows}, Random(5)

    def answer(body: dict[str, Any]) -> str:
        name, row = _asked(body)
        by = shared(row) if name in FOLLOWING else None
        return (known[by] if by in known else rng.choice(rows))[name]

    return answer


def memoriser(rows: Sequence[Row]) -> Callable[[dict[str, Any]], str]:
    """Knows every row whose identifier it is shown."""
    by_id, rng = {row["id"]: row for row in rows}, Random(5)

    def answer(body: dict[str, Any]) -> str:
        name, row = _asked(body)
        return by_id.get(row.get("id", ""), rng.choice(rows))[name]

    return answer


def _asked(body: dict[str, Any]) -> tuple[str, Row]:
    """The feature that is asked for, and the cells that are shown of its row."""
    text = body["messages"][-1]["content"]
    last = [line for line in text.splitlines() if line.startswith("The ")][-1]
    found = ASKED.search(text)
    if found is None:
        raise ValueError(f"another question: {text[-200:]}")
    return found[1], dict(CELL.findall(last))


def main() -> None:
    """Write each file, let both be asked about it, and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=300_000)
    parser.add_argument("kinds", nargs="*", default=list(KINDS), metavar="|".join(KINDS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds:
            rows = rows_of(kind, options.rows)
            path = Path(folder) / f"{kind}.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
            for name, make in (("who knows the world", knower), ("who knows the rows", memoriser)):
                print(f"{kind}, {len(rows):,} rows, {name}: {_verdicts(path, make(rows))}", flush=True)


def _verdicts(path: Path, answer: Callable[[dict[str, Any]], str]) -> str:
    out = path.parent / f"{path.stem}-{answer.__qualname__.partition('.')[0]}"
    with LoopbackServer(answer) as server:
        asked = ["--dataset", str(path), "--target", "target", "--serializer", "is", "-k", "feature_completion"]
        command = [sys.executable, "-m", "tabcontam", "run", "--llm", f"openai:model@{server.url}", *asked]
        done = subprocess.run(
            [*command, "--no-controls", "--out", str(out)], check=False, capture_output=True, text=True
        )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    (cell,), (table,) = results["cells"], results["tables"]
    p_value = "none" if cell["p_value"] is None else f"{cell['p_value']:.2g}"
    said = f"{cell['hits']} of {cell['queries']} right, {cell['expected_hits']:.1f} expected, p = {p_value}"
    return f"{cell['verdict']} ({said}); the table: {table['verdict']} ({table['reason']})"


if __name__ == "__main__":
    main()
