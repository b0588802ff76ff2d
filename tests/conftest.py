"""What every test gets."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.results_schema import checked

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


@pytest.fixture(autouse=True)
def schema(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """Every results.json that a test has written or printed is checked against its schema.

    Those that other processes wrote lie beside a page.
    """
    from tabcontam.runs import folder as run_folder
    from tabcontam.runs import run as runs
    from tabcontam.verdicts import document
    from tabcontam.verdicts.results import RunResults

    folder: Path | None = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    written = document.as_json

    def as_json(results: object) -> str:
        if isinstance(results, RunResults):  # `power` prints documents of its own
            checked(document.as_document(results))
        return written(results)

    for module in (document, run_folder, runs):
        monkeypatch.setattr(module, "as_json", as_json)
    yield
    for written_elsewhere in folder.rglob("results.json") if folder else ():
        if written_elsewhere.with_name("index.html").exists():
            checked(json.loads(written_elsewhere.read_text("utf-8")))


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that runs in GitHub Actions writes nothing into the summary of its job."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
