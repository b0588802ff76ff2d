"""The interface of a provider's batch API: many requests are answered within a day for half the price.

A `Batches` only speaks the protocol: `asking` decides which queries go into which batch, and stores what was sent.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

from tabcontam.evidence.questions import Reply
from tabcontam.models.base import FatalError, ModelRequest, PromptForm, TransientError, failed
from tabcontam.models.openai.connection import NoAnswer, get, get_file
from tabcontam.models.openai.errors import NOT_THERE, Concern, Problem
from tabcontam.models.openai.replies import json_at

if TYPE_CHECKING:
    from tabcontam.models.served_llm import ServedLLM

ENDED = {  # words for each state in which a batch has ended
    "completed": "",
    "succeeded": "",
    "expired": "the batch expired before it was answered",
    "cancelled": "the batch was cancelled before it was answered",
    "canceled": "the batch was cancelled before it was answered",
    "failed": "the batch failed",
}
MARK = "tabcontam"  # the key under which a provider stores our name of a batch
NAME = re.compile(r"[\w-]{1,200}", re.ASCII)  # a batch's id, which becomes part of addresses and of a command


@dataclass(frozen=True)
class RequestStyle:
    """The way in which the requests of a batch were written: the prompt form, and the tokens allowed for thinking."""

    form: PromptForm
    allowance: int = 0


@dataclass(frozen=True)
class BatchProgress:
    """The progress of a batch at its provider: `done` of `total` requests."""

    ended: bool
    done: int = 0
    total: int = 0
    reason: str = ""  # why some requests have no result, once the batch has ended
    crowded: bool = False  # a smaller batch would be accepted


@dataclass(frozen=True)
class BatchResult:
    """The result of one request of a batch: the request's name, and the line that the provider wrote for it."""

    name: str
    content: Mapping[str, Any]


class Batches(ABC):
    """The batches of one model at `service`, each of at most `most_requests` requests and `most_bytes` bytes."""

    service: str
    most_requests: int
    most_bytes: int
    path: str  # of all batches

    def __init__(self, model: "ServedLLM") -> None:
        self._model: Any = model
        self._before = model.habits  # before the results of a batch were read

    @property
    def sent(self) -> RequestStyle:
        """The way in which a request would be written now: the prompt form, and the tokens allowed for thinking."""
        return RequestStyle(self._model.form, self._model.allowance)

    @abstractmethod
    def written(self, name: str, request: ModelRequest) -> bytes:
        """Return one request of a batch, called `name`, as JSON in one line. Raises ValueError if that fails."""

    @abstractmethod
    async def submit(self, requests: Sequence[bytes], mark: str) -> str:
        """Send a batch, and return its id. `mark` is tabcontam's name for the batch, by which `find` finds it."""

    @abstractmethod
    async def find(self, mark: str, since: float, names: Sequence[str]) -> str | None:
        """Return the id of the batch sent at `since` (seconds since 1970) with this `mark` and requests, or None."""

    async def standing(self, batch: str) -> BatchProgress:
        """Return the progress of a batch."""
        found = await self._asked(get(self._model.clients(), f"{self.path}/{batch}"), may_be_gone=True)
        return BatchProgress(True, reason="the batch no longer exists") if found is None else self._progress(found)

    @abstractmethod
    def results(self, batch: str) -> AsyncIterator[BatchResult]:
        """Yield the results of a batch that has ended, in any order."""

    @abstractmethod
    def read(self, result: BatchResult, request: ModelRequest, sent: RequestStyle) -> tuple[Reply, bool]:
        """Return the reply to `request`, written in the style `sent`, and whether asking again may get a better one."""

    @abstractmethod
    def cancelling(self, batch: str) -> str:
        """Return the command with which the user can cancel a batch."""

    def _progress(self, found: object) -> BatchProgress:
        """Return the progress in the server's JSON about a batch."""
        raise NotImplementedError

    async def _pages(
        self, size: str, listed: str, after: str, may_be_gone: bool = False
    ) -> AsyncIterator[list[dict[str, Any]]]:
        """Yield the pages of the list of batches. `size` and `after`: parameters of a page; `listed`: the field.

        Only a page that states a next one, as its field `nextPageToken` or by `has_more`, is followed by another.
        """
        query = {size: "100"}
        while True:
            page = await self._asked(get(self._model.clients(), self.path, query), may_be_gone)
            found = json_at(page, listed)
            batches = [batch for batch in (found if isinstance(found, list) else []) if isinstance(batch, dict)]
            yield batches
            more = batches and json_at(page, "has_more") is True
            following = check_batch_id(batches[-1].get("id")) if more else json_at(page, "nextPageToken")
            if not following or not isinstance(following, str) or following == query.get(after):
                return
            query[after] = following

    async def _lines(self, path: str) -> AsyncIterator[BatchResult]:
        """Yield the lines of a file of results."""
        content = await self._asked(get_file(self._model.clients(), path), may_be_gone=True)
        for line in json_lines(content or b""):
            if isinstance(name := line.get("custom_id"), str):
                yield BatchResult(name, line)

    async def _asked(self, call: Awaitable[object], may_be_gone: bool = False) -> Any:
        """Return the server's reply; None if the server no longer has what `may_be_gone`. Raises `FatalError`."""
        try:
            return await self._model.called(call)
        except NoAnswer as error:
            problem = error.problem
        if may_be_gone and problem.status in NOT_THERE:
            return None
        raise self._refused(problem)

    def _refused(self, problem: Problem) -> FatalError:
        line = f"{self.service} accepts no batch of {self._model.model}: {problem.line}"
        return FatalError(self._model._line(line))

    def _reply(self, body: object, request: ModelRequest, sent: RequestStyle) -> tuple[Reply, bool]:
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


# longest: bytes of one result; no answer to a prompt of tabcontam is so long
def json_lines(content: bytes, longest: int = 16 << 20) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a file of JSON lines. Skip lines that are too long or no object."""
    for line in BytesIO(content):  # without a copy of all lines
        if len(line) > longest:
            continue
        with suppress(ValueError, RecursionError):
            if isinstance(found := json.loads(line), dict):
                yield found
