"""What tests of several kinds of LLMs share."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Tiny models are slower on several."""
    import torch  # which takes a second, and is there for the tests of models alone

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
