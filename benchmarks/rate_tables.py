"""Tables of error rates: a benchmark stores what it measured as JSON, and this command writes the docs' tables from it.

    python -m benchmarks.rate_tables

writes every table of `benchmarks/rates/` anew into the page that holds its marks, such as `<!-- skill: ... -->` and
`<!-- end of skill -->`. A benchmark with `--docs` stores its table there first.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tabcontam.statistics.exact_statistics import clopper_pearson

ROOT = Path(__file__).parents[1]
RATES = Path(__file__).parent / "rates"


class Rate(NamedTuple):
    """A number of runs that came out in some way, of all runs; shown with its upper limit at 95 % confidence.

    The limit is exact (Clopper and Pearson 1934).
    """

    found: int
    runs: int

    def __str__(self) -> str:
        if not self.runs:
            return "-"
        limit = 100 * clopper_pearson(self.found, self.runs, 0.9)[1]
        return f"{self.found} of {self.runs:,} (≤ {limit:.2f} %)"


@dataclass
class RateTable:
    """A table for a page of the docs: a rate is stored as two counts, any other cell as it is shown."""

    columns: Sequence[str]
    rows: list[Sequence[str | Rate]] = field(default_factory=list)
    notes: Sequence[str] = ()

    @property
    def lines(self) -> list[str]:
        """The lines of Markdown, the notes last."""
        cells = [self.columns, ["---"] * len(self.columns), *self.rows]
        made = [f"| {' | '.join(map(str, row))} |" for row in cells]
        return made + [line for note in self.notes for line in ("", note)]

    def put(self, name: str) -> None:
        """Store the table as JSON, and write it into the docs."""
        RATES.mkdir(exist_ok=True)
        rows = ",\n    ".join(json.dumps(row, ensure_ascii=False) for row in self.rows)
        columns, notes = (json.dumps(texts, ensure_ascii=False) for texts in (self.columns, self.notes))
        stored = f'{{\n  "columns": {columns},\n  "rows": [\n    {rows}\n  ],\n  "notes": {notes}\n}}\n'
        (RATES / f"{name}.json").write_text(stored, "utf-8")
        put(self.lines, name)


def stored_table(path: Path) -> RateTable:
    """Return the table that a benchmark stored."""
    stored = json.loads(path.read_text("utf-8"))
    rows = [[Rate(*cell) if isinstance(cell, list) else cell for cell in row] for row in stored["rows"]]
    return RateTable(stored["columns"], list(rows), stored["notes"])


def put(lines: Iterable[str], name: str) -> None:
    """Replace the lines between the two marks of this name, in the page of the docs that holds them."""
    mark, end = f"<!-- {name}: ", f"<!-- end of {name} -->"
    pages = [*sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "tabcontam" / "extensions").glob("*/README.md"))]
    page = next(page for page in pages if mark in page.read_text("utf-8"))
    before, _, rest = page.read_text("utf-8").partition(mark)
    begin, after = rest.partition("\n")[0], rest.partition(end)[2]
    page.write_text(f"{before}{mark}{begin}\n" + "\n".join(lines) + f"\n{end}{after}", "utf-8")


if __name__ == "__main__":
    for path in sorted(RATES.glob("*.json")):
        put(stored_table(path).lines, path.stem)
        print(f"wrote {path.stem}")
