"""What every test gets."""

import json
import os
import ssl
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import certifi
import pytest
from hypothesis import HealthCheck, settings

import tabcontam
from tests.results_schema import checked

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # other workers compute
settings.load_profile("busy")

collect_ignore = ["examples"]  # a project of its own, which test_examples.py runs


@pytest.fixture(scope="session")
def guesses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the guesser makes of tables, for all tests of all workers: it takes seconds, and is the same each time.

    Two workers that make the same guesses at once each write a file of their own and rename it: either may win.
    """
    ours = tmp_path_factory.getbasetemp()
    folder = (ours.parent if "PYTEST_XDIST_WORKER" in os.environ else ours) / "guesses"  # a worker's lies in the run's
    folder.mkdir(exist_ok=True)
    return folder


def cache_beside(guesses: Path, tmp_path_factory: pytest.TempPathFactory, patched: pytest.MonkeyPatch) -> Path:
    """A new cache folder that holds nothing but the guesses, for this process and those that it starts."""
    folder = tmp_path_factory.mktemp("cache")
    (folder / "tabcontam").mkdir()
    (folder / "tabcontam" / "guesses").symlink_to(guesses)
    patched.setenv("XDG_CACHE_HOME", str(folder))
    patched.setenv("LOCALAPPDATA", str(folder))
    return folder


@pytest.fixture(scope="session", autouse=True)
def cache_of_modules(tmp_path_factory: pytest.TempPathFactory, guesses: Path) -> Iterator[None]:
    """A cache folder for the runs that the tests of a module share: the user's own is never touched."""
    with pytest.MonkeyPatch.context() as patched:
        cache_beside(guesses, tmp_path_factory, patched)
        yield


@pytest.fixture(autouse=True)
def cache(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, guesses: Path, cache_of_modules: None
) -> Path:
    """A cache folder of the test's own, but for the guesses: a reply that another test stored would answer it."""
    return cache_beside(guesses, tmp_path_factory, monkeypatch)


@pytest.fixture(scope="session", autouse=True)
def no_authorities() -> Iterator[None]:
    """Hundreds of clients would each read the certificates of all authorities, and no server of a test shows one."""
    read, authorities = ssl.SSLContext.load_verify_locations, certifi.where()

    def read_others(context: ssl.SSLContext, cafile: Any = None, capath: Any = None, cadata: Any = None) -> None:
        if cafile != authorities:
            read(context, cafile, capath, cadata)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ssl.SSLContext, "load_verify_locations", read_others)
        yield


@pytest.fixture(autouse=True)
def schema(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """Every results.json that a test has written or printed is checked against its schema.

    Those that other processes wrote lie beside a page.
    """
    from tabcontam.verdicts import document, json_text
    from tabcontam.verdicts.results import RunResults

    folder: Path | None = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    written = json_text.pieces

    def pieces(results: object) -> Iterator[str]:
        if isinstance(results, RunResults):  # `power` prints documents of its own
            checked(document.as_document(results))
        return written(results)

    monkeypatch.setattr(document, "pieces", pieces)
    yield
    for written_elsewhere in folder.rglob("results.json") if folder else ():
        if written_elsewhere.with_name("index.html").exists():
            checked(json.loads(written_elsewhere.read_text("utf-8")))


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that runs in GitHub Actions writes nothing into the summary of its job."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory, cache_of_modules: None) -> None:
    """What a session within this one imports: such a session forgets what it was the first to, and numpy comes once."""
    for name in ("tabcontam.pytest_plugin.gate", "tabcontam.pytest_plugin.marks"):
        import_module(name)
    results = tabcontam.run("simulated:guesser", "iris", out=tmp_path_factory.mktemp("imported"), progress=True)
    results.gate()
    results.to_frame()
