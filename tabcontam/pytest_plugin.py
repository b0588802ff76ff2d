"""The pytest plugin: an experiment runs only where the LLM that it asks has not seen the table.

    @pytest.mark.uncontaminated(llm="llama3", dataset="adult")
    def test_few_shot_accuracy(): ...

A marked test is stopped before its fixtures are set up: by default it fails where the table is contaminated, and is
skipped where that cannot be told. The verdicts are those of past runs (`--tabcontam-report RUN_DIR`), or of a run that
is made when the first test needs it and kept in pytest's cache. That run holds all tables that the selected tests name
for its LLM, since they are weighed together. Until then nothing but pytest and the standard library is imported.
"""

import inspect
import os
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tabcontam.errors import UsageError, one_line

if TYPE_CHECKING:
    from tabcontam.api import Results
    from tabcontam.pytest_gate import Answer, Gate

MARK = "uncontaminated"
STOPS = ("fail", "xfail", "skip")  # the severest first
RUN = "run"
COLORS = {"contaminated": "red", "cannot tell": "yellow", "clean": "green"}


@dataclass(frozen=True)
class Asking:
    """What is asked of an LLM, but for the tables: those of one run are weighed together."""

    llm: str
    serializer: str | None
    target: str | None
    queries: int | None
    send_rows: bool


@dataclass(frozen=True)
class Condition:
    """What one mark demands, and what becomes of the test where that does not hold."""

    asking: Asking
    dataset: str
    contaminated: str
    undecided: str
    fail_on: tuple[str, ...]
    min_power: float | None

    def action(self, conclusion: str) -> str:
        """What becomes of the test: one of `STOPS`, or that it is run."""
        return {"contaminated": self.contaminated, "cannot tell": self.undecided}.get(conclusion, RUN)


CONDITIONS = pytest.StashKey[Sequence[Condition]]()  # of an item; of the config: those of all selected tests
MISTAKE = pytest.StashKey[str]()
ANSWERS: "pytest.StashKey[list[Answer]]" = pytest.StashKey()
STOPPED = pytest.StashKey[tuple[str, str]]()  # the action and the reason
GATE: "pytest.StashKey[Gate]" = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """One option, and what is so for a whole project."""
    group = parser.getgroup("tabcontam", "has the LLM seen the table?")
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
        "what becomes of an experiment on a contaminated table: fail, xfail or skip",
        None,
        "fail",
    )
    parser.addini("tabcontam_undecided", "and where it cannot be told: skip, xfail, fail or run", None, "skip")


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known to --strict-markers."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(llm, dataset, *, contaminated='fail', undecided='skip', fail_on=(), min_power=None, serializer=None, "
        "target=None, queries=None, send_rows=False): run the test only if the LLM is found not to have seen the "
        "table; llm and dataset may be parameters of the test",
    )
    if config.getoption("tabcontam_report"):
        _check_folders(config)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Read the marks of the tests that were selected; nothing is asked yet."""
    for item in session.items:
        try:
            marks = [_condition(item, mark) for mark in item.iter_markers(MARK)]
            item.stash[CONDITIONS] = tuple(dict.fromkeys(marks))
        except ValueError as error:
            item.stash[MISTAKE] = f"@pytest.mark.{MARK}: {error}"
    found = [condition for item in session.items for condition in item.stash.get(CONDITIONS, ())]
    session.config.stash[CONDITIONS] = tuple(dict.fromkeys(found))
    if hasattr(session.config, "workerinput"):
        return  # xdist has no way to end a session from a worker: a mistake is told when its test is set up
    mistakes = [f"{item.nodeid}: {item.stash[MISTAKE]}" for item in session.items if MISTAKE in item.stash]
    if mistakes:
        raise pytest.UsageError(*mistakes)
    if found:
        _check_folders(session.config)


def _check_folders(config: pytest.Config) -> None:
    for folder in report_folders(config):
        if not (folder / "results.json").is_file():
            raise pytest.UsageError(f"--tabcontam-report: {folder} is no run folder: it has no results.json")


def report_folders(config: pytest.Config) -> list[Path]:
    """The run folders whose verdicts hold: those of the command line, else of the project."""
    folders: list[Path] = config.getoption("tabcontam_report") or config.getini("tabcontam_report")
    return folders


def _condition(item: pytest.Item, mark: pytest.Mark) -> Condition:
    """What a mark says; what it does not say is the test's parameter of that name, or the project's setting."""
    callspec = getattr(item, "callspec", None)
    params = callspec.params if callspec else {}
    known: dict[str, Any] = {name: params[name] for name in ("llm", "dataset") if name in params}
    known |= {name: item.config.getini(f"tabcontam_{name}") for name in ("contaminated", "undecided")}
    signature = inspect.signature(uncontaminated)
    try:
        known |= signature.bind_partial(*mark.args, **mark.kwargs).arguments
        signature.bind(**known)
    except TypeError as error:
        raise ValueError(error) from None
    return uncontaminated(**known)


def uncontaminated(
    llm: str,
    dataset: str | os.PathLike[str],
    *,
    contaminated: str,
    undecided: str,
    fail_on: str | Sequence[str] = (),
    min_power: float | None = None,
    serializer: str | None = None,
    target: str | None = None,
    queries: int | None = None,
    send_rows: bool = False,
) -> Condition:
    """The mark's arguments, checked. Raises ValueError with one line."""
    from tabcontam.arguments import FAILURES

    failures = (fail_on,) if isinstance(fail_on, str) else tuple(fail_on)
    for failure in failures:
        _check("fail_on", failure, failure in FAILURES, f"one of {', '.join(FAILURES)}")
    _check("contaminated", contaminated, contaminated in STOPS, f"one of {', '.join(STOPS)}")
    _check("undecided", undecided, undecided in (*STOPS, RUN), f"one of {', '.join(STOPS)} or {RUN}")
    shares = isinstance(min_power, float) and 0 < min_power < 1
    _check("min_power", min_power, min_power is None or shares, "a share between 0 and 1")
    _check("queries", queries, queries is None or (type(queries) is int and queries > 0), "a whole number above 0")
    _check("llm", llm, isinstance(llm, str) and llm.strip(), "the name of an LLM")
    _check(
        "dataset", dataset, isinstance(dataset, str | Path) and str(dataset).strip(), "the name of a dataset or a file"
    )
    for name, value in {"serializer": serializer, "target": target}.items():
        _check(name, value, value is None or isinstance(value, str), "a name")
    asking = Asking(llm, serializer, target, queries, bool(send_rows))
    return Condition(asking, os.fspath(dataset), contaminated, undecided, failures, min_power)


