"""A small model is computed in one thread, and nobody else's threads change."""

from types import SimpleNamespace
from typing import Any

import pytest

from tabcontam.models.hf.loading import SMALL, fitting_threads, settle_threads
from tests.needed import needed

torch: Any = needed("torch")


def network(parameters: int, device: str = "cpu") -> Any:
    weights = SimpleNamespace(numel=lambda: parameters)
    return SimpleNamespace(device=SimpleNamespace(type=device), parameters=lambda: [weights])


def threads_after(model: Any) -> int:
    from concurrent.futures import ThreadPoolExecutor

    def settled() -> int:
        torch.set_num_threads(3)
        settle_threads(model)
        return int(torch.get_num_threads())

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(settled).result()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "threads"),
    [(network(SMALL - 1), 1), (network(SMALL), 3), (network(10, "cuda"), 3)],
    ids=["small", "large", "on a card"],
)
def test_a_small_model_has_one_thread_and_others_keep_theirs(model: Any, threads: int) -> None:
    before = torch.get_num_threads()
    assert threads_after(model) == threads
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(("parameters", "threads"), [(SMALL - 1, 1), (SMALL, 3)], ids=["small", "large"])
def test_there_are_as_many_threads_as_before(parameters: int, threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with fitting_threads(network(parameters)):
            assert torch.get_num_threads() == threads
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
