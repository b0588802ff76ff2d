"""A server on loopback that speaks Gemini's batch protocol beside the rest, well or badly.

    with GeminiBatchServer(lambda body: "42", looks=2) as server:
        ...  # server.submitted, server.live

A batch has ended after `looks` looks at it; its requests are answered by the function that answers any other.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback import Answer, Received, Response
from tests.loopback_gemini import GeminiServer, error, reply

Line = dict[str, Any]
PENDING, SUCCEEDED = "BATCH_STATE_PENDING", "BATCH_STATE_SUCCEEDED"


@dataclass
class Batch:
    """A batch as the server holds it."""

    name: str
    requests: list[Line]
    display_name: str
    looks: int = 0
    state: str = PENDING
    error: Line = field(default_factory=dict)


class GeminiBatchServer(GeminiServer):
    """`looks`: how often a batch is looked at until it has ended. What it does badly:

    `refuse` gives the response to a batch that is not taken; `ending` the state that a batch ends with, and its error;
    `lines` the replies of a batch, as they would be, to as they are.
    """

    def __init__(
        self,
        answer: Answer = lambda body: "fine",
        *,
        looks: int = 1,
        refuse: Callable[[list[Line]], Response | None] = lambda requests: None,
        ending: Callable[[Batch], tuple[str, Line]] = lambda batch: (SUCCEEDED, {}),
        lines: Callable[[list[Line]], list[Line]] = lambda lines: lines,
        as_result: bool = False,
        **given: Any,
    ) -> None:
        super().__init__(answer, **given)
        self.looks = looks
        self.refuse = refuse
        self.ending = ending
        self.lines = lines
        self.place = "response" if as_result else "metadata"  # both are documented
        self.batches: dict[str, Batch] = {}

    @property
    def submitted(self) -> list[Batch]:
        """The batches that were taken, in order."""
        return list(self.batches.values())

    @property
    def live(self) -> list[dict[str, Any]]:
        """The bodies of the queries that were asked outside batches."""
        return [request.body for request in self.requests if request.path.endswith(":generateContent")]

    def _response(self, received: Received) -> Response:
        url = urlsplit(received.path)
        path = url.path.removeprefix("/v1beta/")
        if path.endswith(":batchGenerateContent"):
            return self._made(received.body["batch"])
        if path == "batches":
            return self._page(parse_qs(url.query))
        if path.startswith("batches/"):
            name, _, verb = path.partition(":")
            if name not in self.batches:
                return error(404, f"{name} is not found", "NOT_FOUND")
            if verb == "cancel":
                self.batches[name].state = "BATCH_STATE_CANCELLED"
            return Response(self._looked_at(self.batches[name]))
        return super()._response(received)

    def _made(self, order: Mapping[str, Any]) -> Response:
        requests = order["inputConfig"]["requests"]["requests"]
        keys = [request["metadata"]["key"] for request in requests]
        assert len(set(keys)) == len(keys), "a key came twice"
        assert all(set(request) == {"request", "metadata"} for request in requests)
        if refused := self.refuse(requests):
            return refused
        batch = Batch(f"batches/{len(self.batches)}-abc", requests, order["displayName"])
        self.batches[batch.name] = batch
        return Response(self._shown(batch))

    def _page(self, query: Mapping[str, list[str]]) -> Response:
        first, size = int(query.get("pageToken", ["0"])[0]), int(query["pageSize"][0])
        held = self.submitted
        after = {"nextPageToken": str(first + size)} if first + size < len(held) else {}
        return Response({"operations": [self._shown(batch) for batch in held[first : first + size]], **after})

    def _looked_at(self, batch: Batch) -> Line:
        batch.looks += 1
        if batch.state == PENDING and batch.looks >= self.looks:
            batch.state, batch.error = self.ending(batch)
        return self._shown(batch)

    def _shown(self, batch: Batch) -> Line:
        waiting = len(batch.requests) if batch.state == PENDING else 0
        shown: Line = {
            "name": batch.name,
            "metadata": {
                "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
                "name": batch.name,
                "displayName": batch.display_name,
                "state": batch.state,
                "createTime": "2026-11-23T04:00:00.000000Z",
                "batchStats": {"requestCount": str(len(batch.requests)), "pendingRequestCount": str(waiting)},
            },
        }
        if batch.error:
            shown |= {"done": True, "error": batch.error}
        elif batch.state != PENDING:
            held = {"inlinedResponses": {"inlinedResponses": self.lines([*map(self._result, batch.requests)])}}
            shown |= {"done": True}
            if self.place == "metadata":
                shown["metadata"]["output"] = held
            else:
                shown["response"] = held
        return shown

    def _result(self, request: Line) -> Line:
        answer = self.answer(request["request"])
        answer = reply(answer) if isinstance(answer, str) else answer
        if answer.status == 200:
            return {"metadata": request["metadata"], "response": answer.body}
        assert isinstance(answer.body, dict)
        return {"metadata": request["metadata"], "error": json.loads(json.dumps(answer.body["error"]))}
