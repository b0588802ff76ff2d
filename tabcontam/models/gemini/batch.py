"""Gemini's batch API: one message carries many requests, and the batch contains their replies within a day.

As of 23 November 2026 (https://ai.google.dev/gemini-api/docs/batch-api): requests cost half the price; a batch that
contains its requests has at most 20 MB, with no stated limit on their number; all waiting requests together have at
most the tokens that the key's tier allows. Requests that are not answered within 48 hours expire.
"""

from collections.abc import AsyncIterator, Sequence

from tabcontam.evidence.questions import Reply
from tabcontam.models.base import FatalError, ModelRequest, failed
from tabcontam.models.batch_api import (
    ENDED,
    MARK,
    Batches,
    BatchProgress,
    BatchResult,
    RequestStyle,
    as_line,
    check_batch_id,
)
from tabcontam.models.gemini.replies import passes
from tabcontam.models.openai.connection import get, post
from tabcontam.models.openai.errors import Concern, Problem
from tabcontam.models.openai.replies import json_at, message

FOLDER = "batches/"  # before the id of each batch
# The HTTP status for each code of google.rpc that a failed request in a batch states.
STATUSES = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 10: 409, 13: 500, 14: 503, 16: 401}
FULL = (8, 429)


class GeminiBatches(Batches):
    """The batches of one model at Google's own address."""

    service = "Google"
    path = "/batches"
    most_requests = 50_000
    most_bytes = 18_000_000  # bytes of the 20 MB: the rest is for the message around the requests

    def written(self, name: str, request: ModelRequest) -> bytes:
        return as_line({"request": self._model.written(request), "metadata": {"key": name}})

    async def submit(self, requests: Sequence[bytes], mark: str) -> str:
        inline = b'{"requests":{"requests":[' + b",".join(requests) + b"]}}"
        order = b'{"batch":{"displayName":"%s-%s","inputConfig":%s}}' % (MARK.encode(), mark.encode(), inline)
        path = f"/{self._model.model}:batchGenerateContent"
        return _id(json_at(await self._asked(post(self._model.clients(), path, order)), "name"))

    async def find(self, mark: str, since: float, names: Sequence[str]) -> str | None:
        async for batches in self._pages("pageSize", "operations", "pageToken", may_be_gone=True):
            for batch in batches:
                if json_at(batch, "metadata", "displayName") == f"{MARK}-{mark}":
                    return _id(json_at(batch, "name"))
        return None

    def _progress(self, found: object) -> BatchProgress:
        total, waiting = (_count(found, name) for name in ("requestCount", "pendingRequestCount"))
        done = max(0, total - waiting)
        state = str(json_at(found, "metadata", "state")).rpartition("_STATE_")[2].lower()
        if state not in ENDED:
            return BatchProgress(ended=False, done=done, total=total)
        error = json_at(found, "error")
        why = self._model._line(message(error)) if isinstance(error, dict) else ""
        crowded = state == "failed" and json_at(error, "code") in FULL
        return BatchProgress(True, done, total, f"{ENDED[state]}{why and ': '}{why}", crowded)

    async def results(self, batch: str) -> AsyncIterator[BatchResult]:
        found = await self._asked(get(self._model.clients(), f"/{FOLDER}{batch}"), may_be_gone=True)
        self._before = self._model.habits
        for place in (("metadata", "output"), ("response",)):
            held = json_at(found, *place, "inlinedResponses", "inlinedResponses")
            if isinstance(held, list) and held:
                for line in held:
                    if isinstance(name := json_at(line, "metadata", "key"), str):
                        yield BatchResult(name, line)
                return

    def read(self, result: BatchResult, request: ModelRequest, sent: RequestStyle) -> tuple[Reply, bool]:
        body = result.content.get("response")
        if isinstance(body, dict):
            return self._reply(body, request, sent)
        error = result.content.get("error")
        if not isinstance(error, dict):
            return failed("the batch holds no reply to this request"), False
        code = error.get("code")
        status = STATUSES.get(code, code) if isinstance(code, int) else 400
        reply, again = self._turned_down(Problem(status, {"error": error}), request, sent)
        return reply, again or passes(status)  # even if the quota of a day is used up: the next batch is sent later

    def _refused(self, problem: Problem) -> FatalError:
        concern = self._model.concern(problem)  # the address of a batch has the model's name
        return self._model._fatal(concern, problem) if concern is Concern.MODEL else super()._refused(problem)

    def cancelling(self, batch: str) -> str:
        model = self._model
        return f'curl -X POST -H "x-goog-api-key: ${model.key_variable}" {model.url}/{FOLDER}{batch}:cancel'


def _id(name: object) -> str:
    return check_batch_id(name.removeprefix(FOLDER) if isinstance(name, str) else None)


def _count(batch: object, name: str) -> int:
    """Return a count of requests, which Google writes as a text; 0 if it cannot be read."""
    count = json_at(batch, "metadata", "batchStats", name)
    return int(count) if isinstance(count, int | str) and str(count).isdecimal() and len(str(count)) < 10 else 0
