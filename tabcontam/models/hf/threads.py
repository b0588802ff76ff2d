"""The number of threads that compute a model's answers on this machine's processors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SMALL = 50_000_000  # parameters; computations of smaller models are too short for several threads


def settle_threads(model: Any) -> None:
    """Make torch use one thread for a small model on processors, when this thread computes it.

    Several threads would wait for each other after each small computation. If other work delays one thread, all wait
    for it: two threads were measured to be fifteen times as slow as one.
    """
    import torch

    if model.device.type == "cpu" and _small(model):
        torch.set_num_threads(1)  # for this thread only


@contextmanager
def fitting_threads(model: Any) -> Iterator[None]:
    """Compute a small model in one thread within the context. Other models keep their number of threads."""
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
