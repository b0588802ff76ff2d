"""The options `-k EXPR` and `-m EXPR`, which select tests by id and by mark, as in pytest."""

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tabcontam.errors import NothingSelected, UsageError, option_name, unknown
from tabcontam.evidence.base import NEEDED, Capability, Family, Test

WORD = re.compile(r"[^\s()]+")
OPERATORS = ("and", "or", "not")
KNOWN = (ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Name, ast.Load)
EXAMPLES = {"tests": "feature and not list", "marks": "rows and not logprobs"}


@dataclass(frozen=True)
class Expression:
    """Words joined by `and`, `or`, `not` and brackets.

    An expression without a tree is empty, and true for every test.
    """

    text: str
    tree: ast.expr | None

    @property
    def words(self) -> list[str]:
        """The words of the expression in lower case."""
        return [self._word(node) for node in ast.walk(self.tree) if isinstance(node, ast.Name)] if self.tree else []

    def true(self, word_is_true: Callable[[str], bool]) -> bool:
        """Return whether the expression is true, given the truth of each word."""

        def true(node: ast.expr) -> bool:
            match node:
                case ast.BoolOp(op=ast.And(), values=parts):
                    return all(true(part) for part in parts)
                case ast.BoolOp(values=parts):
                    return any(true(part) for part in parts)
                case ast.UnaryOp(operand=part):
                    return not true(part)
            return word_is_true(self._word(node))

        return self.tree is None or true(self.tree)

    def _word(self, node: ast.expr) -> str:
        return self.text[node.col_offset : node.end_col_offset].casefold()


def selected(tests: Sequence[Test], names: str | None, marks: str | None = None) -> list[Test]:
    """Return the tests whose id fits the expression `names` and whose marks fit the expression `marks`.

    A test that is asked only on request is selected by a word or mark that no default test has. So `completion` and
    `rows` select only default tests, and `row_completion` and `quiz` select tests on request. A test that reads
    log-probabilities or searches documents costs no answer: without a choice by id, any fitting mark selects it.

    Raises `UsageError` for an expression that cannot be read and for an unknown mark, and `NothingSelected` if no test
    is left.
    """
    by_name, by_mark = _expression("tests", names), _expression("marks", marks)
    known = sorted({*Family, *NEEDED.values(), *(mark for test in tests for mark in test.marks)})
    folded = {mark.casefold() for mark in known}
    for word in by_mark.words:
        if word not in folded:
            raise unknown("mark", word, known)

    def chosen(test: Test) -> bool:
        marks = {mark.casefold() for mark in test.marks}
        return by_name.true(lambda word: word in test.id.casefold()) and by_mark.true(lambda word: word in marks)

    usual = [test for test in tests if not test.on_request]
    shared = {mark.casefold() for test in usual for mark in test.marks}

    def requested(test: Test) -> bool:
        own = (word for word in by_name.words if not any(word in other.id.casefold() for other in usual))
        marks = {mark.casefold() for mark in test.marks} - shared
        return any(word in test.id.casefold() for word in own) or not marks.isdisjoint(by_mark.words)

    chosen_any, by_ids = chooses(names, marks), chooses(names)

    def usually(test: Test) -> bool:
        costs_nothing = test.scores_text or Capability.SEARCH in test.needs
        return not (test.on_request and chosen_any) or (costs_nothing and not by_ids)

    found = [test for test in tests if chosen(test) and (usually(test) or requested(test))]
    if not found:
        given = [f"{option_name(word)} {text!r}" for word, text in (("tests", names), ("marks", marks)) if text]
        raise NothingSelected(f"no test matches {' and '.join(given)}; known: {', '.join(test.id for test in tests)}")
    return found


def asked_by(mark: str, tests: Sequence[Test], marks: str | None) -> bool:
    """Return whether the option `-m` chooses one of these tests only because the test has this mark."""
    by_mark = _expression("marks", marks)
    own = [{mark.casefold() for mark in test.marks} for test in tests]
    return any(by_mark.true(has.__contains__) and not by_mark.true((has - {mark}).__contains__) for has in own)


def chooses(names: str | None, marks: str | None = None) -> bool:
    """Return whether the typed expressions choose tests, and do not only exclude some."""
    expressions = _expression("tests", names), _expression("marks", marks)
    return any(not one.true(lambda word: False) for one in expressions)


def _expression(word: str, text: str | None) -> Expression:
    """Return the expression that a user typed after an option. Raises `UsageError` if it cannot be read."""
    text = re.sub(r"\s", " ", text or "").strip()
    if not text:
        return Expression("", None)
    # The operators have the same grammar in Python and pytest. A name of equal length replaces each word.
    named = WORD.sub(lambda word: word[0] if word[0] in OPERATORS else "_" * len(word[0]), text)
    try:
        tree = ast.parse(named, mode="eval")
    except SyntaxError as error:
        raise _error(word, text, error.offset - 1 if error.offset else len(text)) from None
    if odd := next((node for node in ast.walk(tree) if not isinstance(node, KNOWN)), None):
        raise _error(word, text, getattr(odd, "col_offset", 0))
    return Expression(text, tree.body)


def _error(word: str, text: str, place: int) -> UsageError:
    rest = re.match(r"\s*([()]|[^\s()]+)", text[place:])
    where = rest[1] if rest else "end of the expression"
    return UsageError(f"{option_name(word)} {text!r} cannot be read at {where!r}; write for example {EXAMPLES[word]!r}")
