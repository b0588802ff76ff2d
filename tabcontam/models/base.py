"""The interface of every source, be it a model or a corpus: `answer(request) -> answer`.

A source gets a question, and nothing about the test that asks it; a model takes that rendering of a prompt which fits
its form. Each kind of question has a method of its own: `generate` answers a `Prompt` with a `Reply`, `score` a
`Passage` with `Scores`, `compare` `Endings` with `Likelihoods`, `search` a `Lookup` with `Matches`. Each kind of
failure has an error of its own, so that one place decides what to do about it:

TransientError      may pass: the request is sent again
FatalError          nothing more will come of this model
SpentError          the user's limit forbids another request
LackError           this source turns out to answer no question of this kind
an answer of state `failed`     this request alone gets no answer
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Endings, Likelihoods, Lookup, LookupMode, Matches, Query, Scores, Usage
from tabcontam.evidence.questions import Answer, Message, Passage, Prompt, Question, Reply, ReplyState
from tabcontam.evidence.structured_answers import in_json, schema_of
from tabcontam.models.prompt_form import PromptForm as PromptForm
from tabcontam.reading.endless_answers import goes_on
from tabcontam.tables.table import Table

if TYPE_CHECKING:
    from tabcontam.models.batch_api import Batches

Kind = TypeVar("Kind", Prompt, Passage, Endings, Lookup)
# Shows the user that a task runs until the context ends; the context gives the function that reports its progress.
Doing = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
PAGE = "web page"  # the kind of a `TransientError` if a web page came in place of an answer
MOST_WORDINGS = 24  # of one query, so that a server that keeps refusing comes to an end
WENT_ON = "it went on without end"  # why an answer was ended before its limit


@dataclass(eq=False)
class TransientError(Exception):
    """A failure that may pass: a rate limit, an overloaded or failing server, a timeout, a cut connection, broken JSON.

    `text` is one line without the key. `kind` is a word or two for the progress line ("429", "timeout"). `wait` is the
    number of seconds that the server asks for, None if it asks for none. `crowded` means that fewer requests at a time
    would help; `sent` that the model may have answered, so that the request may have to be paid for.
    """

    text: str
    kind: str
    wait: float | None = None
    crowded: bool = False
    sent: bool = False

    def __str__(self) -> str:
        return self.text


class FatalError(Exception):
    """A lasting failure of this model, in one line: a wrong key, an unknown model, an exhausted quota."""


class LackError(Exception):
    """The discovery that a source lacks what this kind of question needs. It is still asked questions of other kinds.

    `sent` means that this question was sent; if not, it was known beforehand to be in vain.
    """

    def __init__(self, text: str, sent: bool = True) -> None:
        super().__init__(text)
        self.sent = sent


class SpentError(Exception):
    """The refusal, in one line, to send a request that would go beyond a limit that the user set."""


def as_reply(
    text: str,
    tokens: int | None,
    *,
    refusal: str | None = None,
    cut: bool = False,
    reasoned: bool = False,
    stopped: str = "",
) -> Reply:
    """Return the reply for a text that the model wrote: refused, cut by the token limit, empty or complete.

    `reasoned` means that the model thought before it wrote; `stopped` is any other reason for the text's end.
    """
    blank = not text.strip()
    if refusal is not None:
        return Reply(text, ReplyState.REFUSED, refusal, tokens)
    if cut:
        detail = "all tokens went into reasoning" if blank and reasoned else "token limit"
        return Reply(text, ReplyState.TRUNCATED, detail, tokens)
    if blank:
        return Reply("", ReplyState.EMPTY, stopped or "no text", tokens)
    return Reply(text, ReplyState.TRUNCATED if stopped else ReplyState.OK, stopped, tokens)


def failed(why: str) -> Reply:
    """Return the failed reply to a request that got no answer, with the reason."""
    return Reply("", ReplyState.FAILED, why)


def without_system(messages: Sequence[Message]) -> list[Message]:
    """Return a chat for a model that takes no system text: the user's first turn begins with that text."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    turns = [message for message in messages if message.role != "system"]
    if not system:
        return turns
    if turns and turns[0].role == "user":
        return [Message("user", f"{system}\n\n{turns[0].content}"), *turns[1:]]
    return [Message("user", system), *turns]


def in_turns(messages: Sequence[Message]) -> list[Message]:
    """Return a chat in which user and assistant alternate: no system text, neighbouring turns of one role joined."""
    return [
        Message(role, "\n\n".join(message.content for message in turns))
        for role, turns in groupby(without_system(messages), key=lambda message: message.role)
    ]


