"""Commands and snippets of the docs, run in a folder of their own; what asks an LLM asks a substitute on loopback."""

import contextlib
import csv
import gzip
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tabcontam.cli.arguments import parser
from tabcontam.cli.commands import main
from tabcontam.errors import Exit, UsageError
from tabcontam.models import provider_registry
from tabcontam.models.base import Model
from tabcontam.models.catalogue import load_catalogue
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.models.openai import provider as openai
from tabcontam.models.provider_registry import ModelSettings
from tabcontam.tables import editions as edition_files
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.table import load_table
from tests.docs.blocks import Block, Command
from tests.docs.made import ROOT
from tests.installed import EXTENSIONS
from tests.loopback import LoopbackServer
from tests.loopback_batches import BatchServer
from tests.made_tables import ships
from tests.replay.made import record, row_record, written

HOSTED = ("gpt-4o-2024-08-06",)
OWN = ("llama3:latest", "smollm2:135m", "tidal:8b", "NAME")
VLLM = "http://127.0.0.1:8000/v1"  # where the docs have a server
# They need a key, a login, weights or a server elsewhere: a simulated answerer takes their place.
STAND_INS = ("anthropic", "azure", "bedrock", "gemini", "vertex", "gguf", "hf", "infinigram")
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "TABCONTAM_API_KEY")
SHORTER = {"run": ("--queries", "12"), "gate": ("--queries", "12"), "power": ("--runs", "1"),
           "expose": ("--size", "tiny", "--copies", "0,1"), "ladder": ("-k", "feature_completion"),
           "evaluate": ("--queries", "10")}  # fmt: skip
FEWER = ("-k", "recognition or feature_completion or perplexity")  # tests, where a page does not say which
ONE = "feature_completion"  # in place of all three tests that complete rows
ONE_MARK = ("-k", "few_shot_accuracy")  # of the three in `test_experiment.py`, where no run has them already
ALONE = ("--no-controls",)  # where LLMs are named; the controls are asked in what names none
CONTINUED = ("--copies", "0,1")  # of `expose --llm`
NUMBER = re.compile(r"\d+(\.\d+)?(e-\d+)?")
PLUGIN = "tabcontam.pytest_plugin"
GATE = (Exit.DONE, Exit.CONTAMINATED, Exit.CANNOT_TELL)
TABCONTAM, PYTEST = ["python", "-m", "tabcontam"], ["python", "-m", "pytest"]
# Commands that cannot be run in a test. What can be seen of them without running is checked.
NOT_RUN = ("make", "pip install", "ollama pull", "vllm serve", "gcloud auth", "python -m benchmarks.")
SHELL = ("sha256sum", "wc", "cp")
CHANGED = (
    "tabcontam",
    "datasets",
    "feeds",
    "serializers",
    "prompts",
)  # of the project, what a page may change: it gets a copy


class Absent(Exception):
    """A dataset or a program that is not on this machine, by its name."""


@dataclass(frozen=True)
class Servers:
    """What stands for OpenAI, and for Ollama and any other server."""

    openai: LoopbackServer
    own: LoopbackServer


