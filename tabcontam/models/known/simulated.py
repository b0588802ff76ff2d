"""Models `simulated:` with programmed behaviour, for tests of tabcontam and its command `power`. Nothing is sent.

`Query.answering` states the true answer and the baseline's answer. Random choices depend only on seed and query.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from random import Random

from tabcontam.errors import UsageError, near
from tabcontam.evidence.answering import MISSING, USUAL_NAMES
from tabcontam.evidence.base import Capability, Prompt, Query, Reply, ReplyState
from tabcontam.evidence.questions import Question
from tabcontam.evidence.structured_answers import PROBE, write_structured_answer
from tabcontam.models.base import Model, ModelRequest, PromptForm, failed
from tabcontam.models.provider_record import Provider
from tabcontam.tables.table import Cell, Table

DECLINED = (
    "I'm sorry, but I cannot recall the contents of this dataset.",
    "I do not have access to the rows of this dataset, so I cannot say.",
    "I am unable to answer this without looking at the file.",
)
MUSINGS = (
    "That is an interesting question about data of this kind, and there is more than one way to look at it.",
    "Such tables have been collected for many purposes, by people of very different habits.",
    "One would first want to know how the records were taken, and by whom.",
    "Much depends on the sample, on the year and on who was left out.",
    "In practice nobody would rely on a single record, but on the distribution as a whole.",
)


@dataclass(frozen=True)
class SimulatedQuery:
    """A query to a simulated model, with all that its answer depends on."""

    query: Query
    table: Table
    prompt: Prompt
    seed: int
    share: float  # of the rows or of the page that the model knows
    asked_features: tuple[str, ...] = ()  # of a structured answer; empty for an answer in text

    def random(self) -> Random:
        """Return the random generator of this query, which has the same seed each time."""
        return Random(f"{self.seed} {self.table.name} {self.query.id}")

    def truth(self) -> Sequence[Cell]:
        return self.query.answering.truth(self.query)

    def reply_with(self, values: Sequence[Cell]) -> Reply:
        if self.asked_features:
            return _ok(write_structured_answer(values, self.asked_features))
        return _ok(self.query.answering.text(self.query, values, self.prompt))


Answerer = Callable[[SimulatedQuery], Reply]


def read_kind(kind: str) -> tuple[Answerer, float, str]:
    """Return the function that answers for a kind of model, the share of the rows or of the page that the model knows,
    and its split. It knows only rows of this split, or of all splits if the split is "". Raises `UsageError`.
    """
    name, _, number = kind.partition(":")
    number, sign, split = number.partition("#")
    try:
        share = float(number) if name in SHARING else 0.0
    except ValueError:
        share = 0.0
    if 0 < share <= 1 and bool(sign) == bool(split):
        return SHARING[name], share, split
    if kind in ANSWERERS:
        return ANSWERERS[kind], 0.0, ""
    forms = {**{known: known for known in ANSWERERS}, **{known: f"{known}:0.5" for known in SHARING}}
    hint = "".join(f"did you mean simulated:{forms[found]}? " for found in near(name, forms, limit=1))
    raise UsageError(
        f"unknown simulated model {kind!r}; {hint}known: {', '.join(KINDS)}, with 0 < P <= 1 "
        "(simulated:memoriser:0.5); #SPLIT after it limits it to one split (simulated:memoriser:0.5#train)"
    )


class SimulatedModel(Model):
    """A model that answers the queries about a table according to its kind. Raises `UsageError` for an unknown kind."""

    local = True
    capabilities = frozenset({Capability.GENERATE, Capability.CHAT, Capability.SAMPLE, Capability.INSTRUCTIONS})
    version = "1"
    form = PromptForm.CHAT
    connections = 1
    identity = None  # answers are quick: not worth storing

    def __init__(self, kind: str, seed: int = 0, table: Table | None = None, queries: Sequence[Query] = ()) -> None:
        self.kind = kind
        self.spec = f"simulated:{kind}"
        self.seed = seed
        self._answerer, self._share, self.of_split = read_kind(kind)
        self._table = table
        self._by_id = {query.id: query for query in queries}
        self._unread = iter(queries)
        self._by_text: dict[int, Query] = {}

    def prepare(self, table: Table, queries: Sequence[Query]) -> Model:
        prepared = SimulatedModel(self.kind, self.seed, table, queries)
        prepared.spec, prepared.structured = self.spec, self.structured
        return prepared

    def exposure(self, table: Table, row: int) -> float:
        """Return 1 if the model knows the row, else 0. A memoriser knows some rows, other models all or none."""
        if self._answerer is not _memoriser:
            return float(self._answerer in KNOWING)
        return float(_has(self.seed, self._share_of(table), _cells(table, row)))

    def _share_of(self, table: Table) -> float:
        """Return the share of a table that the model knows: 0 if the table is another split than the model's."""
        return self._share if self.of_split in ("", table.split) else 0.0

    async def generate(self, request: ModelRequest) -> Reply:
        if request.structured and request.question == PROBE:
            return _ok(write_structured_answer(["blue"], PROBE.values))
        query = self._query(request.question)
        if query is None or self._table is None:
            return failed("the simulated model was not prepared for this prompt")
        original = self._by_id.get(query.decoy_of)
        if original is not None and not query.chance:  # to the baseline, a decoy is like its query
            query = replace(query, chance=original.chance)
        share = self._share_of(self._table)
        asked_features = query.asked if request.schema else ()
        reply = self._answerer(SimulatedQuery(query, self._table, request.prompt, self.seed, share, asked_features))
        if not asked_features or reply.state is not ReplyState.OK:
            return reply
        span = reply.text.find("{"), reply.text.rfind("}") + 1
        return _ok(reply.text[slice(*span)] or write_structured_answer((), ()))  # without text around the object

    def _query(self, prompt: Question) -> Query | None:
        """Return the query of this prompt. Prompts are compared in the plan's order, because most arrive in it."""
        if not isinstance(prompt, Prompt):
            return None
        text = hash((prompt.chat, prompt.sample))
        for query in self._unread if text not in self._by_text else ():
            asked = query.prompt
            key = hash((asked.chat, asked.sample))
            self._by_text.setdefault(key, query)
            if key == text:
                break
        return self._by_text.get(text)


