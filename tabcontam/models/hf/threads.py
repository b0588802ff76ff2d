"""The number of threads on this machine's processors that compute a model."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SMALL = 50_000_000  # parameters of a model whose parts are too small to be shared out


def settle_threads(model: Any) -> None:
    """Have the calling thread compute a small model alone, if processors compute it.

    Several threads wait for each other after each of its small parts, and if other work keeps one of them from its
    processor all wait for that one: two threads were measured fifteen times as slow as one.
    """
    import torch

    if model.device.type == "cpu" and _small(model):
        torch.set_num_threads(1)  # of this thread alone: others keep theirs


@contextmanager
def fitting_threads(model: Any) -> Iterator[None]:
    """Compute a small model in one thread within the context, and any other in as many as before."""
    import torch

    before = torch.get_num_threads()
    if _small(model):
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _small(model: Any) -> bool:
    return bool(sum(weights.numel() for weights in model.parameters()) < SMALL)
