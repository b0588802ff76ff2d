"""Our counts beside those of tabmemcheck 0.1.6 on the same replies: `python -m benchmarks.memcheck`.

The package needs pandas below 3, so that it gets an environment of its own: in the folder `build` of this checkout,
which git ignores, from the package index; `--python` names another one that has it. What a made-up LLM says to
each prompt is written down beforehand: it knows some of the iris flowers, and says these in several ways. Printed are
the package's own count and ours, by test and way.
`tests/extensions/papers/memcheck/test_parity.py` says which is right.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from tabcontam.evidence.base import Message, Prompt, Query, Reply, ReplyState
from tabcontam.extensions.papers.answers_of_several_rows import cell_name
from tabcontam.extensions.papers.memcheck.csv_completion_tests import CsvFeatureCompletion, RowCompletion
from tabcontam.extensions.papers.memcheck.csv_row_tests import RawTest
from tabcontam.extensions.papers.memcheck.first_token import FirstToken
from tabcontam.extensions.papers.memcheck.header import Header
from tabcontam.extensions.papers.thresholds import CSV_ROWS_BEFORE
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import load_table

PACKAGE = "tabmemcheck==0.1.6"
# What it imports; of what it names besides it never uses matplotlib, and xgboost, which is large, for no count.
NEEDED = ("numpy", "pandas>=2.1,<3", "scipy", "scikit-learn", "tiktoken", "openai", "tenacity", "jellyfish", "pyyaml")
ENVIRONMENT = Path(__file__).parents[1] / "build" / PACKAGE.replace("==", "-")
SECONDS = 300  # that each step of the installation, and asking, may take
UNREACHED = re.compile(r"connection|timed out|name resolution|proxy", re.IGNORECASE)

COUNT = re.compile(r"(\d+)/\d+ exact matches")
BASELINE = re.compile(r"most common first token\): (\d+)/\d+")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
FEATURE = 2  # the place of the feature of most values
HEADER_ROWS = 12  # in which it may cut the file
USUAL = "5"  # what most rows begin with
PLACE = 4  # of the one row that is known where the LLM knows one
UNKNOWN = "I do not know."
ASK = """
import contextlib, io, json, sys, types
import numpy as np
sys.modules["xgboost"] = types.SimpleNamespace(XGBRegressor=None, XGBClassifier=None)
import tabmemcheck
import tabmemcheck.functions
from tabmemcheck.llm import LLM_Interface

class Recorded(LLM_Interface):
    chat_mode = True
    def __init__(self, answers, otherwise):
        self.answers, self.otherwise, self.asked = answers, otherwise, []
    def __repr__(self):
        return "recorded"
    def chat_completion(self, messages, temperature, max_tokens):
        prompt = messages[-1]["content"]
        self.asked.append([prompt, self.answers.get(prompt, self.otherwise)])
        return self.asked[-1][1]

# The rows are in no order, so that its long search for one, before it asks for first tokens, would find none.
tabmemcheck.functions.statistical_feature_prediction_test = lambda *given, **named: False

def asked(job):
    llm, printed, found, error = Recorded(job["answers"], job["otherwise"]), io.StringIO(), None, None
    own = {} if job["test"] == "header" else {"num_queries": 25}
    with contextlib.redirect_stdout(printed):
        try:
            test = getattr(tabmemcheck, job["test"] + "_test")
            found = test(job["file"], llm, rng=np.random.default_rng(0), **own)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
    shown = [str(one) for one in found] if found is not None and job["test"] == "header" else []
    return {"printed": printed.getvalue(), "asked": llm.asked, "shown": shown, "error": error}

