"""The interface of a provider's batch API: many requests are sent as one, answered within a day, and cost half.

A provider whose maker has one gives a `Batches` as its model's `batches`. It only speaks the protocol; `asking` decides
which queries go into which batch, and which notes are kept of it. It raises the errors of `models.base`.
"""

import json
import re
from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from tabcontam.evidence.questions import Reply
from tabcontam.models.base import ModelRequest, PromptForm, TransientError

MARK = "tabcontam"  # the key under which a provider stores our own name of a batch
NAME = re.compile(r"[\w-]{1,200}", re.ASCII)  # of a batch: it goes into addresses and into a command


@dataclass(frozen=True)
class RequestStyle:
    """The form and the allowance of tokens for thinking with which the requests of a batch were written."""

    form: PromptForm
    allowance: int = 0


@dataclass(frozen=True)
class BatchProgress:
    """The progress of a batch at its provider: `done` of `total` requests.

    `reason` is why some have no result, once the batch has `ended`. `crowded` means that all of it was refused, since
    more of this user's requests wait at the provider than it allows: fewer at a time would be accepted.
    """

    ended: bool
    done: int = 0
    total: int = 0
    reason: str = ""
    crowded: bool = False


@dataclass(frozen=True)
class BatchResult:
    """The result of one request of a batch: its name, and the line that the provider wrote for it."""

    name: str
    content: Mapping[str, Any]


class Batches(Protocol):
    """The batches of one model at `service`, each of at most `most_requests` requests and `most_bytes` bytes."""

    service: str
    most_requests: int
    most_bytes: int
    _model: Any = None  # whose batches they are

    @property
    def sent(self) -> RequestStyle:
        """The form and the allowance with which a request would be written now."""
        return RequestStyle(self._model.form, self._model.allowance)

    @abstractmethod
    def written(self, name: str, request: ModelRequest) -> bytes:
        """Return one request as a batch holds it, JSON in one line. `name` distinguishes it from the others.

        Raises ValueError if a prompt cannot be written as JSON.
        """

    @abstractmethod
    async def submit(self, requests: Sequence[bytes], mark: str) -> str:
        """Send a batch, under a mark of our own, and return its id."""

    @abstractmethod
    async def find(self, mark: str, since: float, names: Sequence[str]) -> str | None:
        """Return the id of a batch that was sent under this mark with these requests; None if there is none.

        `since` is when it was sent, in seconds since 1970, by this machine's clock.
        """

    @abstractmethod
    async def standing(self, batch: str) -> BatchProgress:
        """Return how far a batch is."""

    @abstractmethod
    def results(self, batch: str) -> AsyncIterator[BatchResult]:
        """Yield the results of a batch that has ended, in any order."""

    @abstractmethod
    def read(self, result: BatchResult, request: ModelRequest, sent: RequestStyle) -> tuple[Reply, bool]:
        """Return the reply to a request, and whether sending it again, as written now, may get a better one."""

    @abstractmethod
    def cancelling(self, batch: str) -> str:
        """Return the command with which the user can cancel a batch."""


def check_batch_id(batch: object) -> str:
    """Return the id of a batch, if it is one. Raises `TransientError` for anything else."""
    if not isinstance(batch, str) or not NAME.fullmatch(batch):
        raise TransientError("the reply names no batch", "broken reply", sent=True)
    return batch


def as_line(request: Mapping[str, Any]) -> bytes:
    """Return a request as JSON in one line, without the newline. Raises ValueError for half of a surrogate pair."""
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()


# longest: bytes of one result; no answer to our prompts is as long
async def json_lines(chunks: AsyncIterator[bytes], longest: int = 16 * 2**20) -> AsyncIterator[Mapping[str, Any]]:
    """Yield the objects of a file of JSON lines while its bytes come; skip a line that is too long or no object."""
    pending, too_long = bytearray(), False
    async for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            if not too_long and len(pending) + len(piece) <= longest and (line := _object(bytes(pending) + piece)):
                yield line
            pending.clear()
            too_long = False
        too_long |= len(pending) + len(rest) > longest
        if too_long:
            pending.clear()
        else:
            pending += rest
    if not too_long and (line := _object(bytes(pending))):
        yield line


def _object(line: bytes) -> Mapping[str, Any] | None:
    with suppress(ValueError, RecursionError):
        if isinstance(found := json.loads(line), dict):
            return found
    return None
