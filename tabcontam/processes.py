"""Processes of tabcontam that take part of its work. Each reads jobs from standard input."""

import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, BinaryIO, cast


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


@dataclass(frozen=True)
class ObjectPipe:
    """Two streams by which this process and another process of our own send each other objects, as pickles."""

    reader: BinaryIO
    writer: BinaryIO

    @classmethod
    def to(cls, process: "subprocess.Popen[bytes]") -> "ObjectPipe":
        """Return the pipe to a process that `start_process` started."""
        return cls(cast(BinaryIO, process.stdout), cast(BinaryIO, process.stdin))

    @classmethod
    def to_parent(cls) -> "ObjectPipe":
        """Return the pipe from a started process to the process that started it, which alone handles Ctrl-C.

        Text that other code prints goes to standard error.
        """
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        output, sys.stdout = sys.stdout.buffer, sys.stderr
        return cls(sys.stdin.buffer, cast(BinaryIO, output))

    def send(self, value: object) -> None:
        """Send an object. Raises `OSError` if the other process has ended."""
        self.writer.write(pickle.dumps(value))
        self.writer.flush()

    def receive(self) -> Any:
        """Return the next object. Raises `EOFError` if the other process has ended."""
        return pickle.load(self.reader)  # noqa: S301 - the other process is our own


def answer_jobs(answer: Callable[[Any], object]) -> None:
    """In a process of `start_workers`, send back the answer to each job, or the error that it raised."""
    pipe = ObjectPipe.to_parent()
    while True:
        try:
            job = pipe.receive()
        except EOFError:  # the process that asks has ended
            return
        try:
            pipe.send(answer(job))
        except Exception as error:
            pipe.send(error)


@contextmanager
def start_workers(code: str, number: int) -> Iterator[Callable[[object], "Future[Any]"]]:
    """Start processes that run `code`, which calls `answer_jobs`. No process outlives the context.

    Yields a function that gives a job to the next free process, and returns the future of its answer. The future raises
    the error of the job; after the loss of the process, it raises any error.
    """
    processes: list[subprocess.Popen[bytes]] = []
    free = SimpleQueue["subprocess.Popen[bytes]"]()

    def answered(job: object) -> Any:
        process, answer = free.get(), None
        try:
            pipe = ObjectPipe.to(process)
            pipe.send(job)
            answer = pipe.receive()
        finally:
            if answer is None:  # it answers nothing more, least of all this job in place of the next
                process.kill()
                process.wait()
            free.put(process)
        if isinstance(answer, Exception):
            raise answer
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
                process.communicate()
