"""The one seam to every subject, be it an LLM or a body of documents: `answer(request) -> answer`.

A subject gets the question, and nothing about the test behind it; of a prompt an LLM takes the rendering that fits its
form. Each kind of question has a method of its own: `generate` answers a `Prompt` with a `Reply`, `score` a `Passage`
with `Scores`, `compare` `Endings` with `Likelihoods`, `search` a `Lookup` with `Matches`. What its server does wrong is
raised by kind, so that one place decides what to do about it:

TransientError      may pass: the request is sent again
FatalError          nothing more will come of this LLM
SpentError          the user's limit forbids another request
LackError           this subject answers no question of this kind, as it turns out
an answer of state `failed`     this request alone gets no answer
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import (
    Answer,
    By,
    Capability,
    Endings,
    Likelihoods,
    Lookup,
    Matches,
    Message,
    Passage,
    Prompt,
    Question,
    Reply,
    Scores,
    State,
    Usage,
)
from tabcontam.evidence.structured import in_json, schema_of
from tabcontam.reading.endless import goes_on
from tabcontam.subjects.form import Form as Form
from tabcontam.tables.table import Table

if TYPE_CHECKING:
    from tabcontam.subjects.batches import Batches

Kind = TypeVar("Kind", Prompt, Passage, Endings, Lookup)
# What shows the user that something is being done until the context ends, which gives what tells how much of it is.
Doing = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
PAGE = "web page"  # the kind of a `TransientError` where that came in place of an answer
MOST_WORDINGS = 24  # of one query: what a server refuses comes to an end
WENT_ON = "it went on without end"  # why an answer was ended before its limit
THINKING = 4096  # tokens that a model may think; the limit on an answer does not count them


@dataclass(eq=False)
class TransientError(Exception):
    """What may pass: a rate limit, a server that is overloaded or fails, a timeout, a cut connection, broken JSON.

    `text` is one line without the key. `kind` is a word or two for the progress line ("429", "timeout"); `wait` the
    seconds that the server asks for, None where it asks for none; `crowded` whether fewer requests at a time would
    help; `sent` whether the LLM may have answered, so that the request may have to be paid for.
    """

    text: str
    kind: str
    wait: float | None = None
    crowded: bool = False
    sent: bool = False

    def __str__(self) -> str:
        return self.text


class FatalError(Exception):
    """Nothing more will come of this LLM: a wrong key, an unknown model, an exhausted quota. Its text is one line."""


class LackError(Exception):
    """A subject turned out not to have what this kind of question needs. It goes on to be asked others.

    `sent` says whether this question was sent, or was known to be in vain before.
    """

    def __init__(self, text: str, sent: bool = True) -> None:
        super().__init__(text)
        self.sent = sent


class SpentError(Exception):
    """One more request would go beyond a limit that the user set. Its text is one line."""


def as_reply(
    text: str,
    tokens: int | None,
    *,
    refusal: str | None = None,
    cut: bool = False,
    reasoned: bool = False,
    stopped: str = "",
) -> Reply:
    """The reply that a text makes which the model wrote: refused, cut by the token limit, empty or as it should be.

    `reasoned` says that the model thought before it wrote; `stopped` why the server ended the text, if it was neither.
    """
    blank = not text.strip()
    if refusal is not None:
        return Reply(text, State.REFUSED, refusal, tokens)
    if cut:
        detail = "all tokens went into reasoning" if blank and reasoned else "token limit"
        return Reply(text, State.TRUNCATED, detail, tokens)
    if blank:
        return Reply("", State.EMPTY, stopped or "no text", tokens)
    return Reply(text, State.TRUNCATED if stopped else State.OK, stopped, tokens)


def without_system(messages: Sequence[Message]) -> list[Message]:
    """A chat for a model that takes no system text: the text stands at the head of what the user says first."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    turns = [message for message in messages if message.role != "system"]
    if not system:
        return turns
    if turns and turns[0].role == "user":
        return [Message("user", f"{system}\n\n{turns[0].content}"), *turns[1:]]
    return [Message("user", system), *turns]


def in_turns(messages: Sequence[Message]) -> list[Message]:
    """A chat in which user and assistant alternate: without system text, and turns of one role in a row are one."""
    return [
        Message(role, "\n\n".join(message.content for message in turns))
        for role, turns in groupby(without_system(messages), key=lambda message: message.role)
    ]


