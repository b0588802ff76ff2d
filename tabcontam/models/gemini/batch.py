"""Gemini's batch API: one message carries many requests, and the batch contains their replies within a day.

As of 23 November 2026 (https://ai.google.dev/gemini-api/docs/batch-api): requests cost half the price; a batch that
contains its requests has at most 20 MB, with no stated limit on their number; all waiting requests together have at
most the tokens that the key's tier allows. Requests that are not answered within 48 hours expire.
"""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from tabcontam.evidence.questions import Reply
from tabcontam.models.base import ModelRequest, failed
from tabcontam.models.batch_api import (
    MARK,
    BatchProgress,
    BatchResult,
    RequestStyle,
    ServedBatches,
    as_line,
    check_batch_id,
)
from tabcontam.models.openai.connection import get, post
from tabcontam.models.openai.errors import Problem
from tabcontam.models.openai.replies import json_at, message

if TYPE_CHECKING:
    from tabcontam.models.gemini.provider import GeminiModel

FOLDER = "batches/"  # before the id of each batch
ENDED = {
    "SUCCEEDED": "",
    "EXPIRED": "the batch expired before it was answered",
    "CANCELLED": "the batch was cancelled before it was answered",
    "FAILED": "the batch failed",
}
GONE = "the batch no longer exists"
# The HTTP status for each code of google.rpc that a failed request in a batch states.
STATUSES = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 10: 409, 13: 500, 14: 503, 16: 401}
FULL = (8, 429)
PAGE = 100


class GeminiBatches(ServedBatches):
    """The batches of one model at Google's own address."""

    service = "Google"
    most_requests = 50_000
    most_bytes = 18_000_000  # bytes of the 20 MB: the rest is for the message around the requests
    _model: "GeminiModel"

    def written(self, name: str, request: ModelRequest) -> bytes:
        """Return one request as JSON in one line."""
        return as_line({"request": self._model.written(request), "metadata": {"key": name}})

    async def submit(self, requests: Sequence[bytes], mark: str) -> str:
        """Send the requests as a batch, and return the batch's id."""
        inline = b'{"requests":{"requests":[' + b",".join(requests) + b"]}}"
        order = b'{"batch":{"displayName":"%s-%s","inputConfig":%s}}' % (MARK.encode(), mark.encode(), inline)
        path = f"/{self._model.model}:batchGenerateContent"
        return _id(json_at(await self._asked(post(self._model.clients(), path, order)), "name"))

    async def find(self, mark: str, since: float, names: Sequence[str]) -> str | None:
        """Return the id of the batch that was sent with this `mark`, from the server's list; None if there is none."""
        pages = 100
        query = {"pageSize": str(PAGE)}
        for _ in range(pages):
            page = await self._found(get(self._model.clients(), "/batches", query))
            found = json_at(page, "operations")
            for batch in found if isinstance(found, list) else []:
                if json_at(batch, "metadata", "displayName") == f"{MARK}-{mark}":
                    return _id(json_at(batch, "name"))
            if not isinstance(after := json_at(page, "nextPageToken"), str) or not after:
                return None
            query["pageToken"] = after
        return None

    async def standing(self, batch: str) -> BatchProgress:
        """Return the progress of a batch, from its state and its counts."""
        found = await self._found(get(self._model.clients(), f"/{FOLDER}{batch}"))
        if found is None:
            return BatchProgress(ended=True, reason=GONE)
        total, waiting = (_count(found, name) for name in ("requestCount", "pendingRequestCount"))
        done = max(0, total - waiting)
        state = str(json_at(found, "metadata", "state")).rpartition("_STATE_")[2]
        if state not in ENDED:
            return BatchProgress(ended=False, done=done, total=total)
        error = json_at(found, "error")
        why = self._model._line(message(error)) if isinstance(error, dict) else ""
        crowded = state == "FAILED" and json_at(error, "code") in FULL
        return BatchProgress(True, done, total, f"{ENDED[state]}{why and ': '}{why}", crowded)

    async def results(self, batch: str) -> AsyncIterator[BatchResult]:
        """Yield the replies that a batch contains."""
        found = await self._found(get(self._model.clients(), f"/{FOLDER}{batch}"))
        self._before = self._model.habits
        for place in (("metadata", "output"), ("response",)):
            held = json_at(found, *place, "inlinedResponses", "inlinedResponses")
            if isinstance(held, list) and held:
                for line in held:
                    if isinstance(name := json_at(line, "metadata", "key"), str):
                        yield BatchResult(name, line)
                return

    def read(self, result: BatchResult, request: ModelRequest, sent: RequestStyle) -> tuple[Reply, bool]:
        """Return the reply to a request, and whether asking again may get a better one."""
        body = result.content.get("response")
        if isinstance(body, dict):
            return self._reply(body, request, sent)
        error = result.content.get("error")
        if not isinstance(error, dict):
            return failed("the batch holds no reply to this request"), False
        code = error.get("code")
        status = STATUSES.get(code, code) if isinstance(code, int) else 400
        return self._turned_down(Problem(status, {"error": error}), request, sent)

    def cancelling(self, batch: str) -> str:
        """Return the command that cancels a batch. It names the key's variable, not the key."""
        model = self._model
        return f'curl -X POST -H "x-goog-api-key: ${model.key_variable}" {model.url}/{FOLDER}{batch}:cancel'


def _id(name: object) -> str:
    """Return the id of a batch from its name."""
    return check_batch_id(name.removeprefix(FOLDER) if isinstance(name, str) else None)


def _count(batch: object, name: str) -> int:
    """Return a count of requests, which Google writes as a text; 0 if it cannot be read."""
    count = json_at(batch, "metadata", "batchStats", name)
    return int(count) if isinstance(count, int | str) and str(count).isdecimal() and len(str(count)) < 10 else 0
