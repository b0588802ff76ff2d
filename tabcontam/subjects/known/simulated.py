"""`simulated:` answerers whose behaviour is known beforehand, for tests and for `power`. Nobody is asked.

Each is told the table and the queries of a plan; it answers the text of a prompt as its kind would, in the shape that
the prompt asks for. What one of them draws is drawn from the seed and the query, so that the order of asking is
nothing to it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING

from tabcontam.errors import UsageError, near
from tabcontam.evidence.base import Capability, Prompt, Query, Reply, State
from tabcontam.guesser.chance import Guess
from tabcontam.subjects.base import Form, Model, Request
from tabcontam.tables.serializers import DEFAULT, Serializer, load_serializers, written

if TYPE_CHECKING:
    from tabcontam.tables.table import Cell, Table

FEATURES = "feature_list"
VALUES = "feature_values"
NAMES = "recognition"
NOT_KNOWN = "unknown"
MISSING = "missing"
USUAL_FEATURES = ("id", "age", "sex", "name", "date", "class", "income", "education")
USUAL_VALUES = ("yes", "no", "male", "female", "other", "low", "medium", "high")
USUAL_NAMES = ("Titanic", "Adult", "Iris", "MNIST", "Boston Housing")
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
class Asked:
    """A query as an answerer meets it: its prompt, its table, the seed, the share of rows it remembers.

    `chance` is the query's own, or for a decoy that of the query it stands beside: who guesses knows no difference.
    """

    query: Query
    table: "Table"
    prompt: Prompt
    seed: int
    share: float
    chance: Mapping[str, Guess]

    @property
    def test(self) -> str:
        """The id of the test."""
        return _test(self.query)

    def random(self) -> Random:
        """What this query draws from: the same at every asking."""
        return Random(f"{self.seed} {self.table.name} {self.query.id}")


Answerer = Callable[[Asked], Reply]


def open_simulated(kind: str, seed: int = 0) -> Model:
    """The answerer of this kind. Raises `UsageError` where there is none, or no share between 0 and 1 behind it."""
    read_kind(kind)
    return SimulatedModel(kind, seed)


def read_kind(kind: str) -> tuple[Answerer, float]:
    """How a kind answers, and the share of the rows that it remembers. Raises `UsageError`."""
    name, colon, number = kind.partition(":")
    if name == "memoriser":
        share = _share(number)
        if share is not None:
            return _memoriser, share
    elif not colon and kind in ANSWERERS:
        return ANSWERERS[kind], 0.0
    forms = {**{known: known for known in ANSWERERS}, "memoriser": "memoriser:0.5"}
    meant = "".join(f"did you mean simulated:{forms[found]}? " for found in near(name, forms, limit=1))
    raise UsageError(
        f"unknown simulated model {kind!r}; {meant}known: {', '.join(KINDS)}, with 0 < P <= 1 (simulated:memoriser:0.5)"
    )


def _share(text: str) -> float | None:
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0 < share <= 1 else None


class SimulatedModel(Model):
    """An answerer that is told the table and the queries, and answers in its kind."""

    control = False
    local = True
    capabilities = frozenset({Capability.GENERATE, Capability.CHAT, Capability.INSTRUCTIONS})
    version = "1"
    form = Form.CHAT
    connections = 1
    identity = None  # made in seconds: not worth storing

    def __init__(self, kind: str, seed: int = 0, table: "Table | None" = None, queries: Sequence[Query] = ()) -> None:
        self.kind = kind
        self.spec = f"simulated:{kind}"
        self.seed = seed
        self._answerer, self._share = read_kind(kind)
        self._table = table
        self._by_id = {query.id: query for query in queries}
        self._unread = iter(queries)
        self._by_text: dict[int, Query] = {}

    def __repr__(self) -> str:
        return f"<SimulatedModel {self.spec}>"

    async def connect(self) -> None:
        """Nothing to reach."""

    def prepare(self, table: "Table", queries: Sequence[Query]) -> Model:
        """One that knows these queries."""
        return SimulatedModel(self.kind, self.seed, table, queries)

    async def generate(self, request: Request) -> Reply:
        """The reply to a query it was prepared for."""
        query = self._query(request.prompt)
        if query is None or self._table is None:
            return Reply("", State.FAILED, "a simulated model was asked what it was not prepared for")
        beside = self._by_id.get(query.decoy_of)
        chance = query.chance if beside is None or query.chance else beside.chance
        return self._answerer(Asked(query, self._table, request.prompt, self.seed, self._share, chance))

    async def close(self) -> None:
        """Nothing to give back."""

    def _query(self, prompt: Prompt) -> Query | None:
        """The query of this prompt. Prompts are written as far as needed: most are asked in the order of the plan."""
        text = hash(prompt.chat)
        for query in self._unread if text not in self._by_text else ():
            key = hash(query.prompt.chat)
            self._by_text.setdefault(key, query)
            if key == text:
                break
        return self._by_text.get(text)


def reply_of(kind: str, query: Query, table: "Table", seed: int = 0) -> Reply:
    """What an answerer of this kind says to one query. Raises `UsageError`."""
    answerer, share = read_kind(kind)
    return answerer(Asked(query, table, query.prompt, seed, share, query.chance))


def _test(query: Query) -> str:
    """The id of a query's test: query ids are this, a number and perhaps that of a decoy."""
    return query.id.partition("-")[0]


