"""`openai:` an LLM behind OpenAI's protocol: OpenAI itself, or any server that speaks it.

What the server does wrong is raised by kind, as `subjects.base` asks for. What a model will not take (`max_tokens`,
`temperature`, `stop`, the chat form, so much thinking) is learned from its first refusal, and the query is sent again
without it. A key goes to one address only.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tabcontam.errors import unknown
from tabcontam.evidence.base import Capability, Reply, State, Usage
from tabcontam.subjects.base import FatalError, Form, Request, TransientError
from tabcontam.subjects.form import FORMS
from tabcontam.subjects.openai.address import OPENAI, checked
from tabcontam.subjects.openai.connection import Clients, Door, NoAnswer, listing, post
from tabcontam.subjects.openai.errors import (
    CROWDED,
    NOT_THERE,
    Concern,
    Problem,
    concern,
    hidden_error,
    may_only_chat,
    wait,
)
from tabcontam.subjects.openai.habits import Habits, limits, may_lack_chat, says_no_chat, smaller, unsupported
from tabcontam.subjects.openai.replies import Answer, chat_answer, completion_answer, find_listed, read_listing, stated
from tabcontam.subjects.openai.scores import PROBE, WAYS, read_scores, score_arguments
from tabcontam.subjects.served import ServedModel

PATHS = {Form.CHAT: "/chat/completions", Form.COMPLETION: "/completions"}
READERS: dict[Form, Callable[[object], Answer]] = {Form.CHAT: chat_answer, Form.COMPLETION: completion_answer}
LASTING = (Concern.KEY, Concern.REGION, Concern.QUOTA, Concern.ADDRESS)  # whatever is asked, and in whatever form
LONGEST_PROBE_WAIT = 5.0
LONGEST_FATAL = 600

COMPLETION_MODEL = re.compile(r"(ft:)?(gpt-3\.5-turbo-instruct|davinci-002|babbage-002)")  # at OpenAI


@dataclass
class Exchange:
    """All that is sent for one reply, and what the server says that it cost."""

    request: Request
    sent: int = 0
    usage: Usage | None = None

    def begin(self) -> None:
        """One request more. Raises `SpentError`."""
        if self.sent:
            self.request.again()
        self.sent += 1

    def add(self, usage: Usage | None) -> None:
        """What one of them cost."""
        if usage is not None:
            before = self.usage or Usage(0, 0)
            self.usage = Usage(before.prompt + usage.prompt, before.written + usage.written)


class OpenAIModel(ServedModel):
    """The LLM `model` at `base_url`, or at OpenAI. `spec` is how the user named it, if not by provider and name.

    With `SCORE` in `needs`, `connect` finds out whether the server scores given text.
    """

    provider = "openai"
    maker = service = "OpenAI"
    keys = ("OPENAI_API_KEY",)
    form = Form.CHAT  # until the server says that this model has no chat form

    def __init__(
        self,
        model: str,
        base_url: str | None,
        form: str = "auto",
        max_connections: int | None = 8,
        spec: str = "",
        needs: frozenset[Capability] = frozenset(),
    ) -> None:
        if form not in FORMS:
            raise unknown("form", form, FORMS)
        address = OPENAI if base_url is None else checked(base_url).rstrip("/")
        at = "" if base_url is None else f"@{base_url}"
        super().__init__(spec or f"openai:{model}{at}", model, address, OPENAI)
        self._max_connections = max_connections
        self._needs = needs
        self._way = WAYS[0]
        self._habits = Habits()
        known = self._own and form == "auto" and COMPLETION_MODEL.match(model)
        self.form = Form.COMPLETION if known or form == "completion" else Form.CHAT
        self.settled = bool(known) or form != "auto"  # by OpenAI's names, by the user or, later, by the server
        forms = {Capability(str(self.form))} if self.settled else {Capability.CHAT, Capability.COMPLETION}
        self.capabilities = frozenset({Capability.GENERATE, Capability.INSTRUCTIONS, *forms})
        self._clients: Clients | None = None

    def settle(self, form: Form) -> None:
        """Take the form that was found before. One that the user chose, or the server took, stays."""
        if not self.settled and form in PATHS:
            self.form, self.settled = form, True

    async def connect(self) -> None:
        """Ask once for the list of models. Raises `UsageError` if nobody answers, the key or the model is not taken."""
        clients = self._connections()
        try:
            self._recognize(await listing(clients))
        except NoAnswer as error:
            problem = error.problem
            if problem.status not in NOT_THERE and not (self._has_key() and may_only_chat(problem)):
                raise self._mistake(self._turned_away(problem)) from None
        except TransientError as error:
            raise self._mistake(self._no_list(error)) from None
        if Capability.SCORE in self._needs:
            await self._try_scoring()

    async def generate(self, request: Request) -> Reply:
        """Ask once, and again only in words that the model takes."""
        exchange = Exchange(request)
        try:
            return await self._ask(exchange)
        except NoAnswer as error:
            reply = self._turned_down(error.problem)
            return replace(reply, usage=exchange.usage)

    async def score(self, text: str) -> Sequence[tuple[str, float]]:
        """The tokens of a text with their log-probabilities in nats.

        Most servers say nothing of a text's first token; it gets 0.0, so that the rest is scored given that token.
        Raises ValueError for a text that the server does not score, besides what `generate` raises.
        """
        if not text:
            return []
        try:
            body = await self._send(Form.COMPLETION, score_arguments(text, self._way))
        except NoAnswer as error:
            raise ValueError(self._turned_down(error.problem).detail) from None
        return read_scores(body, text)

    async def close(self) -> None:
        """Close the connections."""
        clients, self._clients = self._clients, None
        if clients is not None:
            await clients.close()

    async def _ask(self, exchange: Exchange) -> Reply:
        """In the model's form, or in the other one if the server knows no chat form of it."""
        form = self.form
        try:
            reply = await self._ask_as(form, exchange)
        except NoAnswer as error:
            # Another query may have settled the form while this one was under way in chat form.
            open_form = not self.settled or self.form is not form
            if form is not Form.CHAT or not open_form or not may_lack_chat(error.problem):
                raise
            return await self._ask_without_chat(exchange, error)
        self.settled = True
        return reply

    async def _ask_without_chat(self, exchange: Exchange, error: NoAnswer) -> Reply:
        if says_no_chat(error.problem):
            self.form, self.settled = Form.COMPLETION, True
        try:
            reply = await self._ask_as(Form.COMPLETION, exchange)
        except NoAnswer as second:
            if second.problem.status in NOT_THERE:
                raise error from None  # it has neither form: the first refusal says why
            raise
        self.form, self.settled = Form.COMPLETION, True
        return reply

    async def _ask_as(self, form: Form, exchange: Exchange) -> Reply:
        """What is learned here is kept only once the server has taken a request that was made by it."""
        request, habits, room = exchange.request, self._habits, None
        while True:
            limit = habits.limit(request, form)
            limit = limit if room is None else min(limit, room)
            arguments = habits.arguments(form, request.prompt, limit)
            try:
                answer = await self._answer(form, arguments, exchange)
            except NoAnswer as error:
                found = limits(error.problem)
                if found is not None and limit > request.max_tokens:
                    habits = habits.bounded(found)
                    room = smaller(limit, request.max_tokens, found.room)
                    continue
                name = unsupported(error.problem, form, arguments) if error.problem.status in (400, 422) else None
                if name is None or found is not None:
                    raise
                habits = replace(habits, refused=habits.refused | {name})
                continue
            self._learn(habits)
            if answer.cut and answer.thought and not habits.reasons:
                habits = replace(habits, thinks=True)
                continue
            reply = self._reply(answer, () if form is Form.CHAT else request.prompt.stop)
            return replace(reply, usage=exchange.usage)

    def _learn(self, habits: Habits) -> None:
        self._habits = self._habits.joined(habits)
        self.allowance = self._habits.allowance

    async def _answer(self, form: Form, arguments: Mapping[str, Any], exchange: Exchange) -> Answer:
        exchange.begin()
        body = await self._send(form, arguments)
        try:
            answer = READERS[form](body)
        except ValueError as error:
            raise TransientError(self._line(str(error)), "no reply", sent=True) from None
        exchange.add(answer.usage)
        if answer.finish == "error":
            raise TransientError("the server broke off with an error", "broken reply", sent=True)
        return answer

    async def _send(self, form: Form, arguments: Mapping[str, Any]) -> object:
        """One request. Raises `NoAnswer` only for what concerns this request, or its form, alone."""
        clients = self._connections()
        try:
            body = await post(clients, PATHS[form], {"model": self.model, **arguments})
            if problem := hidden_error(body):
                raise NoAnswer(problem)
        except NoAnswer as error:
            self._judge(error.problem)
            raise
        except TransientError as error:
            raise self._plain(error) from None
        return body

    def _judge(self, problem: Problem) -> None:
        """Raises `TransientError` for what may pass, and `FatalError` for what will not, whatever is asked."""
        whom = concern(problem)
        if whom is Concern.PASSING:
            status = problem.status
            raise TransientError(self._line(problem.line), str(status), wait(problem), crowded=status in CROWDED)
        if whom in LASTING:
            raise self._fatal(whom, problem)

    def _turned_down(self, problem: Problem) -> Reply:
        """The reply to a request that the server did not take. Raises `FatalError` where it will take none."""
        whom = concern(problem)
        if whom is Concern.MODEL:
            raise self._fatal(whom, problem)
        if whom is Concern.CONTENT:
            return Reply("", State.REFUSED, self._line(problem.line))
        too_long = "the prompt is too long: " if limits(problem) else ""
        return Reply("", State.FAILED, self._line(f"{too_long}{problem.line}"))

    def _fatal(self, whom: Concern, problem: Problem) -> FatalError:
        who, key = self._who, self._variable
        what = {
            Concern.KEY: f"{who} refused the key in {key}; check what it is allowed to"
            if self._has_key()
            else f"{who} wants a key; set the environment variable {key}",
            Concern.REGION: f"{who} does not answer from this region; ask another server",
            Concern.QUOTA: f"the quota of {who} is used up; raise it, or the credit behind {key}, and run this again",
            Concern.MODEL: f"{who} does not offer {self.model!r}; correct the name, or --form",
            Concern.ADDRESS: f"{who} sends requests elsewhere; correct the address behind the @",
        }[whom]
        return FatalError(self._line(f"{what} ({problem.line})", longest=LONGEST_FATAL))

    def _plain(self, error: TransientError) -> TransientError:
        """The same in one printable line without the key."""
        text = self._line(str(error))
        return TransientError(text, error.kind, error.wait, crowded=error.crowded, sent=error.sent)

    async def _try_scoring(self) -> None:
        """Whether the server scores a text, by asking it to."""
        for way in WAYS:
            try:
                scored = read_scores(await self._probe(way), PROBE)
            except (NoAnswer, FatalError, TransientError, ValueError):
                continue
            if len(scored) > 1 and any(score < 0 for _, score in scored):
                self._way = way
                self.capabilities |= {Capability.SCORE}
                return

    async def _probe(self, way: Mapping[str, Any], tries: int = 3) -> object:
        """One tiny request, and again where the server is busy: a test is planned by what comes back."""
        try:
            return await self._send(Form.COMPLETION, score_arguments(PROBE, way))
        except TransientError as error:
            if tries == 1:
                raise
            await asyncio.sleep(min(error.wait or 0.5, LONGEST_PROBE_WAIT))
        return await self._probe(way, tries - 1)

    def _reply(self, answer: Answer, stop: Iterable[str]) -> Reply:
        whole = (
            self._without_key(answer.text).encode("utf-8", "replace").decode()
        )  # no file can hold half a surrogate pair
        text = whole
        for mark in filter(None, stop):  # not every server stops there
            text = text.partition(mark)[0]
        reached_stop = text != whole
        if answer.refusal:
            return Reply(text, State.REFUSED, self._line(answer.refusal), answer.tokens)
        if answer.finish == "content_filter":
            return Reply(text, State.REFUSED, "content filter", answer.tokens)
        if answer.cut and not reached_stop:
            nothing = not text.strip() and (answer.thought or not text)
            detail = "all tokens went into reasoning" if nothing else "token limit"
            return Reply(text, State.TRUNCATED, detail, answer.tokens)
        if not text.strip():
            return Reply("", State.EMPTY, "no text", answer.tokens)
        return Reply(text, State.OK, "", answer.tokens)

    def _connections(self) -> Clients:
        if self._clients is None:
            door = Door(self.address, self._key(), self._own, self.local)
            self._clients = Clients(door, self._max_connections)
        return self._clients

    def _recognize(self, listing: object) -> None:
        """Find the model among those that the server lists, and take down what the server states of it."""
        listed = read_listing(listing)
        if entry := find_listed(self.model, listed):
            self.version = self._line(stated(entry))
        elif listed:
            raise self._mistake(str(unknown("model", self.model, map(self._line, listed))))

    def _no_list(self, error: TransientError) -> str:
        """The line where no list of models came back."""
        if error.kind in ("broken JSON", "broken reply"):
            lacking = "" if self.address.endswith("/v1") else "; does it lack /v1?"
            return f"{self.address} does not speak OpenAI's protocol{lacking}"
        if self._own:
            return f"{error}: cannot reach {OPENAI}; check the network and the proxy"
        return f"{error}: no server answers at {self.address}; start it, or correct the address"

    def _turned_away(self, problem: Problem) -> str:
        """The line for a server that is there and does not let us in."""
        whom = concern(problem)
        if problem.status in (401, 403) and whom is not Concern.REGION:
            whom = Concern.KEY
        if whom in LASTING:
            return str(self._fatal(whom, problem))
        return f"{self._who} does not list its models; it answered {problem.line}"
