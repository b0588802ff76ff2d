"""`[tool.tabcontam]` of pyproject.toml: a project's defaults for `run`, `gate` and `power`, by names of options.

The nearest pyproject.toml with such a table is read, from the current folder upwards, as in pytest and ruff. A typed
option takes precedence. The run's results record the values that came from the file.

A command in another author's folder must never send rows or keys anywhere, or spend money, because of that folder. So a
file cannot set addresses, key variables or prices, or allow rows to be sent. An LLM that the file names must be in the
catalogue or on this machine, and is asked only if that needs no network.
"""

import argparse
import os
import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from tabcontam import config
from tabcontam.errors import UsageError, near, one_line
from tabcontam.paths import read_regular
from tabcontam.verdicts.wording import visible

FILE, TABLE, GATE = "pyproject.toml", "[tool.tabcontam]", "[tool.tabcontam.gate]"
COMMANDS = ("run", "gate", "power")
FILES = ("dataset", "known", "serializer", "prompts", "baseline")  # searched for in the folder of the pyproject.toml
LLMS = ("llm", "reference")
SURFACES = {TABLE: config.FILE, GATE: config.GATE_FILE}
HERE = ("control", "simulated", "ollama")  # providers of LLMs that a file may name; it cannot set the address of Ollama
Actions = Mapping[str, argparse.Action]


def set_defaults(
    options: argparse.Namespace, commands: Mapping[str, argparse.ArgumentParser], typed: Callable[[], Collection[str]]
) -> str:
    """Set the untyped options that the project's file contains. Return a line that lists them; empty if none were set.

    `typed()` returns the names of the typed options. Raises `UsageError` for a forbidden key or value.
    """
    if options.command not in COMMANDS or options.no_defaults or (found := _find_file()) is None:
        return ""
    file, table = found
    known = by_name(commands["run"]) | by_name(commands["gate"])
    conditions = table.pop("gate", {})
    if not isinstance(conditions, dict):
        raise UsageError(f"{file}: gate in {TABLE} must be a table of conditions, {GATE}")
    _check_keys(file, TABLE, table, known)
    _check_keys(file, GATE, conditions, known)
    taken = typed()
    if options.command == "gate":
        named = all(name in taken or name in table for name in ("llm", "dataset"))
        makes_a_run = options.folder is None and named
        table = {**(table if makes_a_run else {}), **conditions}
    actions, words = by_name(commands[options.command]), list[str]()
    for key, value in table.items():
        action = actions.get(key)
        # `power` asks only models with known exposure, so it does not use the LLMs under test
        if action is None or action.dest in taken or (options.command == "power" and key in LLMS):
            continue
        try:
            made = _value(file, key, value, action)
        except (ValueError, argparse.ArgumentTypeError) as error:
            where = f"{file}: {key} cannot be {visible(str(value), line=True)!r}"
            raise UsageError(f"{where}: {visible(str(error), line=True)}") from None
        if made is None:
            continue
        setattr(options, action.dest, made)
        if key in LLMS:
            options.llms_of_file = [*getattr(options, "llms_of_file", ()), *made]
        option = action.option_strings[0]
        several = made if isinstance(made, list) else [made]
        words += [option] if action.nargs == 0 else [w for each in several for w in (option, shlex.quote(str(each)))]
    return visible(f"defaults from {file}: {' '.join(words)}", line=True) if words else ""


def by_name(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """Return the options of a command by their names without dashes."""
    return {name.lstrip("-"): action for action in parser._actions for name in action.option_strings}


def _find_file() -> tuple[str, dict[str, Any]] | None:
    """Return the relative path of the nearest file with a table for tabcontam, and that table. Raises `UsageError`."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        path = folder / FILE
        try:
            content = read_regular(path)
        except OSError:  # the file does not exist or is unreadable
            continue
        if b"tabcontam" not in content:
            continue
        import tomllib

        name = os.path.relpath(path, here)
        try:
            tool = tomllib.loads(content.decode("utf-8")).get("tool", {})
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{name} cannot be read: {one_line(error)}; correct it, or type --no-defaults") from None
        table = tool.get("tabcontam") if isinstance(tool, dict) else None
        if table is not None:
            if not isinstance(table, dict):
                raise UsageError(f"{name}: tool.tabcontam is not a table; write {TABLE}")
            return name, dict(table)
    return None


def _check_keys(file: str, table: str, given: Mapping[str, Any], known: Actions) -> None:
    """Raise `UsageError` for the first key that `table` must not contain. `known` has the options of the commands."""
    keys = {name: [one.key for one in config.settings(surface).values()] for name, surface in SURFACES.items()}
    allowed, other = keys[table], next(name for name in SURFACES if name != table)
    for key in given:
        if key in allowed:
            continue
        if key in keys[other]:
            raise UsageError(f"{file}: {key} belongs in {other}")
        if key in known:
            dashes = "--" if len(key) > 1 else "-"
            why = next((one.why_not for one in config.settings().values() if one.key == key), "a file cannot set it")
            raise UsageError(f"{file}: {key} may not stand in {table}: {why}; type {dashes}{key}")
        close = near(key, [name for name in allowed if len(name) > 1])
        advice = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(allowed)}"
        raise UsageError(f"{file}: unknown key {visible(key, line=True)!r} in {table}; {advice}")


def _value(file: str, key: str, value: Any, action: argparse.Action) -> Any:
    """Return a TOML value in the type of the option; None for a switch that is off. Raises ValueError."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise ValueError("write true or false")
        return action.const if value else None
    several = isinstance(action, argparse._AppendAction)
    listed = value if isinstance(value, list) else [value]
    if not listed or (len(listed) > 1 and not several):
        raise ValueError("write one value" if listed else "the list is empty")
    made = [_single_value(file, key, each, action) for each in listed]
    return made if several else made[0]


def _single_value(file: str, key: str, value: Any, action: argparse.Action) -> Any:
    kind: Any = action.type or str
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("write a text or a number")
    made = kind(str(value))
    if isinstance(value, str) and isinstance(made, int | float):
        raise ValueError("write the number without quotes")
    if not isinstance(value, str) and isinstance(made, str | Path):
        raise ValueError("write a text, in quotes")
    if isinstance(value, str) and not value.strip():
        raise ValueError("it is empty")
    if action.choices is not None and made not in action.choices:
        raise ValueError(f"choose one of {', '.join(map(str, action.choices))}")
    if key in FILES and "://" in str(value):
        raise ValueError("a file may not name an address; type it")
    if key in LLMS:
        _check_llm(str(value))
    return kind(_next_to_file(file, str(value))) if key in FILES else made


def _check_llm(spec: str) -> None:
    """Raise ValueError for an LLM that a file must not name: one with an address, a key or a provider not in `HERE`."""
    provider, colon, _ = spec.partition(":")
    if any(sign in spec for sign in ("@", "#", "=", "://")) or (colon and provider not in HERE):
        raise ValueError(
            "a file may name a model of the catalogue or ollama:MODEL, but no address, key or other provider; "
            "type others after --llm"
        )


def _next_to_file(file: str, value: str) -> str:
    """Return the path, relative to here, of a file in the pyproject.toml's folder. Return any other name unchanged."""
    path = Path(os.path.dirname(file), value)
    looks = "/" in value or os.sep in value or Path(value).suffix
    return str(path) if looks and path.exists() else value
