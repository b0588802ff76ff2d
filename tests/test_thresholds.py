"""Numbers stand where a reader looks for them: those that decide verdicts in a room's thresholds.py, with a source."""

import ast
import re
from collections.abc import Iterator

from tests.installed import ROOT, with_every_extension

PACKAGE = ROOT / "tabcontam"
LINE = re.compile(r"(?P<above>(?:# .*\n)*)(?P<name>[A-Z][A-Z0-9_]*)(?:: \w+)? = [^#\n]+(?P<behind>.*)\n")


def is_number(node: ast.expr) -> bool:
    """Return whether an expression is a number, also one that is computed of numbers."""
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def assigned(tree: ast.Module) -> list[str]:
    """Return the names that a module of constants assigns."""
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def numbers(tree: ast.Module) -> Iterator[str]:
    """Yield the names of a module's numbers."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and is_number(node.value):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    yield target.id


def functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions of a module and the methods of its classes."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node.body)


def places(tree: ast.Module, name: str) -> int:
    """Return in how many functions a name is read; each place outside of functions counts as one."""
    reads = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
    inside = [{id(node) for node in ast.walk(function)} for function in functions(tree.body)]
    loads = [read for read in reads if isinstance(read.ctx, ast.Load)]
    owners = {next((k for k, own in enumerate(inside) if id(load) in own), -n) for n, load in enumerate(loads, 1)}
    return len(owners)


def test_each_number_that_decides_a_verdict_has_a_meaning_and_a_source() -> None:
    files = sorted(PACKAGE.rglob("thresholds.py"))
    assert len(files) > 10
    bare = []
    for path in files:
        text = path.read_text("utf-8")
        comments = {line["name"]: line["above"].replace("\n# ", " ") + line["behind"] for line in LINE.finditer(text)}
        bare += [name for name in assigned(ast.parse(text)) if not re.search(r"\S; \S", comments.get(name, ""))]
    assert not bare, "each needs a comment: its meaning; its source"


@with_every_extension
def test_a_number_of_a_module_is_used_more_than_once() -> None:
    """A number that one function uses is a named default of that function; one that decides goes to thresholds.py."""
    folders = (PACKAGE, ROOT / "tests", ROOT / "benchmarks")
    texts = {path: path.read_text("utf-8") for folder in folders for path in folder.rglob("*.py")}
    single = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name != "thresholds.py":
            tree = ast.parse(texts[path])
            others = [text for other, text in texts.items() if other != path and path.stem in text]
            single += [
                f"{path.relative_to(ROOT)}: {name}"
                for name in numbers(tree)
                if places(tree, name) < 2 and not any(re.search(rf"\b{name}\b", text) for text in others)
            ]
    assert not single
