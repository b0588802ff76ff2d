"""Processes of our own that take part of the work: each reads jobs from standard input, a line each."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping


def starting(module: str) -> str:
    """The code by which a process runs `main` of one of our modules.

    It is a fresh interpreter with the same import path: a fork may hang where a library computes in threads, and a
    spawn runs the caller's script once more where it has no `if __name__ == "__main__"`.
    """
    return f"import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {module} import main; main()"


def begun(code: str, env: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
    """A process that runs this code of ours; its first argument is the path of modules here, as JSON."""
    return subprocess.Popen(  # noqa: S603 - our own interpreter and our own code
        [sys.executable, "-c", code, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=env,
    )


def send(process: "subprocess.Popen[bytes]", job: bytes) -> None:
    """Write a job to a process: a line without its end. Raises `OSError` where the process is gone."""
    if process.stdin:
        process.stdin.write(job + b"\n")
        process.stdin.flush()


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
