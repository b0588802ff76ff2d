"""Seconds and memory of both controls: `python -m benchmarks.control adult bank`, or any FILE.

For each table it prints how long a control takes to build and to continue a row, and how far the build raised the
process's peak memory, each control in a process of its own.
"""

import asyncio
import resource
import sys
from multiprocessing import get_context
from statistics import median
from time import perf_counter

from tabcontam.errors import Skip
from tabcontam.evidence.base import Prompt
from tabcontam.models.base import ModelRequest
from tabcontam.models.known.control import KINDS, open_control
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import load_table

ANSWERS = 25


def peak_memory() -> float:
    """The most memory that this process has held, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def measured(name: str, kind: str) -> str:
    """One line about one control of one table."""
    import numpy  # noqa: F401 - its own memory and seconds are not the control's
    import pydivsufsort  # noqa: F401 - nor its

    table, serializer = load_table(name), load_serializer("is")
    before, start = peak_memory(), perf_counter()
    try:
        model = open_control(kind).prepare(table, [])
    except Skip as skip:
        return f"{name:12} {kind:10} skipped: {skip}"
    built, raised = perf_counter() - start, peak_memory() - before
    seconds, tokens = [], 0
    for row in table.rows[:: -(-len(table.rows) // ANSWERS)]:
        prefix = serializer.prefix(table.columns, row, 1)
        start = perf_counter()
        reply = asyncio.run(model.generate(ModelRequest(Prompt((), prefix, ""), 200)))
        seconds.append(perf_counter() - start)
        tokens = max(tokens, reply.tokens or 0)
    answers = f"answers: median {median(seconds) * 1e3:.1f} ms, slowest {max(seconds) * 1e3:.1f} ms, {tokens} tokens"
    return f"{name:12} {kind:10} built in {built:5.2f} s, peak +{raised:4.0f} MB, {answers}"


def main() -> None:
    """Both controls of every table that is named."""
    for name in sys.argv[1:] or ["iris"]:
        for kind in KINDS:
            with get_context("spawn").Pool(1) as pool:
                print(pool.apply(measured, (name, kind)), flush=True)


if __name__ == "__main__":
    main()
