"""Tables that benchmarks write into pages of the docs, between two marks, and rates with their limits."""

from collections.abc import Sequence
from pathlib import Path

from tabcontam.statistics.exact_statistics import clopper_pearson

DOCS = Path(__file__).parents[1] / "docs"


def rate(found: int, runs: int) -> str:
    """Return a rate with its exact upper limit at 95 % confidence (Clopper and Pearson 1934)."""
    if not runs:
        return "-"
    return f"{found} of {runs:,} (≤ {100 * clopper_pearson(found, runs, 0.9)[1]:.2f} %)"


def put(lines: Sequence[str], begin: str, end: str) -> None:
    """Replace the lines between two marks, in the page of the docs that holds the first mark."""
    page = next(page for page in sorted(DOCS.rglob("*.md")) if begin in page.read_text("utf-8"))
    text = page.read_text("utf-8")
    before, after = text.partition(begin)[0], text.partition(end)[2]
    page.write_text(f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{after}", "utf-8")
