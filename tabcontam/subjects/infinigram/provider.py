"""The provider `infinigram:`, an index of public documents on a server of the infini-gram protocol (Liu et al. 2024).

It answers no prompts; it is asked which rows stand in the documents. The protocol is as documented
(https://infini-gram.readthedocs.io/en/latest/api.html) and as the code of its server has it
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
from tabcontam.evidence.questions import By, Capability, Lookup, Matches, State
from tabcontam.subjects.base import FatalError, Form, LackError, Request, TransientError
from tabcontam.subjects.infinigram.answers import count_in
from tabcontam.subjects.infinigram.connection import Connection
from tabcontam.subjects.infinigram.errors import TOO_QUICK, Whom, whom
from tabcontam.subjects.infinigram.lookups import Seeking
from tabcontam.subjects.infinigram.memory import Memory
from tabcontam.subjects.infinigram.reading import Send
from tabcontam.subjects.keys import NO_KEY
from tabcontam.subjects.openai.address import parse_address
from tabcontam.subjects.openai.connection import NoAnswer
from tabcontam.subjects.openai.errors import Problem, wait
from tabcontam.subjects.provider import Provider, Settings
from tabcontam.subjects.served import ServedModel

PUBLIC = "https://api.infini-gram.io"
INDEXES = "https://infini-gram.readthedocs.io/en/latest/api.html"
NAME = re.compile(r"[\w.-]{1,200}", re.ASCII)
POLITE = 2  # requests at a time at the public address, which rejects clients that send more
CONNECT_TRIES = 3
CONNECT_WAIT, MOST_CONNECT_WAIT = 1.0, 10.0  # seconds before the second try, and at most
MOST_HELD = 64  # lookups whose replies so far are held for another try


class InfinigramModel(ServedModel):
    """The index `name` at an address. `spec` is how the user named it. No key is sent to any server."""

    provider = "infinigram"
    maker = "the public infini-gram server"
    service = "infini-gram"
    keys = ()
    capabilities = frozenset({Capability.SEARCH})
    finds = frozenset(By) - {By.SIGNS}  # it knows whole tokens, and no letters without what is between them
    form = Form.COMPLETION  # it is sent no prompts

    def __init__(self, name: str, *, max_connections: int = 8, spec: str = "", address: str = "") -> None:
        if not NAME.fullmatch(name):
            raise UsageError(f"bad name of an index {name[:100]!r}; type for example infinigram:v4_dolma-v1_7_llama")
        typed = address or PUBLIC
        super().__init__(spec or f"infinigram:{name}", name, typed.rstrip("/"), PUBLIC, NO_KEY)
        self._url = typed if urlsplit(typed).path else f"{typed}/"
        self._memory = Memory(name)
        self._held: dict[Lookup, dict[str, dict[str, Any]]] = {}
        self._connection: Connection | None = None
        self.connections = POLITE if self._own else None
        self._max_connections = self.connections or max_connections

    async def connect(self) -> None:
        """Ask how many tokens the index has. Raises `UsageError` with one line if the index does not exist."""
        for turn in range(1, CONNECT_TRIES + 1):
            try:
                self.version = f"tokens={count_in(await self._post(self._body('count', query='')))}"
            except TransientError as error:
                if turn == CONNECT_TRIES:
                    raise self._mistake(f"{error}: cannot reach {self._who}; check the network and the proxy") from None
                await asyncio.sleep(min(error.wait or CONNECT_WAIT * turn, MOST_CONNECT_WAIT))
            except NoAnswer as error:
                raise self._mistake(self._turned_away(error.problem)) from None
            except (FatalError, ValueError) as error:
                why = str(error) if isinstance(error, FatalError) else self._other_kind()
                raise self._mistake(why) from None
            else:
                return

    async def search(self, request: Request) -> Matches:
        """Search and read, in several requests. A reply that came before a fault is not asked for again."""
        lookup = request.lookup
        if lookup.by is By.SIGNS:
            raise LackError("an infini-gram index finds words, and no letters without what is between them", sent=False)
        held = self._held.setdefault(lookup, {})
        if len(self._held) > MOST_HELD:
            del self._held[next(iter(self._held))]
        try:
            found = await Seeking(lookup, self._memory, self._sender(request, held)).matches()
        except NoAnswer as error:
            found = Matches((), 0, State.FAILED, error.problem.line)
        except ValueError as error:
            self._held.pop(lookup, None)
            raise TransientError(self._line(str(error)), "no reply", sent=True) from None
        self._held.pop(lookup, None)
        return replace(found, detail=self._line(found.detail))

    async def close(self) -> None:
        """Close the connections."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def _sender(self, request: Request, held: dict[str, dict[str, Any]]) -> Send:
        """Return the function that sends the requests of one lookup, each once; the first is already counted."""
        first = True

        async def send(body: Mapping[str, Any]) -> dict[str, Any]:
            nonlocal first
            key = json.dumps(body)
            if key not in held:
                if not first:
                    request.again()
                first = False
                held[key] = await self._post(body)
            return held[key]

        return send

    def _body(self, kind: str, **given: object) -> dict[str, Any]:
        return {"index": self.model, "query_type": kind, **given}

    async def _post(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request. Raises `NoAnswer` only for an error that concerns this request alone."""
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
        """Raise `TransientError` for an error that may pass, and `FatalError` for one that any request would meet."""
        concerned, status = whom(problem), problem.status
        if concerned is Whom.PASSING:
            crowded = status in TOO_QUICK
            raise TransientError(self._line(problem.line), str(status), wait(problem), crowded, sent=not crowded)
        if concerned is not Whom.REQUEST:
            raise FatalError(self._hopeless(concerned, problem))

    def _hopeless(self, concerned: Whom, problem: Problem) -> str:
        """Return the line for a server that would answer no other request either: the server, the problem and the
        advice.
        """
        listed = f"; {INDEXES} lists them" if self._own else ""
        what = {
            Whom.INDEX: f"{self._who} has no index {self.model}{listed}",
            Whom.DOOR: f"{self._who} wants a key, and none is sent to an index",
            Whom.PROTOCOL: self._other_kind(),
        }[concerned]
        return self._line(f"{what}; it answered {problem.line}")

    def _turned_away(self, problem: Problem) -> str:
        return self._line(f"{self._who} does not tell of the index; it answered {problem.line}")

    def _other_kind(self) -> str:
        return f"{self.address} does not speak the infini-gram protocol with find_cnf and get_doc_by_ptr"


def _open(rest: str, settings: Settings) -> InfinigramModel:
    name, address = parse_address(rest, "infinigram")
    return InfinigramModel(name, max_connections=settings.connections, spec=settings.spec, address=address or "")


PROVIDER = Provider(
    "infinigram",
    {
        "infinigram:INDEX": "an index of documents at api.infini-gram.io, which is searched and answers no prompts",
        "infinigram:INDEX@http://HOST:PORT/": "the same at any server of the infini-gram protocol",
    },
    _open,
    address=PUBLIC,
    words=("infini-gram", "infinigrams"),
    log_probabilities="no",
    seed="no",
    free=True,
)
