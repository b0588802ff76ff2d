"""The pytest plugin: an experiment runs only if its LLM has not seen the table.

    @pytest.mark.uncontaminated(llm="llama3", dataset="adult")
    def test_few_shot_accuracy(): ...

A marked test is stopped before its fixtures are set up. By default, it fails if the table is contaminated, and pytest
skips it if that cannot be decided. The verdicts come from past runs (`--tabcontam-report RUN_DIR`) or from a new run.
The new run starts when the first test needs it, and is stored in pytest's cache. It asks an LLM about all tables that
the selected tests name, because all tables of an LLM are judged together. Until a test needs a verdict, the plugin
imports only pytest and the standard library.
"""

import os
import re
from collections import Counter
from collections.abc import Generator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from tabcontam.config import CONDITIONS as OF_GATE
from tabcontam.config import MARK as ON_MARK
from tabcontam.config import settings
from tabcontam.errors import UsageError, one_line

if TYPE_CHECKING:
    from tabcontam.api import Results
    from tabcontam.pytest_plugin.session_gate import ConditionAnswer, Gate
    from tabcontam.pytest_plugin.uncontaminated_mark import Condition

MARK = "uncontaminated"
COLORS = {"contaminated": "red", "cannot tell": "yellow", "clean": "green"}

# Stash keys of an item; in the config's stash: the conditions of all selected tests.
CONDITIONS: "pytest.StashKey[Sequence[Condition]]" = pytest.StashKey()
MISTAKE = pytest.StashKey[str]()
ANSWERS: "pytest.StashKey[list[ConditionAnswer]]" = pytest.StashKey()
STOPPED = pytest.StashKey[tuple[str, str]]()  # the action and the reason
GATE: "pytest.StashKey[Gate]" = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add one option and the settings of a project."""
    group = parser.getgroup("tabcontam", "has the model read the table?")
    group.addoption(
        "--tabcontam-report",
        action="append",
        type=Path,
        metavar="RUN_DIR",
        help=f"take the verdicts for @pytest.mark.{MARK} from this run's folder and ask nothing; repeatable",
    )
    parser.addini("tabcontam_report", "run folders to take verdicts from, as --tabcontam-report does", type="paths")
    parser.addini(
        "tabcontam_contaminated",
        "the outcome of a test if its table is contaminated: fail, xfail or skip",
        None,
        "fail",
    )
    parser.addini("tabcontam_undecided", "the outcome if that is undecided: skip, xfail, fail or run", None, "skip")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark for --strict-markers."""
    own = "".join(
        f", {name}={None if one.group == OF_GATE else one.default!r}" for name, one in settings(ON_MARK).items()
    )
    config.addinivalue_line(
        "markers",
        f"{MARK}(llm, dataset, *, contaminated='fail', undecided='skip'{own}): run the test only if no contamination "
        "of the table is detected; llm and dataset may be parameters of the test",
    )
    if config.getoption("tabcontam_report"):
        _check_folders(config)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Read the marks of the selected tests. Nothing is asked yet."""
    for item in session.items:
        if marks := list(item.iter_markers(MARK)):
            _read(item, marks)
        elif misspelt := [mark.name for mark in item.iter_markers() if _misspelt(mark.name, session.config)]:
            item.stash[MISTAKE] = f"@pytest.mark.{misspelt[0]} gates nothing; did you mean @pytest.mark.{MARK}?"
    found = [condition for item in session.items for condition in item.stash.get(CONDITIONS, ())]
    session.config.stash[CONDITIONS] = tuple(dict.fromkeys(found))
    if hasattr(session.config, "workerinput"):
        return  # a worker of xdist cannot end the session: the mistake is reported when the test is set up
    mistakes = [f"{item.nodeid}: {item.stash[MISTAKE]}" for item in session.items if MISTAKE in item.stash]
    if mistakes:
        raise pytest.UsageError(*mistakes)
    if found:
        _check_folders(session.config)


# misspelt: most characters by which a misspelt name is longer or shorter than the mark
def _misspelt(name: str, config: pytest.Config, *, misspelt: int = 2) -> bool:
    """Return whether the unregistered mark `name` probably misspells ours: its test would run without a check."""
    if name[:2] != MARK[:2] or abs(len(name) - len(MARK)) > misspelt:
        return False
    registered = {re.split(r"[:(\s]", line, maxsplit=1)[0] for line in config.getini("markers")}
    return name not in registered and bool(get_close_matches(name, [MARK], cutoff=0.85))


def _read(item: pytest.Item, marks: Sequence[pytest.Mark]) -> None:
    from tabcontam.pytest_plugin.uncontaminated_mark import read_mark

    try:
        item.stash[CONDITIONS] = tuple(dict.fromkeys(read_mark(item, mark) for mark in marks))
    except ValueError as error:
        item.stash[MISTAKE] = f"@pytest.mark.{MARK}: {error}"


def _check_folders(config: pytest.Config) -> None:
    for folder in report_folders(config):
        if not (folder / "results.json").is_file():
            raise pytest.UsageError(f"--tabcontam-report: {folder} is not the folder of a run: it has no results.json")


def report_folders(config: pytest.Config) -> list[Path]:
    """Return the run folders that provide verdicts: those on the command line or else in the project's settings."""
    folders: list[Path] = config.getoption("tabcontam_report") or config.getini("tabcontam_report")
    return folders


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Stop a test if its table is contaminated, or if this cannot be decided. Its skip marks are applied first."""
    if MISTAKE in item.stash:
        pytest.fail(item.stash[MISTAKE], pytrace=False)
    conditions = item.stash.get(CONDITIONS, ())
    if not conditions or item.config.getoption("setupplan", False):  # --setup-only does set up fixtures
        return
    from tabcontam.pytest_plugin.session_gate import stop

    try:
        answers = item.stash[ANSWERS] = [_gate(item.config).answer(condition) for condition in conditions]
    except UsageError as error:
        _break(error)
    if stopped := stop(answers):
        action, reason = item.stash[STOPPED] = stopped
        _stop(item.config, action, reason)


def _break(error: UsageError) -> NoReturn:
    raise pytest.fail.Exception(f"tabcontam: {one_line(error, 1000)}", pytrace=False) from None


def _gate(config: pytest.Config) -> "Gate":
    """Return the gate, which provides this session's verdicts."""
    from tabcontam.pytest_plugin.session_gate import Gate

    if GATE not in config.stash:
        config.stash[GATE] = Gate(config, report_folders(config), config.stash.get(CONDITIONS, ()))
    return config.stash[GATE]


