"""Runs tests on copies of a checkout: the pass that finds out which tests run which lines, and a mutant's own tests."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from importlib.util import cache_from_source
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

from benchmarks.mutants.contexts import CONFIG, SECONDS, Contexts, merged
from benchmarks.mutants.patches import Mutant, applied

LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache", ".hypothesis", "build", "dist")
PARTS = 3  # of the tests, for each process: those that are slower leave work to the others
GROUPS = (30, 300, None)  # tests that are tried at once: most mutants die among the first
SECONDS_MORE, TIMES = 120.0, 20.0  # that a mutant's tests may take: these, and so many times what they took before
KILLED, SURVIVED, UNCOVERED, BROKEN = "killed", "survived", "not covered", "broken"


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: `by` is the test that failed, or what went wrong; `tests` cover its line."""

    mutant: Mutant
    word: str
    by: str = ""
    tests: int = 0


def covered(
    root: Path, contexts: Contexts, processes: int, arguments: Sequence[str], left_out: Sequence[str], most: float
) -> None:
    """Run the tests of a checkout once, in so many processes, and note which ran which line of the package.

    `arguments` go to pytest. It leaves out test files whose path holds a text of `left_out`, and begins no part of the
    tests after `most` seconds.
    """
    end = time.monotonic() + most
    files = [str(path.relative_to(root)) for path in sorted((root / "tests").rglob("test_*.py"))]
    files = [file for file in files if not any(text in file for text in left_out)]
    parts = [part for number in range(PARTS * processes) if (part := files[number :: PARTS * processes])]
    contexts.file.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="covered-") as made:
        folder = Path(made)
        data, settings = folder / "data", folder / "settings"
        data.mkdir()
        settings.write_text(CONFIG.format(package=root / "tabcontam", data=data / "lines"), "utf-8")

        def run(number: int) -> Path:
            seconds = folder / f"{number}.json"
            if time.monotonic() > end:
                print(f"part {number + 1} of {len(parts)}: not run, for want of time", flush=True)
                return seconds
            more = {"COVERAGE_PROCESS_START": str(settings), SECONDS: str(seconds)}
            options = ["-p", "benchmarks.mutants.contexts", *arguments]
            done = _pytest(root, options, parts[number], folder / f"temporary-{number}", more)
            lines = done.stdout.strip().splitlines()
            print(f"part {number + 1} of {len(parts)}: {lines[-1] if lines else done.stderr[-300:]}", flush=True)
            failed = [line[:200] for line in lines if line.startswith(("FAILED", "ERROR"))]
            print("\n".join(failed), end="\n" * bool(failed), flush=True)
            return seconds

        with ThreadPoolExecutor(processes) as pool:
            seconds = list(pool.map(run, range(len(parts))))
        merged(data, contexts, seconds)


def tried(
    root: Path, contexts: Contexts, chosen: Sequence[Mutant], processes: int, most: int | None = None
) -> Iterator[Outcome]:
    """Put each mutant into a copy of the checkout and run the tests that cover it, at most so many, as they end.

    A test counts that passes in a copy without a mutant: where one does not, its mutants are tried again without it.
    """
    with TemporaryDirectory(prefix="mutants-") as made:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(min(processes, len(chosen))):
            copies.put(Path(shutil.copytree(root, Path(made) / f"{number}" / "copy", symlinks=True, ignore=LEFT_OUT)))
        left, broken = list(chosen), set[str]()

        def one(mutant: Mutant) -> Outcome:
            copy = copies.get()
            try:
                return _tried(copy, contexts, mutant, broken, most)
            finally:
                copies.put(copy)

        while left:
            killers: dict[str, list[Mutant]] = {}
            with ThreadPoolExecutor(processes) as pool:
                for done in as_completed([pool.submit(one, mutant) for mutant in left]):
                    yield (outcome := done.result())
                    if outcome.word == KILLED and "::" in outcome.by:
                        killers.setdefault(outcome.by, []).append(outcome.mutant)
            copy = copies.get()
            said = _pytest(copy, [], list(killers), copy.with_name("temporary")).stdout if killers else ""
            copies.put(copy)
            left = [mutant for test, own in killers.items() if _is_named(test, said) for mutant in own]
            broken |= {test for test in killers if _is_named(test, said)}


def _tried(copy: Path, contexts: Contexts, mutant: Mutant, broken: Collection[str], most: int | None) -> Outcome:
    patch = applied(mutant, copy / "tabcontam")
    module = patch.path.relative_to(copy)
    tests = [test for test in contexts.tests(str(module), patch.lines) if test not in broken]
    tests.sort(key=lambda test: not test.startswith(f"tests/{module.parts[1]}/"))  # those of its room know it best
    found = Outcome(mutant, UNCOVERED, tests=len(tests))
    seconds, before, begun = contexts.seconds(), patch.path.read_text("utf-8"), 0
    for size in GROUPS if tests else ():
        group, begun = tests[:most][begun:][:size], begun + (size or 0)
        if not group:
            break
        limit = SECONDS_MORE + TIMES * sum(seconds[test] or 0 for test in group)
        _write(patch.path, patch.text)
        try:
            done = _pytest(copy, ["-x"], group, copy.with_name("temporary"), limit=limit)
        except subprocess.TimeoutExpired:
            return replace(found, word=KILLED, by=f"no end after {limit:.0f} s")
        finally:
            _write(patch.path, before)
        failed = max((test for test in group if _is_named(test, done.stdout)), key=len, default="")
        if done.returncode == 1 and failed:
            return replace(found, word=KILLED, by=failed)
        if done.returncode:
            last = (done.stdout + done.stderr).strip().splitlines()[-1:]
            return replace(found, word=BROKEN, by=f"pytest ended with {done.returncode}: {' '.join(last)[:200]}")
        found = replace(found, word=SURVIVED)
    return found


def _is_named(test: str, said: str) -> bool:
    """Whether pytest says that a test failed, or its fixtures."""
    return any(f"\n{word} {test}{end}" in f"{said}\n" for word in ("FAILED", "ERROR") for end in (" - ", "\n"))


def _write(path: Path, text: str) -> None:
    """Write a module so that what was compiled of it before is not taken for this."""
    path.write_text(text, "utf-8")
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def _pytest(
    root: Path,
    options: Sequence[str],
    tests: Sequence[str],
    temporary: Path,
    more: dict[str, str] | None = None,
    limit: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run tests of a checkout, whose package comes before any that is installed."""
    paths = filter(None, (str(root), os.environ.get("PYTHONPATH")))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"} | (more or {})
    arguments = temporary.parent / f"{temporary.name}.arguments"  # there may be more than a command line takes
    arguments.write_text("\n".join(tests), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "--basetemp", str(temporary)]
    return subprocess.run(
        [*command, *options, f"@{arguments}"],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=limit,
        stdin=subprocess.DEVNULL,
        check=False,
    )