class Place:
    """A scratch folder with the files that the docs call the reader's own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, servers: Servers, copied: bool) -> None:
        self.folder = folder
        self.copied = copied  # the project's own files lie here to be changed
        self._changed = False  # whether the last file is one of them
        self._url = servers.own.url
        self._environment(monkeypatch, servers)
        if copied:
            _copy(folder)
        _own_table(folder / "my.csv")
        (folder / "dumps").mkdir()
        (folder / "dumps" / "page.txt").write_bytes((folder / "my.csv").read_bytes())
        (folder / "my.csv.gz").write_bytes(gzip.compress((folder / "my.csv").read_bytes()))
        written(folder, record(), row_record())

    def _environment(self, monkeypatch: pytest.MonkeyPatch, servers: Servers) -> None:
        monkeypatch.chdir(self.folder)
        monkeypatch.setattr(openai, "OPENAI", servers.openai.url)
        monkeypatch.setattr(edition_files, "opener", _nothing)
        for name in STAND_INS:
            monkeypatch.setitem(
                provider_registry.BUILT_IN, name, replace(provider_registry.BUILT_IN[name], open=_stand_in)
            )
        monkeypatch.setenv("OLLAMA_HOST", self._url.removesuffix("/v1"))
        monkeypatch.setenv("PYTHONPATH", str(self.folder if self.copied else ROOT))
        if not any(point.value == PLUGIN for point in entry_points(group="pytest11")):
            monkeypatch.setenv("PYTEST_PLUGINS", PLUGIN)  # the package is older than its plugin, or not installed
        for name in (*KEYS, "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS"):
            monkeypatch.delenv(name, raising=False)

    def take(self, block: Block) -> None:
        """Write the file that a block is, or run the snippet."""
        if block.language == "diff":
            _patch(self.folder / block.file, block.text)
        elif block.file:
            path = self.folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a" if block.appended else "w", encoding="utf-8") as file:
                file.write(block.text.replace(VLLM, self._url))
            if path.suffix == ".py":
                compile(block.text, str(block), "exec")
        if block.file:
            self._changed = block.file.startswith(CHANGED)
        elif block.language == "python":
            exec(compile(block.text, str(block), "exec"), {"__name__": "__main__"})  # a snippet of our own docs

    def run(self, command: Command, where: Block) -> None:
        """Run a command. Raises `Absent`; fails where it ends otherwise than the docs say."""
        text = command.text.replace(VLLM, self._url)
        if text.startswith(NOT_RUN):
            look_at(text)
        else:
            self._run(text, command.output, where)

    def _run(self, text: str, output_shown: Sequence[str], where: Block) -> None:
        words = words_of(text)
        given = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
        words = words[len(given) :]
        if words[0] == "cp":
            self._changed = words[-1].startswith(CHANGED)
        ours = words[:3] in (TABCONTAM, PYTEST) or words[:2] == ["python", "-c"]
        assert ours or words[0] in SHELL, text
        for program in (words[0], *(words[place + 1] for place, word in enumerate(words) if word == "|")):
            if program != "python" and not shutil.which(program):
                raise Absent(program)
        if words[:3] == TABCONTAM:
            words = [*TABCONTAM, *shorter(words[3:], as_it_stands=bool(output_shown))]
        elif words[:3] == PYTEST and "--tabcontam-report" not in words:
            words += ONE_MARK
        code, output = self._outcome(words, {name: value.replace("…", "a-key") for name, value in given.items()})
        allowed = GATE if words[3:4] == ["gate"] else (Exit.DONE,)
        assert code in allowed, f"{where}: {text} ended with {code}:\n{output[-3000:]}"
        ours = words[:3] == TABCONTAM
        said = {_compared(line, ours) for line in output.splitlines()}
        for line in output_shown:
            assert _compared(line, ours) in said, f"{where}: {text} does not print {line!r}:\n{output[-3000:]}"

    def _outcome(self, words: Sequence[str], given: dict[str, str]) -> tuple[int, str]:
        """The exit code of a command, and what it prints."""
        of_the_copy = self.copied and (self._changed or "TABCONTAM_PATH" in given)  # it must be imported anew
        if words[:3] == TABCONTAM and not of_the_copy and "|" not in words:
            return _inside(words[3:], given)
        line = shlex.join(words).replace(" '|' ", " | ")
        line = re.sub(r"^python ", f"{shlex.quote(sys.executable)} ", line)
        environment = {**os.environ, **given}
        done = subprocess.run(
            line, shell=True, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr


def _inside(arguments: Sequence[str], given: dict[str, str]) -> tuple[int, str]:
    """A command in this process, where the imports are paid for."""
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # as a pipe, which takes bytes too
    with pytest.MonkeyPatch.context() as patched, contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        for name, value in given.items():
            patched.setenv(name, value)
        try:
            code = main(list(arguments))
        except SystemExit as stopped:
            code = int(stopped.code or 0)
    said.seek(0)
    return code, said.read()


def shorter(arguments: Sequence[str], as_it_stands: bool) -> list[str]:
    """A command of the docs that asks less, unless its output is shown. Raises `Absent` for a dataset not here."""
    piped = list(arguments).index("|") if "|" in arguments else len(arguments)
    own, rest = list(arguments[:piped]), list(arguments[piped:])
    if not as_it_stands:
        own = [*own[:1], *(ONE if two == ("-k", "completion") else two[1] for two in pairwise(own))]
    options = parser().parse_args(own)
    for name in getattr(options, "dataset", None) or ():
        _check_there(name)
    less = SHORTER.get(options.command, ())
    llms = getattr(options, "llm", None) or ()
    quick = bool(llms) and all(name.startswith("simulated:") for name in llms)
    past = getattr(options, "folder", None) or getattr(options, "dry_run", False)
    whole = as_it_stands or quick or past or not less or less[0] in own
    if options.command == "expose" and options.llm:
        less, whole = CONTINUED, False
    kept = "--out" in own and "--batch-api" not in own  # what later commands of the page take
    chosen = kept or {"-k", "--reference", "--trained-on"} & {*own} or ("-m" in own and "rows" not in own)
    in_words = len(own) > 1 and not any(name.startswith("corpus:") for name in llms or ())
    asks_all = options.command in ("run", "gate") and not getattr(options, "folder", None) and not as_it_stands
    fewer = FEWER if asks_all and in_words and not chosen else ()  # `run` alone is run as it stands
    if options.command == "power" and not whole and "-k" not in own:
        fewer = FEWER
    alone = ALONE if asks_all and llms and not {"--control", "--no-controls"} & {*own} else ()
    return [*own, *(() if whole else less), *fewer, *alone, *rest]


def words_of(text: str) -> list[str]:
    """The words of a command, without a comment behind it: as in a shell, `#` within a word is a part of it."""
    return shlex.split(re.sub(r"\s#.*", "", text))


def _check_there(name: str) -> None:
    if re.split("[@#]", name)[0] in load_cards():
        try:
            load_table(name.partition("#")[0])
        except UsageError as error:
            raise Absent(name) from error


def look_at(text: str) -> None:
    """What can be seen of a command that is not run."""
    words = words_of(text)
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE), text
    if words[0] == "pip":
        project = (ROOT / "pyproject.toml").read_text("utf-8")
        for extra in re.findall(r"\[(\w+)\]", text):
            assert re.search(rf"^{extra} = \[", project, re.MULTILINE), f"{text}: there is no extra {extra}"
        carrying = (package for entry in load_catalogue().values() for package in entry.gguf)
        assert not {word.partition("[")[0] for word in words}.isdisjoint(("tabcontam", ".", *carrying)), text
    if words[0] == "python":
        program = (ROOT / words[2].replace(".", "/") / "__main__.py").read_text("utf-8")
        for option in re.findall(r" (--[a-z-]+)", text):
            assert f'"{option}"' in program, f"{text}: there is no {option}"


def _nothing(*handlers: object) -> None:
    raise OSError("a test fetches no dataset")


def _compared(line: str, ours: bool) -> str:
    """A line of output; what was measured may differ a little by the version of a library."""
    return NUMBER.sub("0", line.strip()) if ours else line.strip()


def _stand_in(model: str, settings: ModelSettings) -> Model:
    simulated = SimulatedModel("guesser")
    simulated.spec = settings.spec
    prepare = simulated.prepare

    def prepared(table: Any, queries: Any) -> Model:
        made = prepare(table, queries)
        made.spec = settings.spec
        return made

    simulated.prepare = prepared  # type: ignore[method-assign]
    return simulated


def _own_table(path: Path) -> None:
    table = ships()
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([(*table.columns[:-1], "label"), *table.rows])


def _copy(folder: Path) -> None:
    for name in CHANGED:
        # with what was compiled, which is as old as its source here, too, but for what another process is writing
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))


def _patch(path: Path, diff: str) -> None:
    """Apply one hunk, whose lines stand in the file once."""
    lines = [line or " " for line in diff.splitlines()]
    old = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    new = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    text = path.read_text("utf-8")
    assert text.count(old) == 1, f"{path} does not hold the lines of the diff once"
    path.write_text(text.replace(old, new), "utf-8")


@contextlib.contextmanager
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    """Servers that have every LLM of the docs, and answer without knowing anything; and what extensions need."""
    with contextlib.ExitStack() as stack:
        for name in EXTENSIONS:
            if find_spec(part := f"tests.extensions.{name}.documented"):
                stack.enter_context(import_module(part).documented(monkeypatch))
        hosted = stack.enter_context(BatchServer(lambda body: "unknown", HOSTED))
        yield Servers(hosted, stack.enter_context(LoopbackServer(lambda body: "unknown", OWN)))
