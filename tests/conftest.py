"""What every test gets."""

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import tabcontam
from tabcontam.verdicts import document, result_lines
from tabcontam.verdicts.results import RunResults
from tests.loopback_certificates import no_authorities as without_authorities
from tests.results_schema import checked

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # other workers compute
settings.load_profile("busy")

collect_ignore = ["examples"]  # a project of its own, which test_examples.py runs
COLLECTED = pytest.StashKey[set[str]]()


def use_cache(folder: str) -> None:
    """Name the cache folder for this process and those that it starts."""
    os.environ["XDG_CACHE_HOME"] = os.environ["LOCALAPPDATA"] = folder


def pytest_configure(config: pytest.Config) -> None:
    """What holds for all tests, set once: a fixture would be asked for by each of them."""
    gc.disable()  # until all is collected, which stays
    sys.dont_write_bytecode = False  # what pytest makes of every assert takes longer than all else that is collected
    patched = pytest.MonkeyPatch()
    config.add_cleanup(patched.undo)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):  # of the user, never touched: to collect tests nothing is kept
        patched.setenv(name, os.devnull)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):  # nothing is written into the summary of a job
        patched.delenv(name, raising=False)
    patched.setattr(document, "pieces", checked_pieces)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note what was imported before the first test runs, for tests/test_collection.py, and look for garbage again."""
    session.config.stash[COLLECTED] = set(sys.modules)
    gc.freeze()  # else all that was collected is looked through for garbage again and again
    gc.enable()


def checked_pieces(results: RunResults) -> Iterator[str]:
    """The text of results; every results.json that is written or printed is checked against its schema."""
    checked(document.as_document(results))
    return result_lines.pieces(results)


@pytest.fixture(scope="session", autouse=True)
def no_authorities(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hundreds of clients would each read the certificates of all authorities, and no server of a test shows one."""
    with without_authorities(tmp_path_factory.getbasetemp()):
        yield


@pytest.fixture(scope="session")
def guesses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the guesser makes of tables, for all tests of all workers: it takes seconds, and is the same each time.

    Two workers that make the same guesses at once each write a file of their own and rename it: either may win.
    """
    return of_all_workers(tmp_path_factory, "guesses")


def of_all_workers(tmp_path_factory: pytest.TempPathFactory, name: str) -> Path:
    """A folder that all workers of this run share."""
    ours = tmp_path_factory.getbasetemp()
    folder = (ours.parent if "PYTEST_XDIST_WORKER" in os.environ else ours) / name  # a worker's lies in the run's
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def new_cache(tmp_path_factory: pytest.TempPathFactory, guesses: Path) -> Callable[[], str]:
    """Makes a cache folder that holds nothing but the guesses; the first is for the runs that a module's tests share.

    The folders are counted here: `mktemp` would look through all earlier ones for each test.
    """
    folders, numbers = tmp_path_factory.mktemp("caches"), count()

    def new() -> str:
        folder = f"{folders}/{next(numbers)}"
        os.makedirs(f"{folder}/tabcontam")
        os.symlink(guesses, f"{folder}/tabcontam/facts")
        return folder

    use_cache(new())
    return new


@pytest.fixture(autouse=True)
def cache(new_cache: Callable[[], str]) -> Iterator[Path]:
    """A cache folder of the test's own, but for the guesses: a reply that another test stored would answer it."""
    of_modules, folder = os.environ["XDG_CACHE_HOME"], new_cache()
    use_cache(folder)
    yield Path(folder)
    use_cache(of_modules)


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder of the test's own. Every results.json that other processes wrote there is checked against its schema."""
    yield tmp_path
    for written in tmp_path.rglob("results.json"):
        if written.with_name("index.html").exists():
            checked(json.loads(written.read_text("utf-8")))


@pytest.fixture(scope="session")
def cheap_guesses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where guesses of `cheaply` lie: apart from those that others take for the truth."""
    return of_all_workers(tmp_path_factory, "cheap")


@pytest.fixture
def cheaply(cache: Path, cheap_guesses: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Guess cells by how often they occur alone, for a test that looks at no verdict: a fit takes seconds.

    Tables whose guesses come with the package have those. Commands in other processes read the guesses made here.
    """
    (cache / "tabcontam" / "facts").unlink()
    (cache / "tabcontam" / "facts").symlink_to(cheap_guesses)
    for module in ("chains", "mixture", "laws"):
        monkeypatch.setattr(f"tabcontam.baseline.{module}.attempt", lambda predictor, predict, otherwise: otherwise)
    made = import_module("tests.made_tables")  # what is found out about a table is kept with it
    made.ships.cache_clear()
    yield
    made.ships.cache_clear()


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory, new_cache: Callable[[], str]) -> None:
    """What a session within this one imports: such a session forgets what it was the first to, and numpy comes once."""
    for name in ("tabcontam.pytest_plugin.session_gate", "tabcontam.pytest_plugin.uncontaminated_mark"):
        import_module(name)
    results = tabcontam.run("simulated:guesser", "iris", out=tmp_path_factory.mktemp("imported"), progress=True)
    results.gate()
    results.to_frame()
