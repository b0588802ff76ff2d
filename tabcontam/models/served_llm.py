"""LLMs at a server, asked in one way whatever the server's protocol.

A model may refuse a part of a request, such as a temperature, system text or so much thinking. Its description or its
first refusal shows that, and the query is sent again without the part.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Container, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

from tabcontam.errors import UsageError, option, unknown
from tabcontam.evidence.questions import Reply, ReplyState, Usage
from tabcontam.models.base import (
    MOST_WORDINGS,
    NO_LIMIT,
    NO_SYSTEM,
    NO_TEMPERATURE,
    PAGE,
    FatalError,
    ModelRequest,
    PromptForm,
    TransientError,
    as_reply,
    failed,
)
from tabcontam.models.bounds import UnboundedError
from tabcontam.models.openai.connection import ClientPool, NoAnswer, get, post
from tabcontam.models.openai.errors import CROWDED, NOT_THERE, Concern, Problem, wait
from tabcontam.models.openai.event_streams import StreamWatch
from tabcontam.models.openai.replies import ServedAnswer
from tabcontam.models.served_model import ServedModel, sum_known_charges
from tabcontam.models.thresholds import MOST_THINKING_TOKENS

LASTING = (Concern.KEY, Concern.REGION, Concern.QUOTA, Concern.ADDRESS)  # these concern every request in every form
UNREADABLE = ("broken JSON", "broken reply", PAGE)  # the kinds of errors about an answer of no API
SYSTEM = "system messages"  # what a server refuses that accepts none
TOO_LONG = "the prompt is too long: "
LONGEST_FATAL = 600
PAGE_TEXT = "a web page and no JSON"
CONNECT_RETRIES = 2
CONNECT_SECONDS = 60.0  # seconds in which a model must be described, retries included
Found = TypeVar("Found")


@dataclass(frozen=True)
class Habits:
    """The habits that a model's server has shown, such as refused parameters. They only grow; limits only shrink."""

    refused: frozenset[str] = frozenset()
    thinks: bool = False
    most: int | None = None  # the most tokens of an answer
    least: int = 0  # the fewest tokens that the limit on an answer may be

    def joined(self, other: Self) -> Self:
        return replace(
            self,
            refused=self.refused | other.refused,
            thinks=self.thinks or other.thinks,
            most=smallest(self.most, other.most),
            least=max(self.least, other.least),
        )

    @property
    def reasons(self) -> bool:
        """Return whether the model may think: the token limit of an answer must then be larger."""
        return self.thinks

    @property
    def allowance(self) -> int:
        """The most tokens of thinking that the model may write in addition to the answer."""
        return (smallest(MOST_THINKING_TOKENS, self.most) or 0) if self.reasons else 0

    def notes(self, form: PromptForm) -> str:
        """Return a line that states how answers differ because requests lack the refused parts; "" if they do not."""
        limit = ("max_tokens", "max_completion_tokens") if form is PromptForm.CHAT else ("max_tokens",)
        lines = {NO_TEMPERATURE: ("temperature",), NO_LIMIT: limit, NO_SYSTEM: (SYSTEM,)}
        return "; ".join(line for line, names in lines.items() if self.refused.issuperset(names))


def smallest(*numbers: int | None) -> int | None:
    """Return the smallest of the numbers that are known; None if none is."""
    return min((number for number in numbers if number is not None), default=None)


