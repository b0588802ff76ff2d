"""Work in a new event loop: in this thread, or in another thread."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from types import FrameType
from typing import Any


@contextmanager
def run_in_background(work: Coroutine[Any, Any, None]) -> Iterator[tuple["Future[None]", "asyncio.Task[None]"]]:
    """Start `work`; yield its future and its task, which can be cancelled. The context ends after `work` ends."""
    under_way: Future[asyncio.Task[None]] = Future()

    async def begin() -> None:
        task = asyncio.ensure_future(work)
        under_way.set_result(task)
        await task

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(copy_context().run, asyncio.run, begin())  # the new thread copies this thread's context
        yield done, under_way.result()


def cancel(task: "asyncio.Task[None]") -> None:
    """Cancel a task of another thread's loop, if it has not ended."""
    with suppress(RuntimeError):  # its loop has ended
        task.get_loop().call_soon_threadsafe(task.cancel)


def run_to_end(work: Coroutine[Any, Any, None], stop: Callable[[], None]) -> None:
    """Run the work to its end. If this thread already runs an event loop, as in a notebook, use another thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    # the first Ctrl-C finishes the requests in flight; the second ends at once
    with run_in_background(work) as (done, task):
        try:
            done.result()
        except KeyboardInterrupt:
            task.get_loop().call_soon_threadsafe(stop)
            try:
                done.result()
            except KeyboardInterrupt:
                cancel(task)
                raise


@contextmanager
def interruptible(finish: Callable[[], None]) -> Iterator[None]:
    """Make the first Ctrl-C in the context finish the requests in flight, and the second one end the work at once."""

    loop = asyncio.get_running_loop()

    def stop(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(finish)  # the call also wakes the loop
        signal.signal(signal.SIGINT, before)
        with suppress(OSError):  # the terminal may be gone
            print("stopping after the requests under way; press Ctrl-C again to end at once", file=sys.stderr)

    try:
        before = signal.signal(signal.SIGINT, stop)
    except ValueError:  # in any thread but the main one, the caller handles Ctrl-C
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
