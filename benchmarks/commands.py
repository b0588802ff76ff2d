"""How long commands take: `python -m benchmarks.commands`, beside the limits that they are held to.

On a machine with other work read the processor time, which is printed beside the time on the clock.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

REPEATS = 9
TABCONTAM = (sys.executable, "-m", "tabcontam")
PLAN = (*TABCONTAM, "run", "--dry-run")


@dataclass(frozen=True)
class Took:
    """The seconds of a command on the clock, of the processor, and until its first output; medians of several."""

    clock: float
    processor: float
    first: float

    def __str__(self) -> str:
        return f"{self.clock:.2f} s ({self.processor:.2f} s of the processor)"


def took(command: Sequence[str], repeats: int = 1, environment: Mapping[str, str] | None = None) -> Took:
    """How long a command takes in a process of its own, in an empty folder."""
    each = [once(command, {**os.environ, **(environment or {})}) for _ in range(repeats)]
    return Took(*(statistics.median(getattr(one, name) for one in each) for name in ("clock", "processor", "first")))


def once(command: Sequence[str], environment: Mapping[str, str]) -> Took:
    """The same, of one go."""
    used, start, first = processor(), time.perf_counter(), 0.0
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        with process:
            assert process.stdout is not None
            while process.stdout.read(1 << 16 if first else 1):
                first = first or time.perf_counter() - start
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Took(time.perf_counter() - start, processor() - used, first)


def processor() -> float:
    """The processor seconds of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def planning() -> None:
    """Print what a plan takes: of a new table, of a table that was planned before, of several new ones."""
    with tempfile.TemporaryDirectory() as cache:
        kept = {"XDG_CACHE_HOME": cache}
        took([*PLAN, "--dataset", "iris"], environment=kept)  # iris is small: what is left is the start
        start = took([*PLAN, "--dataset", "iris"], 3, kept)
        new = took([*PLAN, "--dataset", "adult"], environment=kept)
        before = took([*PLAN, "--dataset", "adult"], 3, kept)
    print(f"start of a plan: {start}, first line after {start.first:.2f} s; limit of the first line 1 s")
    for what, plan, limit in (("new", new, 4), ("made before", before, 0.5)):
        more = f"{plan.clock - start.clock:.2f} s ({plan.processor - start.processor:.2f} s of the processor)"
        print(f"plan of adult, {what}: {more} on top of the start; limit {limit} s")
    with tempfile.TemporaryDirectory() as cache:
        names = ("adult", "bank", "titanic", "heart")
        both = took([*PLAN, *(word for name in names for word in ("--dataset", name))], 1, {"XDG_CACHE_HOME": cache})
    print(f"plan of {', '.join(names)}, new: {both}, on {os.cpu_count()} processors")


def first_contact() -> None:
    """Print what a stranger waits for: the demo after installation, a table of one's own, and its power."""
    with tempfile.TemporaryDirectory() as folder:
        kept, mine = {"XDG_CACHE_HOME": folder}, Path(folder) / "mine.csv"
        demo = took([*TABCONTAM, "run"], environment=kept)
        print(f"run (both controls, iris and wine), in an empty cache: {demo}; limit 6 s")
        rng = Random(0)
        rows = [
            f"{rng.gauss(50, 9):.1f},{rng.randrange(9)},{rng.choice('abcd')},{rng.expovariate(1):.2f}"
            for _ in range(400)
        ]
        mine.write_text("\n".join(["size,parts,kind,price", *rows]) + "\n")
        run = [*TABCONTAM, "run", "--dataset", str(mine)]
        new, known = took(run, environment=kept), took(run, 3, kept)
        print(f"run of 400 rows of one's own, new: {new}, first line after {new.first:.2f} s; limits 6 s and 1 s")
        print(f"the same, known: {known}, first line after {known.first:.2f} s; limits 3 s and 1 s")
        power = took([*TABCONTAM, "power", "--dataset", "iris"], environment=kept)
    print(f"power --dataset iris (100 runs): {power}; limit 60 s, on {os.cpu_count()} processors")


def main() -> None:
    """Print each measurement with its limit."""
    bare, shown = took([sys.executable, "-c", "pass"], REPEATS), took([*TABCONTAM, "--help"], REPEATS)
    times = f"{shown.clock / bare.clock:.1f} times a bare interpreter ({shown.processor / bare.processor:.1f} times)"
    print(f"--help: {shown}, {times}; limit 4 times")
    for what in ("datasets", "tests", "llms", "serializers"):
        listed = took([*TABCONTAM, "list", what], REPEATS)
        print(f"list {what}: {listed}, {listed.clock / bare.clock:.1f} times a bare interpreter")
    first_contact()
    if "TABCONTAM_DATA" in os.environ:
        planning()
        print(f"run --dataset adult (both controls): {took([*TABCONTAM, 'run', '--dataset', 'adult'])}; limit 60 s")
    if "TABCONTAM_REPLAY" in os.environ:
        records = str(Path(os.environ["TABCONTAM_REPLAY"]).resolve() / "records.jsonl")
        replay = took([*TABCONTAM, "replay", records, "--rules", "paper"], 3)
        print(f"replay of the recorded answers: {replay}; limit 5 s")


if __name__ == "__main__":
    main()
