"""A pause of the garbage collector."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def disable_garbage_collector() -> Iterator[None]:
    """Disable the garbage collector in the context: its searches cost most where no object becomes free."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
