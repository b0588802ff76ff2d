"""`openai:` an LLM that is asked over OpenAI's protocol, at OpenAI or at any other server that speaks it.

Each kind of failure raises the error that `models.base` defines for it. A model may refuse a part of a request
(`max_tokens`, `temperature`, `stop`, the chat form, so much thinking). Its first refusal shows that, and the query is
sent again without the part. A key goes to one address only.
"""

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from tabcontam.config import FORMS
from tabcontam.errors import option, unknown
from tabcontam.evidence.questions import Capability, Reply, ReplyState, Scores, Token, Usage
from tabcontam.models.base import MOST_WORDINGS, PAGE, WENT_ON, FatalError, ModelRequest, TransientError, as_reply
from tabcontam.models.bounds import UnboundedError
from tabcontam.models.keys import OTHER_KEY, split_variable
from tabcontam.models.openai.address import OPENAI, parse_address, validate_address
from tabcontam.models.openai.api_search import UNREADABLE, find_api_elsewhere, nowhere, without_endpoint
from tabcontam.models.openai.batch import PATHS, OpenAIBatches
from tabcontam.models.openai.connection import ClientPool, NoAnswer, listing, post
from tabcontam.models.openai.errors import (
    CROWDED,
    NO_MODEL,
    NOT_THERE,
    Concern,
    Problem,
    concern,
    hidden_error,
    may_only_chat,
    wait,
)
from tabcontam.models.openai.event_streams import ENDLESS, StreamWatch
from tabcontam.models.openai.habits import (
    STREAM,
    OpenAIHabits,
    limits,
    may_lack_chat,
    may_lack_streams,
    says_no_chat,
    unsupported,
)
from tabcontam.models.openai.prompt_scores import read_scores, score_arguments
from tabcontam.models.openai.replies import READERS, OpenAIAnswer, find_listed, json_at, read_listing, weights_version
from tabcontam.models.openai.replies import usage as usage_of
from tabcontam.models.openai.scoring_discovery import TOO_LONG, ScoringDiscovery
from tabcontam.models.prompt_form import PromptForm
from tabcontam.models.provider_record import ModelSettings, Offer, Provider
from tabcontam.models.served_model import ServedModel, sum_known_charges
from tabcontam.models.services import Service, service_at

LASTING = (Concern.KEY, Concern.REGION, Concern.QUOTA, Concern.ADDRESS)  # these concern every request in every form
LONGEST_FATAL = 600
PAGE_TEXT = "a web page and no JSON"
GATEWAYS = (408, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524, 529)  # their web pages may be gone at the next try

COMPLETION_MODEL = re.compile(r"(ft:)?(gpt-3\.5-turbo-instruct|davinci-002|babbage-002)")  # at OpenAI


