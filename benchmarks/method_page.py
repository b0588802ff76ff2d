"""What benchmarks say on docs/method.md and other pages: rates with their limits, and tables between two marks."""

from collections.abc import Sequence
from pathlib import Path

from tabcontam.statistics.exact import clopper_pearson

METHOD = Path(__file__).parents[1] / "docs" / "method.md"


def rate(found: int, runs: int) -> str:
    """A rate with its exact upper limit at 95 % confidence (Clopper and Pearson 1934)."""
    if not runs:
        return "-"
    return f"{found} of {runs:,} (≤ {100 * clopper_pearson(found, runs, 0.9)[1]:.2f} %)"


def put(lines: Sequence[str], begin: str, end: str, page: Path = METHOD) -> None:
    """Write lines between two marks of a page, in place of what stands there."""
    text = page.read_text("utf-8")
    before, after = text.partition(begin)[0], text.partition(end)[2]
    page.write_text(f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{after}", "utf-8")
