"""A server on loopback that speaks Anthropic's batch protocol beside the rest, well or badly.

with AnthropicBatchServer(lambda body: "42", looks=2) as server:
    ...  # server.submitted, server.live
"""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback_anthropic import AnthropicServer, error
from tests.loopback_batches import Batch, Batching, Line, in_bytes, in_lines
from tests.loopback_http import Received, Response

PATH = "/v1/messages/batches"


class AnthropicBatchServer(Batching, AnthropicServer):
    """`unanswered` is what became of those requests that the function answers with nothing."""

    completed = "ended"
    id_of = "msgbatch_{}"

    def __init__(self, *given: Any, unanswered: str = "expired", **named: Any) -> None:
        super().__init__(*given, **named)
        self.unanswered = unanswered

    def _response(self, received: Received) -> Response:
        url = urlsplit(received.path)
        if not url.path.startswith(PATH):
            return super()._response(received)
        name, _, verb = url.path.removeprefix(PATH).removeprefix("/").partition("/")
        if not name:
            return self._made(received) if received.method == "POST" else self._listed(parse_qs(url.query))
        batch = self.batches.get(name)
        if batch is None:
            return error(404, "no such batch", "not_found_error")
        if verb == "results":
            return Response(raw=in_lines(self.lines([in_bytes(self._result(request)) for request in batch.requests])))
        if verb == "cancel":
            batch.status = "ended"
            return Response(self.shown(batch))
        return self.looked_at(batch)

    def _made(self, received: Received) -> Response:
        requests = received.body["requests"]
        names = [request["custom_id"] for request in requests]
        assert all(0 < len(name) <= 64 for name in names)
        if any("temperature" in request["params"] for request in requests):
            assert received.headers["anthropic-version"] == "2023-06-01"
        return self.take(requests, names, made=datetime.now(UTC).timestamp())

    def _listed(self, query: dict[str, list[str]]) -> Response:
        page, more = self.page(query.get("after_id", [""])[0], int(query["limit"][0]))
        last = page[-1]["id"] if page else None
        return Response({"data": page, "has_more": more, "first_id": None, "last_id": last})

    def shown(self, batch: Batch) -> Line:
        """As the API tells of it."""
        done, of = batch.status == "ended", len(batch.requests)
        counts = {"processing": 0 if done else of, "succeeded": of if done else 0}
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": batch.status or "in_progress",
            "request_counts": counts | {"errored": 0, "canceled": 0, "expired": 0},
            "created_at": datetime.fromtimestamp(batch.made, UTC).isoformat().replace("+00:00", "Z"),
            "expires_at": "2026-11-24T04:00:00Z",
            "ended_at": "2026-11-23T05:00:00Z" if done else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.url}{PATH}/{batch.id}/results" if done else None,
        }

    def _result(self, request: Line) -> Line:
        answer = self.answer(request["params"])
        if answer == "":
            return {"custom_id": request["custom_id"], "result": {"type": self.unanswered}}
        answer = self.written(answer, "") if isinstance(answer, str) else answer
        good = answer.status == 200
        result = {"type": "succeeded", "message": answer.body} if good else {"type": "errored", "error": answer.body}
        return {"custom_id": request["custom_id"], "result": result}