@dataclass(frozen=True)
class Request:
    """One question as it goes to a subject; a prompt is answered by greedy decoding of at most `max_tokens` tokens.

    A model that sends more than one request for an answer calls `again` before each further one; it raises
    `SpentError` where the user's limit forbids it, and the model lets that pass. Where it is `held`, and the prompt
    asks for values, the server is to be held to the schema.
    """

    question: Question
    max_tokens: int = 0
    again: Callable[[], None] = field(default=lambda: None, compare=False)
    held: bool = False

    @property
    def prompt(self) -> Prompt:
        """The question where it is one in words. Raises TypeError for any other."""
        prompt = _of_kind(self.question, Prompt)
        return in_json(prompt) if self.held else prompt

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema that the answer is held to; None where it is free."""
        values = self.question.values if self.held and isinstance(self.question, Prompt) else ()
        return schema_of(values) if values else None

    @property
    def goes_on(self) -> Callable[[str], bool] | None:
        """What tells whether an answer so far goes on without end; None where the answer is not one of a few values."""
        prompt = self.prompt
        free = prompt.values and self.schema is None
        return partial(goes_on, asked=prompt.values, shown=prompt.completion) if free else None

    @property
    def passage(self) -> Passage:
        """The question where it is a text to be scored. Raises TypeError for any other."""
        return _of_kind(self.question, Passage)

    @property
    def endings(self) -> Endings:
        """The question where it is one to compare endings of a text. Raises TypeError for any other."""
        return _of_kind(self.question, Endings)

    @property
    def lookup(self) -> Lookup:
        """The question where it is one to documents. Raises TypeError for any other."""
        return _of_kind(self.question, Lookup)


def together(charged: Sequence[Usage | None]) -> Usage | None:
    """What several requests were charged together; None where of one of them nothing is said."""
    known = [usage for usage in charged if usage is not None]
    if len(known) < len(charged):
        return None
    return Usage(sum(usage.prompt for usage in known), sum(usage.written for usage in known))


def begun_alike(texts: Collection[tuple[int, ...]]) -> int:
    """How many tokens all of these texts begin with."""
    first, last = min(texts), max(texts)  # all others lie between them
    shortest = min(len(first), len(last))
    return next((place for place in range(shortest) if first[place] != last[place]), shortest)


def _of_kind(question: Question, kind: type[Kind]) -> Kind:
    if not isinstance(question, kind):
        raise TypeError(f"a {type(question).__name__}, where a {kind.__name__} is wanted")
    return question


def unserved(model: "Model", error: UsageError) -> str:
    """Why a model is not to be had, in a line that begins with what would serve it in another way, if anything does."""
    return f"{model.otherwise} ({error})" if model.otherwise else str(error)


class Model(Protocol):
    """One subject: an LLM, a control, a body of documents. `spec` is how it was named on the command line;
    `capabilities` is what tests may need of it.

    A provider inherits from this and overrides what is not so for it; of `generate`, `score` and `search` what its
    capabilities promise.
    """

    spec: str
    written_at: str = ""  # the address that the user wrote, where the API was found at another of the same host
    stands_for: str = ""  # PROVIDER:MODEL, where `spec` is a label of the user's own
    capabilities: frozenset[Capability]
    of_split: str = ""  # the only split of a dataset of which it knows anything, where it is one made so
    control: bool = False
    local: bool = False  # nothing leaves this machine
    otherwise: str = ""  # how the user could have it served in another way
    version: str = ""  # what the server states: a version or digest; "" where it states none
    connections: int | None = None  # requests at a time, where it is the model that knows; else the limiter finds out
    allowance: int = 0  # tokens of thinking that may come on top of an answer's, as far as is known
    finds: frozenset[By] = frozenset(By)  # how texts can be compared with its documents, where it can be searched
    unread: str = ""  # what of its documents is not read, and why, as far as it knows before it is searched
    learns: bool = False  # whether its first answer shows how it wants to be asked, so that this one is asked alone
    least: int = 0  # tokens that an answer is allowed at least, as far as is known
    may_have: frozenset[Capability] = frozenset()  # what it may turn out to have, once it is asked for it
    settled: bool = True  # whether its form is known; else it finds out by asking, unless an earlier run has
    held: bool = False  # whether its answers to row tests are held to a JSON schema

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.spec}>"

    @property
    def form(self) -> Form:
        """The rendering this model is sent."""
        ...

    @property
    def sent_in(self) -> Form:
        """The form of a prompt whose answer may be held to a schema; of others it is `form`."""
        return Form.STRUCTURED if self.held else self.form

    @property
    def documents(self) -> bool:
        """Whether it is a body of documents and nothing else: it can be searched, and answers no question."""
        answering = {Capability.GENERATE, Capability.SCORE}
        return Capability.SEARCH in self.capabilities and self.capabilities.isdisjoint(answering)

    @property
    def identity(self) -> Mapping[str, str] | None:
        """Provider, address and model, under which replies are stored; None where they are not worth storing."""
        provider, _, model = (self.stands_for or self.spec).partition(":")
        return {"provider": provider, "address": "", "model": model}

    @property
    def batches(self) -> "Batches | None":
        """The batch API of its maker, which answers within a day for half the price; None where there is none."""
        return None

    @property
    def elsewhere(self) -> "Callable[[], Model] | None":
        """What makes the same model in another process, where its answers rest on its weights and the question alone.

        None for one that answers from here.
        """
        return None

    def check_at_hand(self) -> None:
        """Raise `UsageError`, as `connect` would, for what is missing here: a key. Nobody is asked, nothing loaded."""
        return

    async def look(self) -> None:
        """See whether it is there, at no cost, where that can be seen. Raises `UsageError` as `connect` does."""
        return

    async def connect(self) -> None:
        """Reach the LLM before anything is asked. Raises `UsageError` with one line where that cannot work."""
        return

    def settle(self, form: Form) -> None:
        """Take the form that an earlier run found it to take. Only one that is not `settled` is told."""
        return

    def shown_by(self, doing: Doing) -> None:
        """Take what shows the user how far it is, where an answer takes minutes. Told before anything is asked."""
        return

    def stop(self) -> None:
        """End what is being answered, where that takes minutes: the user asks nothing more."""
        return

    def prepare(self, table: Table, queries: Sequence[Query]) -> "Model":
        """The model that answers for this table: itself, but for controls and simulations, which are made for one.

        Raises `Skip` where none can be made.
        """
        return self

    def exposure(self, table: Table, row: int) -> float | None:
        """How many copies of a row of the table, by its place there, it has read; None where nobody knows."""
        return None

    def sampled(self, table: Table, queries: Sequence[Query]) -> str:
        """What a control that is prepared for a large table reads of it, in words; empty where that is all."""
        return ""

    async def answer(self, request: Request) -> Answer:
        """Ask once, by the method that answers this kind of question. Raises as they do."""
        match request.question:
            case Prompt():
                return await self.generate(request)
            case Passage():
                return await self.score(request)
            case Endings():
                return await self.compare(request)
            case Lookup():
                return await self.search(request)

    async def generate(self, request: Request) -> Reply:
        """Answer a prompt. Raises the four errors above; all else becomes the answer's state.

        So do `score`, `compare` and `search`. What a model has no method for, it fails to answer.
        """
        return Reply("", State.FAILED, f"{self.spec} answers no prompts")

    async def score(self, request: Request) -> Scores:
        """The natural-log probability of every token of a passage."""
        return Scores((), State.FAILED, f"{self.spec} gives no log-probabilities")

    async def compare(self, request: Request) -> Likelihoods:
        """How likely each ending of a text is. Here each text is scored whole; a model that can does better."""
        question, found = request.endings, dict[str, float]()
        charged: list[Usage | None] = []
        for ending in dict.fromkeys(question.endings):
            if found:
                request.again()
            scores = await self.score(replace(request, question=Passage(question.beginning + ending)))
            charged.append(scores.usage)
            if scores.state is not State.OK:
                return Likelihoods((), scores.state, scores.detail, together(charged))
            found[ending] = sum(token.log_probability for token in scores.tokens)
        return Likelihoods(tuple(found[ending] for ending in question.endings), State.OK, usage=together(charged))

    async def search(self, request: Request) -> Matches:
        """The places where one of the texts of a lookup stands."""
        return Matches((), 0, State.FAILED, f"{self.spec} holds no documents to search")

    async def rest(self) -> None:
        """Give back, for now, what others may wait for: all was asked of this one that could be."""
        return

    async def close(self) -> None:
        """Give back connections and memory."""
        return
