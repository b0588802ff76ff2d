"""OpenAI's batch API: a file of requests is uploaded, and a file of replies can be downloaded within a day.

As of 23 November 2026 (https://developers.openai.com/api/docs/guides/batch): requests cost half the price; a batch has
at most 50,000 requests and 200 MB, one model and one form; all waiting requests together have at most the tokens that
the account's tier allows. Requests that are not answered within 24 hours expire, and are not charged.
"""

from collections.abc import AsyncIterator, Sequence

from tabcontam.evidence.questions import Reply
from tabcontam.models.base import ModelRequest, PromptForm, failed
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
from tabcontam.models.openai.connection import get, post, upload
from tabcontam.models.openai.errors import Problem
from tabcontam.models.openai.replies import json_at, tokens_at

PATHS = {PromptForm.CHAT: "/chat/completions", PromptForm.COMPLETION: "/completions"}
FULL = "token_limit_exceeded"  # the error code of a batch if too many tokens wait already


class OpenAIBatches(Batches):
    """The batches of one model at OpenAI's own address."""

    service = "OpenAI"
    path = "/batches"
    most_requests = 50_000
    most_bytes = 100_000_000  # bytes, half of the largest file allowed: it is in memory

    def written(self, name: str, request: ModelRequest) -> bytes:
        path, body = self._path, self._model.written(request)
        return as_line({"custom_id": name, "method": "POST", "url": path, "body": body})

    async def submit(self, requests: Sequence[bytes], mark: str) -> str:
        clients = self._model.clients()
        content = b"".join(request + b"\n" for request in requests)
        file = check_batch_id(json_at(await self._asked(upload(clients, f"{MARK}-{mark}.jsonl", content)), "id"))
        order = {"input_file_id": file, "endpoint": self._path, "completion_window": "24h", "metadata": {MARK: mark}}
        return check_batch_id(json_at(await self._asked(post(clients, "/batches", order)), "id"))

    async def find(self, mark: str, since: float, names: Sequence[str]) -> str | None:
        skew = 3600.0  # seconds by which two clocks may differ
        async for batches in self._pages("limit", "data", "after"):
            for batch in batches:
                if json_at(batch, "metadata", MARK) == mark:
                    return check_batch_id(batch.get("id"))
            made = batches[-1].get("created_at") if batches else None
            if isinstance(made, int | float) and made < since - skew:
                return None
        return None

    def _progress(self, found: object) -> BatchProgress:
        status = json_at(found, "status")
        done, failures, total = (
            tokens_at(found, "request_counts", name) or 0 for name in ("completed", "failed", "total")
        )
        if status not in ENDED:
            return BatchProgress(ended=False, done=done + failures, total=total)
        first = json_at(found, "errors", "data", 0)
        why = _words(first)
        reason = f"{ENDED[status]}{why and ': '}{why}"[:300]
        crowded = status == "failed" and json_at(first, "code") == FULL
        return BatchProgress(ended=True, done=done + failures, total=total, reason=reason, crowded=crowded)

    async def results(self, batch: str) -> AsyncIterator[BatchResult]:
        found = await self._asked(get(self._model.clients(), f"{self.path}/{batch}"), may_be_gone=True)
        self._before = self._model.habits
        for name in ("output_file_id", "error_file_id"):
            if file := json_at(found, name):
                async for result in self._lines(f"/files/{check_batch_id(file)}/content"):
                    yield result

    def read(self, result: BatchResult, request: ModelRequest, sent: RequestStyle) -> tuple[Reply, bool]:
        response = result.content.get("response")
        status, body = json_at(response, "status_code"), json_at(response, "body")
        if not isinstance(status, int):
            why = _words(result.content.get("error")) or "the batch holds no reply to this request"
            return failed(self._model._line(why)), False
        if status >= 300 or not body:
            return self._turned_down(Problem(status, body), request, sent)
        return self._reply(body, request, sent)

    def cancelling(self, batch: str) -> str:
        model = self._model
        return f'curl -X POST {model.address}/batches/{batch}/cancel -H "Authorization: Bearer ${model.key_variable}"'

    @property
    def _path(self) -> str:
        return f"/v1{PATHS[self._model.form]}"


def _words(error: object) -> str:
    found = [json_at(error, name) for name in ("code", "message")]
    return ": ".join(word for word in found if isinstance(word, str) and word)