class ServedLLM(ServedModel):
    """The LLM `model` at an address. A subclass is a protocol: its paths, bodies, errors and messages."""

    protocol: str  # its name in messages
    paths: Mapping[PromptForm, str]  # for prompts of each form
    own_headers: Mapping[str, str] = {}
    fields: frozenset[str]  # of which every body of the protocol has one
    models_page: str  # where the maker lists its models
    # What a problem concerns, whether a request was too long, the answer in a body (ValueError if there is none), and
    # the advice about a problem that concerns more than one request.
    concern: Callable[[Problem], Concern]
    too_long: Callable[[Problem], object]
    read: Callable[[PromptForm, object], ServedAnswer]
    advice: Mapping[Concern, str]
    form: PromptForm = PromptForm.CHAT
    crowded: Container[int] = CROWDED  # statuses for which fewer requests at a time would help
    uncharged: Container[int] = (429, 503, 529)  # statuses of requests that were not worked on
    hides_thinking = False  # True if a server may think without showing it

    def __init__(
        self, spec: str, model: str, address: str, own: str, variable: str, habits: Habits, connections: int | None
    ) -> None:
        super().__init__(spec, model, address, own, variable)
        self.habits: Any = habits  # those that are known so far
        self._max_connections = connections
        self._clients: ClientPool | None = None
        self._answered = False  # True once a request was answered

    @property
    def short_name(self) -> str:
        """The model's name in the server's list."""
        return self.model

    async def connect(self) -> None:
        """Ask the server for the model. Raises `UsageError` if none answers, or it refuses the key or the model."""
        clients = self.clients()
        try:
            described = get(clients, self._paths()[0], retries=CONNECT_RETRIES)
            self._recognize(await asyncio.wait_for(described, CONNECT_SECONDS))
        except NoAnswer as error:
            if error.problem.status not in NOT_THERE:
                raise self._mistake(self._turned_away(error.problem)) from None
            await self._look_up(clients)
        except TimeoutError:
            raise self._mistake(self._unreachable(f"no answer in {CONNECT_SECONDS:g} s")) from None
        except TransientError as error:
            broken = error.kind in UNREADABLE
            raise self._mistake(self._other_kind() if broken else self._unreachable(error.text)) from None

    async def generate(self, request: ModelRequest) -> Reply:
        """Return the reply to a prompt. Send the request again only without a refused part, with more tokens for
        thinking or in another form. What a refusal shows is stored once the server has accepted a request after it;
        that the model thinks is stored at once.
        """
        form, habits = self.form, self.habits
        no_chat: Problem | None = None
        usages: list[Usage | None] = []
        for left in reversed(range(MOST_WORDINGS)):
            try:
                answer = await self._asked(form, habits, request, paid=bool(usages))
            except NoAnswer as error:
                problem = error.problem
                other = self._reworded(problem, form, habits, request) if left else None
                if other is None:
                    # If the model has neither form, the first refusal states why.
                    problem = no_chat if no_chat and problem.status in NOT_THERE else problem
                    return replace(self.turned_down(problem), usage=sum_known_charges(usages))
                no_chat = no_chat if other[0] is form else problem
                form, habits = other
            else:
                self.learn(habits)
                self._answered = True
                usages.append(answer.usage)
                if not left or habits.reasons or not answer.cramped:
                    break
                habits = replace(habits, thinks=True)
                self.learn(habits)
            request.again()
        self.form, self.settled = self.form if form is PromptForm.CHAT else form, True
        reply = self.reply(answer, request, form)
        noted = habits.notes(form) if reply.state is ReplyState.OK else reply.detail
        return replace(reply, detail=noted, usage=sum_known_charges(usages), log_probability=answer.log_probability)

    def written(self, request: ModelRequest) -> dict[str, Any]:
        """Return the body of a request, without the parts that the model is known to refuse."""
        return self._body(self.habits.arguments(self.form, request))

    def reply(self, answer: ServedAnswer, request: ModelRequest, form: PromptForm) -> Reply:
        """Return an answer as a reply to a request, with the key masked, because a server may have repeated it."""
        # Half a surrogate pair cannot be written to a file.
        text = whole = self._without_key(answer.text).encode("utf-8", "replace").decode()
        for mark in filter(None, () if form is PromptForm.CHAT else request.prompt.stop):
            text = text.partition(mark)[0]  # not every server stops at the marks
        return as_reply(
            text,
            answer.tokens,
            refusal=self._line(answer.refusal) if answer.refusal else None,
            cut=answer.cut and text == whole,
            reasoned=answer.thought or (self.hides_thinking and not text),
            stopped=self._line(answer.stopped) if text == whole else "",
        )

    def turned_down(self, problem: Problem) -> Reply:
        """Return the reply to a request that the server refused. Raises `FatalError` if the server lacks the model."""
        whom = self.concern(problem)
        if whom is Concern.MODEL:
            raise self._fatal(whom, problem)
        if whom is Concern.CONTENT:
            return Reply("", ReplyState.REFUSED, self._line(problem.line))
        return failed(self._line(f"{TOO_LONG if self.too_long(problem) else ''}{problem.line}"))

    def learn(self, habits: Any) -> None:
        self.habits = self.habits.joined(habits)
        self.allowance, self.least = self.habits.allowance, self.habits.least

    def clients(self) -> ClientPool:
        """Return the connections to the server; open them at the first call. Raises `UsageError` without a key."""
        if self._clients is None:
            self._clients = self._clients_at(self.address)
        return self._clients

    async def close(self) -> None:
        clients, self._clients = self._clients, None
        if clients is not None:
            await clients.close()

    async def called(self, call: Awaitable[Found], paid: bool = False) -> Found:
        """Return the result of a call. Raises `NoAnswer` for a problem of this call. `paid`: one was charged."""
        try:
            body = await call
            if problem := self.hidden(body):
                raise NoAnswer(problem)
        except UsageError as error:  # without a key
            raise FatalError(str(error)) from None
        except NoAnswer as error:
            if isinstance(error.__cause__, UnboundedError) and not self._answered:
                raise self._no_api(f"an answer without end ({error.problem.message})") from None
            self._judge(error.problem, paid)
            raise
        except TransientError as error:
            if error.kind == PAGE and not self._answered:
                raise self._no_api(PAGE_TEXT) from None
            raise replace(error, text=self._line(error.text), sent=error.sent or paid) from None
        return body

    def hidden(self, body: object) -> Problem | None:
        """Return the error that a server sent as an answer; None if the body is no such error."""
        return None

    async def _asked(self, form: PromptForm, habits: Any, request: ModelRequest, paid: bool) -> ServedAnswer:
        arguments = habits.arguments(form, request)
        return self._read(form, arguments, await self.called(self._sent(form, arguments), paid))

    async def _sent(self, form: PromptForm, arguments: Mapping[str, Any], watch: StreamWatch | None = None) -> object:
        return await post(self.clients(), self.paths[form], self._body(arguments), watch)

    def _read(self, form: PromptForm, arguments: Mapping[str, Any], body: object) -> ServedAnswer:
        longest_quote = 80  # characters
        try:
            answer = self.read(form, body)
        except ValueError as error:
            if not self._answered and not (isinstance(body, dict) and self.fields & body.keys()):
                raise self._no_api(f"JSON that is no completion ({json.dumps(body)[:longest_quote]})") from None
            raise TransientError(self._line(str(error)), "no reply", sent=True) from None
        if answer.broken:
            raise TransientError(answer.broken, "broken reply", sent=True)
        return answer

    def _reworded(
        self, problem: Problem, form: PromptForm, habits: Any, request: ModelRequest
    ) -> tuple[PromptForm, Any] | None:
        """Return the form and the habits of another request, after a refusal; None if no other would help."""
        adapted = habits.adapted(problem, form, request, habits.arguments(form, request))
        # Other queries may have learned habits meanwhile.
        return None if adapted is None else (form, self.habits.joined(adapted))

    def _judge(self, problem: Problem, paid: bool) -> None:
        """Raise `TransientError` for a problem that may pass, and `FatalError` for a problem of all requests."""
        whom, status = self.concern(problem), problem.status
        if whom is Concern.PASSING:
            sent, line = paid or status not in self.uncharged, self._line(problem.line)
            raise TransientError(line, str(status), wait(problem), crowded=status in self.crowded, sent=sent)
        if whom in LASTING:
            raise self._fatal(whom, problem)

    def _fatal(self, whom: Concern, problem: Problem) -> FatalError:
        said = f"{self._advice(whom, problem)}; it answered {problem.line}"
        return FatalError(self._line(said, longest=LONGEST_FATAL))

    def _turned_away(self, problem: Problem) -> str:
        whom = self.concern(problem)
        if whom in (*LASTING, Concern.MODEL):
            return str(self._fatal(whom, problem))
        return f"{self._who} does not describe the model; it answered {problem.line}"

    def _no_api(self, what: str) -> FatalError:
        advice = "correct the address after the @"
        return FatalError(self._line(f"{self._other_kind()}: it answers with {what}; {advice}", longest=LONGEST_FATAL))

    async def _look_up(self, clients: ClientPool) -> None:
        try:
            names = self._names(await asyncio.wait_for(get(clients, self._paths()[1]), CONNECT_SECONDS))
        except NoAnswer as error:
            if not self._own and error.problem.status in NOT_THERE:
                return  # the server lists no models
            names = []
        except (TransientError, TimeoutError):
            names = []  # without a list the error names no models
        if self.short_name not in names:
            similar = str(unknown("model", self.short_name, map(self._line, names))) if names else ""
            raise self._mistake(similar or f"unknown model {self.short_name!r}; see {self.models_page}")

    def _unreachable(self, why: str) -> str:
        return f"{why}: cannot reach {self.address}; check the network and the proxy"

    def _other_kind(self) -> str:
        return f"{self.address} does not speak {self.protocol}"

    def _clients_at(self, address: str) -> ClientPool:
        key = self._key()
        headers = {"Authorization": f"Bearer {key}", **self.own_headers}
        return ClientPool(address, key, headers, self.local, self._max_connections)

    def _paths(self) -> tuple[str, str]:
        raise NotImplementedError

    def _body(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"model": self.model, **arguments}

    def _recognize(self, found: Any) -> None:
        """Store the model's version and habits, as the server describes them. Raises `UsageError`."""
        raise NotImplementedError

    def _names(self, listing: object) -> list[str]:
        raise NotImplementedError

    def _advice(self, whom: Concern, problem: Problem) -> str:
        if whom is Concern.KEY and not self._has_key():
            return self._wants_key()
        known = {"who": self._who, "key": self.key_variable, "model": self.model, "address": self.address}
        return self.advice[whom].format(form=option("form"), **known)
