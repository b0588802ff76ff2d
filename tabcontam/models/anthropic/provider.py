"""`anthropic:` Anthropic's Claude, through its official SDK.

Each kind of failure raises the error that `models.base` defines for it. A model may refuse a part of a request, such as
a temperature or the request not to think. Its description or its first refusal shows that, and the query is sent again
without the part. The key goes only to Anthropic's own address, or to an address that the user names it for.
"""

import asyncio
import re
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from tabcontam.errors import UsageError, unknown
from tabcontam.evidence.base import Capability, Reply, ReplyState, Usage
from tabcontam.models.anthropic.batch import AnthropicBatches
from tabcontam.models.anthropic.connection import get, open_client, post
from tabcontam.models.anthropic.errors import CROWDED, TOO_LONG, concern, wait
from tabcontam.models.anthropic.habits import AnthropicHabits, stated_habits
from tabcontam.models.anthropic.replies import AnthropicAnswer, listed_names, read_answer
from tabcontam.models.base import MOST_WORDINGS, PAGE, FatalError, ModelRequest, PromptForm, TransientError, failed
from tabcontam.models.batch_api import RequestStyle
from tabcontam.models.keys import host_of, split_variable
from tabcontam.models.openai.address import parse_address, validate_address
from tabcontam.models.openai.api_search import UNREADABLE
from tabcontam.models.openai.connection import NoAnswer
from tabcontam.models.openai.errors import NOT_THERE, Concern, Problem
from tabcontam.models.provider_record import ModelSettings, Offer, Provider
from tabcontam.models.served_model import ServedModel, sum_known_charges

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

ANTHROPIC = "https://api.anthropic.com"
MODELS = "https://platform.claude.com/docs/en/about-claude/models/overview"
NAME = re.compile(r"\w[\w.:@/-]{0,199}", re.ASCII)
CONNECT_RETRIES = 2
CONNECT_SECONDS = 60.0  # seconds in which the model must be described, retries included
NOT_WORKED_ON = (429, 503, 529)
CORRECT = "correct the address after the @"
Found = TypeVar("Found")