json.dump([asked(job) for job in json.load(sys.stdin)], sys.stdout)
"""


class Unreached(Exception):
    """No package index can be reached."""


@dataclass(frozen=True)
class Recorded:
    """What is answered to the prompts of one of the package's tests, by the way in which it is said.

    `answers` has the answer to each prompt of which something is known, `otherwise` that to any other; `truth` what
    the file has, for every prompt that may be sent.
    """

    test: str
    way: str
    answers: Mapping[str, str]
    truth: Mapping[str, str]
    otherwise: str = UNKNOWN


@dataclass(frozen=True)
class Found:
    """What the package made of recorded replies.

    `asked` are the prompts that it sent, with the answers; `count` and `baseline` what it printed (None: nothing);
    `shown` the text, its true continuation and the answer that its header test returns; `error` what it stopped with.
    """

    asked: Sequence[tuple[str, str]]
    count: int | None
    baseline: int | None
    shown: Sequence[str]
    error: str | None


def environment(folder: Path = ENVIRONMENT) -> Path:
    """The Python of an environment that has the package: made once, and found again.

    Raises `Unreached` where no package index answers, and RuntimeError where the package cannot be installed.
    """
    python = Path("Scripts" if os.name == "nt" else "bin") / "python"
    if not (folder / python).exists():
        folder.parent.mkdir(exist_ok=True)
        made = Path(mkdtemp(dir=folder.parent))
        try:
            venv.create(made, symlinks=os.name != "nt")
            _install(made / python, "--no-deps", PACKAGE)
            _install(made / python, *NEEDED)
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return folder / python


def _install(python: Path, *packages: str) -> None:
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-compile", "--retries", "2"]
    done = subprocess.run([*pip, *packages], capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        raise Unreached(done.stderr) if UNREACHED.search(done.stderr) else RuntimeError(done.stderr)


def ask(python: Path, folder: Path, every: Sequence[Recorded]) -> list[Found]:
    """What the package, in one process, finds in the file of iris flowers by each of these recorded replies."""
    file = folder / "iris.csv"
    file.write_text(text_of_file())
    jobs = [{**asdict(one), "file": str(file)} for one in every]
    done = subprocess.run(
        [str(python), "-c", ASK],
        input=json.dumps(jobs),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=SECONDS,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
    )
    return list(map(_found, json.loads(done.stdout)))


def _found(said: Mapping[str, Any]) -> Found:
    printed = COLOURS.sub("", said["printed"])
    count, baseline = (int(match[1]) if (match := one.search(printed)) else None for one in (COUNT, BASELINE))
    return Found([(prompt, answer) for prompt, answer in said["asked"]], count, baseline, said["shown"], said["error"])


@cache
def lines() -> tuple[str, ...]:
    """The lines of the file: the flowers in an order of their own, so that none follows from another."""
    table = load_table("iris@scikit-learn")
    rows = {(*row[:FEATURE], *row[FEATURE + 1 :]): row for row in table.rows}  # so each is told by its other cells
    flowers = list(rows.values())
    Random(0).shuffle(flowers)
    return tuple(",".join(cell or "" for cell in row) for row in (table.columns, *flowers))


def text_of_file() -> str:
    """The file, its lines ended by line feeds."""
    return "\n".join([*lines(), ""])


def _known(truth: Mapping[str, str]) -> list[str]:
    """The prompts whose answer the LLM knows: every second one."""
    rng = Random(1)
    return [prompt for prompt in truth if rng.random() < 0.5]


def after_ten_rows(test: str, way: str, say: Callable[[str], str]) -> Recorded:
    """Replies to ten rows of the file, where the LLM knows the next one of every second: `say` says it."""
    every = lines()
    truth = {"\n".join(every[row - CSV_ROWS_BEFORE : row]): every[row] for row in range(CSV_ROWS_BEFORE, len(every))}
    return Recorded(test, way, {prompt: say(truth[prompt]) for prompt in _known(truth)}, truth)


def of_a_feature(way: str, say: Callable[[str, str], str], otherwise: str = UNKNOWN) -> Recorded:
    """Replies to all cells of a row but one, where the LLM knows every second: `say` gets its name and value."""
    header, *rows = (line.split(",") for line in lines())
    truth = {}
    for row in rows:
        cells = [f"{name} = {cell}" for name, cell in zip(header, row, strict=True)]
        truth[", ".join([*cells[:FEATURE], *cells[FEATURE + 1 :]])] = row[FEATURE]
    answers = {prompt: say(header[FEATURE], truth[prompt]) for prompt in _known(truth)}
    return Recorded("feature_completion", way, answers, truth, otherwise)


def of_the_header(way: str, rows: Sequence[int], otherwise: str = UNKNOWN) -> Recorded:
    """Replies to the beginning of the file, where the LLM knows how these rows, from 0, go on, and the next."""
    text = text_of_file()
    begin = len(lines()[0]) + 1
    ends = range(begin, begin + sum(len(line) + 1 for line in lines()[1:HEADER_ROWS]))
    truth = {text[:end]: text[end:] for end in ends if text[end - 1] != "\n"}
    known = {shown: truth[shown] for shown in truth if shown.count("\n") - 1 in rows}
    answers = {shown: "\n".join(rest.splitlines()[:2]) for shown, rest in known.items()}
    return Recorded("header", way, answers, truth, otherwise)


def recorded() -> list[Recorded]:
    """Every test of the package that has a count or a picture of one, in several ways of saying what is known."""
    other = lines()[1]
    return [
        after_ten_rows("row_completion", "bare", str),
        after_ten_rows("row_completion", "fenced", "```\n{}\n```".format),
        after_ten_rows("row_completion", "with another row behind it", lambda row: f"{row}\n{other}"),
        after_ten_rows("row_completion", "as another row's end", "9{}".format),  # which holds the row and is none
        after_ten_rows("row_completion", "without trailing zeros", lambda row: re.sub(r"\.0(?=,|$)", "", row)),
        of_a_feature("with its name", "{} = {}".format),
        of_a_feature("with its name, and talk below", "{} = {}\nThat is what the file has.".format),
        of_a_feature("with a zero more", "{} = {}0".format),
        of_a_feature("bare", lambda name, value: value),  # of which the package can read none
        after_ten_rows("first_token", "as the row", str),
        after_ten_rows("first_token", "fenced", "```\n{}\n```".format),
        replace(after_ten_rows("first_token", "always as most rows begin", str), answers={}, otherwise=USUAL),
        of_the_header("all four", range(HEADER_ROWS)),
        of_the_header("one of four", [PLACE]),
        of_the_header("none", []),
        of_the_header("nothing at all", [], otherwise=""),
    ]


def ours(one: Recorded, asked: Sequence[tuple[str, str]]) -> int:
    """How many of these replies to the package's prompts are right here."""
    return sum(OURS[one.test](prompt, one.truth[prompt], answer) for prompt, answer in asked)


