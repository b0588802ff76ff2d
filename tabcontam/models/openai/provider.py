"""`openai:` an LLM that is asked over OpenAI's protocol, at OpenAI or at any other server that speaks it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tabcontam.config import FORMS
from tabcontam.errors import unknown
from tabcontam.evidence.questions import Capability, ReplyState, Scores, Token
from tabcontam.models.base import MOST_WORDINGS, PAGE, FatalError, ModelRequest, PromptForm, TransientError
from tabcontam.models.keys import OPENAI, OTHER_KEY, parse_address, split_variable, validate_address
from tabcontam.models.openai.batch import PATHS, OpenAIBatches
from tabcontam.models.openai.connection import (
    ClientPool,
    NoAnswer,
    find_api_elsewhere,
    listing,
    nowhere,
    without_endpoint,
)
from tabcontam.models.openai.errors import NO_MODEL, NOT_THERE, Concern, Problem, concern, hidden_error, may_only_chat
from tabcontam.models.openai.event_streams import StreamWatch
from tabcontam.models.openai.habits import (
    STREAM,
    OpenAIHabits,
    limits,
    may_lack_chat,
    may_lack_streams,
    says_no_chat,
    unsupported,
)
from tabcontam.models.openai.prompt_scores import ScoringDiscovery, read_scores
from tabcontam.models.openai.replies import READERS, ServedAnswer, find_listed, json_at, read_listing, weights_version
from tabcontam.models.openai.replies import usage as usage_of
from tabcontam.models.provider_record import ModelSettings, Offer, Provider
from tabcontam.models.served_llm import LASTING, LONGEST_FATAL, PAGE_TEXT, UNREADABLE, ServedLLM
from tabcontam.models.services import Service, service_at

GATEWAYS = (408, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524, 529)  # their web pages may be gone at the next try

COMPLETION_MODEL = re.compile(r"(ft:)?(gpt-3\.5-turbo-instruct|davinci-002|babbage-002)")  # at OpenAI


class OpenAIModel(ServedLLM):
    """The LLM `model` at `base_url`, or at OpenAI if that is None. `spec`: the user's name for it."""

    provider = "openai"
    maker = service = "OpenAI"
    paths: Mapping[PromptForm, str] = PATHS
    fields = frozenset({"choices", "error"})
    keys: tuple[str, ...] = ("OPENAI_API_KEY",)
    concern = staticmethod(concern)
    read = staticmethod(lambda form, body: READERS[form](body))
    too_long = staticmethod(limits)
    hidden = staticmethod(hidden_error)
    advice: Mapping[Concern, str] = {
        Concern.KEY: "{who} refused the key in {key}; check its permissions",
        Concern.REGION: "{who} does not serve this region; ask another server",
        Concern.QUOTA: "the quota of {who} is used up; raise it, or the credit of {key}, and run this again",
        Concern.MODEL: "{who} does not offer {model!r}; correct the name, or {form}",
        Concern.ADDRESS: "{who} redirects requests to another address; correct the address after the @",
    }
    uncharged = range(1000)
    hides_thinking = True

    def __init__(
        self,
        model: str,
        base_url: str | None,
        form: str = "auto",
        max_connections: int | None = 8,
        spec: str = "",
        needs: frozenset[Capability] = frozenset(),  # with SCORE, the first text shows whether it can be scored
        variable: str = "",  # the environment variable that the user named for the key
        entry: Service | None = None,  # its service, if the address does not show it
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
        own, habits = entry.address if entry else OPENAI, OpenAIHabits(seed=entry.seed if entry else "")
        spec = spec or f"openai:{model}{where}"
        super().__init__(spec, model, address, own, variable, habits, max_connections)
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
        if not self.settled and form in PATHS:
            self.form, self.settled = form, True

    async def connect(self) -> None:
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

    async def score(self, request: ModelRequest) -> Scores:
        """Return the tokens of a passage with their log-probabilities in nats. The first may have none (0.0)."""
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
        return OpenAIBatches(self) if self._openais else None

    async def _asked(self, form: PromptForm, habits: OpenAIHabits, request: ModelRequest, paid: bool) -> ServedAnswer:
        watch = self._watch(form, habits, request)
        arguments = habits.arguments(form, request, streamed=watch is not None)
        try:
            answer = self._read(form, arguments, await self.called(self._sent(form, arguments, watch), paid))
        except TransientError as error:
            if watch and not (self._streamed or error.crowded):  # the stream may be what fails
                self.habits = self.habits.joined(habits.whole())
            raise
        self._streamed |= watch is not None and watch.streams
        return answer

    def _watch(self, form: PromptForm, habits: OpenAIHabits, request: ModelRequest) -> StreamWatch | None:
        """Return a watch that ends an endless answer of a small LLM, which runs on this machine; None elsewhere."""
        if request.goes_on is None or not self.local or STREAM in habits.refused:
            return None
        return StreamWatch(lambda body: READERS[form](body).text, request.goes_on)

    def _read(self, form: PromptForm, arguments: Mapping[str, Any], body: object) -> ServedAnswer:
        problem = Problem(200, body)
        if not json_at(body, "choices") and problem.message and unsupported(problem, arguments):
            raise NoAnswer(problem)  # some servers refuse with status 200
        return super()._read(form, arguments, body)

    def _reworded(
        self, problem: Problem, form: PromptForm, habits: OpenAIHabits, request: ModelRequest
    ) -> tuple[PromptForm, OpenAIHabits] | None:
        watched = self._watch(form, habits, request) is not None
        if adapted := habits.adapted(problem, form, request, habits.arguments(form, request, streamed=watched)):
            return form, adapted
        if watched and not self._streamed and may_lack_streams(problem):
            return form, habits.whole()
        # Another query may have found the prompt form while this query was sent in chat form.
        open_form = not self.settled or self.form is not form
        if form is PromptForm.CHAT and open_form and may_lack_chat(problem):
            if says_no_chat(problem):
                self.form, self.settled = PromptForm.COMPLETION, True
            return PromptForm.COMPLETION, self.habits
        return None

    def _judge(self, problem: Problem, paid: bool) -> None:
        page = problem.page and not self._answered
        if page and problem.status not in (*GATEWAYS, *NOT_THERE):  # for the others, the other form may exist
            raise self._no_api(f"{PAGE_TEXT} (HTTP {problem.status})")
        try:
            super()._judge(problem, paid)
        except TransientError as error:
            raise replace(error, kind=PAGE if page else error.kind) from None

    def _fatal(self, whom: Concern, problem: Problem) -> FatalError:
        if problem.page and not self._answered:
            return self._no_api(f"{PAGE_TEXT} (HTTP {problem.status})")
        if whom is Concern.MODEL and self._unlisted and not NO_MODEL.search(problem.text):
            return FatalError(self._line(nowhere(self.address, f"no API at {self.address} ({problem.line})")))
        return FatalError(self._line(f"{self._advice(whom, problem)} ({problem.line})", longest=LONGEST_FATAL))

    def _no_api(self, what: str) -> FatalError:
        v1 = f", which most often ends in /v1: {self.address}/v1" if not self.address.endswith("/v1") else ""
        advice = "check the network and the proxy" if self._needs_key else f"correct the address after the @{v1}"
        return FatalError(self._line(f"{self._who} answers with {what}; {advice}", longest=LONGEST_FATAL))

    async def _scored(self, text: str, way: Mapping[str, Any], again: Callable[[], None]) -> Scores:
        habits = self.habits
        for left in reversed(range(MOST_WORDINGS)):
            arguments = habits.taken({"prompt": text, "max_tokens": 1, "temperature": 0, **way})
            try:
                body = await self.called(self._sent(PromptForm.COMPLETION, arguments))
                break
            except NoAnswer as error:
                adapted = habits.adapted(error.problem, PromptForm.COMPLETION, None, arguments) if left else None
                if adapted is None:
                    turned_down = self.turned_down(error.problem)
                    return Scores((), turned_down.state, turned_down.detail)
                habits = adapted
                again()
        try:
            scored = read_scores(body, text)
        except ValueError as error:
            return Scores((), ReplyState.FAILED, self._line(str(error)), usage_of(body))
        self.learn(habits)
        return Scores(tuple(Token(*pair) for pair in scored), ReplyState.OK, usage=usage_of(body))

    def _clients_at(self, address: str) -> ClientPool:
        clients = super()._clients_at(address)
        if self._openais:
            clients.headers = None
        return clients

    def _recognize(self, listing: object) -> None:
        listed = read_listing(listing)
        if entry := find_listed(self.model, listed):
            self.version = self._line(weights_version(entry))
        elif listed:
            raise self._mistake(str(unknown("model", self.model, map(self._line, listed))))

    def _no_list(self, error: TransientError) -> str:
        if error.kind in UNREADABLE:
            page = "answers with a web page and " if error.kind == PAGE else ""
            return nowhere(self.address, f"{self.address} {page}does not speak OpenAI's protocol")
        if self._needs_key:
            return self._unreachable(error.text)
        return f"{error}: no server answers at {self.address}; start it, or correct the address"

    def _turned_away(self, problem: Problem) -> str:
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
)
