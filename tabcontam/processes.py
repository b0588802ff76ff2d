"""Worker processes of tabcontam. Each process reads jobs from standard input, one job a line."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from enum import Enum
from functools import cache
from pathlib import PurePath
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO, cast

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def code_to_run(module: str) -> str:
    """Return the code that imports `module`, a module of this package, and calls its `main`, in a new process.

    The new process is a fresh interpreter with the same import path. The other start methods fail: `fork` may hang if a
    library computes in threads; `spawn` runs the caller's script again if it lacks `if __name__ == "__main__"`.
    """
    return f"import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {module} import main; main()"


def start_process(code: str, env: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
    """Return a process that runs this code. Its first argument is the import path of this process, as JSON."""
    return subprocess.Popen(  # noqa: S603 - our own interpreter and our own code
        [sys.executable, "-c", code, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=env,
    )


def send(process: "subprocess.Popen[bytes]", job: bytes) -> None:
    """Write a job and a line break to a process. Raises `OSError` if the process has ended."""
    if process.stdin:
        process.stdin.write(job + b"\n")
        process.stdin.flush()


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def write_value(stream: BinaryIO, value: object, kind: Any) -> None:
    """Write a value of the type `kind` as a line of JSON. Raises `OSError` if the other process has ended."""
    stream.write(json.dumps(_adapter(kind).dump_python(value), default=_for_json).encode() + b"\n")
    stream.flush()


def _for_json(value: object) -> object:
    """Return a value in a form that JSON allows. Texts are kept as they are, also names of files that are no UTF-8."""
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, PurePath) else list(cast("Iterable[object]", value))


def read_value(stream: BinaryIO, kind: Any) -> Any:
    """Return the next value, of the type `kind`. Raises `EOFError` if the other process has ended."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    return typed(json.loads(line), kind)


def typed(value: object, kind: Any) -> Any:
    """Return a value from JSON as a value of the type `kind`. Raises ValueError if it has none."""
    return _adapter(kind).validate_python(value)


@cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


@contextmanager
def start_workers(code: str, number: int, job_kind: Any, answer_kind: Any) -> Iterator[Callable[[Any], "Future[Any]"]]:
    """Start processes that run `code`, which reads jobs and writes an answer to each. No process outlives the context.

    Yields a function that gives a job to the next free process, and returns the future of its answer. The future raises
    an error if the process gives no answer. Raises `OSError` if no process can be started.
    """
    processes: list[subprocess.Popen[bytes]] = []
    free = SimpleQueue["subprocess.Popen[bytes]"]()

    def answered(job: object) -> Any:
        process, answer = free.get(), None
        try:
            write_value(cast(BinaryIO, process.stdin), job, job_kind)
            answer = read_value(cast(BinaryIO, process.stdout), answer_kind)
        finally:
            if answer is None:  # it answers nothing more, least of all this job in place of the next
                process.kill()
                process.wait()
                with suppress(OSError):
                    process = start_process(code)
                    processes.append(process)
            free.put(process)
        return answer

    with ThreadPoolExecutor(number) as pool:
        try:
            for _ in range(number):
                processes.append(start_process(code))
                free.put(processes[-1])
            yield lambda job: pool.submit(answered, job)
        finally:  # also after Ctrl-C
            for process in processes:
                process.kill()
            pool.shutdown(cancel_futures=True)
            for process in processes:
                process.kill()  # also one that has just taken the place of another
                process.communicate()
