"""The source of the pytest plugin's verdicts: past runs, or new runs that are stored in pytest's cache."""

import hashlib
import json
import re
import sqlite3
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tabcontam.api import Results, load_results, run
from tabcontam.asking.trial_file import RESULTS
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.evidence.base import ReplyState
from tabcontam.evidence.prompts import load_prompt_set
from tabcontam.models.catalogue import split_label
from tabcontam.models.provider_registry import BUILT_IN
from tabcontam.pytest_plugin.uncontaminated_mark import RUN, STOPS, Condition
from tabcontam.runs.rescoring import check_agrees
from tabcontam.runs.stored_trials import last_lines
from tabcontam.tables.dataset_cards import find_card, split_edition
from tabcontam.tables.file_specs import named_file
from tabcontam.tables.serializers import load_serializer
from tabcontam.verdicts.consistency import check_whole
from tabcontam.verdicts.gate import Conclusion
from tabcontam.verdicts.wording import visible
from tabcontam.version import __version__


@dataclass(frozen=True)
class ConditionAnswer:
    """The answer to a mark's condition: a conclusion, one line on its subject and reason, and the folder of the run."""

    condition: Condition
    conclusion: Conclusion
    reason: str
    folder: Path
    tested: bool = True

    @property
    def action(self) -> str:
        """The action for the test: run it, skip it or fail it."""
        return self.condition.action(self.conclusion)

    @property
    def sentence(self) -> str:
        """The answer as a sentence for a report. Control characters in names are made visible."""
        return visible(f"{self.conclusion}: {self.reason}", line=True)

    @property
    def line(self) -> tuple[str, str, str, bool]:
        """The line of the session's summary: conclusion, sentence, folder, and whether the test still runs."""
        anyway = self.action == RUN and self.conclusion is not Conclusion.CLEAN
        return self.conclusion.value, self.sentence, str(self.folder), anyway


def stop(answers: Sequence[ConditionAnswer]) -> tuple[str, str] | None:
    """Return the severest action that the answers demand for a test, and the reasons; None if the test may run."""
    stopping = [answer for answer in answers if answer.action != RUN]
    if not stopping:
        return None
    reason = "; ".join(dict.fromkeys(answer.sentence for answer in stopping))
    return min((answer.action for answer in stopping), key=STOPS.index), reason


class Gate:
    """The verdicts of a session, from past runs in `folders` or else from new runs for `conditions`."""

    def __init__(self, config: pytest.Config, folders: Sequence[Path], conditions: Sequence[Condition]) -> None:
        self.config = config
        self.past = [load_results(folder) for folder in folders]
        for folder, results in zip(folders, self.past, strict=True):  # a broken run must not look like a missing result
            check_whole(results.run_results)
            check_agrees(folder, results.run_results)
        self.conditions = conditions
        self._made: dict[RunConfig, Results | UsageError] = {}

    def answer(self, condition: Condition) -> ConditionAnswer:
        """Return the answer to a condition, the worst of several past runs. Raises `UsageError`."""
        runs, dataset = self.past or [self._run(condition.asking)], self._file(condition.dataset)
        serializers, prompts = (
            list(map(self._file, names)) for names in (condition.asking.serializer, condition.asking.prompts)
        )
        answers = [_answer(condition, dataset, serializers, prompts, run) for run in runs]
        return min(answers, key=lambda answer: (not answer.tested, list(Conclusion).index(answer.conclusion)))

    def results(self) -> tuple[Results, ...]:
        """Return the past runs or else the new runs for all conditions. Raises `UsageError` if a run cannot be made."""
        askings = dict.fromkeys(condition.asking for condition in self.conditions)
        return tuple(self.past or [self._run(asking) for asking in askings])

    def _run(self, asking: RunConfig) -> Results:
        """Return the run on all tables with these options. After a failure, each test raises the same error."""
        if asking not in self._made:
            try:
                self._made[asking] = self._stored_or_made(asking)
            except UsageError as error:
                self._made[asking] = error
            except KeyboardInterrupt:
                raise KeyboardInterrupt("the answers are stored; the next session continues the run") from None
        made = self._made[asking]
        if isinstance(made, UsageError):
            raise made
        return made

    def _stored_or_made(self, asking: RunConfig) -> Results:
        datasets = sorted({each.dataset for each in self.conditions if each.asking == asking})
        folder = self._folder(asking, [self._file(dataset) for dataset in datasets])
        with _alone(folder.with_name(f"{folder.name}.lock")), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the experiment's warning filters do not apply to this run
            begun = (folder / RESULTS).exists()
            if begun and _is_whole(stored := load_results(folder)):
                return stored
            try:
                return self._ask(asking, datasets, folder)
            except UsageError as error:
                again = " (pytest --cache-clear starts a new run)" if begun else ""
                raise UsageError(f"{error}{again}") from None

    def _ask(self, asking: RunConfig, datasets: Sequence[str], folder: Path) -> Results:
        (llm,) = asking.llm
        files = {"serializer": asking.serializer, "prompts": asking.prompts, "known": asking.known}
        words: dict[str, Any] = {
            **asking.values,
            **{word: list(map(self._file, names)) for word, names in files.items()},
        }
        words |= {"trained_on": [f"{llm}={corpus}" for corpus in asking.trained_on]}
        words |= {"dataset": [self._file(dataset) for dataset in datasets], "out": folder}
        with self._on_terminal(f"tabcontam asks {llm} about {', '.join(datasets)}") as shown:
            return run(**words, progress=shown)

    def _file(self, name: str) -> str:
        """Return the path of a FILE, card, serializer or prompt set, here or in pytest's root folder; else `name`."""
        file, edition = split_edition(name)
        for base, suffix in ((name, ""), (file, f"@{edition}")):
            found = named_file(str(self.config.rootpath / base))
            if found is not None and found.path.suffix:
                return f"{found.spec}{suffix}"
        return name

    def _folder(self, asking: RunConfig, datasets: Sequence[str]) -> Path:
        """Return a folder of pytest's cache; its name depends on all that affects the results. Raises `UsageError`."""
        facts = [__version__, sorted(asking.values.items()), *datasets]
        forms = [load_serializer(self._file(name)).source for name in asking.serializer]
        forms += [load_prompt_set(self._file(name)).source for name in asking.prompts]
        llms = [llm.partition(":")[2] for llm in (*asking.llm, *asking.reference)]
        corpora = [_corpus_state(each) for each in (*asking.llm, *asking.trained_on)]
        paths = (*llms, *forms, *map(_source, [*datasets, *map(self._file, asking.known)]))
        files = [_state(Path(path)) for path in paths]
        name = re.sub(r"[^a-zA-Z0-9.]+", "-", asking.llm[0])[:40]
        digest = hashlib.sha256(json.dumps([facts, files, corpora], default=str).encode()).hexdigest()[:12]
        if (cache := getattr(self.config, "cache", None)) is None:
            raise UsageError(
                "runs are stored in pytest's cache; leave out -p no:cacheprovider, or give --tabcontam-report"
            )
        try:
            folder: Path = cache.mkdir("tabcontam") / f"{name}-{digest}"
        except OSError as error:
            raise UsageError(f"runs are stored in pytest's cache, but {error}; give --tabcontam-report") from None
        return folder

    @contextmanager
    def _on_terminal(self, line: str) -> Iterator[bool]:
        """Write a line to the terminal. Yield whether the run, which takes time, may show its progress there."""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        capture = self.config.pluginmanager.get_plugin("capturemanager")
        if reporter is None or capture is None or reporter.verbosity < 0:
            yield False
            return
        with capture.global_and_fixture_disabled():
            reporter.ensure_newline()
            reporter.write_line(visible(line, line=True))
            yield True


