"""The provider `infinigram:`, an index of public documents on a server of the infini-gram protocol (Liu et al. 2024).

It answers no prompts, only lookups: which rows are in the documents. The protocol is documented
(https://infini-gram.readthedocs.io/en/latest/api.html), and is read from the code of its server
(https://github.com/liujch1998/infini-gram, api/api_server.py and pkg/infini_gram/cpp_engine.h).
"""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from tabcontam.errors import UsageError
from tabcontam.evidence.questions import Capability, Lookup, LookupMode, Matches, ReplyState
from tabcontam.extensions.corpora.infinigram.connection import TOO_QUICK, Connection, ErrorScope, error_scope
from tabcontam.extensions.corpora.infinigram.excerpt_reader import Send
from tabcontam.extensions.corpora.infinigram.index_memory import IndexMemory
from tabcontam.extensions.corpora.infinigram.lookup_requests import LookupRequests
from tabcontam.extensions.corpora.infinigram.replies import count_in
from tabcontam.models.base import FatalError, LackError, ModelRequest, PromptForm, TransientError
from tabcontam.models.keys import NO_KEY, parse_address
from tabcontam.models.openai.connection import NoAnswer
from tabcontam.models.openai.errors import Problem, wait
from tabcontam.models.provider_record import ModelSettings, Provider
from tabcontam.models.served_model import ServedModel

PUBLIC = "https://api.infini-gram.io"
INDEXES = "https://infini-gram.readthedocs.io/en/latest/api.html"
NAME = re.compile(r"[\w.-]{1,200}", re.ASCII)
CONNECT_WAIT, MOST_CONNECT_WAIT = 1.0, 10.0  # seconds: after the first try, at most


class InfinigramModel(ServedModel):
    """The index `name` at an address. `spec` is the user's name for it. No key is sent to any server."""

    provider = "infinigram"
    maker = "the public infini-gram server"
    service = "infini-gram"
    keys = ()
    capabilities = frozenset({Capability.SEARCH})
    finds = frozenset(LookupMode) - {LookupMode.SIGNS}  # an index has whole tokens, not letters across blanks
    form = PromptForm.COMPLETION  # it is sent no prompts

    def __init__(self, name: str, *, max_connections: int = 8, spec: str = "", address: str = "") -> None:
        polite = 2  # simultaneous requests: the public server rejects clients with more
        if not NAME.fullmatch(name):
            raise UsageError(f"bad name of an index {name[:100]!r}; type for example infinigram:v4_dolma-v1_7_llama")
        typed = address or PUBLIC
        super().__init__(spec or f"infinigram:{name}", name, typed.rstrip("/"), PUBLIC, NO_KEY)
        self._url = typed if urlsplit(typed).path else f"{typed}/"
        self._memory = IndexMemory(name)
        self._replies: dict[Lookup, dict[str, dict[str, Any]]] = {}
        self._connection: Connection | None = None
        self.connections = polite if self._own else None
        self._max_connections = self.connections or max_connections

    async def connect(self) -> None:
        """Request the index's number of tokens, to check that it exists. Raises `UsageError` in one line if not."""
        tries, everything = 3, {"index": self.model, "query_type": "count", "query": ""}
        for turn in range(1, tries + 1):
            try:
                self.version = f"tokens={count_in(await self._post(everything))}"
            except TransientError as error:
                if turn == tries:
                    raise self._mistake(f"{error}: cannot reach {self._who}; check the network and the proxy") from None
                await asyncio.sleep(min(error.wait or CONNECT_WAIT * turn, MOST_CONNECT_WAIT))
            except NoAnswer as error:
                why = f"{self._who} does not describe the index; it answered {error.problem.line}"
                raise self._mistake(self._line(why)) from None
            except (FatalError, ValueError) as error:
                why = str(error) if isinstance(error, FatalError) else self._other_kind()
                raise self._mistake(why) from None
            else:
                return

    async def search(self, request: ModelRequest) -> Matches:
        """Return the matches, by several requests. After a fault, only the missing replies are requested again."""
        most_held = 64  # lookups whose replies so far are kept for another try
        lookup = request.lookup
        if lookup.by is LookupMode.SIGNS:
            raise LackError("an infini-gram index finds whole words, not letters across blanks", sent=False)
        replies = self._replies.setdefault(lookup, {})
        if len(self._replies) > most_held:
            del self._replies[next(iter(self._replies))]
        try:
            found = await LookupRequests(lookup, self._memory, self._sender(request, replies)).matches()
        except NoAnswer as error:
            found = Matches((), 0, ReplyState.FAILED, error.problem.line)
        except ValueError as error:
            self._replies.pop(lookup, None)
            raise TransientError(self._line(str(error)), "no reply", sent=True) from None
        self._replies.pop(lookup, None)
        return replace(found, detail=self._line(found.detail))

    async def close(self) -> None:
        """Close the connections."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def _sender(self, request: ModelRequest, replies: dict[str, dict[str, Any]]) -> Send:
        """Return the function that sends each request of a lookup once. It reports further requests to `request`."""
        first = True

        async def send(body: Mapping[str, Any]) -> dict[str, Any]:
            nonlocal first
            key = json.dumps(body)
            if key not in replies:
                if not first:
                    request.again()
                first = False
                replies[key] = await self._post(body)
            return replies[key]

        return send

    async def _post(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request. Raises `NoAnswer` only for an error of this request alone."""
        try:
            if self._connection is None:
                self._connection = Connection(self._url, self.local, self._max_connections)
            return await self._connection.post(body)
        except NoAnswer as error:
            self._judge(error.problem)
            raise
        except TransientError as error:
            raise replace(error, text=self._line(error.text)) from None

    def _judge(self, problem: Problem) -> None:
        """Raise `TransientError` for an error that may pass, and `FatalError` for one that every request would meet."""
        concerned, status = error_scope(problem), problem.status
        if concerned is ErrorScope.PASSING:
            crowded = status in TOO_QUICK
            raise TransientError(self._line(problem.line), str(status), wait(problem), crowded, sent=not crowded)
        if concerned is not ErrorScope.REQUEST:
            raise FatalError(self._hopeless(concerned, problem))

    def _hopeless(self, concerned: ErrorScope, problem: Problem) -> str:
        """Return the line for a server that will answer no request: the problem and the advice."""
        listed = f"; {INDEXES} lists them" if self._own else ""
        what = {
            ErrorScope.INDEX: f"{self._who} has no index {self.model}{listed}",
            ErrorScope.DOOR: f"{self._who} wants a key, and tabcontam sends no key to an index",
            ErrorScope.PROTOCOL: self._other_kind(),
        }[concerned]
        return self._line(f"{what}; it answered {problem.line}")

    def _other_kind(self) -> str:
        return f"{self.address} does not speak the infini-gram protocol with find_cnf and get_doc_by_ptr"


def _open(rest: str, settings: ModelSettings) -> InfinigramModel:
    name, address = parse_address(rest, "infinigram")
    return InfinigramModel(name, max_connections=settings.connections, spec=settings.spec, address=address or "")


PROVIDER = Provider(
    "infinigram",
    {
        "infinigram:INDEX": "an index of documents at api.infini-gram.io, which is searched and answers no prompts",
        "infinigram:INDEX@http://HOST:PORT/": "such an index at any server of the infini-gram protocol",
    },
    _open,
    address=PUBLIC,
    words=("infini-gram", "infinigrams"),
    free=True,
)