def _by_feature(query: Query) -> bool:
    """Whether cells of a row are asked: every row test does, a user's own too."""
    from tabcontam.evidence.registry import BY_ID

    test = BY_ID.get(_test(query))
    return test is not None and test.by_feature


def answer_text(query: Query, values: "Sequence[Cell]", form: Serializer | None = None) -> str:
    """Values in the shape that the query asks for: a row in this form, one value, a list, a name or a choice."""
    if _by_feature(query) and len(query.asked) > 1:
        return (form or load_serializers()[DEFAULT]).row(query.asked, values)
    given = [MISSING if value is None else value for value in values]
    if _by_feature(query):
        return written(given[0], "")  # as it stands in the rows shown: line ends are escaped
    return ", ".join(given) if _test(query).startswith((FEATURES, VALUES)) else given[0]


def row_form(query: Query, prompt: Prompt) -> Serializer | None:
    """The shipped serializer that a prompt writes its rows with; None where it is none of them."""
    return next((form for form in _forms() if form.lead(query.asked[0]) in prompt.completion), None)


@lru_cache(maxsize=1)
def _forms() -> tuple[Serializer, ...]:
    # `The age is equal to` holds what `The age is` does: the longest separator is looked for first
    return tuple(sorted(load_serializers().values(), key=lambda form: -len(form.value_separator)))


def remembered(asked: Asked) -> bool:
    """Whether a memoriser has this query's row: by the seed and the row's cells, so the same rows in every test."""
    cells = _row(asked)
    if not cells:
        return False
    digest = sha256(repr((asked.seed, sorted(cells.items()))).encode("utf-8", "backslashreplace")).digest()
    return int.from_bytes(digest[:8], "big") < asked.share * 2**64


def _row(asked: Asked) -> dict[str, str]:
    """The cells of the row that a query is about, the missing ones aside: all that it asks, or the last it shows."""
    query, table = asked.query, asked.table
    if set(query.asked) == set(table.columns):
        cells = dict(zip(query.asked, query.expected, strict=True))
    elif query.rows:
        cells = dict(zip(table.columns, table.rows[query.rows[-1]], strict=True))
    else:
        return {}
    return {name: cell for name, cell in cells.items() if cell is not None and not table.is_missing(cell)}


def _said(asked: Asked, values: "Sequence[Cell]") -> Reply:
    form = row_form(asked.query, asked.prompt) if _is_row(asked) else None
    return _ok(answer_text(asked.query, values, form))


def _ok(text: str) -> Reply:
    return Reply(text, State.OK, tokens=len(text.split()))


def _is_row(asked: Asked) -> bool:
    return _by_feature(asked.query)


def _is_choice(asked: Asked) -> bool:
    return not _is_row(asked) and not asked.test.startswith((FEATURES, VALUES, NAMES))


def _truth(asked: Asked) -> "list[Cell]":
    query = asked.query
    return list(query.expected[:1] if asked.test.startswith(NAMES) else query.expected)


def _oracle(asked: Asked) -> Reply:
    return _said(asked, _usual(asked) if asked.query.decoy_of else _truth(asked))


def _mode(asked: Asked) -> Reply:
    return _said(asked, _usual(asked))


def _usual(asked: Asked) -> "list[Cell]":
    """The most frequent value of each column; else what is said most often of any table, and Yes."""
    if _is_row(asked):
        return [_most_frequent(asked, name) for name in asked.query.asked]
    if asked.test.startswith(FEATURES):
        return list(USUAL_FEATURES)
    if asked.test.startswith(VALUES):
        return list(USUAL_VALUES)
    if asked.test.startswith(NAMES):
        return [USUAL_NAMES[0]]
    majority = asked.chance.get("majority")
    likeliest = majority.likeliest if majority else None
    return [likeliest or next((choice for choice in asked.query.asked if choice == "Yes"), asked.query.asked[0])]


def _most_frequent(asked: Asked, name: str) -> str:
    return next(iter(asked.table.distinct(name)), MISSING)


def _guesser(asked: Asked) -> Reply:
    return _said(asked, _likeliest(asked))


