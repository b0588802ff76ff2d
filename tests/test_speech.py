"""How messages name options: as the command line does there, as arguments in Python, and every one of them."""

import ast
import asyncio
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tabcontam
from tabcontam.asking.event_loops import run_to_end
from tabcontam.cli.arguments import commands_of, parser
from tabcontam.errors import UsageError, name_options_in_python, option, option_name
from tests.commands import tabcontam as command

PACKAGE = Path(tabcontam.__file__).parent
ERRORS = {"UsageError", "Unavailable", "NothingSelected", "FatalError", "unknown"}
NAMES = {"option", "option_name"}
TYPED = re.compile(r"(?<![\w-])--[a-z][\w-]*|(?<![\w-])(?<!python )-[kmx]\b")
# What is typed to other programs, and to commands alone that Python has under no such name.
OTHERS = {"--force-reinstall", "--upgrade", "--tabcontam-report"}
OTHERS |= {"--columns", "--cells", "--tolerance", "--help"}  # of `plant`, which is a command alone
OTHERS |= {"--head"}  # of `ray start`
OTHERS |= {"--by"}  # of `judge`, which is one, too
OTHERS |= {"--lora", "--rate", "--size"}  # of `expose`, which is one too
OF_COMMANDS = {"cli", "report", "pytest_plugin", "publish"}  # who reads these typed options, of tabcontam or of pytest


@cache
def calls() -> list[tuple[Path, str, ast.Call]]:
    """Every call in the package of what makes an error or names an option: its file, what is called, and the call."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text("utf-8")
        if not any(f"{name}(" in text for name in (*ERRORS, *NAMES)):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                found += [(path.relative_to(PACKAGE), name, node)] * (name in (*ERRORS, *NAMES))
    return found


def texts(node: ast.AST) -> Iterator[str]:
    """The texts that a message is made of, as they stand in the code."""
    yield from (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))


@pytest.mark.slow
def test_no_error_names_an_option_as_the_command_line_alone_writes_it() -> None:
    raw = [
        f"{path}:{call.lineno} {found}: write option(...)"
        for path, name, call in calls()
        if name in ERRORS and not OF_COMMANDS & set(path.parts) and not path.stem.endswith("_command")
        for text in texts(call)
        for found in set(TYPED.findall(text)) - OTHERS
    ]
    assert raw == []


@pytest.mark.slow
def test_every_option_that_a_message_names_is_there_in_both_forms() -> None:
    typed = {name for each in commands_of(parser()).values() for name in each._option_string_actions}
    arguments = {
        name for each in (tabcontam.run, tabcontam.join, tabcontam.fresh) for name in inspect.signature(each).parameters
    }
    named = [(word, path, call.lineno) for path, name, call in calls() if name in NAMES for word in texts(call.args[0])]
    assert {"send_rows", "out", "llm", "max_cost", "rules"} <= {word for word, *_ in named}
    for word, path, line in named:
        assert word in arguments, f"{path}:{line}"
        assert option(word) in typed, f"{path}:{line}"


@pytest.mark.parametrize(
    ("word", "values", "typed", "written"),
    [
        ("send_rows", (), "--send-rows", "send_rows=True"),
        ("controls", (), "--no-controls", "controls=False"),
        ("cache", (), "--no-cache", "cache=False"),
        ("stop_at_first", (), "-x", "stop_at_first=True"),
        ("max_cost", (), "--max-cost", "max_cost="),
        ("tests", ("a or b",), "-k 'a or b'", "tests='a or b'"),
        ("rules", ("paper",), "--rules paper", "rules='paper'"),
        ("llm", ("a", "b"), "--llm a --llm b", "llm=['a', 'b']"),
        ("batch_size", (1,), "--batch-size 1", "batch_size=1"),
    ],
)
def test_an_option_as_each_writes_it(word: str, values: tuple[object, ...], typed: str, written: str) -> None:
    assert option(word, *values) == typed
    with name_options_in_python():
        assert option(word, *values) == written
        assert option_name(word) == word
    assert option(word, *values) == typed


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"llm": "llama3,gpt-4o"}, "write llm=['llama3', 'gpt-4o']"),
        ({"dataset": "iris", "target": "species"}, "target applies to files alone"),
        ({"rules": "paper", "until_decided": True}, "until_decided=True decides by the calibrated rules; leave rules="),
        (
            {"reference": "simulated:oracle", "llm": "simulated:oracle"},
            "reference: simulated:oracle is simulated:oracle",
        ),
        ({"tests": "(", "dataset": "iris"}, "tests '(' cannot be read"),
    ],
)
def test_python_is_told_its_arguments(asked: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as told:
        tabcontam.run(**{"dataset": "iris", "controls": False, **asked})  # type: ignore[arg-type]
    assert message in str(told.value)
    assert not TYPED.findall(str(told.value))


def test_the_command_line_is_told_its_options_again_afterwards(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="out= of a run"):
        tabcontam.load_results(tmp_path)
    assert "type the --out of a run" in command("gate", str(tmp_path)).stderr


def test_an_error_from_the_thread_beside_a_notebooks_loop_speaks_python_too() -> None:
    async def fails() -> None:
        raise UsageError(option("send_rows"))

    async def notebook() -> None:
        run_to_end(fails(), lambda: None)

    with name_options_in_python(), pytest.raises(UsageError, match="send_rows=True"):
        asyncio.run(notebook())
