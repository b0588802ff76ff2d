"""OpenAI's batch API: a file of requests is uploaded, and a file of replies can be downloaded within a day.

As of 23 November 2026 (https://developers.openai.com/api/docs/guides/batch): requests cost half the price; a batch has
at most 50,000 requests and 200 MB, one model and one form; all waiting requests together have at most the tokens that
the account's tier allows. Requests that are not answered within 24 hours expire, and are not charged.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tabcontam.evidence.questions import Reply
from tabcontam.models.base import ModelRequest, PromptForm, failed
from tabcontam.models.batch_api import (
    MARK,
    BatchProgress,
    BatchResult,
    RequestStyle,
    ServedBatches,
    as_line,
    check_batch_id,
    json_lines,
)
from tabcontam.models.openai.connection import get, get_file, post, upload
from tabcontam.models.openai.errors import Problem
from tabcontam.models.openai.replies import json_at, tokens_at

if TYPE_CHECKING:
    from tabcontam.models.openai.provider import OpenAIModel

PATHS = {PromptForm.CHAT: "/chat/completions", PromptForm.COMPLETION: "/completions"}
ENDED = {
    "completed": "",
    "expired": "the batch expired before it was answered",
    "cancelled": "the batch was cancelled before it was answered",
    "failed": "the batch failed",
}
FULL = "token_limit_exceeded"  # the error code of a batch if too many tokens wait already
GONE = "the batch no longer exists"
PAGE = 100  # batches on a page of the list of batches


class OpenAIBatches(ServedBatches):
    """The batches of one model at OpenAI's own address."""

    service = "OpenAI"
    most_requests = 50_000
    most_bytes = 100_000_000  # bytes, half of the largest file allowed: it is in memory
    _model: "OpenAIModel"

    def written(self, name: str, request: ModelRequest) -> bytes:
        """Return one request as a line of a batch's file."""
        path, body = self._path, self._model.written(request)
        return as_line({"custom_id": name, "method": "POST", "url": path, "body": body})

    async def submit(self, requests: Sequence[bytes], mark: str) -> str:
        """Upload the requests as a file, and order a batch of them. Return the batch's id."""
        clients = self._model.clients()
        content = b"".join(request + b"\n" for request in requests)
        file = check_batch_id(json_at(await self._asked(upload(clients, f"{MARK}-{mark}.jsonl", content)), "id"))
        order = {"input_file_id": file, "endpoint": self._path, "completion_window": "24h", "metadata": {MARK: mark}}
        return check_batch_id(json_at(await self._asked(post(clients, "/batches", order)), "id"))

    async def find(self, mark: str, since: float, names: Sequence[str]) -> str | None:
        """Return the id of the batch that was sent with this `mark`, from the server's list; None if there is none."""
        skew = 3600.0  # seconds by which two clocks may differ
        after = ""
        while True:
            query = {"limit": str(PAGE), **({"after": after} if after else {})}
            page = await self._asked(get(self._model.clients(), "/batches", query))
            found = json_at(page, "data")
            batches = [batch for batch in (found if isinstance(found, list) else []) if isinstance(batch, dict)]
            for batch in batches:
                if json_at(batch, "metadata", MARK) == mark:
                    return check_batch_id(batch.get("id"))
            last = batches[-1] if batches else {}
            made = last.get("created_at")
            older = isinstance(made, int | float) and made < since - skew
            if older or json_at(page, "has_more") is not True or check_batch_id(last.get("id")) == after:
                return None
            after = check_batch_id(last.get("id"))

    async def standing(self, batch: str) -> BatchProgress:
        """Return the progress of a batch, from its status and its counts."""
        held = await self._batch(batch)
        if held is None:
            return BatchProgress(ended=True, reason=GONE)
        status, names = held.get("status"), ("completed", "failed", "total")
        done, failures, total = (tokens_at(held, "request_counts", name) or 0 for name in names)
        if status not in ENDED:
            return BatchProgress(ended=False, done=done + failures, total=total)
        first = json_at(held, "errors", "data", 0)
        why = _words(first)
        reason = f"{ENDED[status]}{why and ': '}{why}"[:300]
        crowded = status == "failed" and json_at(first, "code") == FULL
        return BatchProgress(ended=True, done=done + failures, total=total, reason=reason, crowded=crowded)

    async def results(self, batch: str) -> AsyncIterator[BatchResult]:
        """Yield the lines of a batch's two files: first the replies, then the errors."""
        held, self._before = await self._batch(batch), self._model.habits
        for name in ("output_file_id", "error_file_id"):
            if not (file := json_at(held, name)):
                continue
            content = await self._found(get_file(self._model.clients(), f"/files/{check_batch_id(file)}/content"))
            for line in json_lines(content or b""):
                if isinstance(custom_id := line.get("custom_id"), str):
                    yield BatchResult(custom_id, line)

    def read(self, result: BatchResult, request: ModelRequest, sent: RequestStyle) -> tuple[Reply, bool]:
        """Return the reply in a line of either file, and whether asking again may get a better one."""
        response = result.content.get("response")
        status, body = json_at(response, "status_code"), json_at(response, "body")
        if not isinstance(status, int):
            why = _words(result.content.get("error")) or "the batch holds no reply to this request"
            return failed(self._model._line(why)), False
        if status >= 300 or not body:
            return self._turned_down(Problem(status, body), request, sent)
        return self._reply(body, request, sent)

    def cancelling(self, batch: str) -> str:
        """Return the command that cancels a batch. It names the key's variable, not the key."""
        model = self._model
        return f'curl -X POST {model.address}/batches/{batch}/cancel -H "Authorization: Bearer ${model.key_variable}"'

    @property
    def _path(self) -> str:
        return f"/v1{PATHS[self._model.form]}"

    async def _batch(self, batch: str) -> Mapping[str, Any] | None:
        """Return the server's JSON about a batch; None if the batch no longer exists."""
        found = await self._found(get(self._model.clients(), f"/batches/{batch}"))
        return found if found is None or isinstance(found, dict) else {}


def _words(error: object) -> str:
    """Return the code and the message of an error of a batch or of one of its requests."""
    found = [json_at(error, name) for name in ("code", "message")]
    return ": ".join(word for word in found if isinstance(word, str) and word)
