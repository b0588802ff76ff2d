"""What every test gets."""

from pathlib import Path

import pytest

collect_ignore = ["examples"]  # a project of its own, which test_examples.py runs


@pytest.fixture(scope="session")
def guesses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the guesser makes of tables, for all tests: it takes seconds, and is the same each time."""
    return tmp_path_factory.mktemp("guesses")


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, guesses: Path) -> Path:
    """A cache folder of the test's own, but for the guesses: a reply that another test stored would answer it."""
    folder = tmp_path_factory.mktemp("cache")
    (folder / "tabcontam").mkdir()
    (folder / "tabcontam" / "guesses").symlink_to(guesses)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.setenv("LOCALAPPDATA", str(folder))
    return folder