@dataclass(frozen=True)
class ModelRequest:
    """One question for a source; a prompt is answered by greedy decoding of at most `max_tokens` tokens.

    A model that sends more than one request for an answer calls `again` before each further one. `again` raises
    `SpentError` if the user's limit forbids it, and the model must not catch that. If `structured` is true and the
    prompt asks for values, the server shall hold the answer to the schema.
    """

    question: Question
    max_tokens: int = 0
    again: Callable[[], None] = field(default=lambda: None, compare=False)
    structured: bool = False

    @property
    def prompt(self) -> Prompt:
        """The question as a prompt. Raises TypeError for any other kind."""
        prompt = _of_kind(self.question, Prompt)
        return in_json(prompt) if self.structured else prompt

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema that the answer is held to; None if the answer is free."""
        values = self.question.values if self.structured and isinstance(self.question, Prompt) else ()
        return schema_of(values) if values else None

    @property
    def goes_on(self) -> Callable[[str], bool] | None:
        """The test whether an answer so far goes on without end; None unless the answer is one of a few values."""
        prompt = self.prompt
        free = prompt.values and self.schema is None
        return partial(goes_on, asked=prompt.values, shown=prompt.completion) if free else None

    @property
    def passage(self) -> Passage:
        """The question as a text to be scored. Raises TypeError for any other kind."""
        return _of_kind(self.question, Passage)

    @property
    def endings(self) -> Endings:
        """The question as a comparison of endings of a text. Raises TypeError for any other kind."""
        return _of_kind(self.question, Endings)

    @property
    def lookup(self) -> Lookup:
        """The question as a lookup in documents. Raises TypeError for any other kind."""
        return _of_kind(self.question, Lookup)


def sum_charges(charged: Sequence[Usage | None]) -> Usage | None:
    """Return what several requests were charged together; None if the charge of any of them is unknown."""
    known = [usage for usage in charged if usage is not None]
    if len(known) < len(charged):
        return None
    return Usage(sum(usage.prompt for usage in known), sum(usage.written for usage in known))


def common_prefix_length(texts: Collection[tuple[int, ...]]) -> int:
    """Return the number of tokens that all of these texts begin with."""
    first, last = min(texts), max(texts)  # all others lie between them
    shortest = min(len(first), len(last))
    return next((place for place in range(shortest) if first[place] != last[place]), shortest)


def _of_kind(question: Question, kind: type[Kind]) -> Kind:
    if not isinstance(question, kind):
        raise TypeError(f"a {type(question).__name__}, where a {kind.__name__} is wanted")
    return question


def unserved(model: "Model", error: UsageError) -> str:
    """Return why a model cannot be had, in a line that begins with another way to have it served, if there is one."""
    return f"{model.otherwise} ({error})" if model.otherwise else str(error)


class Model(Protocol):
    """One source: an LLM, a control or a corpus. `spec` is its name on the command line; `capabilities` are the
    abilities that tests can ask for.

    A provider overrides what differs; of `generate`, `score` and `search` those that its capabilities promise.
    """

    spec: str
    written_at: str = ""  # the address that the user wrote, if the API was found at another address of that host
    stands_for: str = ""  # PROVIDER:MODEL, if `spec` is a label of the user's own
    capabilities: frozenset[Capability]
    of_split: str = ""  # the only split of a dataset that it knows, if it is made for one
    control: bool = False
    local: bool = False  # nothing leaves this machine
    otherwise: str = ""  # how the user could have it served in another way
    version: str = ""  # a version or digest that the server states; "" if it states none
    connections: int | None = None  # requests at a time, if the model knows; else the limiter finds out
    allowance: int = 0  # tokens of thinking that may come on top of an answer's, as far as is known
    # how texts can be compared with its documents, if it can be searched
    finds: frozenset[LookupMode] = frozenset(LookupMode)
    unread: str = ""  # which of its documents are not read, and why, as far as is known before a search
    learns: bool = False  # whether its first answer shows how it wants to be asked, so that it is asked one query first
    least: int = 0  # the fewest tokens that an answer must be allowed, as far as is known
    may_have: frozenset[Capability] = frozenset()  # abilities that it may turn out to have, once it is asked
    settled: bool = True  # whether its form is known; else it finds out by asking, unless an earlier run has
    structured: bool = False  # whether its answers to row tests are held to a JSON schema

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.spec}>"

    @property
    def form(self) -> PromptForm:
        """The form in which this model is sent prompts."""
        ...

    @property
    def sent_in(self) -> PromptForm:
        """The form of a prompt whose answer may be held to a schema; other prompts go in `form`."""
        return PromptForm.STRUCTURED if self.structured else self.form

    @property
    def is_corpus(self) -> bool:
        """Return whether it is a corpus and nothing else: it can be searched, and answers no question."""
        answering = {Capability.GENERATE, Capability.SCORE}
        return Capability.SEARCH in self.capabilities and self.capabilities.isdisjoint(answering)

    @property
    def identity(self) -> Mapping[str, str] | None:
        """Provider, address and model, under which replies are stored; None if they are not worth storing."""
        provider, _, model = (self.stands_for or self.spec).partition(":")
        return {"provider": provider, "address": "", "model": model}

    @property
    def batches(self) -> "Batches | None":
        """The batch API of its maker, which answers within a day for half the price; None if there is none."""
        return None

    @property
    def elsewhere(self) -> "Callable[[], Model] | None":
        """The function that makes this model in another process, if its answers depend on weights and question alone.

        None for a model that must answer in this process.
        """
        return None

    def check_at_hand(self) -> None:
        """Raise `UsageError`, as `connect` would, for a missing key or the like. Nothing is sent or loaded."""
        return

    async def look(self) -> None:
        """Check that the model is there, if that costs nothing. Raises `UsageError` as `connect` does."""
        return

    async def connect(self) -> None:
        """Reach the model before anything is asked. Raises `UsageError` with one line if that cannot work."""
        return

    def settle(self, form: PromptForm) -> None:
        """Take the form that an earlier run found. Only called for a model that is not `settled`."""
        return

    def shown_by(self, doing: Doing) -> None:
        """Take a way to show progress to the user while an answer takes minutes. Called before anything is asked."""
        return

    def stop(self) -> None:
        """End answers under way that take minutes, since the user asks nothing more."""
        return

    def prepare(self, table: Table, queries: Sequence[Query]) -> "Model":
        """Return the model that answers for this table: itself, but for controls and simulations, made for one table.

        Raises `Skip` if none can be made.
        """
        return self

    def exposure(self, table: Table, row: int) -> float | None:
        """Return how many copies it has read of the table's row at index `row`; None if that is unknown."""
        return None

    def sampled(self, table: Table, queries: Sequence[Query]) -> str:
        """Return, in words, which part a control reads of a large table it is prepared for; empty if it reads all."""
        return ""

    async def answer(self, request: ModelRequest) -> Answer:
        """Ask once, by the method for this kind of question, and raise as that method does."""
        match request.question:
            case Prompt():
                return await self.generate(request)
            case Passage():
                return await self.score(request)
            case Endings():
                return await self.compare(request)
            case Lookup():
                return await self.search(request)

    async def generate(self, request: ModelRequest) -> Reply:
        """Answer a prompt. Raises the module's four errors; any other failure becomes the answer's state.

        So do `score`, `compare` and `search`. A method that a model does not override gives a failed answer.
        """
        return Reply("", ReplyState.FAILED, f"{self.spec} answers no prompts")

    async def score(self, request: ModelRequest) -> Scores:
        """Return the natural-log probability of every token of a passage."""
        return Scores((), ReplyState.FAILED, f"{self.spec} gives no log-probabilities")

    async def compare(self, request: ModelRequest) -> Likelihoods:
        """Return how likely each ending of a text is. Here each text is scored whole; some models do better."""
        question, found = request.endings, dict[str, float]()
        charged: list[Usage | None] = []
        for ending in dict.fromkeys(question.endings):
            if found:
                request.again()
            scores = await self.score(replace(request, question=Passage(question.beginning + ending)))
            charged.append(scores.usage)
            if scores.state is not ReplyState.OK:
                return Likelihoods((), scores.state, scores.detail, sum_charges(charged))
            found[ending] = sum(token.log_probability for token in scores.tokens)
        values = tuple(found[ending] for ending in question.endings)
        return Likelihoods(values, ReplyState.OK, usage=sum_charges(charged))

    async def search(self, request: ModelRequest) -> Matches:
        """Return the places that hold one of the texts of a lookup."""
        return Matches((), 0, ReplyState.FAILED, f"{self.spec} holds no documents to search")

    async def rest(self) -> None:
        """Free, for now, what other models may wait for: every query that can be asked of this one was asked."""
        return

    async def close(self) -> None:
        """Give back connections and memory."""
        return
