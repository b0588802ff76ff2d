"""Worker processes of tabcontam: each reads jobs from standard input, one job a line."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping


def code_to_run(module: str) -> str:
    """Return the code by which a process runs `main` of a module of this package.

    The process is a fresh interpreter with the same import path: a fork may hang where a library computes in threads,
    and a spawn runs the caller's script again where it has no `if __name__ == "__main__"`.
    """
    return f"import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {module} import main; main()"


def start_process(code: str, env: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
    """Return a process that runs this code; its first argument is the import path of this process, as JSON."""
    return subprocess.Popen(  # noqa: S603 - our own interpreter and our own code
        [sys.executable, "-c", code, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=env,
    )


def send(process: "subprocess.Popen[bytes]", job: bytes) -> None:
    """Write a job, a line without its end, to a process. Raises `OSError` if the process has ended."""
    if process.stdin:
        process.stdin.write(job + b"\n")
        process.stdin.flush()


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
