"""`-k EXPR`: test ids matched as pytest matches names."""

import ast
import re
from collections.abc import Sequence

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Test

WORD = re.compile(r"[^\s()]+")
OPERATORS = ("and", "or", "not")
KNOWN = (ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Name, ast.Load)


def selected(tests: Sequence[Test], expression: str | None) -> list[Test]:
    """The tests whose id the expression matches. Raises `UsageError` where it cannot be read."""
    expression = re.sub(r"\s", " ", expression or "").strip()
    if not expression:
        return list(tests)
    # Python's grammar of the operators is pytest's; a name of the same length stands for each part of an id.
    named = WORD.sub(lambda word: word[0] if word[0] in OPERATORS else "_" * len(word[0]), expression)
    try:
        tree = ast.parse(named, mode="eval")
    except SyntaxError as error:
        raise _error(expression, error.offset - 1 if error.offset else len(expression)) from None
    if odd := next((node for node in ast.walk(tree) if not isinstance(node, KNOWN)), None):
        raise _error(expression, getattr(odd, "col_offset", 0))
    return [test for test in tests if _matches(tree.body, expression, test.id.casefold())]


def _matches(node: ast.expr, expression: str, name: str) -> bool:
    match node:
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_matches(part, expression, name) for part in parts)
        case ast.BoolOp(values=parts):
            return any(_matches(part, expression, name) for part in parts)
        case ast.UnaryOp(operand=part):
            return not _matches(part, expression, name)
    return expression[node.col_offset : node.end_col_offset].casefold() in name


def _error(expression: str, place: int) -> UsageError:
    rest = re.match(r"\s*([()]|[^\s()]+)", expression[place:])
    where = rest[1] if rest else "end of the expression"
    return UsageError(f"-k {expression!r} cannot be read at {where!r}; write for example 'feature and not list'")
