"""The interface of every source, a model or a corpus: `answer(request) -> answer`.

A source gets a question, but no facts about the test that asks it. Each kind of question has a method: `generate`
answers a `Prompt` with a `Reply`, `score` a `Passage` with `Scores`, `compare` `Endings` with `Likelihoods`, `search` a
`Lookup` with `Matches`. Each kind of failure has an error, so that one place decides what to do about it; a failure of
one request alone is an answer in the state `failed`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from tabcontam.config import HELD
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Endings, Likelihoods, Lookup, LookupMode, Matches, Query, Scores, Usage
from tabcontam.evidence.questions import Answer, Message, Passage, Prompt, Question, Reply, ReplyState
from tabcontam.evidence.structured_answers import in_json, schema_of
from tabcontam.reading.endless_answers import goes_on
from tabcontam.tables.table import Table

if TYPE_CHECKING:
    from tabcontam.models.batch_api import Batches

Kind = TypeVar("Kind", Prompt, Passage, Endings, Lookup)
ANSWERING = {Capability.GENERATE, Capability.SCORE}  # what no corpus can
# A context that shows a running task to the user until it ends. It yields a function that reports the task's progress.
Doing = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
PAGE = "web page"  # the kind of a `TransientError` if the answer was a web page
MOST_WORDINGS = 24  # ways of writing one query, after which a server that keeps refusing is given up
WENT_ON = "it went on without end"  # the reason why an answer was ended before its limit

# The consequences if a server refuses a part of a request; each answer's detail states them.
NO_TEMPERATURE = "its server takes no temperature, and answered at its own"
NO_LIMIT = "its server takes no limit on tokens, and answered at any length"
NO_SYSTEM = "its server takes no system message, whose text was put before the question"
NO_SCHEMA = "its server holds no answer to a schema, and it was asked in chat form"
OTHERWISE = (NO_TEMPERATURE, NO_LIMIT, NO_SYSTEM)


class PromptForm(StrEnum):
    """The form in which a prompt is written, such as messages (chat) or a text to be continued (completion)."""

    CHAT = "chat"
    COMPLETION = "completion"
    SEQ2SEQ = "seq2seq"
    STRUCTURED = HELD


@dataclass(eq=False)
class TransientError(Exception):
    """A failure that may pass, as one line without the key, after which the request is sent again."""

    text: str
    kind: str  # a word or two for the progress line, such as "429"
    wait: float | None = None  # seconds that the server asks to wait
    crowded: bool = False  # sending fewer requests at a time would help
    sent: bool = False  # the request may be charged

    def __str__(self) -> str:
        return self.text


class FatalError(Exception):
    """A lasting failure of this model, stated in one line: a wrong key, an unknown model, a used-up quota."""


class LackError(Exception):
    """The error of a source that cannot answer this kind of question. `sent`: False if it was known before."""

    def __init__(self, text: str, sent: bool = True) -> None:
        super().__init__(text)
        self.sent = sent


class SpentError(Exception):
    """The refusal, stated in one line, to send a request that would exceed a limit of the user."""


def as_reply(
    text: str,
    tokens: int | None,
    *,
    refusal: str | None = None,
    cut: bool = False,
    reasoned: bool = False,
    stopped: str = "",
) -> Reply:
    """Return a model's text as a reply. `reasoned`: it thought before. `stopped`: any other reason why it ended."""
    blank = not text.strip()
    if refusal is not None:
        return Reply(text, ReplyState.REFUSED, refusal, tokens)
    if cut:
        detail = "all tokens went into reasoning" if blank and reasoned else "token limit"
        return Reply(text, ReplyState.TRUNCATED, detail, tokens)
    if blank:
        return Reply("", ReplyState.EMPTY, stopped or "no text", tokens)
    return Reply(text, ReplyState.TRUNCATED if stopped else ReplyState.OK, stopped, tokens)


def failed(why: str, usage: Usage | None = None) -> Reply:
    """Return the failed reply to a request that got no answer, with the reason `why`."""
    return Reply("", ReplyState.FAILED, why, usage=usage)


