"""Work that has an event loop of its own: in this thread, or beside what it does."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from tabcontam.asking.beside import begun


def completed(work: Coroutine[Any, Any, None], stop: Callable[[], None]) -> None:
    """Do it to the end, in a thread of its own where this one has an event loop at work, as a notebook's has."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
    else:
        _beside_a_loop(work, stop)


def _beside_a_loop(work: Coroutine[Any, Any, None], stop: Callable[[], None]) -> None:
    """As elsewhere, the first Ctrl-C finishes what is in flight, and the second ends at once."""
    with begun(work) as (done, task):
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
    """The first Ctrl-C finishes what is in flight, the second ends at once."""

    loop = asyncio.get_running_loop()

    def stop(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(finish)  # which also wakes the loop
        signal.signal(signal.SIGINT, before)
        with suppress(OSError):  # the terminal may be gone
            print("stopping: finishing what is in flight; press Ctrl-C again to end at once", file=sys.stderr)

    try:
        before = signal.signal(signal.SIGINT, stop)
    except ValueError:  # not the main thread: Ctrl-C is its caller's business
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
