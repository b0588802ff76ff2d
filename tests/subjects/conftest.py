"""What tests of several kinds of LLMs share."""

from collections.abc import Iterator

import pytest

from tests.loopback_certificates import no_authorities as without_authorities


@pytest.fixture(scope="session", autouse=True)
def no_authorities(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hundreds of clients would each read the certificates of all authorities, and no server of a test shows one."""
    with without_authorities(tmp_path_factory.getbasetemp()):
        yield


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Tiny models are slower on several."""
    import torch  # which takes a second, and is there for the tests of models alone

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
