"""The batch API of a provider: requests are put together, sent as one, answered within a day, and cost half.

A provider whose maker has one gives a `Batches` as its model's `batches`. It only speaks the protocol; which queries go
into which batch, and what is written down of it, is decided in `asking`. It raises by kind, as `subjects.base` says.
"""

import json
import re
from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tabcontam.evidence.questions import Reply, State
from tabcontam.subjects.base import Form, Request, TransientError

MARK = "tabcontam"  # under which a provider keeps our own name of a batch
LONGEST_LINE = 16 * 2**20  # bytes of one result; no answer to a prompt of ours is as long
NAME = re.compile(r"[\w-]{1,200}", re.ASCII)  # of a batch: it goes into addresses and into a command


@dataclass(frozen=True)
class Sent:
    """How the requests of a batch were written: in which form, and with how many tokens for thinking."""

    form: Form
    allowance: int = 0


@dataclass(frozen=True)
class Standing:
    """How far a batch is at its provider: `done` of `of` requests.

    `reason` is why some have no result, once it has `ended`; `crowded` says that it was turned away whole, since more
    of this user's requests wait there than the provider allows: fewer at a time would be taken.
    """

    ended: bool
    done: int = 0
    of: int = 0
    reason: str = ""
    crowded: bool = False


@dataclass(frozen=True)
class Result:
    """What came of one request of a batch: the name that it was given, and its line as the provider writes it."""

    name: str
    content: Mapping[str, Any]


class Batches(Protocol):
    """The batches of one model. `service` is where they are; a batch holds no more requests and bytes than is said."""

    service: str
    most_requests: int
    most_bytes: int

    @property
    @abstractmethod
    def sent(self) -> Sent:
        """How a request would be written now."""

    @abstractmethod
    def written(self, name: str, request: Request) -> bytes:
        """One request as it stands in a batch: JSON, in one line. `name` tells it from the others.

        Raises ValueError where a prompt cannot be written as JSON.
        """

    @abstractmethod
    async def submit(self, requests: Sequence[bytes], mark: str) -> str:
        """Send a batch, under a mark of our own, and give its id."""

    @abstractmethod
    async def find(self, mark: str, since: float, names: Sequence[str]) -> str | None:
        """The id of a batch that was sent under this mark with these requests; None where there is none.

        `since` is when it was sent, in seconds since 1970, by this machine's clock.
        """

    @abstractmethod
    async def standing(self, batch: str) -> Standing:
        """How far a batch is."""

    @abstractmethod
    def results(self, batch: str) -> AsyncIterator[Result]:
        """What came of the requests of a batch that has ended, in any order."""

    @abstractmethod
    def read(self, result: Result, request: Request, sent: Sent) -> tuple[Reply, bool]:
        """The reply to a request, and whether it may get a better one if it is sent again as it is written now."""

    @abstractmethod
    def cancelling(self, batch: str) -> str:
        """The command with which the user can cancel a batch."""


def checked(batch: object) -> str:
    """The id of a batch, if it is one. Raises `TransientError` for anything else."""
    if not isinstance(batch, str) or not NAME.fullmatch(batch):
        raise TransientError("the reply names no batch", "broken reply", sent=True)
    return batch


def as_line(request: Mapping[str, Any]) -> bytes:
    """A request as JSON in one line, without the newline. Raises ValueError for half of a surrogate pair."""
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()


def failed(why: str) -> Reply:
    """The reply to a request that got none."""
    return Reply("", State.FAILED, why)


async def json_lines(chunks: AsyncIterator[bytes], longest: int = LONGEST_LINE) -> AsyncIterator[Mapping[str, Any]]:
    """The objects of a file of JSON lines, as its bytes come. A line that is too long, or no object, is passed over."""
    held, too_long = bytearray(), False
    async for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            if not too_long and len(held) + len(piece) <= longest and (line := _object(bytes(held) + piece)):
                yield line
            held.clear()
            too_long = False
        too_long |= len(held) + len(rest) > longest
        if too_long:
            held.clear()
        else:
            held += rest
    if not too_long and (line := _object(bytes(held))):
        yield line


def _object(line: bytes) -> Mapping[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
