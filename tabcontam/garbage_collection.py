"""A pause of the garbage collector."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def disable_garbage_collector() -> Iterator[None]:
    """Disable the garbage collector in the context, for code that creates many objects and frees few."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