def is_remembered(turn: SimulatedQuery) -> bool:
    """Return whether a memoriser knows this query's row. It depends on seed and cells, so it is equal in all tests."""
    cells = _row(turn)
    return bool(cells) and _has(turn.seed, turn.share, cells)


def recalled(turn: SimulatedQuery, places: Sequence[int]) -> Sequence[Cell]:
    """Return a memoriser's values of cells in these rows: the true value for a known row, else the baseline's value."""
    predictions = turn.query.answering.predicted(turn.query, turn.table, turn.random())
    has = {row: _has(turn.seed, turn.share, _cells(turn.table, row)) for row in set(places)}
    of_cells = zip(places, turn.truth(), predictions, strict=True)
    return [truth if has[row] else prediction for row, truth, prediction in of_cells]


def _has(seed: int, share: float, cells: Mapping[str, str]) -> bool:
    digest = sha256(repr((seed, sorted(cells.items()))).encode("utf-8", "backslashreplace")).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def _cells(table: Table, row: int) -> dict[str, str]:
    cells = zip(table.columns, table.rows[row], strict=True)
    return {name: cell for name, cell in cells if cell is not None and not table.is_missing(cell)}


def _row(turn: SimulatedQuery) -> dict[str, str]:
    """Return the present cells of a query's row: of the row that it asks for, or the last row that it shows."""
    query, table = turn.query, turn.table
    if set(query.asked) != set(table.columns):
        return _cells(table, query.rows[-1]) if query.rows else {}
    cells = zip(query.asked, query.expected, strict=True)
    return {name: cell for name, cell in cells if cell is not None and not table.is_missing(cell)}


def _ok(text: str) -> Reply:
    return Reply(text, ReplyState.OK, tokens=len(text.split()))


def _oracle(turn: SimulatedQuery) -> Reply:
    return _mode(turn) if turn.query.decoy_of else turn.reply_with(turn.truth())


def _mode(turn: SimulatedQuery) -> Reply:
    return turn.reply_with(turn.query.answering.usual(turn.query, turn.table))