def _check(name: str, value: object, right: object, wanted: str) -> None:
    if not right:
        raise ValueError(f"{name} is {wanted}, not {value!r}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Stop a test where its table is contaminated, or that cannot be told; its own skip marks come first."""
    if MISTAKE in item.stash:
        pytest.fail(item.stash[MISTAKE], pytrace=False)
    conditions = item.stash.get(CONDITIONS, ())
    if not conditions or item.config.getoption("setuponly", False):
        return
    try:
        answers = item.stash[ANSWERS] = [_gate(item.config).answer(condition) for condition in conditions]
    except UsageError as error:
        pytest.fail(f"tabcontam: {one_line(error, 1000)}", pytrace=False)
    stopping = [answer for answer in answers if answer.action != RUN]
    if stopping:
        action = min((answer.action for answer in stopping), key=STOPS.index)
        reason = "; ".join(dict.fromkeys(answer.sentence for answer in stopping))
        item.stash[STOPPED] = action, reason
        _stop(action, reason)


def _gate(config: pytest.Config) -> "Gate":
    """Where this session's verdicts come from."""
    from tabcontam.pytest_gate import Gate

    if GATE not in config.stash:
        config.stash[GATE] = Gate(config, report_folders(config), config.stash.get(CONDITIONS, ()))
    return config.stash[GATE]


def _stop(action: str, reason: str) -> None:
    """The exceptions themselves are raised, since --runxfail makes `pytest.xfail()` let a test run."""
    if action == "skip":
        raise pytest.skip.Exception(reason)
    if action == "xfail":
        raise pytest.xfail.Exception(reason)
    raise pytest.fail.Exception(reason, pytrace=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Report a stopped test as one that failed or was skipped, at its own place, instead of its setup."""
    outcome = yield
    if call.when != "setup" or ANSWERS not in item.stash:
        return
    report = outcome.get_result()
    report.tabcontam = [answer.line for answer in item.stash[ANSWERS]]  # which xdist carries over
    if STOPPED in item.stash:
        action, reason = item.stash[STOPPED]
        report.when = "call"
        if action == "skip":
            path, line, _ = item.reportinfo()
            report.longrepr = (os.fspath(path), (line or 0) + 1, reason)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """A line for each LLM and table that a test was marked with, and where the runs lie."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    lines = [tuple(line) for report in reports for line in getattr(report, "tabcontam", ())]
    if not lines:
        return
    terminalreporter.write_sep("=", "tabcontam")
    all_the_same = Counter(sentence for _, sentence, _, action in lines if action == RUN)
    for conclusion, sentence in sorted({(conclusion, sentence) for conclusion, sentence, _, _ in lines}):
        ran = all_the_same[sentence] if conclusion != "clean" else 0
        tests = f" ({ran} {'test' if ran == 1 else 'tests'} run all the same)" if ran else ""
        terminalreporter.write_line(sentence + tests, **{COLORS[conclusion]: True})
    for folder in sorted({Path(folder) for _, _, folder, _ in lines}):
        terminalreporter.write_line(f"evidence: {_short(folder / 'index.html')}")


def _short(path: Path) -> Path:
    """As seen from here, where it is below."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


@pytest.fixture(scope="session")
def tabcontam_results(request: pytest.FixtureRequest) -> "tuple[Results, ...]":
    """The `tabcontam.api.Results` of --tabcontam-report, else of the runs for all tests marked `uncontaminated`."""
    try:
        results = _gate(request.config).results()
    except UsageError as error:
        pytest.fail(f"tabcontam: {one_line(error, 1000)}", pytrace=False)
    if not results:
        pytest.fail(f"tabcontam: no results; give --tabcontam-report RUN_DIR, or mark tests {MARK}", pytrace=False)
    return results
