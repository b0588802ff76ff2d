"""`simulated:` answerers whose behaviour is known beforehand, for tests and documentation. Nobody is asked."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING

from tabcontam.errors import unknown
from tabcontam.models.base import Form, Model, Request
from tabcontam.suite.base import Capability, Message, Query, Reply, State

if TYPE_CHECKING:
    from tabcontam.datasets import Table

ROWS = ("incomplete_completion", "full_completion")
LISTS = ("feature_list", "feature_values")
GUESSED_WORDS = ("apple", "river", "window", "green", "paper", "summer")
GUESSED_NAMES = ("Weather Station Readings", "Store Receipts", "Library Loans")

Chat = tuple[Message, ...]
Answerer = Callable[[Query, "Table"], Reply]


def open_simulated(kind: str) -> Model:
    """The answerer of this kind."""
    if kind not in KINDS:
        raise unknown("simulated model", kind, KINDS)
    return SimulatedModel(kind)


class SimulatedModel(Model):
    """An answerer that is told the table and the queries, and answers in its kind."""

    control = False
    local = True
    capabilities = frozenset({Capability.GENERATE, Capability.CHAT, Capability.INSTRUCTIONS})
    version = "1"
    form = Form.CHAT
    connections = 1
    identity = None  # made in seconds: not worth storing

    def __init__(
        self, kind: str, table: "Table | None" = None, queries: Mapping[bytes, Query] = MappingProxyType({})
    ) -> None:
        self.kind = kind
        self.spec = f"simulated:{kind}"
        self._table = table
        self._queries = queries

    def __repr__(self) -> str:
        return f"<SimulatedModel {self.spec}>"

    async def connect(self) -> None:
        """Nothing to reach."""

    def prepare(self, table: "Table", queries: Sequence[Query]) -> Model:
        """One that knows these queries, by a digest of the text they are asked in."""
        return SimulatedModel(self.kind, table, {digest(query.prompt.chat): query for query in queries})

    async def generate(self, request: Request) -> Reply:
        """The reply to a query it was prepared for."""
        query = self._queries.get(digest(request.prompt.chat))
        if query is None or self._table is None:
            return Reply("", State.FAILED, "a simulated model was asked what it was not prepared for")
        return KINDS[self.kind](query, self._table)

    async def close(self) -> None:
        """Nothing to give back."""


def digest(chat: Chat) -> bytes:
    """What tells one chat from another, in less room than the chat takes."""
    return sha256(repr(chat).encode("utf-8", "backslashreplace")).digest()


def answer_text(query: Query, values: Sequence[str | None]) -> str:
    """Values in the shape that the query asks for: a row, one value, a list, a name or a choice."""
    test = query.id.rpartition("-")[0] or query.id
    given = [value or "" for value in values]
    if test in ROWS:
        return ", ".join(f"The {name} is {value}" for name, value in zip(query.asked, given, strict=True))
    return ", ".join(given) if test.startswith(LISTS) else given[0]


def guessed_values(query: Query, table: "Table") -> list[str | None]:
    """What one says who knows the form and not the table; never the truth, but for choices."""
    test = query.id.rpartition("-")[0] or query.id
    if test in ROWS or test == "feature_completion":
        return _wrong_row(query, table)
    if test.startswith(LISTS):
        return [word for word in GUESSED_WORDS if not _names(query, word)]
    if query.asked:
        return ["Yes" if "Yes" in query.asked else query.asked[0]]
    return [next((name for name in GUESSED_NAMES if not _names(query, name)), GUESSED_NAMES[0])]


def _wrong_row(query: Query, table: "Table") -> list[str | None]:
    """The asked cells of the table's first row where they are all given and not the asked row's."""
    places = [table.columns.index(name) for name in query.asked]
    for row in table.rows:
        cells = [row[place] for place in places]
        if None not in cells and tuple(cells) != query.expected:
            return cells
    return ["0" if value != "0" else "1" for value in query.expected]


def _names(query: Query, text: str) -> bool:
    return any(value and value.casefold() in text.casefold() for value in query.expected)


def _ok(text: str) -> Reply:
    return Reply(text, State.OK, tokens=len(text.split()))


def _knows(query: Query, table: "Table") -> Reply:
    return _ok(answer_text(query, query.expected))


def _guesses(query: Query, table: "Table") -> Reply:
    return _ok(answer_text(query, guessed_values(query, table)))


def _declines(query: Query, table: "Table") -> Reply:
    return _ok("I'm sorry, but I cannot recall the contents of this dataset.")


def _rambles(query: Query, table: "Table") -> Reply:
    answer = answer_text(query, query.expected)
    return _ok(f"Sure! Here is the answer:\n\n```\n{answer}\n```\n\nI hope this helps. Let me know if you need more.")


def _truncates(query: Query, table: "Table") -> Reply:
    first = answer_text(query, query.expected).partition(", ")[0]
    return Reply(first[: len(first) // 2], State.TRUNCATED, "token limit", query.max_tokens)


def _refuses(query: Query, table: "Table") -> Reply:
    return Reply("", State.REFUSED, "content filter", 0)


def _fails(query: Query, table: "Table") -> Reply:
    return Reply("", State.FAILED, "HTTP 500: simulated")


def _empty(query: Query, table: "Table") -> Reply:
    return Reply("", State.EMPTY, "no text", 0)


KINDS: Mapping[str, Answerer] = {
    "knows": _knows,
    "guesses": _guesses,
    "declines": _declines,
    "rambles": _rambles,
    "truncates": _truncates,
    "refuses": _refuses,
    "fails": _fails,
    "empty": _empty,
}
