"""Which addresses are this machine's, and which variable a name with several marks names."""

import pytest

from tabcontam.models.keys import is_loopback, split_variable


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]"])
def test_this_machine_by_its_spelling(host: str) -> None:
    assert is_loopback(f"http://{host}:8000/v1")


@pytest.mark.parametrize("host", ["evil-localhost", "x.localhost", "localhost.example", "10.0.0.7", "192.168.1.1"])
def test_another_machine_is_not_taken_for_this_one(host: str) -> None:
    assert not is_loopback(f"http://{host}:8000/v1")


def test_a_variable_stands_behind_the_last_mark() -> None:
    assert split_variable("a#b@https://h/v1#MY_KEY") == ("a#b@https://h/v1", "MY_KEY")