def _answer(
    condition: Condition, dataset: str, serializers: Sequence[str], prompts: Sequence[str], results: Results
) -> ConditionAnswer:
    """Return a run's answer to a condition. `dataset`, `serializers` and `prompts` are resolved names."""
    (llm,) = condition.asking.llm
    try:
        written, worded = ({getattr(one, word) for one in results.results} for word in ("serializer", "prompts"))
        if lacking := [name for name in serializers if load_serializer(name).name not in written]:
            raise UsageError(f"its rows were not written by serializer {lacking[0]}")
        if lacking := [name for name in prompts if load_prompt_set(name).name not in worded]:
            raise UsageError(f"its queries were not worded by prompt set {lacking[0]}")
        found = results.gate(
            llm=llm,
            dataset=dataset,
            fail_on=condition.fail_on,
            min_power=condition.min_power,
            max_memory_share=condition.max_memory_share,
        )
    except UsageError as error:
        untested = f"{llm} on {condition.dataset}: not tested in {results.folder}: {error}"
        return ConditionAnswer(condition, Conclusion.CANNOT_TELL, untested, results.folder, tested=False)
    return ConditionAnswer(condition, found.conclusion, found.reason, results.folder)


def _is_whole(results: Results) -> bool:
    """Return whether a stored run is complete and no request to an LLM under test failed."""
    about = results.run_results.run
    ended = {llm.spec: llm.ended for llm in about.llms if not llm.control}
    if not about.finished or any(ended.values()):
        return False
    lines = last_lines(results.folder, results.results)
    return not any(line["llm"] in ended and line["state"] == ReplyState.FAILED for line in lines)


def _source(dataset: str) -> str:
    """Return the user's file that defines a dataset: its card or the FILE itself, or "". Raises `UsageError`."""
    base, edition = split_edition(dataset)
    file = named_file(dataset)
    card = None if edition is not None and file is not None else find_card(base)
    if card is not None:
        return card.source
    return dataset if file is None else str(file.path)


def _corpus_state(spec: str) -> object:
    """Return a value that changes when a file of a corpus changes; None for an LLM."""
    provider, _, typed = split_label(spec)[1].partition(":")
    try:
        return BUILT_IN[provider].state(typed) if provider in BUILT_IN else None
    except (UsageError, OSError):
        return None  # the run reports the mistake


def _state(path: Path) -> object:
    """Return a value that changes when a file, or a file in a model's folder, changes; None for any other path."""
    try:
        if path.is_file():
            return hashlib.sha256(path.read_bytes()).hexdigest()
        files = sorted(path.iterdir()) if path.name and path.is_dir() else []
        return [(file.name, (found := file.stat()).st_size, found.st_mtime_ns) for file in files] or None
    except (OSError, ValueError):
        return None


@contextmanager
# longest_wait: most seconds to wait for another process that makes this run
def _alone(lock: Path, *, longest_wait: int = 12 * 3600) -> Iterator[None]:
    """Wait until no other worker of pytest-xdist and no other session makes this run. Raises `UsageError`.

    The lock is a transaction of SQLite. It ends with its process, even if that crashes.
    """
    deadline = time.monotonic() + longest_wait
    with closing(sqlite3.connect(lock, timeout=1, isolation_level=None)) as connection:
        while True:
            try:
                connection.execute("BEGIN EXCLUSIVE")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise UsageError(f"{lock}: {error}; is another pytest still making this run?") from None
        yield
