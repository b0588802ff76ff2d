"""The interface of a provider's batch API: many requests are sent at once, and are answered within a day for half the
price.

A model whose provider has such an API returns a `Batches` as `batches`. A `Batches` only speaks the protocol: `asking`
decides which queries go into which batch, and stores what was sent. A `Batches` raises the errors of `models.base`.
"""

import json
import re
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from tabcontam.evidence.questions import Reply
from tabcontam.models.base import FatalError, Model, ModelRequest, PromptForm, TransientError, failed
from tabcontam.models.openai.connection import NoAnswer
from tabcontam.models.openai.errors import NOT_THERE, Concern, Problem

if TYPE_CHECKING:
    from tabcontam.models.served_llm import ServedLLM

MARK = "tabcontam"  # the key under which a provider stores our name of a batch
NAME = re.compile(r"[\w-]{1,200}", re.ASCII)  # a batch's id, which becomes part of addresses and of a command


@dataclass(frozen=True)
class RequestStyle:
    """The way in which the requests of a batch were written: the prompt form, and the tokens allowed for thinking."""

    form: PromptForm
    allowance: int = 0


@dataclass(frozen=True)
class BatchProgress:
    """The progress of a batch at its provider: `done` of `total` requests.

    `reason`: why some requests have no result, once the batch has `ended`. `crowded`: the provider refused the whole
    batch, since too many requests of this user wait there; a smaller batch would be accepted.
    """

    ended: bool
    done: int = 0
    total: int = 0
    reason: str = ""
    crowded: bool = False


@dataclass(frozen=True)
class BatchResult:
    """The result of one request of a batch: the request's name, and the line that the provider wrote for it."""

    name: str
    content: Mapping[str, Any]


class Batches(Protocol):
    """The batches of one model at `service`, each of at most `most_requests` requests and `most_bytes` bytes."""

    service: str
    most_requests: int
    most_bytes: int
    _model: Model  # the model of these batches

    @property
    def sent(self) -> RequestStyle:
        """The way in which a request would be written now: the prompt form, and the tokens allowed for thinking."""
        return RequestStyle(self._model.form, self._model.allowance)

    @abstractmethod
    def written(self, name: str, request: ModelRequest) -> bytes:
        """Return one request of a batch as JSON in one line. No other request of the batch has this `name`.

        Raises ValueError if a prompt cannot be written as JSON.
        """

    @abstractmethod
    async def submit(self, requests: Sequence[bytes], mark: str) -> str:
        """Send a batch, and return its id. `mark` is tabcontam's name for the batch, by which `find` finds it."""

    @abstractmethod
    async def find(self, mark: str, since: float, names: Sequence[str]) -> str | None:
        """Return the id of the batch that was sent with this `mark` and requests of these `names`; None if none.

        `since`: when it was sent, in seconds since 1970, by this machine's clock.
        """

    @abstractmethod
    async def standing(self, batch: str) -> BatchProgress:
        """Return the progress of a batch."""

    @abstractmethod
    def results(self, batch: str) -> AsyncIterator[BatchResult]:
        """Yield the results of a batch that has ended, in any order."""

    @abstractmethod
    def read(self, result: BatchResult, request: ModelRequest, sent: RequestStyle) -> tuple[Reply, bool]:
        """Return the reply to `request`, written in the style `sent`, and whether asking again may get a better one."""

    @abstractmethod
    def cancelling(self, batch: str) -> str:
        """Return the command with which the user can cancel a batch."""


class ServedBatches(Batches):
    """The batches of a model at a server. `_before`: its habits before the results of a batch were read."""

    _model: "ServedLLM"

    def __init__(self, model: "ServedLLM") -> None:
        self._model, self._before = model, model.habits

    async def _asked(self, call: Awaitable[object]) -> Any:
        """Return the server's reply. Raises `FatalError` if it refuses the request."""
        try:
            return await self._model.called(call)
        except NoAnswer as error:
            raise self._refused(error.problem) from None

    async def _found(self, call: Awaitable[object]) -> Any:
        """Return the server's reply as `_asked` does; None if the server no longer has what the request names."""
        try:
            return await self._model.called(call)
        except NoAnswer as error:
            if error.problem.status in NOT_THERE:
                return None
            raise self._refused(error.problem) from None

    def _refused(self, problem: Problem) -> FatalError:
        return FatalError(self._model._line(f"{self.service} accepts no batch of {self._model.model}: {problem.line}"))

    def _reply(self, body: object, request: ModelRequest, sent: RequestStyle) -> tuple[Reply, bool]:
        """Return the reply in a body from a batch, and whether asking again may get a better one."""
        if problem := self._model.hidden(body):
            return self._turned_down(problem, request, sent)
        try:
            answer = self._model.read(sent.form, body)
        except ValueError as error:
            return failed(self._model._line(str(error))), True
        if answer.broken:
            return failed(answer.broken), True
        self._model.learn(type(self._before)(thinks=answer.cramped))
        reply = replace(self._model.reply(answer, request, sent.form), usage=answer.usage)
        return reply, answer.cramped and not sent.allowance

    def _turned_down(self, problem: Problem, request: ModelRequest, sent: RequestStyle) -> tuple[Reply, bool]:
        """Return the reply to a refused request, and whether it may be accepted when sent again.

        The refusal is compared with the habits before the batch was read: other replies may show it, too.
        """
        arguments = self._before.arguments(sent.form, request)
        if adapted := self._before.adapted(problem, sent.form, request, arguments):
            self._model.learn(adapted)
        if adapted or self._model.concern(problem) is Concern.PASSING:
            return failed(self._model._line(problem.line)), True
        try:
            return self._model.turned_down(problem), False
        except FatalError as error:
            return failed(str(error)), False


def check_batch_id(batch: object) -> str:
    """Return `batch` if it can be the id of a batch. Raises `TransientError` if not."""
    if not isinstance(batch, str) or not NAME.fullmatch(batch):
        raise TransientError("the reply names no batch", "broken reply", sent=True)
    return batch


def as_line(request: Mapping[str, Any]) -> bytes:
    """Return a request as JSON in one line without its end. Raises ValueError for half of a Unicode surrogate pair."""
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()


def json_lines(content: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a file of JSON lines. Skip lines that are no object."""
    for line in content.split(b"\n"):
        with suppress(ValueError, RecursionError):
            if isinstance(found := json.loads(line), dict):
                yield found
