"""`-k EXPR`: test ids matched as pytest matches names."""

import re
from collections.abc import Callable, Iterator, Sequence

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Test

Matcher = Callable[[str], bool]
TOKEN = re.compile(r"\s*(\(|\)|[^\s()]+)")


def selected(tests: Sequence[Test], expression: str | None) -> list[Test]:
    """The tests whose id the expression matches. Raises `UsageError` where it cannot be read."""
    if not expression or not expression.strip():
        return list(tests)
    matches = _Parser(expression).parse()
    return [test for test in tests if matches(test.id.casefold())]


class _Parser:
    """expr = and ("or" and)*; and = not ("and" not)*; not = "not" not | "(" expr ")" | part of an id."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self.tokens = TOKEN.findall(expression)

    def parse(self) -> Matcher:
        matcher = self._either()
        if self.tokens:
            raise self._error()
        return matcher

    def _either(self) -> Matcher:
        return self._joined("or", any, lambda: self._joined("and", all, self._negated))

    def _joined(self, word: str, of: Callable[[Iterator[bool]], bool], part: Callable[[], Matcher]) -> Matcher:
        parts = [part()]
        while self._take(word):
            parts.append(part())
        return lambda name: of(matches(name) for matches in parts)

    def _negated(self) -> Matcher:
        if self._take("not"):
            inner = self._negated()
            return lambda name: not inner(name)
        if self._take("("):
            inner = self._either()
            if not self._take(")"):
                raise self._error()
            return inner
        if not self.tokens or self.tokens[0] in (")", "and", "or"):
            raise self._error()
        part = self.tokens.pop(0).casefold()
        return lambda name: part in name

    def _take(self, token: str) -> bool:
        found = self.tokens[:1] == [token]
        del self.tokens[: int(found)]
        return found

    def _error(self) -> UsageError:
        where = self.tokens[0] if self.tokens else "end of the expression"
        return UsageError(
            f"-k {self.expression!r} cannot be read at {where!r}; write for example 'feature and not list'"
        )