def without_system(messages: Sequence[Message]) -> list[Message]:
    """Return a chat for a model that accepts no system text: the user's first turn begins with that text."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    turns = [message for message in messages if message.role != "system"]
    if not system:
        return turns
    if turns and turns[0].role == "user":
        return [Message("user", f"{system}\n\n{turns[0].content}"), *turns[1:]]
    return [Message("user", system), *turns]


def in_turns(messages: Sequence[Message]) -> list[Message]:
    """Return a chat without system text in which user and assistant alternate: neighbours of one role are joined."""
    return [
        Message(role, "\n\n".join(message.content for message in turns))
        for role, turns in groupby(without_system(messages), key=lambda message: message.role)
    ]


@dataclass(frozen=True)
class ModelRequest:
    """One question for a source, answered greedily unless the prompt states a temperature."""

    question: Question
    max_tokens: int = 0  # of the answer to a prompt
    # Called before each further request for the same answer. Raises `SpentError` if the user's limit forbids it.
    again: Callable[[], None] = field(default=lambda: None, compare=False)
    structured: bool = False  # True if the server must make the answer fit the prompt's schema

    @property
    def prompt(self) -> Prompt:
        """The question as a prompt. Raises TypeError if it is of another kind."""
        prompt = _of_kind(self.question, Prompt)
        return in_json(prompt) if self.structured else prompt

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema that the answer must fit; None if the answer is free."""
        values = self.question.values if self.structured and isinstance(self.question, Prompt) else ()
        return schema_of(values) if values else None

    @property
    def goes_on(self) -> Callable[[str], bool] | None:
        """A function that returns whether the answer so far goes on without end; None if no values are asked for."""
        prompt = self.prompt
        free = prompt.values and self.schema is None
        return partial(goes_on, asked=prompt.values, shown=prompt.completion) if free else None

    @property
    def passage(self) -> Passage:
        """The question as a text to be scored. Raises TypeError if it is of another kind."""
        return _of_kind(self.question, Passage)

    @property
    def endings(self) -> Endings:
        """The question as a comparison of endings of a text. Raises TypeError if it is of another kind."""
        return _of_kind(self.question, Endings)

    @property
    def lookup(self) -> Lookup:
        """The question as a lookup in documents. Raises TypeError if it is of another kind."""
        return _of_kind(self.question, Lookup)


def sum_charges(charged: Sequence[Usage | None]) -> Usage | None:
    """Return the tokens that several requests were charged together; None if one of the charges is unknown."""
    known = [usage for usage in charged if usage is not None]
    if len(known) < len(charged):
        return None
    return Usage(sum(usage.prompt for usage in known), sum(usage.written for usage in known))


def common_prefix_length(texts: Collection[tuple[int, ...]]) -> int:
    """Return the number of tokens with which all texts begin. Each text is given as its token ids."""
    first, last = min(texts), max(texts)  # in this order all other texts are between the two
    shortest = min(len(first), len(last))
    return next((place for place in range(shortest) if first[place] != last[place]), shortest)


def _of_kind(question: Question, kind: type[Kind]) -> Kind:
    if not isinstance(question, kind):
        raise TypeError(f"a {type(question).__name__}, where a {kind.__name__} is wanted")
    return question


def unserved(model: "Model", error: UsageError) -> str:
    """Return the message of `error`, put after another way to reach the model if the model states one."""
    return f"{model.otherwise} ({error})" if model.otherwise else str(error)