def _likeliest(asked: Asked) -> "list[Cell]":
    """The likeliest value of each cell and the likeliest choice; of the expected words, each as often as it is due.

    To say every word that has a chance would be to know them; of names there is nothing to guess.
    """
    if _is_row(asked):
        guesses = [asked.chance.get(name) for name in asked.query.asked]
        likeliest = [guess.likeliest if guess else None for guess in guesses]
        return [value or usual for value, usual in zip(likeliest, _usual(asked), strict=True)]
    if _is_choice(asked):
        weights = _choices(asked)
        return [max(weights, key=weights.__getitem__)] if weights else _usual(asked)
    if asked.test.startswith(NAMES):
        return _usual(asked)
    rng, words = asked.random(), [word for word in asked.query.expected if word is not None]
    said = [word for word in words if word in asked.chance and rng.random() < asked.chance[word].of(word)]
    return [*said, *_usual(asked)]


def _choices(asked: Asked) -> Mapping[str, float]:
    """The probability of each possible answer: its own chance, or the best baseline's."""
    own = {choice: asked.chance[choice].of(choice) for choice in asked.query.asked if choice in asked.chance}
    baselines = [guess.values for guess in asked.chance.values() if guess.values]
    return own or (baselines[-1] if baselines else {})


def _schema_expert(asked: Asked) -> Reply:
    """Knows features, values and names, but cannot tell a row of the table from another of its schema.

    Of other tables it says what is usual.
    """
    if _is_row(asked) or _is_choice(asked):
        return _said(asked, _drawn(asked))
    if not asked.query.decoy_of or asked.test == "recognition_examples":
        return _said(asked, _truth(asked))
    return _said(asked, [_other_name(asked)] if asked.test.startswith(NAMES) else _usual(asked))


def _other_name(asked: Asked) -> str:
    own = {name.casefold() for name in (*asked.table.names, asked.table.title)}
    return next((name for name in USUAL_NAMES if not any(name.casefold() in each for each in own)), NOT_KNOWN)


def _drawn(asked: Asked) -> "list[Cell]":
    rng = asked.random()
    if _is_choice(asked):
        weights = _choices(asked)
        return [_draw(weights, rng)] if weights else _usual(asked)
    guesses = [asked.chance.get(name) for name in asked.query.asked]
    return [
        _draw(guess.values, rng) if guess and guess.values else usual
        for guess, usual in zip(guesses, _usual(asked), strict=True)
    ]


def _draw(weights: Mapping[str, float], rng: Random) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]


def _yes(asked: Asked) -> Reply:
    return _ok("Yes")


def _no(asked: Asked) -> Reply:
    return _ok("No")


def _decliner(asked: Asked) -> Reply:
    return _ok(asked.random().choice(DECLINED))


def _refuser(asked: Asked) -> Reply:
    return Reply("", State.REFUSED, "content filter", 0)


def _rambler(asked: Asked) -> Reply:
    """Talks at length of the table and of others, the same way whatever is asked, and means none of it."""
    rng = asked.random()
    musings = rng.sample(MUSINGS, 3)
    return _ok(" ".join([musings[0], _aside(asked, rng), musings[1], _aside(asked, rng), musings[2]]))


def _aside(asked: Asked, rng: Random) -> str:
    table = asked.table
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


def _formatter(asked: Asked) -> Reply:
    answer = _oracle(asked).text
    return _ok(f"Sure! Here is the answer:\n\n```\n{answer}\n```\n\nI hope this helps. Let me know if you need more.")


def _memoriser(asked: Asked) -> Reply:
    knows = (_is_row(asked) or _is_choice(asked)) and not asked.query.decoy_of and remembered(asked)
    return _said(asked, _truth(asked)) if knows else _guesser(asked)


def _truncates(asked: Asked) -> Reply:
    first = answer_text(asked.query, _truth(asked)).partition(", ")[0]
    return Reply(first[: len(first) // 2], State.TRUNCATED, "token limit", asked.query.max_tokens)


def _fails(asked: Asked) -> Reply:
    return Reply("", State.FAILED, "HTTP 500: simulated")


def _empty(asked: Asked) -> Reply:
    return Reply("", State.EMPTY, "no text", 0)


ANSWERERS: Mapping[str, Answerer] = {
    "oracle": _oracle,
    "mode": _mode,
    "guesser": _guesser,
    "schema-expert": _schema_expert,
    "yes": _yes,
    "no": _no,
    "decliner": _decliner,
    "refuser": _refuser,
    "rambler": _rambler,
    "formatter": _formatter,
    "truncates": _truncates,
    "fails": _fails,
    "empty": _empty,
}
KINDS = (*ANSWERERS, "memoriser:P")
