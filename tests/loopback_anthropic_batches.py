"""A server on loopback that speaks Anthropic's batch protocol beside the rest, well or badly.

    with AnthropicBatchServer(lambda body: "42", looks=2) as server:
        ...  # server.submitted, server.live

A batch has ended after `looks` looks at it; its requests are answered by the function that answers any other.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback import Answer, Received, Response
from tests.loopback_anthropic import AnthropicServer, error, reply

Line = dict[str, Any]
PATH = "/v1/messages/batches"


@dataclass
class Batch:
    """A batch as the server holds it; `made` is when, in seconds since 1970."""

    id: str
    requests: list[Line]
    made: float
    looks: int = 0
    status: str = "in_progress"
    unanswered: str = ""  # what became of the requests that have no result: "expired" or "canceled"


class AnthropicBatchServer(AnthropicServer):
    """`looks`: how often a batch is looked at until it has ended. What it does badly:

    `refuse` gives the response to a batch that is not taken; `unanswered` what became of those requests that the
    function answers with nothing; `lines` the lines of a file of results, as they would be, to as they are.
    """

    def __init__(
        self,
        answer: Answer = lambda body: "fine",
        *,
        looks: int = 1,
        refuse: Callable[[list[Line]], Response | None] = lambda requests: None,
        unanswered: str = "expired",
        lines: Callable[[list[bytes]], list[bytes]] = lambda lines: lines,
        **given: Any,
    ) -> None:
        super().__init__(answer, **given)
        self.looks = looks
        self.refuse = refuse
        self.unanswered = unanswered
        self.lines = lines
        self.batches: dict[str, Batch] = {}

    @property
    def submitted(self) -> list[Batch]:
        """The batches that were taken, in order."""
        return list(self.batches.values())

    @property
    def live(self) -> list[dict[str, Any]]:
        """The bodies of the queries that were asked outside batches."""
        return [request.body for request in self.requests if request.path == "/v1/messages"]

    def _response(self, received: Received) -> Response:
        url = urlsplit(received.path)
        if not url.path.startswith(PATH):
            return super()._response(received)
        name, _, verb = url.path.removeprefix(PATH).removeprefix("/").partition("/")
        if not name:
            return self._made(received) if received.method == "POST" else self._page(parse_qs(url.query))
        batch = self.batches.get(name)
        if batch is None:
            return error(404, "no such batch", "not_found_error")
        if verb == "results":
            lines = [json.dumps(self._result(request)).encode() for request in batch.requests]
            return Response(raw=b"".join(line + b"\n" for line in self.lines(lines)))
        if verb == "cancel":
            batch.status = "ended"
            return Response(self._shown(batch))
        batch.looks += 1
        batch.status = "ended" if batch.looks >= self.looks else batch.status
        return Response(self._shown(batch))

    def _made(self, received: Received) -> Response:
        requests = received.body["requests"]
        names = [request["custom_id"] for request in requests]
        assert len(set(names)) == len(names), "a custom_id came twice"
        assert all(0 < len(name) <= 64 for name in names)
        if any("temperature" in request["params"] for request in requests):
            assert received.headers["anthropic-version"] == "2023-06-01"
        if refused := self.refuse(requests):
            return refused
        batch = Batch(f"msgbatch_{len(self.batches)}", requests, datetime.now(UTC).timestamp())
        self.batches[batch.id] = batch
        return Response(self._shown(batch))

    def _page(self, query: dict[str, list[str]]) -> Response:
        newest = sorted(self.batches.values(), key=lambda batch: -batch.made)
        after = query.get("after_id", [""])[0]
        first = next((number + 1 for number, batch in enumerate(newest) if batch.id == after), 0)
        page = newest[first : first + int(query["limit"][0])]
        more = first + len(page) < len(newest)
        last = page[-1].id if page else None
        return Response({"data": [*map(self._shown, page)], "has_more": more, "first_id": None, "last_id": last})

    def _shown(self, batch: Batch) -> Line:
        done, of = batch.status == "ended", len(batch.requests)
        counts = {"processing": 0 if done else of, "succeeded": of if done else 0}
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": batch.status,
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
        answer = reply(answer) if isinstance(answer, str) else answer
        good = answer.status == 200
        result = {"type": "succeeded", "message": answer.body} if good else {"type": "errored", "error": answer.body}
        return {"custom_id": request["custom_id"], "result": result}
