"""What a process costs that a benchmark starts."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import NamedTuple


class Used(NamedTuple):
    """Seconds on the clock, seconds of the processors, and the most MB that one process of a command held."""

    seconds: float
    processors: float
    mb: float


def used_by(command: Sequence[str], env: Mapping[str, str] | None = None, *, silent: bool = False) -> Used:
    """What a command uses, with the processes that it starts and waits for. Ends the benchmark where it fails."""
    start = perf_counter()
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL if silent else None)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit code {process.returncode}: {' '.join(command)}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Used(perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6)