def _stop(config: pytest.Config, action: str, reason: str) -> None:
    if action == "skip":
        pytest.skip(reason)
    if action == "xfail" and not config.getoption("runxfail"):  # with --runxfail, pytest.xfail() does not stop a test
        pytest.xfail(reason)
    pytest.fail(reason, pytrace=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Report a stopped test as failed or skipped at its own line, instead of as an error in its setup."""
    outcome = yield
    if call.when != "setup" or ANSWERS not in item.stash:
        return
    report = outcome.get_result()
    report.tabcontam = [answer.line for answer in item.stash[ANSWERS]]  # xdist sends this attribute from the worker
    if STOPPED in item.stash:
        action, reason = item.stash[STOPPED]
        report.when = "call"
        if action == "skip":
            path, line, _ = item.reportinfo()
            report.longrepr = (os.fspath(path), (line or 0) + 1, reason)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print a line for each LLM and table of a marked test, and the reports of the runs."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    lines = [tuple(line) for report in reports for line in getattr(report, "tabcontam", ())]
    if not lines:
        return
    terminalreporter.write_sep("=", "tabcontam")
    anyway = Counter(sentence for _, sentence, _, ran_anyway in lines if ran_anyway)
    for conclusion, sentence in sorted({(conclusion, sentence) for conclusion, sentence, _, _ in lines}):
        ran = anyway[sentence]
        tests = f" ({ran} {'test' if ran == 1 else 'tests'} run anyway)" if ran else ""
        terminalreporter.write_line(sentence + tests, **{COLORS[conclusion]: True})
    here = Path.cwd()
    for page in sorted({Path(folder) / "index.html" for _, _, folder, _ in lines}):
        shown = page.relative_to(here) if page.is_relative_to(here) else page
        terminalreporter.write_line(f"evidence: {shown}")


@pytest.fixture(scope="session")
def tabcontam_results(request: pytest.FixtureRequest) -> "tuple[Results, ...]":
    """Return the `tabcontam.api.Results` of --tabcontam-report or else of the runs that all marked tests need."""
    try:
        results = _gate(request.config).results()
    except UsageError as error:
        _break(error)
    if not results:
        pytest.fail(f"tabcontam: no results; give --tabcontam-report RUN_DIR, or mark tests {MARK}", pytrace=False)
    return results