class OpenAIModel(ServedModel):
    """The LLM `model` at `base_url`, or at OpenAI if that is None. `spec`: the user's name for it.

    `variable`: the environment variable that the user named for the key; "" for the usual one. `entry`: its service, if
    the address does not show it. `needs`: with `SCORE`, the model is asked to score texts, and the first text shows
    whether its server can.
    """

    provider = "openai"
    maker = service = "OpenAI"
    keys: tuple[str, ...] = ("OPENAI_API_KEY",)
    form = PromptForm.CHAT  # until the server says that this model has no chat form

    def __init__(
        self,
        model: str,
        base_url: str | None,
        form: str = "auto",
        max_connections: int | None = 8,
        spec: str = "",
        needs: frozenset[Capability] = frozenset(),
        variable: str = "",
        entry: Service | None = None,
    ) -> None:
        if form not in FORMS:
            raise unknown("form", form, FORMS)
        address = OPENAI if base_url is None else validate_address(base_url).rstrip("/")
        self._entry = entry = entry or service_at(address)
        if entry is not None:
            self.maker = self.service = entry.title
            self.keys = entry.keys
            form = entry.form or form if form == FORMS[0] else form
        where = "" if base_url is None else f"@{base_url}"
        super().__init__(spec or f"openai:{model}{where}", model, address, entry.address if entry else OPENAI, variable)
        self._max_connections = max_connections
        self.habits = OpenAIHabits(seed=entry.seed if entry else "")  # those that are known so far
        openais = self._own and entry is None
        known = openais and form == "auto" and COMPLETION_MODEL.match(model)
        self.form = PromptForm.COMPLETION if known or form == "completion" else PromptForm.CHAT
        self.settled = bool(known) or form != "auto"  # by OpenAI's names, by the user or, later, by the server
        forms = {Capability(str(self.form))} if self.settled else {Capability.CHAT, Capability.COMPLETION}
        self.capabilities = frozenset({Capability.GENERATE, Capability.SAMPLE, Capability.INSTRUCTIONS, *forms})
        # OpenAI's chat models score no given text.
        scores_none = openais and self.form is PromptForm.CHAT
        # A service without a completion form has no request that scores a text.
        scores_none |= entry is not None and (entry.log_probabilities == "no" or entry.form == PromptForm.CHAT)
        self.may_have = frozenset() if scores_none else needs & {Capability.SCORE}
        self._scoring = ScoringDiscovery(self._scored, lambda: self._who, lacks=not self.may_have)
        self._openais = openais
        self._clients: ClientPool | None = None
        self._answered = False  # True once a request was answered
        self._streamed = False  # True once a request for a stream was answered by one
        self._unlisted = False  # True if no address of this host lists models

    def _usual(self, own: bool) -> tuple[str, ...]:
        """Return the variables that may contain the key: those of its service, and the one for a single server."""
        if self._entry is None:
            return super()._usual(own)
        return (*(self.keys if own or self._entry.own_machine else ()), OTHER_KEY)

    @property
    def _needs_key(self) -> bool:
        return self._own and not (self._entry and self._entry.own_machine)

    def settle(self, form: PromptForm) -> None:
        """Use the prompt form that an earlier run found, unless the user chose one or the server has accepted one."""
        if not self.settled and form in PATHS:
            self.form, self.settled = form, True

    async def connect(self) -> None:
        """Ask for the list of models. Raises `UsageError` if no server answers, or it refuses the key or the model."""
        clients = self.clients()
        try:
            self._recognize(await listing(clients))
        except NoAnswer as error:
            problem = error.problem
            if problem.status in NOT_THERE and await self._is_elsewhere(clients):
                return
            if problem.status not in NOT_THERE and not (self._has_key() and may_only_chat(problem)):
                raise self._mistake(self._turned_away(problem)) from None
        except TransientError as error:
            if error.kind not in UNREADABLE or not await self._is_elsewhere(clients):
                raise self._mistake(self._no_list(error)) from None

    async def _is_elsewhere(self, clients: ClientPool) -> bool:
        """Return whether another address of this host has an API. If so, use that address from now on."""
        found = await find_api_elsewhere(self.address, self._clients_at)
        if found is None:
            self._unlisted, base = True, without_endpoint(self.address)
            if base != self.address:
                self.written_at, self.address, self._clients = self.address, base, None
                await clients.close()
            return False
        await clients.close()
        self.written_at = self.address
        self._clients, listed = found
        self.address = self._clients.address
        if isinstance(listed, NoAnswer):
            raise self._mistake(self._turned_away(listed.problem))
        self._recognize(listed)
        return True

    async def generate(self, request: ModelRequest) -> Reply:
        """Return the reply to a prompt. Send the request again only without a refused part, or in the completion form.
        What a refusal shows is stored only once the server has accepted a request that follows it.
        """
        form, habits = self.form, self.habits
        no_chat: Problem | None = None
        usages: list[Usage | None] = []
        for left in reversed(range(MOST_WORDINGS)):
            watch = self._watch(form, habits, request)
            arguments = habits.arguments(form, request, streamed=watch is not None)
            try:
                answer = await self._answer(form, arguments, watch)
            except TransientError as error:
                if watch and not (self._streamed or error.crowded):  # the stream may be what fails
                    self.habits = self.habits.joined(habits.whole())
                raise
            except NoAnswer as error:
                problem = error.problem
                # Another query may have found the prompt form while this query was sent in chat form.
                open_form = not self.settled or self.form is not form
                if left and (adapted := habits.adapted(problem, form, request, arguments)):
                    habits = adapted
                elif left and watch and not self._streamed and may_lack_streams(problem):
                    habits = habits.whole()
                elif left and form is PromptForm.CHAT and open_form and may_lack_chat(problem):
                    if says_no_chat(problem):
                        self.form, self.settled = PromptForm.COMPLETION, True
                    form, habits, no_chat = PromptForm.COMPLETION, self.habits, problem
                else:
                    if no_chat and problem.status in NOT_THERE:
                        problem = no_chat  # the model has neither form; the first refusal states why
                    return replace(self._turned_down(problem), usage=sum_known_charges(usages))
            else:
                self._learn(habits)
                self._answered = True
                self._streamed |= watch is not None and watch.streams
                usages.append(answer.usage)
                if not left or habits.reasons or not (answer.cut and answer.thought):
                    break
                habits = replace(habits, thinks=True)
            request.again()
        self.form, self.settled = form if form is PromptForm.COMPLETION else self.form, True
        reply = self._reply(answer, () if form is PromptForm.CHAT else request.prompt.stop)
        noted = habits.notes(form) if reply.state is ReplyState.OK else reply.detail
        return replace(reply, detail=noted, usage=sum_known_charges(usages), log_probability=answer.log_probability)

    async def score(self, request: ModelRequest) -> Scores:
        """Return the tokens of a passage with their log-probabilities in nats, if the server scores given texts.

        Most servers state no score for a text's first token. It gets 0.0, and the other tokens are scored given it.
        """
        if not request.passage.text:
            return Scores((), ReplyState.EMPTY, "no text")
        try:
            return await self._scoring.score(request)
        finally:
            if self._scoring.way:
                self.capabilities |= {Capability.SCORE}
            if self._scoring.way or self._scoring.lacks:
                self.may_have = frozenset()

    @property
    def batches(self) -> OpenAIBatches | None:
        """OpenAI's own batch API; None for other servers and services."""
        return OpenAIBatches(self) if self._openais else None

    def written(self, request: ModelRequest) -> dict[str, Any]:
        """Return the body of a request, without the parts that the model is known to refuse."""
        return {"model": self.model, **self.habits.arguments(self.form, request)}

    async def close(self) -> None:
        """Close the connections."""
        clients, self._clients = self._clients, None
        if clients is not None:
            await clients.close()

    def _learn(self, habits: OpenAIHabits) -> None:
        self.habits = self.habits.joined(habits)
        self.allowance, self.least = self.habits.allowance, self.habits.least

    def _watch(self, form: PromptForm, habits: OpenAIHabits, request: ModelRequest) -> StreamWatch | None:
        """Return a watch that ends an endless answer; None if no watch is needed.

        Only small LLMs write endless answers, and these run on this machine. Paid servers are asked without a watch.
        """
        if request.goes_on is None or not self.local or STREAM in habits.refused:
            return None
        return StreamWatch(lambda body: READERS[form](body).text, request.goes_on)

    async def _answer(self, form: PromptForm, arguments: Mapping[str, Any], watch: StreamWatch | None) -> OpenAIAnswer:
        longest_quote = 80
        body = await self._send(form, arguments, watch)
        try:
            answer = READERS[form](body)
        except ValueError as error:
            problem = Problem(200, body)
            if not json_at(body, "choices") and problem.message and unsupported(problem, arguments):
                raise NoAnswer(problem) from None  # some servers refuse with status 200
            if not self._answered and not (isinstance(body, dict) and {"choices", "error"} & body.keys()):
                raise self._no_api(f"JSON that is no completion ({json.dumps(body)[:longest_quote]})") from None
            raise TransientError(self._line(str(error)), "no reply", sent=True) from None
        if answer.finish == "error":
            raise TransientError("the server stopped with an error", "broken reply", sent=True)
        return answer

    async def _send(self, form: PromptForm, arguments: Mapping[str, Any], watch: StreamWatch | None = None) -> object:
        """Send one request. Raises `NoAnswer` only for a problem of this request, or of its form."""
        return await self.called(post(self.clients(), PATHS[form], {"model": self.model, **arguments}, watch))

    async def called(self, call: Awaitable[object]) -> object:
        """Return the body that the server answers a call with. Raises `NoAnswer` only for a problem of this call."""
        try:
            body = await call
            if problem := hidden_error(body):
                raise NoAnswer(problem)
        except NoAnswer as error:
            if isinstance(error.__cause__, UnboundedError) and not self._answered:
                raise self._no_api(f"an answer without end ({error.problem.message})") from None
            self._judge(error.problem)
            raise
        except TransientError as error:
            if error.kind == PAGE and not self._answered:
                raise self._no_api(PAGE_TEXT) from None
            raise replace(error, text=self._line(error.text)) from None
        return body

    def _judge(self, problem: Problem) -> None:
        """Raise `TransientError` for a problem that may pass, and `FatalError` for a problem of all requests."""
        whom, status = concern(problem), problem.status
        page = problem.page and not self._answered
        if page and status not in (*GATEWAYS, *NOT_THERE):  # for the others, the other form may exist
            raise self._no_api(f"{PAGE_TEXT} (HTTP {status})")
        if whom is Concern.PASSING:
            kind = PAGE if page else str(status)
            raise TransientError(self._line(problem.line), kind, wait(problem), crowded=status in CROWDED)
        if whom in LASTING:
            raise self._fatal(whom, problem)

    def _turned_down(self, problem: Problem) -> Reply:
        """Return the reply to a request that the server refused. Raises `FatalError` if the server lacks the model."""
        whom = concern(problem)
        if whom is Concern.MODEL:
            raise self._fatal(whom, problem)
        if whom is Concern.CONTENT:
            return Reply("", ReplyState.REFUSED, self._line(problem.line))
        too_long = TOO_LONG if limits(problem) else ""
        return Reply("", ReplyState.FAILED, self._line(f"{too_long}{problem.line}"))

    def _fatal(self, whom: Concern, problem: Problem) -> FatalError:
        who, key = self._who, self.key_variable
        if problem.page and not self._answered:
            return self._no_api(f"{PAGE_TEXT} (HTTP {problem.status})")
        if whom is Concern.MODEL and self._unlisted and not NO_MODEL.search(problem.text):
            return FatalError(self._line(nowhere(self.address, f"no API at {self.address} ({problem.line})")))
        refused = f"{who} refused the key in {key}; check its permissions"
        what = {
            Concern.KEY: refused if self._has_key() else self._wants_key(),
            Concern.REGION: f"{who} does not serve this region; ask another server",
            Concern.QUOTA: f"the quota of {who} is used up; raise it, or the credit of {key}, and run this again",
            Concern.MODEL: f"{who} does not offer {self.model!r}; correct the name, or {option('form')}",
            Concern.ADDRESS: f"{who} redirects requests to another address; correct the address after the @",
        }[whom]
        return FatalError(self._line(f"{what} ({problem.line})", longest=LONGEST_FATAL))

    def _no_api(self, what: str) -> FatalError:
        """Return the error for a server that has never sent an answer, and now sent something that is no answer."""
        v1 = f", which most often ends in /v1: {self.address}/v1" if not self.address.endswith("/v1") else ""
        advice = "check the network and the proxy" if self._needs_key else f"correct the address after the @{v1}"
        return FatalError(self._line(f"{self._who} answers with {what}; {advice}", longest=LONGEST_FATAL))

    async def _scored(self, text: str, way: Mapping[str, Any], again: Callable[[], None]) -> Scores:
        habits = self.habits
        for left in reversed(range(MOST_WORDINGS)):
            arguments = habits.taken(score_arguments(text, way))
            try:
                body = await self._send(PromptForm.COMPLETION, arguments)
                break
            except NoAnswer as error:
                adapted = habits.adapted(error.problem, PromptForm.COMPLETION, None, arguments) if left else None
                if adapted is None:
                    turned_down = self._turned_down(error.problem)
                    return Scores((), turned_down.state, turned_down.detail)
                habits = adapted
                again()
        try:
            scored = read_scores(body, text)
        except ValueError as error:
            return Scores((), ReplyState.FAILED, self._line(str(error)), usage_of(body))
        self._learn(habits)
        return Scores(tuple(Token(*pair) for pair in scored), ReplyState.OK, usage=usage_of(body))

    def _reply(self, answer: OpenAIAnswer, stop: Iterable[str]) -> Reply:
        # Half a surrogate pair cannot be written to a file.
        text = whole = self._without_key(answer.text).encode("utf-8", "replace").decode()
        for mark in filter(None, stop):  # not every server stops at the marks
            text = text.partition(mark)[0]
        refusal = "content filter" if answer.finish == "content_filter" else None
        return as_reply(
            text,
            answer.tokens,
            refusal=self._line(answer.refusal) if answer.refusal else refusal,
            cut=answer.cut and text == whole,
            reasoned=answer.thought or not text,
            stopped=WENT_ON if answer.finish == ENDLESS and text == whole else "",
        )

    def clients(self) -> ClientPool:
        """Return the connections to the server; open them at the first call."""
        if self._clients is None:
            self._clients = self._clients_at(self.address)
        return self._clients

    def _clients_at(self, address: str) -> ClientPool:
        return ClientPool(address, self._key(), self._openais, self.local, self._max_connections)

    def _recognize(self, listing: object) -> None:
        """Check that the server lists the model, and store the version that it states. Raises `UsageError`."""
        listed = read_listing(listing)
        if entry := find_listed(self.model, listed):
            self.version = self._line(weights_version(entry))
        elif listed:
            raise self._mistake(str(unknown("model", self.model, map(self._line, listed))))

    def _no_list(self, error: TransientError) -> str:
        """Return the message about a server that sent no list of models."""
        if error.kind in UNREADABLE:
            page = "answers with a web page and " if error.kind == PAGE else ""
            return nowhere(self.address, f"{self.address} {page}does not speak OpenAI's protocol")
        if self._needs_key:
            return f"{error}: cannot reach {self.address}; check the network and the proxy"
        return f"{error}: no server answers at {self.address}; start it, or correct the address"

    def _turned_away(self, problem: Problem) -> str:
        """Return the message about a server that answers but refuses access."""
        whom = concern(problem)
        if problem.page and problem.status not in GATEWAYS:
            return str(self._no_api(f"{PAGE_TEXT} (HTTP {problem.status})"))
        if problem.status in (401, 403) and whom is not Concern.REGION:
            whom = Concern.KEY
        if whom in LASTING:
            return str(self._fatal(whom, problem))
        return f"{self._who} does not list its models; it answered {problem.line}"


def open_server(
    name: str, address: str | None, settings: ModelSettings, variable: str = "", entry: Service | None = None
) -> OpenAIModel:
    """Return the LLM of this name at an address (None: at OpenAI). `variable` has the key; "" means the usual one."""
    return OpenAIModel(
        name, address, settings.form, settings.connections, settings.spec, settings.needs, variable, entry
    )


def _open(rest: str, settings: ModelSettings) -> OpenAIModel:
    named, variable = split_variable(rest)
    return open_server(*parse_address(named), settings, variable)


PROVIDER = Provider(
    "openai",
    {
        "openai:NAME": "OpenAI's own models; the key is in OPENAI_API_KEY",
        "openai:NAME@http://HOST:PORT/v1": (
            "any OpenAI-compatible server; a key, if it needs one, in TABCONTAM_API_KEY, or in a variable named "
            "after the address: …/v1#MY_KEY"
        ),
    },
    _open,
    lambda entry: Offer(entry.openai or ""),
    address=OPENAI,
    keys=OpenAIModel.keys,
    words=("gpt", "chatgpt", "open-ai"),
    log_probabilities="no",
    seed="no",
)