def _right(test: RawTest, shown: str, asked: Sequence[str], expected: Sequence[str], answer: str) -> bool:
    prompt = Prompt((Message("user", shown),), shown, shown)
    query = Query("query", lambda: prompt, tuple(asked), tuple(expected), 99)
    reply = Reply(answer, ReplyState.OK if answer else ReplyState.EMPTY)
    return test.read(query, reply, load_serializers()["csv"]).paper_hit


def _next_row(shown: str, truth: str, answer: str) -> bool:
    return _right(RowCompletion(), shown, lines()[0].split(","), truth.split(","), answer)


def _feature(shown: str, truth: str, answer: str) -> bool:
    return _right(CsvFeatureCompletion(), shown, [lines()[0].split(",")[FEATURE]], [truth], answer)


def _begins(shown: str, truth: str, answer: str) -> bool:
    return _right(FirstToken(), shown, ["first character"], [truth[0]], answer)


def _goes_on(shown: str, truth: str, answer: str) -> bool:
    """Whether the row in which the text stops is completed exactly; where none is begun, the next."""
    place, last = shown.count("\n") - 1, shown.rpartition("\n")[2]
    if truth.startswith("\n"):  # the package's cut may fall on the end of a row
        return _next_row(shown, lines()[place + 2], answer)
    header, row = lines()[0].split(","), lines()[place + 1].split(",")
    begun = last.count(",")
    return _right(Header(), shown, [cell_name(name, place) for name in header[begun:]], row[begun:], answer)


OURS = {"row_completion": _next_row, "feature_completion": _feature, "first_token": _begins, "header": _goes_on}


def of_shown(found: Found) -> int:
    """Of the one continuation that the package's header test shows: whether the row in which it begins is whole."""
    if not found.shown:
        return 0
    shown, _, answer = found.shown
    rest = text_of_file()[len(shown) :].removeprefix("\n").partition("\n")[0]
    return int(answer.removeprefix("\n").startswith(rest))


def main() -> None:
    """Have everything asked, and print both counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, help=f"of an environment that has {PACKAGE}")
    python = parser.parse_args().python or environment()
    every = recorded()
    with TemporaryDirectory() as name:
        found = ask(python, Path(name), every)
    print("| test | what is known is said | tabmemcheck | ours |", "|---|---|---|---|", sep="\n")
    for one, own in zip(every, found, strict=True):
        count = f"{of_shown(own)} of 1" if one.test == "header" else f"{own.count} of {len(own.asked)}"
        baseline = "" if own.baseline is None else f", baseline {own.baseline}"
        theirs = f"stops: {own.error}" if own.error else f"{count}{baseline}"
        print(f"| {one.test} | {one.way} | {theirs} | {ours(one, own.asked)} of {len(own.asked)} |")


if __name__ == "__main__":
    main()
