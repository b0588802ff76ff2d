"""A server on loopback that speaks Gemini's batch protocol beside the rest, well or badly.

with GeminiBatchServer(lambda body: "42", looks=2) as server:
    ...  # server.submitted, server.live
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback_batches import Batch, Batching, Line
from tests.loopback_gemini import GeminiServer, error
from tests.loopback_http import Received, Response

PENDING = "BATCH_STATE_PENDING"


class GeminiBatchServer(Batching, GeminiServer):
    """The results are in the metadata of a batch, or in its response `as_result`: both are documented."""

    completed = "BATCH_STATE_SUCCEEDED"
    id_of = "batches/{}-abc"

    def __init__(self, *given: Any, as_result: bool = False, **named: Any) -> None:
        super().__init__(*given, **named)
        self.as_result = as_result

    def _response(self, received: Received) -> Response:
        url = urlsplit(received.path)
        path = url.path.removeprefix("/v1beta/")
        if path.endswith(":batchGenerateContent"):
            return self._made(received.body["batch"])
        if path == "batches":
            return self._listed(parse_qs(url.query))
        if path.startswith("batches/"):
            name, _, verb = path.partition(":")
            if name not in self.batches:
                return error(404, f"{name} is not found", "NOT_FOUND")
            if verb == "cancel":
                self.batches[name].status = "BATCH_STATE_CANCELLED"
            return self.looked_at(self.batches[name])
        return super()._response(received)

    def _made(self, order: Mapping[str, Any]) -> Response:
        requests = order["inputConfig"]["requests"]["requests"]
        assert all(set(request) == {"request", "metadata"} for request in requests)
        return self.take(requests, [request["metadata"]["key"] for request in requests], mark=order["displayName"])

    def _listed(self, query: Mapping[str, list[str]]) -> Response:
        page, more = self.page(query.get("pageToken", [""])[0], int(query["pageSize"][0]))
        return Response({"operations": page, **({"nextPageToken": page[-1]["name"]} if more else {})})

    def shown(self, batch: Batch) -> Line:
        """As the API tells of it."""
        metadata: Line = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
            "name": batch.id,
            "displayName": batch.mark,
            "state": batch.status or PENDING,
            "createTime": "2026-11-23T04:00:00.000000Z",
            "batchStats": {
                "requestCount": str(len(batch.requests)),
                "pendingRequestCount": str(0 if batch.status else len(batch.requests)),
            },
        }
        shown: Line = {"name": batch.id, "metadata": metadata}
        if batch.fault:
            return shown | {"done": True, "error": batch.fault}
        if batch.status:
            held = {"inlinedResponses": {"inlinedResponses": self.lines([*map(self._result, batch.requests)])}}
            (shown if self.as_result else metadata)["response" if self.as_result else "output"] = held
            shown["done"] = True
        return shown

    def _result(self, request: Line) -> Line:
        answer = self.answer(request["request"])
        answer = self.written(answer, "") if isinstance(answer, str) else answer
        if answer.status == 200:
            return {"metadata": request["metadata"], "response": answer.body}
        assert isinstance(answer.body, dict)
        return {"metadata": request["metadata"], "error": answer.body["error"]}
