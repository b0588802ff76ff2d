"""The mutants, and where each applies: a function is found by its name, wherever in the package it stands."""

import ast
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).parent
AREAS = ("verdicts", "keys", "reading", "journal")
Function = ast.FunctionDef | ast.AsyncFunctionDef


class MutantError(Exception):
    """A mutant that does not apply to this package."""


@dataclass(frozen=True)
class Mutant:
    """One fault: in `function` the text `old` becomes `new`, and `fault` says what a user would get.

    `near` is a line of the function's body, needed only where several functions have its name.
    """

    id: str
    area: str
    function: str
    old: str
    new: str
    fault: str
    near: str = ""


@dataclass(frozen=True)
class Patch:
    """A mutant applied: the whole text of the file with it, and the lines of the statement that it changes."""

    path: Path
    text: str
    lines: frozenset[int]


def mutants() -> list[Mutant]:
    """Return all mutants, area by area."""
    return [
        Mutant(area=area, **fields)
        for area in AREAS
        for fields in tomllib.loads((FOLDER / f"{area}.toml").read_text("utf-8"))["mutant"]
    ]


def applied(mutant: Mutant, package: Path) -> Patch:
    """Return the patch of a mutant to the package in this folder. Raises `MutantError` where it does not apply."""
    path, function = _found(mutant, package)
    text = path.read_text("utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    begin, end = starts[function.lineno - 1], starts[function.end_lineno or function.lineno]
    where = f"mutant {mutant.id}: {mutant.function} in {path.relative_to(package.parent)}:{function.lineno}"
    if (times := text[begin:end].count(mutant.old)) != 1:
        raise MutantError(f"{where} holds its old text {times} times; give a text that it holds once")
    place = text.index(mutant.old, begin)
    new = text[:place] + mutant.new + text[place + len(mutant.old) :]
    try:
        same = ast.dump(ast.parse(new)) == ast.dump(ast.parse(text))
    except SyntaxError as error:
        raise MutantError(f"{where} is no Python with its new text: {error.msg}") from None
    if same:
        raise MutantError(f"{where} means the same with its new text")
    first, last = text.count("\n", 0, place) + 1, text.count("\n", 0, place + len(mutant.old.rstrip())) + 1
    return Patch(path, new, frozenset(_statement(function, first, last)))


def _found(mutant: Mutant, package: Path) -> tuple[Path, Function]:
    """The one definition of the mutant's function."""
    *_, name = mutant.function.split(".")
    found = [
        (path, function)
        for path, text in _modules(package)
        if f"def {name}(" in text
        for function in _definitions(text, mutant.function)
        if mutant.near in (ast.get_source_segment(text, function) or "")
    ]
    if not found:
        raise MutantError(f"mutant {mutant.id}: {package.name} has no function {mutant.function}; was it renamed?")
    if len(found) > 1:
        places = ", ".join(f"{path.relative_to(package.parent)}:{function.lineno}" for path, function in found)
        raise MutantError(f"mutant {mutant.id}: {mutant.function} stands in {places}; give a line of the one as `near`")
    return found[0]


@lru_cache(maxsize=1)  # all mutants look through the same files
def _modules(package: Path) -> tuple[tuple[Path, str], ...]:
    """The modules of the package with their texts."""
    return tuple((path, path.read_text("utf-8")) for path in sorted(package.rglob("*.py")))


def _definitions(text: str, wanted: str) -> list[Function]:
    """The functions of a module that have this name, `Class.method` for one of a class."""
    found: list[Function] = []

    def look(body: list[ast.stmt], before: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                look(node.body, f"{before}{node.name}.")
            elif isinstance(node, Function) and before + node.name == wanted:
                found.append(node)

    look(ast.parse(text).body, "")
    return found


def _statement(function: Function, first: int, last: int) -> range:
    """The lines of the innermost statement around these lines; of one that holds others those before the first."""
    inner = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.stmt) and node.lineno <= first and last <= (node.end_lineno or node.lineno)
    ]
    node = max(inner, key=lambda one: (one.lineno, -(one.end_lineno or 0)))
    bodies = [one.lineno for one in ast.walk(node) if isinstance(one, ast.stmt) and one.lineno > last]
    end = min(bodies, default=node.end_lineno or last + 1) - 1 if node is not function and _holds(node) else None
    return range(node.lineno, (end or node.end_lineno or last) + 1)


def _holds(node: ast.stmt) -> bool:
    return isinstance(getattr(node, "body", None), list)
