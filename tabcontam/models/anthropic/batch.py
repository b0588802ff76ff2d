"""Anthropic's batch API: one message carries many requests, and a file with their results is ready within a day.

As of 23 November 2026 (https://platform.claude.com/docs/en/build-with-claude/batch-processing): requests cost half the
price; a batch has at most 100,000 requests and 256 MB. Requests that are not answered within 24 hours expire, and are
not charged. The results can be fetched for 29 days. A batch cannot carry a name that tabcontam chose. If its id is
lost, the batch is recognised by the time of its making and its number of requests. Once it has ended, its requests must
also have the expected names.
"""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from tabcontam.evidence.questions import Reply
from tabcontam.models.base import ModelRequest, failed
from tabcontam.models.batch_api import (
    BatchProgress,
    BatchResult,
    RequestStyle,
    ServedBatches,
    as_line,
    check_batch_id,
    json_lines,
)
from tabcontam.models.openai.connection import get, get_file, post
from tabcontam.models.openai.errors import Problem
from tabcontam.models.openai.replies import json_at, tokens_at

if TYPE_CHECKING:
    from tabcontam.models.anthropic.provider import AnthropicModel

PATH = "/v1/messages/batches"
UNANSWERED = {
    "expired": "the batch expired before it was answered",
    "canceled": "the batch was cancelled before it was answered",
}
GONE = "the batch no longer exists"
COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")
# The HTTP status that an error of each type has outside a batch.
STATUSES = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "timeout_error": 504,
    "overloaded_error": 529,
}  # fmt: skip
GREEDY_VERSION = "2023-06-01"  # the last version of the protocol that accepts a temperature
PAGE = 100
BEFORE, AFTER = 300.0, 3600.0  # seconds around a submission in which its batch may have been made, as clocks differ


class AnthropicBatches(ServedBatches):
    """The batches of one model at Anthropic's own address."""

    service = "Anthropic"
    most_requests = 100_000
    most_bytes = 100_000_000  # bytes of the 256 MB that a batch may have: the requests are in memory
    _model: "AnthropicModel"

    def written(self, name: str, request: ModelRequest) -> bytes:
        """Return the JSON of one request of a batch. `name` identifies the request in the batch."""
        return as_line({"custom_id": name, "params": self._model.written(request)})

    async def submit(self, requests: Sequence[bytes], mark: str) -> str:
        """Send the requests as a batch, and return the batch's id."""
        order = b'{"requests":[' + b",".join(requests) + b"]}"
        headers = {} if "temperature" in self._model.habits.refused else {"anthropic-version": GREEDY_VERSION}
        made = await self._asked(post(self._model.clients(), PATH, order, headers=headers))
        return check_batch_id(json_at(made, "id"))

    async def find(self, mark: str, since: float, names: Sequence[str]) -> str | None:
        """Return the id of the batch with requests of these `names` that was made closest to `since`; None if none."""
        after, known, fitting = "", set(names), list[tuple[float, str]]()
        while True:
            path = f"{PATH}?limit={PAGE}{after and f'&after_id={after}'}"
            page = await self._asked(get(self._model.clients(), path))
            found = json_at(page, "data")
            batches = [batch for batch in (found if isinstance(found, list) else []) if isinstance(batch, dict)]
            made = 0.0
            for batch in batches:
                made = _moment(batch.get("created_at"))
                if since - BEFORE <= made <= since + AFTER and _counted(batch) == len(names):
                    fitting.append((abs(made - since), check_batch_id(batch.get("id"))))
                    if batch.get("processing_status") == "ended" and not await self._holds(fitting[-1][1], known):
                        fitting.pop()
            last = str(json_at(page, "last_id"))
            if not batches or made < since - BEFORE or json_at(page, "has_more") is not True or last == after:
                return min(fitting)[1] if fitting else None
            after = check_batch_id(last)

    async def standing(self, batch: str) -> BatchProgress:
        """Return the progress of a batch, from its status and its counts."""
        found = await self._found(get(self._model.clients(), f"{PATH}/{batch}"))
        if found is None:
            return BatchProgress(ended=True, reason=GONE)
        total, waiting = _counted(found), tokens_at(found, "request_counts", "processing") or 0
        return BatchProgress(json_at(found, "processing_status") == "ended", total - waiting, total)

    async def results(self, batch: str) -> AsyncIterator[BatchResult]:
        """Yield the lines of the file with a batch's results."""
        self._before = self._model.habits
        # The address of the file is not taken from the server, which could name another host.
        content = await self._found(get_file(self._model.clients(), f"{PATH}/{batch}/results"))
        for line in json_lines(content or b""):
            if isinstance(name := line.get("custom_id"), str):
                yield BatchResult(name, line)

    def read(self, result: BatchResult, request: ModelRequest, sent: RequestStyle) -> tuple[Reply, bool]:
        """Return the reply in a line of the file, and whether asking again may get a better one."""
        found = result.content.get("result")
        kind, body = json_at(found, "type"), json_at(found, "message")
        if kind == "succeeded" and isinstance(body, dict):
            return self._reply(body, request, sent)
        error = json_at(found, "error")
        if kind == "errored" and isinstance(error, dict):
            name = json_at(error, "error", "type")
            problem = Problem(STATUSES.get(name, 500) if isinstance(name, str) else 500, error)
            return self._turned_down(problem, request, sent)
        why = UNANSWERED.get(kind) if isinstance(kind, str) else None
        return failed(why or "the batch holds no reply to this request"), False

    def cancelling(self, batch: str) -> str:
        """Return the command that cancels a batch. It names the key's variable, not the key."""
        model = self._model
        headers = f'-H "x-api-key: ${model.key_variable}" -H "anthropic-version: 2023-06-01"'
        return f"curl -X POST {headers} {model.address}{PATH}/{batch}/cancel"

    async def _holds(self, batch: str, names: set[str]) -> bool:
        """Return whether a batch that has ended has a request with one of these names."""
        return any([result.name in names async for result in self.results(batch)])


def _counted(batch: object) -> int:
    """Return how many requests a batch has: the sum of its counts over all states."""
    return sum(tokens_at(batch, "request_counts", name) or 0 for name in COUNTS)


def _moment(text: object) -> float:
    """Return the seconds since 1970 of a time that the server states; 0 if it cannot be read."""
    try:
        return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else 0.0
    except (ValueError, OverflowError):
        return 0.0
