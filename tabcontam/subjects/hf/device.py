"""The device that a model runs on, and its memory."""

import re

OUT_OF_MEMORY = re.compile(r"out of memory|can't allocate memory|not enough memory", re.IGNORECASE)


def best_device() -> str:
    """The fastest there is."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def out_of_memory(error: Exception) -> bool:
    """Whether a smaller batch could help."""
    return isinstance(error, MemoryError) or bool(OUT_OF_MEMORY.search(str(error)))


def release() -> None:
    """Give back what nothing refers to any more."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