class Model:
    """One source: an LLM, a control or a corpus. `spec` is its name on the command line."""

    spec: str
    written_at: str = ""  # the address that the user wrote, if the API was found at another address of the host
    stands_for: str = ""  # PROVIDER:MODEL, if `spec` is a label of the user's own
    capabilities: frozenset[Capability]  # what tests can ask for, by `generate`, `score` or `search`
    of_split: str = ""  # the only split of a dataset that it is made for, if any
    control: bool = False
    local: bool = False  # nothing leaves this machine
    otherwise: str = ""  # another way in which the user could have it served
    version: str = ""  # a version or digest that the server states; "" if it states none
    connections: int | None = None  # requests at a time, if the model states them; else the limiter adapts them
    allowance: int = 0  # tokens of thinking that may be added to an answer's, as far as known
    # the ways in which its documents can be searched, if it has documents
    finds: frozenset[LookupMode] = frozenset(LookupMode)
    unread: str = ""  # which of its documents are not read, and why, as far as known before a search
    learns: bool = False  # True if its first answer shows how to ask it; it is then asked one query first
    least: int = 0  # the fewest tokens that the limit on an answer may be, as far as known
    may_have: frozenset[Capability] = frozenset()  # abilities that its first answers may turn out to show
    settled: bool = True  # False while its form is unknown: an earlier run or its first answer shows it
    structured: bool = False  # True if its answers to row tests must fit a JSON schema

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.spec}>"

    @property
    def form(self) -> PromptForm:
        """The form in which this model is sent prompts: chat, text to be continued, or another of `PromptForm`."""
        raise NotImplementedError

    @property
    def sent_in(self) -> PromptForm:
        """The form for prompts whose answers may have to fit a schema. Other prompts are sent in `form`."""
        return PromptForm.STRUCTURED if self.structured else self.form

    @property
    def is_corpus(self) -> bool:
        """Return whether this source can only be searched."""
        return Capability.SEARCH in self.capabilities and self.capabilities.isdisjoint(ANSWERING)

    @property
    def identity(self) -> Mapping[str, str] | None:
        """Provider, address and model, under which replies are stored; None if its replies are not stored."""
        provider, _, model = (self.stands_for or self.spec).partition(":")
        return {"provider": provider, "address": "", "model": model}

    @property
    def batches(self) -> "Batches | None":
        """The batch API of its maker, which answers within a day for half the price; None if there is none."""
        return None

    @property
    def elsewhere(self) -> "Callable[[], Model] | None":
        """A function that makes this model in another process, if it answers the same there; None if not."""
        return None

    def check_at_hand(self) -> None:
        """Raise the `UsageError` of `connect` if a key or a package is missing. Nothing is sent or loaded."""

    async def look(self) -> None:
        """Check that the model exists, if that costs nothing. Raises `UsageError` as `connect` does."""

    async def connect(self) -> None:
        """Connect to the model before anything is asked. Raises `UsageError`, in one line, if that fails."""

    def settle(self, form: PromptForm) -> None:
        """Use the prompt form that an earlier run found. Only called if the form is unknown (`settled` is False)."""

    def shown_by(self, doing: Doing) -> None:
        """Store `doing`, which shows the progress of answers that take minutes. Called before anything is asked."""

    def stop(self) -> None:
        """End unfinished answers that take minutes, because the user has stopped the run."""

    def prepare(self, table: Table, queries: Sequence[Query]) -> "Model":
        """Return the model that answers about this table: another if it is made for a table. Raises `Skip`."""
        return self

    def exposure(self, table: Table, row: int) -> float | None:
        """Return how many copies of the table's row at index `row` the model has read; None if unknown."""
        return None

    def sampled(self, table: Table, queries: Sequence[Query]) -> str:
        """Return, in words, the part of a large table that a control reads; "" if it reads all of it."""
        return ""

    async def answer(self, request: ModelRequest) -> Answer:
        """Answer a request by the method for its kind of question. Raises as that method does."""
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
        """Return the reply to a prompt. Raises the four errors of this module, as `score`, `compare`, `search` do."""
        return failed(f"{self.spec} answers no prompts")

    async def score(self, request: ModelRequest) -> Scores:
        """Return the log-probability, in nats, of every token of a passage."""
        return Scores((), ReplyState.FAILED, f"{self.spec} gives no log-probabilities")

    async def compare(self, request: ModelRequest) -> Likelihoods:
        """Return the log-probability of each ending of a text. This default scores whole texts."""
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
        """Return the places in documents that contain one of the texts of a lookup."""
        return Matches((), 0, ReplyState.FAILED, f"{self.spec} holds no documents to search")

    async def rest(self) -> None:
        """Free resources for other models, because there is no query now that this model could be asked."""

    async def close(self) -> None:
        """Free connections and memory."""
