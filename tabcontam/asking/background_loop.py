"""Background work in its own event loop and its own thread."""

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
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
