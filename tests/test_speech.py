"""How messages name options: as the command line does there, as arguments in Python, and every one of them."""

import argparse
import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tabcontam
from tabcontam.cli.arguments import parser
from tabcontam.errors import UsageError, option, option_name, spoken_in_python
from tabcontam.runs.run import _beside_a_loop
from tests.commands import tabcontam as command

PACKAGE = Path(tabcontam.__file__).parent
ERRORS = {"UsageError", "Unavailable", "NothingSelected", "FatalError", "unknown"}
TYPED = re.compile(r"(?<![\w-])--[a-z][\w-]*|(?<![\w-])(?<!python )-[kmx]\b")
# What is typed to other programs, and to commands alone that Python has under no such name.
OTHERS = {"--force-reinstall", "--upgrade", "--tabcontam-report"}
OF_COMMANDS = ("cli", "report", "pytest_plugin")  # who reads these typed options, of tabcontam or of pytest


def sources() -> list[Path]:
    """Every file whose errors may reach somebody who wrote Python."""
    return [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in OF_COMMANDS]


def called(tree: ast.AST, names: set[str]) -> Iterator[ast.Call]:
    """The calls of these functions and classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in names:
            yield node


def texts(node: ast.AST) -> Iterator[str]:
    """The texts that a message is made of, as they stand in the code."""
    yield from (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))


def test_no_error_names_an_option_as_the_command_line_alone_writes_it() -> None:
    raw = [
        f"{path.relative_to(PACKAGE)}:{call.lineno} {found}: write option(...)"
        for path in sources()
        for call in called(ast.parse(path.read_text("utf-8")), ERRORS)
        for text in texts(call)
        for found in set(TYPED.findall(text)) - OTHERS
    ]
    assert raw == []


def words() -> dict[str, list[str]]:
    """The options that messages name, each with the places where they do."""
    found: dict[str, list[str]] = {}
    for path in [*PACKAGE.rglob("*.py")]:
        for call in called(ast.parse(path.read_text("utf-8")), {"option", "option_name"}):
            for word in texts(call.args[0]):
                found.setdefault(word, []).append(f"{path.relative_to(PACKAGE)}:{call.lineno}")
    return found


def test_every_option_that_a_message_names_is_there_in_both_forms() -> None:
    commands = next(each for each in parser()._actions if isinstance(each, argparse._SubParsersAction)).choices
    typed = {name for each in commands.values() for name in each._option_string_actions}
    arguments = set(inspect.signature(tabcontam.run).parameters)
    assert {"send_rows", "out", "llm", "max_cost", "rules"} <= words().keys()
    for word, places in words().items():
        if word == "encoding":
            continue
        assert word in arguments, places
        assert option(word) in typed, places


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
    with spoken_in_python():
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

    with spoken_in_python(), pytest.raises(UsageError, match="send_rows=True"):
        _beside_a_loop(fails(), lambda: None)
