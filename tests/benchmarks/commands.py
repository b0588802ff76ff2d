"""How long commands take: `python -m tests.benchmarks.commands`, beside the limits that they are held to."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

REPEATS = 9


def seconds(command: Sequence[str], repeats: int = 1) -> float:
    """The median wall time of a command in a process of its own."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Print each measurement with its limit."""
    tabcontam = [sys.executable, "-m", "tabcontam"]
    bare = seconds([sys.executable, "-c", "pass"], REPEATS)
    shown = seconds([*tabcontam, "--help"], REPEATS)
    print(f"--help: {shown:.3f} s, {shown / bare:.1f} times a bare interpreter ({bare:.3f} s); limit 12 times")
    for what in ("datasets", "tests", "llms", "serializers"):
        listed = seconds([*tabcontam, "list", what], REPEATS)
        print(f"list {what}: {listed:.3f} s, {listed / bare:.1f} times a bare interpreter")
    print(f"run (both controls, iris and wine): {seconds([*tabcontam, 'run'], 3):.1f} s; limit 30 s")
    if "TABCONTAM_DATA" in os.environ:
        adult = seconds([*tabcontam, "run", "--dataset", "adult"])
        print(f"run --dataset adult (both controls): {adult:.1f} s; limit 60 s")
    if "TABCONTAM_REPLAY" in os.environ:
        records = str(Path(os.environ["TABCONTAM_REPLAY"]).resolve() / "records.jsonl")
        replay = seconds([*tabcontam, "replay", records, "--rules", "paper"], 3)
        print(f"replay of the recorded answers: {replay:.2f} s; limit 5 s")


if __name__ == "__main__":
    main()