def _baseline(turn: SimulatedQuery) -> Reply:
    return turn.reply_with(turn.query.answering.predicted(turn.query, turn.table, turn.random()))


def _rambler(turn: SimulatedQuery) -> Reply:
    rng = turn.random()
    musings = rng.sample(MUSINGS, 3)
    return _ok(" ".join([musings[0], _aside(turn, rng), musings[1], _aside(turn, rng), musings[2]]))


def _aside(turn: SimulatedQuery, rng: Random) -> str:
    table = turn.table
    name, other = rng.sample(table.columns, 2) if len(table.columns) > 1 else (table.columns[0],) * 2
    values = [rng.choice(table.distinct(name) or (MISSING,)) for _ in range(2)]
    names = rng.sample((*USUAL_NAMES, table.title), 2)
    return rng.choice(
        (
            f"Some would expect the {name} to be near {values[0]}, others near {values[1]}, and both have a point.",
            f"It has been said of {names[0]} as well as of {names[1]} that {name} and {other} go together.",
            f"Between {values[0]} and {values[1]} there is room for about {rng.randrange(2, 500)} opinions on {name}.",
            f"Whether {other} matters as much as {name} is hard to say; {rng.randrange(2, 90)} % of us would not try.",
        )
    )


def _formatter(turn: SimulatedQuery) -> Reply:
    answer = _oracle(turn).text
    return _ok(f"Sure! Here is the answer:\n\n```\n{answer}\n```\n\nI hope this helps. Let me know if you need more.")


def _memoriser(turn: SimulatedQuery) -> Reply:
    of_row = turn.query.answering.of_row and not turn.query.decoy_of
    if of_row and (places := turn.query.answering.places(turn.query)):
        return turn.reply_with(recalled(turn, places))
    return turn.reply_with(turn.truth()) if of_row and is_remembered(turn) else _baseline(turn)


def _reader(turn: SimulatedQuery) -> Reply:
    """Return some words of a list, or sometimes the name, from a share of the dataset's page; else the usual answer."""
    query = turn.query
    if query.answering.of_row:
        return _baseline(turn)
    if query.decoy_of:
        return _mode(turn)

    def is_known(what: Cell) -> bool:  # whether the known share of the page includes it; equal in all tests
        return Random(f"{turn.seed} {turn.table.name} {what}").random() < turn.share

    known = [word for word in turn.truth() if is_known(word if query.answering.by_word else query.id)]
    return turn.reply_with(known) if known else _mode(turn)


def _truncates(turn: SimulatedQuery) -> Reply:
    first = turn.query.answering.text(turn.query, turn.truth()).partition(", ")[0]
    return Reply(first[: len(first) // 2], ReplyState.TRUNCATED, "token limit", turn.query.max_tokens)


ANSWERERS: Mapping[str, Answerer] = {
    "oracle": _oracle,
    "mode": _mode,
    "guesser": _baseline,
    # By features, values and names only, as for any row with this schema.
    "schema-expert": lambda turn: turn.reply_with(
        turn.query.answering.by_schema(turn.query, turn.table, turn.random())
    ),
    "yes": lambda turn: _ok("Yes"),
    "no": lambda turn: _ok("No"),
    "decliner": lambda turn: _ok(turn.random().choice(DECLINED)),
    "refuser": lambda turn: Reply("", ReplyState.REFUSED, "content filter", 0),
    "rambler": _rambler,
    "formatter": _formatter,
    "truncates": _truncates,
    "fails": lambda turn: failed("HTTP 500: simulated"),
    "empty": lambda turn: Reply("", ReplyState.EMPTY, "no text", 0),
}
SHARING: Mapping[str, Answerer] = {"memoriser": _memoriser, "reader": _reader}  # of rows, or of a page
KNOWING = (_oracle, _formatter, _truncates)  # kinds that know the whole table
KINDS = (*ANSWERERS, *(f"{name}:P" for name in SHARING))
SIMULATED = Provider(
    "simulated",
    {"simulated:KIND": "a model of known behaviour, on which a report or a gate can be tried"},
    lambda kind, settings: SimulatedModel(kind, settings.seed),
    details=f"kinds: {', '.join(KINDS)}",
)