class AnthropicModel(ServedModel):
    """The LLM `name` at Anthropic, or at another `address` that speaks its protocol. `spec`: the user's name for it.

    `variable`: the environment variable that the user named for the key; "" for the usual one.
    """

    provider = "anthropic"
    maker = service = "Anthropic"
    keys = ("ANTHROPIC_API_KEY",)
    capabilities = frozenset({Capability.GENERATE, Capability.CHAT, Capability.SAMPLE, Capability.INSTRUCTIONS})
    form = PromptForm.CHAT

    def __init__(
        self, name: str, *, max_connections: int = 8, spec: str = "", address: str = "", variable: str = ""
    ) -> None:
        if not NAME.fullmatch(name):
            raise UsageError(f"bad model name {name[:100]!r}; type for example anthropic:claude-sonnet-5-5")
        where = validate_address(address).rstrip("/").removesuffix("/v1") if address else ANTHROPIC  # the SDK adds /v1
        super().__init__(spec or f"{self.provider}:{name}", name, where, ANTHROPIC, variable)
        self._max_connections = max_connections
        self.habits = AnthropicHabits()  # those that are known so far
        self._answered = False
        self._client: AsyncAnthropic | None = None

    async def connect(self) -> None:
        """Ask the server for the model. Raises `UsageError` if none answers, or it refuses the key or the model."""
        client = self.connection()
        path = f"/v1/models/{quote(self.model, safe='')}"
        try:
            found = await asyncio.wait_for(get(client, path, CONNECT_RETRIES), CONNECT_SECONDS)
        except NoAnswer as error:
            problem = error.problem
            if problem.status not in NOT_THERE:
                raise self._mistake(self._turned_away(problem)) from None
            await self._look_up(client)
        except TimeoutError:
            raise self._mistake(self._unreachable(f"no answer in {CONNECT_SECONDS:g} s")) from None
        except TransientError as error:
            broken = error.kind in UNREADABLE
            raise self._mistake(self._other_kind() if broken else self._unreachable(error.text)) from None
        else:
            self._recognize(found)

    async def generate(self, request: ModelRequest) -> Reply:
        """Return the reply to a prompt. Send the request again only without a refused part, or with more tokens for
        thinking. What a refusal shows is stored only once the server has accepted a request that follows it.
        """
        habits, usages = self.habits, list[Usage | None]()
        for left in reversed(range(MOST_WORDINGS)):
            arguments = habits.arguments(request)
            try:
                answer = await self._post(arguments, bool(usages))
            except NoAnswer as error:
                fewer = habits.without(error.problem, arguments)
                if fewer is None or not left:
                    return replace(self._turned_down(error.problem), usage=sum_known_charges(usages))
                habits = self.habits.joined(fewer)  # other queries may have learned habits meanwhile
            else:
                self._answered = True
                usages.append(answer.usage)
                cramped = answer.cut and answer.thought and not habits.reasons
                habits = replace(habits, thinks=habits.thinks or cramped)
                self._learn(habits)
                if not cramped or not left:
                    break
            request.again()
        reply = self._shown(answer.reply())
        noted = habits.notes if reply.state is ReplyState.OK else reply.detail
        return replace(reply, detail=noted, usage=sum_known_charges(usages))

    @property
    def batches(self) -> AnthropicBatches | None:
        """Anthropic's own batch API; other servers that speak its protocol have none."""
        return AnthropicBatches(self) if self.host == host_of(ANTHROPIC) else None

    def written(self, request: ModelRequest) -> dict[str, Any]:
        """Return the body of a request, without the parts that the model is known to refuse."""
        return {"model": self.model, **self.habits.arguments(request)}

    def reply_in_batch(self, body: object, sent: RequestStyle) -> tuple[Reply, bool]:
        """Return the reply in a message from a batch, and whether asking again may get a better one."""
        try:
            answer = read_answer(body)
        except ValueError as error:
            return failed(self._line(str(error))), True
        thought_to_the_end = answer.cut and answer.thought
        self._learn(AnthropicHabits(thinks=thought_to_the_end))
        return replace(self._shown(answer.reply()), usage=answer.usage), thought_to_the_end and not sent.allowance

    def turned_down_in_batch(
        self, problem: Problem, request: ModelRequest, before: AnthropicHabits
    ) -> tuple[Reply, bool]:
        """Return the reply to a refused request of a batch, and whether it may be accepted when sent again.

        `before`: the habits (known demands) before the batch was read. Its replies may each show the same demand.
        """
        if fewer := before.without(problem, before.arguments(request)):
            self._learn(fewer)
        passing = concern(problem) is Concern.PASSING
        return self._turned_down(problem), passing or fewer is not None

    async def called(self, call: Awaitable[Found]) -> Found:
        """Return the result of a call to the server. Raises `NoAnswer` only for a problem of this call alone."""
        try:
            return await call
        except NoAnswer as error:
            if error.problem.status not in NOT_THERE:
                self._judge(error.problem, paid=False)
            raise
        except TransientError as error:
            raise replace(error, text=self._line(error.text)) from None

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _shown(self, reply: Reply) -> Reply:
        """Return `reply` with the key masked, because a server may have repeated the key in it."""
        return replace(reply, text=self._without_key(reply.text), detail=self._line(reply.detail))

    def _learn(self, habits: AnthropicHabits) -> None:
        self.habits = self.habits.joined(habits)
        self.allowance, self.least = self.habits.allowance, self.habits.least

    def connection(self) -> "AsyncAnthropic":
        """Return the SDK's client; open it at the first call."""
        if self._client is None:
            key = self._key()
            try:
                self._client = open_client(self.address, key, self.local, self._max_connections)
            except ImportError:
                needed = 'needs Anthropic\'s SDK; type: pip install "tabcontam[anthropic]"'
                raise UsageError(f"{self.provider}: {needed}") from None
            except Exception as error:  # for a proxy or a certificate file in the environment
                raise self._mistake(f"Anthropic's SDK does not start: {error}") from None
        return self._client

    async def _post(self, arguments: Mapping[str, Any], paid: bool) -> AnthropicAnswer:
        """Send one request. Raises `NoAnswer` only for a problem of this request alone."""
        try:
            client = self.connection()
        except UsageError as error:  # without a key or the SDK
            raise FatalError(str(error)) from None
        body: object = None
        try:
            return read_answer(body := await post(client, {"model": self.model, **arguments}))
        except NoAnswer as error:
            self._judge(error.problem, paid)
            raise
        except ValueError as error:
            if not self._answered and not (isinstance(body, dict) and {"content", "error"} & body.keys()):
                raise FatalError(self._line(f"{self._other_kind()}: it answers with other JSON; {CORRECT}")) from None
            raise TransientError(self._line(str(error)), "no reply", sent=True) from None
        except TransientError as error:
            if error.kind == PAGE and not self._answered:
                raise FatalError(self._line(f"{self._other_kind()}: it answers with a web page; {CORRECT}")) from None
            raise replace(error, text=self._line(error.text), sent=error.sent or paid) from None

    def _judge(self, problem: Problem, paid: bool) -> None:
        """Raise `TransientError` for a problem that may pass, and `FatalError` for a problem of all requests."""
        whom, status = concern(problem), problem.status
        if whom is Concern.PASSING:
            sent = paid or status not in NOT_WORKED_ON
            line = self._line(problem.line)
            raise TransientError(line, str(status), wait(problem), crowded=status in CROWDED, sent=sent)
        if whom not in (Concern.REQUEST, Concern.CONTENT):
            raise FatalError(self._hopeless(whom, problem))

    def _turned_down(self, problem: Problem) -> Reply:
        """Return the reply to a request that the server refused."""
        if concern(problem) is Concern.CONTENT:
            return Reply("", ReplyState.REFUSED, self._line(problem.line))
        too_long = "the prompt is too long: " if TOO_LONG.search(problem.message) else ""
        return failed(self._line(f"{too_long}{problem.line}"))

    def _hopeless(self, whom: Concern, problem: Problem) -> str:
        """Return the message about a server that answers no request: the error, what it concerns, and advice."""
        longest_fatal = 600
        who, key = self._who, self.key_variable
        refused = f"{who} refused the key in {key}; check the key and what it may be used for"
        what = {
            Concern.KEY: refused if self._has_key() else self._wants_key(),
            Concern.REGION: f"{who} does not serve the region of this computer; ask from another region",
            Concern.QUOTA: f"the credit or spend limit of {key} at {who} is used up; raise it, and run this again",
            Concern.MODEL: f"{who} does not offer {self.model}, or no longer does; name another model",
            Concern.ADDRESS: self._other_kind(),
        }[whom]
        return self._line(f"{what}; it answered {problem.line}", longest=longest_fatal)

    def _turned_away(self, problem: Problem) -> str:
        """Return the message about a server that answers but does not describe the model."""
        whom = concern(problem)
        if whom in (Concern.PASSING, Concern.REQUEST, Concern.CONTENT):
            return f"{self._who} does not describe the model; it answered {problem.line}"
        return self._hopeless(whom, problem)

    def _recognize(self, found: object) -> None:
        """Store the model's version and habits, as the server describes them."""
        name = found.get("id") if isinstance(found, dict) else None
        if not isinstance(found, dict) or not isinstance(name, str) or not name:
            raise self._mistake(self._other_kind())
        if found.get("lifecycle") == "retired":
            raise self._mistake(f"{self._who} has retired {self.model}; name another model, see {MODELS}")
        self._learn(stated_habits(found))
        # For an alias such as claude-haiku-4-5 the server states the name of the model behind it.
        facts = {"created": found.get("created_at"), "name": name if name != self.model else None}
        self.version = self._line(" ".join(f"{key}={fact}" for key, fact in facts.items() if isinstance(fact, str)))

    async def _look_up(self, client: "AsyncAnthropic") -> None:
        """Look for the model in the server's list. Raises `UsageError`, with similar names, if it is not there."""
        try:
            names = listed_names(await asyncio.wait_for(get(client, "/v1/models?limit=1000"), CONNECT_SECONDS))
        except NoAnswer as error:
            if not self._own and error.problem.status in NOT_THERE:
                return  # the server lists no models
            names = []
        except (TransientError, TimeoutError):
            names = []  # without a list the error names no models
        if self.model in names:
            return
        if names:
            raise self._mistake(str(unknown("model", self.model, map(self._line, names))))
        raise self._mistake(f"unknown model {self.model!r}; see {MODELS}")

    def _unreachable(self, why: str) -> str:
        return f"{why}: cannot reach {self.address}; check the network and the proxy"

    def _other_kind(self) -> str:
        return f"{self.address} does not speak Anthropic's protocol"


def _open(rest: str, settings: ModelSettings) -> AnthropicModel:
    named, variable = split_variable(rest)
    name, address = parse_address(named, "anthropic")
    return AnthropicModel(
        name, max_connections=settings.connections, spec=settings.spec, address=address or "", variable=variable
    )


PROVIDER = Provider(
    "anthropic",
    {
        "anthropic:NAME": "Anthropic's Claude models; the key is in ANTHROPIC_API_KEY",
        "anthropic:NAME@http://HOST:PORT": "any server that speaks Anthropic's protocol; name its key as for openai:",
    },
    _open,
    lambda entry: Offer(entry.anthropic or ""),
    address=ANTHROPIC,
    keys=AnthropicModel.keys,
    words=("claude",),
    log_probabilities="no",
    seed="no",
)
