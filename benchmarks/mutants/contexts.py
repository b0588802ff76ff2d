"""Which tests run which lines of the package: a plugin of pytest for the pass that finds out, and what it found.

The pass runs every test once under coverage, which notes for each line the tests that ran it, those of processes that a
test starts as well. A test is noted by its node id and a phase: "setup" for what its fixtures did, which may be shared
by all tests of its file.
"""

import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import coverage

TEST = "TABCONTAM_COVERED_BY"  # the test that runs, for the processes that it starts
SECONDS = "TABCONTAM_SECONDS"  # the file for how long each test took
SETUP = "|setup"
CONFIG = f"[run]\nsource = {{package}}\nparallel = true\ndata_file = {{data}}\ncontext = ${{{{{TEST}-}}}}\n"


class Noting:
    """Tells coverage which test runs, and notes how long each took and whether it passed."""

    def __init__(self, measured: "coverage.Coverage", file: Path) -> None:
        self.measured, self.file = measured, file
        self.took: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()

    def _begin(self, context: str) -> None:
        os.environ[TEST] = context
        self.measured.switch_context(context)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Begin a test with its fixtures."""
        self._begin(nodeid + SETUP)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Begin the test itself."""
        self._begin(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a phase of a test; one that was skipped is none that passed."""
        self.took[report.nodeid] += report.duration
        if not report.passed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write down what was noted."""
        self.measured.switch_context("")
        os.environ.pop(TEST, None)
        found = {test: None if test in self.failed else seconds for test, seconds in self.took.items()}
        self.file.write_text(json.dumps(found), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Take part where the pass asks for it."""
    if SECONDS in os.environ:
        import coverage

        measured = coverage.process_startup() or coverage.Coverage.current()
        if measured is None:
            raise pytest.UsageError("coverage does not run; COVERAGE_PROCESS_START names no settings")
        # a session within a test has another file, or none
        config.pluginmanager.register(Noting(measured, Path(os.environ.pop(SECONDS))))


@dataclass(frozen=True)
class Contexts:
    """What a pass found: coverage's file, and one in the same folder with the seconds of each test that passed."""

    file: Path

    @property
    def seconds_file(self) -> Path:
        """Where the seconds of the tests stand."""
        return self.file.with_suffix(".seconds.json")

    def seconds(self) -> dict[str, float | None]:
        """Return the seconds of each test; None for one that failed or was skipped."""
        found: dict[str, float | None] = json.loads(self.seconds_file.read_text("utf-8"))
        return found

    def tests(self, module: str, lines: Collection[int]) -> list[str]:
        """Return the tests that passed and run one of these lines of a module (a path from the root).

        Those of the quickest files come first: fixtures of a file count for whichever of its tests is run. Where
        fixtures alone run the line, all tests of their file belong to it.
        """
        seconds = {test: took for test, took in self.seconds().items() if took is not None}
        contexts = {context for context, own in self._ran(module) if not own.isdisjoint(lines)}
        files = {context.partition("::")[0] for context in contexts if context.endswith(SETUP)}
        found = {test for test in seconds if test in contexts or test.partition("::")[0] in files}
        whole: dict[str, float] = defaultdict(float)
        for test, took in seconds.items():
            whole[test.partition("::")[0]] += took

        def cost(test: str) -> tuple[bool, float, str, float]:
            file = test.partition("::")[0]
            return file in files and test not in contexts, whole[file], file, seconds[test]

        return sorted(found, key=cost)

    def _ran(self, module: str) -> Iterator[tuple[str, set[int]]]:
        """Each context with the lines of the module that it ran."""
        from coverage.numbits import numbits_to_nums

        query = (
            "SELECT context.context, numbits FROM line_bits JOIN context ON context.id = context_id "
            "JOIN file ON file.id = file_id WHERE file.path LIKE '%/' || ?"
        )
        with sqlite3.connect(f"file:{self.file}?mode=ro", uri=True) as database:
            for context, bits in database.execute(query, [module]):
                yield context, set(numbits_to_nums(bits))

    def lines(self, root: Path) -> dict[str, tuple[int, int]]:
        """Return for each folder of the package the lines that were run, and all that can be."""
        import coverage

        measured = coverage.Coverage(data_file=str(self.file), config_file=False)
        measured.load()
        found: dict[str, tuple[int, int]] = {}
        for path in sorted((root / "tabcontam").rglob("*.py")):
            _, statements, _, missing, _ = measured.analysis2(str(path))
            room = path.relative_to(root / "tabcontam").parts[0]
            ran, all_lines = found.get(room, (0, 0))
            found[room] = ran + len(statements) - len(missing), all_lines + len(statements)
        return found


def merged(folder: Path, contexts: Contexts, seconds: Sequence[Path]) -> None:
    """Join what the processes of a pass measured into one file."""
    import coverage

    measured = coverage.Coverage(data_file=str(contexts.file), config_file=False)
    measured.combine([str(file) for file in folder.iterdir()], strict=True)
    measured.save()
    took = {test: one for file in seconds if file.exists() for test, one in json.loads(file.read_text("utf-8")).items()}
    contexts.seconds_file.write_text(json.dumps(took), "utf-8")
