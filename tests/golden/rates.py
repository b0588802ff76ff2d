"""The rates of the benchmarks as numbers: what the tests that run a slice of one compare with what they measure.

A rate that changes on purpose is changed in `rates.json`, and nowhere else. What the benchmarks find on all tables, in
hours, stands in the docs, which they write.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("rates.json")


@cache
def rates() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the rates with their tolerances, by benchmark and by what was counted."""
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(PATH.read_text("utf-8"))
    return found


def check(benchmark: str, what: str, found: int, runs: int) -> None:
    """Compare so many runs of all that were made with the golden rate."""
    golden = rates()[benchmark][what]
    assert runs, f"{benchmark}, {what}: no run"
    moved = f"{benchmark}, {what}: {found} of {runs} runs, where {golden['rate']:g} of them are golden"
    assert abs(found / runs - golden["rate"]) <= golden["tolerance"], moved
