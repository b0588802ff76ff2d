"""Work with an event loop of its own: in this thread, or in another one if this thread already runs a loop."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from tabcontam.asking.background_loop import run_in_background


def run_to_end(work: Coroutine[Any, Any, None], stop: Callable[[], None]) -> None:
    """Run the work to its end, in another thread if this one already runs an event loop, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
    else:
        _run_in_thread(work, stop)


def _run_in_thread(work: Coroutine[Any, Any, None], stop: Callable[[], None]) -> None:
    """Run the work in another thread; the first Ctrl-C finishes the requests under way, and the second ends at once."""
    with run_in_background(work) as (done, task):
        try:
            done.result()
        except KeyboardInterrupt:
            task.get_loop().call_soon_threadsafe(stop)
            try:
                done.result()
            except KeyboardInterrupt:
                task.get_loop().call_soon_threadsafe(task.cancel)
                raise


@contextmanager
def interruptible(finish: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C finish the requests under way, and the second end at once."""

    loop = asyncio.get_running_loop()

    def stop(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(finish)  # also wakes the loop
        signal.signal(signal.SIGINT, before)
        with suppress(OSError):  # the terminal may be gone
            print("stopping after the requests under way; press Ctrl-C again to end at once", file=sys.stderr)

    try:
        before = signal.signal(signal.SIGINT, stop)
    except ValueError:  # not the main thread: Ctrl-C is its caller's business
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
