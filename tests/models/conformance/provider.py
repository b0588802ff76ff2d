"""What the suite needs to know of a provider: how its server says what every server of an LLM says.

A subclass is one provider. Its tables give a response of its server and what has to come of it; the tests of the suite
say what that means, once for all.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, ClassVar, TypeVar

import pytest

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Message, Prompt, Reply, Usage
from tabcontam.models import served_llm
from tabcontam.models.base import FatalError, ModelRequest, TransientError
from tabcontam.models.openai import connection
from tests.loopback_http import USUAL, Answer, Entry, Loopback, Response

OTHER_KEY = "TABCONTAM_API_KEY"
SECRET = "sk-secret-0123456789abcdef"  # no real keys
OTHER = "tk-other-0123456789abcdef"
CHAT = (Message("system", "Short."), Message("user", "Hi."), Message("assistant", "Yes?"), Message("user", "Next?"))
ASKED = ModelRequest(Prompt(CHAT, "1, 2,", "Next?", ("\n",)), 16)
Found = TypeVar("Found")
Body = dict[str, Any]


@dataclass(frozen=True)
class Passing:
    """What passes: its kind, whether fewer requests would help, whether it may have to be paid for, and its line."""

    kind: str
    crowded: bool = False
    sent: bool = True
    line: str | None = None


@dataclass(frozen=True)
class Told:
    """What a server tells of a model: its `version` by this `name`, or, where it is not there, what is `said`."""

    models: Sequence[Entry]
    name: str
    version: str = ""
    said: str = ""


@dataclass(frozen=True)
class Thinker:
    """A model that takes some ways of being asked to think little: how often it is `tried`, and what is `sent` then."""

    answer: Callable[[], Answer]
    tried: int
    sent: object
    allowance: int
    models: Sequence[Entry] = USUAL


class Provider(ABC):
    """One provider. Where a test of the suite says nothing else, the server is somebody else's and wants no key."""

    name: ClassVar[str]
    server: ClassVar[type[Loopback]]
    llm: ClassVar[str]  # one that its server has
    module: ClassVar[ModuleType]

    # the maker, its address and its keys
    maker: ClassVar[str]
    home: ClassVar[str]
    identity: ClassVar[Mapping[str, str]]
    capabilities: ClassVar[frozenset[Capability]]
    keys: ClassVar[Sequence[str]]
    secrets: ClassVar[Sequence[str]]  # the variables that hold a key of the maker's, for its own SDK too
    no_key: ClassVar[str]
    environment: ClassVar[Sequence[str]]  # what the SDK would read
    base_url: ClassVar[str]
    bad_names: ClassVar[Sequence[str]] = ()

    # what is sent: the body of the first request, and of one with a chat that has odd texts
    path: ClassVar[str]
    sent: ClassVar[Body]

    # what comes of a response
    replies: ClassVar[Sequence[tuple[Response, Reply]]]
    usages: ClassVar[Sequence[tuple[Response, Usage | None]]]
    failed: ClassVar[Sequence[tuple[Response, str]]]
    passing: ClassVar[Sequence[tuple[Response, Passing]]]
    no_reply: ClassVar[Sequence[tuple[object, str]]]  # a body that holds no reply, and what is said of it
    waits: ClassVar[Sequence[tuple[Response, float | None]]]
    fatal: ClassVar[Sequence[tuple[Response, str]]]
    needs_no_key: ClassVar[bool] = False  # the table of what is fatal is of a server that was sent no key
    fatal_line: ClassVar[str]  # what every such line is like
    timed_out: ClassVar[str]
    wrong_key: ClassVar[Response]
    refused_key: ClassVar[str]
    moved: ClassVar[str]

    # what is asked before
    told: ClassVar[Sequence[Told]]
    turned_away: ClassVar[Sequence[tuple[Response, str, str]]]  # a response, a key that is set, and what is said
    other_kind: ClassVar[tuple[Sequence[bytes], str]]
    absent: ClassVar[str] = "cannot reach {}; check the network and the proxy"
    silent: ClassVar[str]  # what is said where no answer comes
    busy: ClassVar[tuple[Response, str, int]]  # a response, what is said in the end, and how often it is asked

    # what is learned
    refusals: ClassVar[Sequence[tuple[str, Response]]]  # a parameter, and the refusal of it
    refuses_all: ClassVar[str]
    no_schema: ClassVar[Sequence[Response]]  # how a server says that it holds no answer to a schema
    used_up = "all tokens went into reasoning"  # what is said of an answer for which thinking left no room
    thinkers: ClassVar[Sequence[Thinker]] = ()

    # the SDK: an answer that it would warn of, the models of the server, the warnings that are shown, and its settings
    odd: ClassVar[tuple[Response, Sequence[Entry], str]]
    old: ClassVar[str]  # a model that it would warn of
    noise: ClassVar[Mapping[str, str]] = {}
    fields: ClassVar[Sequence[str]]  # of a reply
    readers: ClassVar[Sequence[Callable[[Any], Any]]]  # what reads a reply

    @abstractmethod
    def at(self, url: str, name: str = "", connections: int = 8) -> Any:
        """The model of this name at somebody else's server."""

    @abstractmethod
    def own(self, url: str = "") -> Any:
        """The model at its maker's, for which this address passes."""

    @abstractmethod
    def named(self, name: str, spec: str = "") -> Any:
        """The model of this name at the maker's, and how the user named it."""

    @abstractmethod
    def key(self, headers: Mapping[str, str]) -> str:
        """The key that came with a request."""

    @abstractmethod
    def error(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
        """An error in its shape."""

    @abstractmethod
    def text(self, text: str, tokens: int = 3, prompt: int | None = None, thoughts: int = 0) -> Response:
        """A whole answer, and what it cost."""

    @abstractmethod
    def thought(self, tokens: int = 16, prompt: int | None = None) -> Response:
        """An answer that was cut while the model thought."""

    @abstractmethod
    def parameters(self, body: Body) -> Body:
        """What a request asks for besides its messages."""

    @abstractmethod
    def schema(self, body: Body) -> object:
        """The JSON schema that an answer is to be held to; None where it is free."""

    @abstractmethod
    def room(self, body: Body) -> int:
        """How many tokens an answer may have."""

    @abstractmethod
    def thinks(self, body: Body) -> object:
        """How a request asks to think, or not to."""

    @abstractmethod
    def listed(self, name: str) -> str:
        """The path at which is said whether a model is there."""

    @abstractmethod
    def leading(self, url: str) -> Mapping[str, str]:
        """The environment that would lead the SDK to this address."""

    @abstractmethod
    async def client_address(self, model: Any) -> str:
        """The address that the SDK's client has."""

    def bare(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing of the developer's own environment, and no waiting."""
        for name in (*self.environment, *self.keys, OTHER_KEY):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(served_llm, "CONNECT_RETRIES", 0)

    def impatient(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        """Have requests be answered within so many seconds, and the question for the model too."""
        monkeypatch.setattr(served_llm, "CONNECT_SECONDS", seconds)
        monkeypatch.setattr(connection, "SECONDS", seconds)

    def passes(self, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> Any:
        """The model at a server that passes for its maker's."""
        monkeypatch.setattr(self.module, self.home, server.url)
        return self.own(server.url)

    def thinking(self, body: Body) -> Response:
        """A model that needs more room than an answer has."""
        return self.text("42", prompt=40) if self.room(body) > 16 else self.thought(16, prompt=40)


def within(model: Any, work: Callable[[], Awaitable[Found]]) -> Found:
    """Run the work in a loop of its own and close the model in it."""

    async def run() -> Found:
        try:
            return await work()
        finally:
            await model.close()

    return asyncio.run(run())


def ask(model: Any, times: int = 1, request: ModelRequest = ASKED) -> list[Reply]:
    """As many queries at once."""

    async def work() -> list[Reply]:
        return list(await asyncio.gather(*(model.generate(request) for _ in range(times))))

    return within(model, work)


def ask_once(model: Any, request: ModelRequest = ASKED) -> Reply:
    """What one query becomes."""
    return ask(model, request=request)[0]


def in_turn(model: Any, times: int) -> list[Reply]:
    """One query after the other."""

    async def work() -> list[Reply]:
        return [await model.generate(ASKED) for _ in range(times)]

    return within(model, work)


def of(*names: str) -> pytest.MarkDecorator:
    """The providers that a test holds of, where it does not hold of all."""
    return pytest.mark.parametrize("provider", names, indirect=True)


Outcome = Reply | TransientError | FatalError


def outcome(provider: Provider, response: str | Response) -> Outcome:
    """What a query becomes that is answered so."""
    return outcomes(provider, [response])[0]


def outcomes(provider: Provider, responses: Sequence[str | Response]) -> list[Outcome]:
    """What becomes of queries that are answered so, each asked of a model of its own.

    What passes is told after one request; it is one line, and so is what does not pass.
    """

    async def asked(model: Any) -> Outcome:
        try:
            found: Reply = await model.generate(ASKED)
        except (TransientError, FatalError) as error:
            return error
        finally:
            await model.close()
        return found

    async def all_of_them() -> list[Outcome]:
        found: list[Outcome] = []
        with provider.server() as server:
            for response in responses:
                server.requests.clear()
                server.answer = partial(_given, response)
                found.append(await asked(provider.at(server.url)))
                assert len(server.asked) == 1 or not isinstance(found[-1], TransientError), response
                assert isinstance(found[-1], Reply) or "\n" not in str(found[-1])
        return found

    return asyncio.run(all_of_them())


def _given(response: str | Response, body: Body) -> str | Response:
    return response


def refusal_to_connect(model: Any) -> str:
    """The line that says why a model is not taken."""
    with pytest.raises(UsageError) as caught:
        within(model, model.connect)
    said = str(caught.value)
    assert "\n" not in said
    return said


def trouble(model: Any, kind: type[Exception]) -> str:
    """The line of what asking once raises."""
    with pytest.raises(kind) as caught:
        ask_once(model)
    assert "\n" not in str(caught.value)
    return str(caught.value)
