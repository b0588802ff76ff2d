"""A server on loopback that speaks OpenAI's batch protocol beside the rest, well or badly.

    with BatchServer(lambda body: "42", looks=2) as server:
        ...  # server.submitted, server.asked

A batch has ended after `looks` looks at it; its requests are answered by the function that answers any other.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback import Answer, LoopbackServer, Received, Response, completion, error, reply

MADE = 1_795_400_000  # when the first batch was made; each further one a second later
MOST_PAGE = 100
Line = dict[str, Any]


@dataclass
class Batch:
    """A batch as the server holds it."""

    id: str
    requests: list[Line]
    metadata: Mapping[str, str]
    number: int
    endpoint: str = ""
    looks: int = 0
    status: str = "validating"
    errors: list[Line] = field(default_factory=list)


class BatchServer(LoopbackServer):
    """`looks`: how often a batch is looked at until it has ended. What it does badly:

    `refuse` gives the response to a batch that is not taken; `ending` the status that a batch ends with, and its
    errors; `lines` the lines of a file of results, as they would be, to as they are.
    """

    def __init__(
        self,
        answer: Answer = lambda body: "fine",
        models: Sequence[str] = ("model",),
        *,
        looks: int = 1,
        refuse: Callable[[list[Line]], Response | None] = lambda requests: None,
        ending: Callable[[Batch], tuple[str, list[Line]]] = lambda batch: ("completed", []),
        lines: Callable[[list[bytes]], list[bytes]] = lambda lines: lines,
        port: int = 0,
    ) -> None:
        super().__init__(answer, models, port=port)
        self.looks = looks
        self.refuse = refuse
        self.ending = ending
        self.lines = lines
        self.batches: dict[str, Batch] = {}
        self.cancelled: list[str] = []
        self._files: dict[str, bytes] = {}
        self._numbers = count(1)

    @property
    def submitted(self) -> list[Batch]:
        """The batches that were taken, in order."""
        return list(self.batches.values())

    @property
    def live(self) -> list[dict[str, Any]]:
        """The bodies of the queries that were asked outside batches."""
        return [
            request.body
            for request in self.requests
            if request.method == "POST" and request.path.removeprefix("/v1") in self.paths
        ]

    def _response(self, received: Received) -> Response:
        path = urlsplit(received.path).path.removeprefix("/v1")
        match received.method, path.split("/")[1:]:
            case "POST", ["files"]:
                return self._uploaded(received)
            case "GET", ["files", name, "content"]:
                content = self._content(name)
                return error(404, "No such File object") if content is None else Response(raw=content)
            case "POST", ["batches"]:
                return self._made(received.body)
            case "GET", ["batches"]:
                return self._page(parse_qs(urlsplit(received.path).query))
            case "GET", ["batches", name] if name in self.batches:
                return Response(self._looked_at(self.batches[name]))
            case "POST", ["batches", name, "cancel"] if name in self.batches:
                self.cancelled.append(name)
                self.batches[name].status = "cancelled"
                return Response(self._shown(self.batches[name]))
            case _, ["batches", *_]:
                return error(404, "No such batch")
        return super()._response(received)

    def _uploaded(self, received: Received) -> Response:
        """Take a multipart form apart, as strictly as this needs."""
        boundary = re.search(r"boundary=(\S+)", received.headers["content-type"])
        assert boundary, received.headers
        parts: dict[str, bytes] = {}
        for part in received.raw.split(b"--" + boundary[1].encode())[1:-1]:
            head, _, content = part.partition(b"\r\n\r\n")
            named = re.search(rb' name="(\w+)"', head)
            assert named, head
            parts[named[1].decode()] = content.removesuffix(b"\r\n")
        assert parts["purpose"] == b"batch"
        name = f"file-{next(self._numbers)}"
        self._files[name] = parts["file"]
        return Response({"id": name, "object": "file", "bytes": len(parts["file"]), "purpose": "batch"})

    def _made(self, order: Mapping[str, Any]) -> Response:
        requests = [json.loads(line) for line in self._files[order["input_file_id"]].splitlines()]
        assert order["completion_window"] == "24h"
        assert len({request["custom_id"] for request in requests}) == len(requests), "a custom_id came twice"
        assert {(request["method"], request["url"]) for request in requests} == {("POST", order["endpoint"])}
        assert len({request["body"]["model"] for request in requests}) == 1, "a batch has one model"
        if refused := self.refuse(requests):
            return refused
        number = len(self.batches)
        batch = Batch(f"batch_{number}", requests, order.get("metadata") or {}, number, order["endpoint"])
        self.batches[batch.id] = batch
        return Response(self._shown(batch))

    def _page(self, query: Mapping[str, list[str]]) -> Response:
        newest = list(reversed(self.batches.values()))
        after = query.get("after", [""])[0]
        first = next((number + 1 for number, batch in enumerate(newest) if batch.id == after), 0)
        page = newest[first : first + min(MOST_PAGE, int(query.get("limit", ["20"])[0]))]
        more = first + len(page) < len(newest)
        return Response({"object": "list", "data": [self._shown(batch) for batch in page], "has_more": more})

    def _looked_at(self, batch: Batch) -> Line:
        batch.looks += 1
        if batch.status in ("validating", "in_progress"):
            batch.status = "in_progress"
            if batch.looks >= self.looks:
                batch.status, batch.errors = self.ending(batch)
        return self._shown(batch)

    def _shown(self, batch: Batch) -> Line:
        done = len(batch.requests) if batch.status == "completed" else 0
        ended = batch.status in ("completed", "expired", "cancelled")
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": batch.endpoint,
            "completion_window": "24h",
            "input_file_id": "file-in",
            "status": batch.status,
            "created_at": MADE + batch.number,
            "metadata": dict(batch.metadata),
            "request_counts": {"total": len(batch.requests), "completed": done, "failed": 0},
            "errors": {"object": "list", "data": batch.errors} if batch.errors else None,
            "output_file_id": f"{batch.id}-output" if ended else None,
            "error_file_id": f"{batch.id}-error" if ended else None,
        }

    def _content(self, name: str) -> bytes | None:
        batch, _, kind = name.rpartition("-")
        if batch not in self.batches:
            return self._files.get(name)
        good = kind == "output"
        lines = [json.dumps(line).encode() for line in self._results(self.batches[batch]) if good == _is_good(line)]
        return b"".join(line + b"\n" for line in self.lines(lines))

    def _results(self, batch: Batch) -> Iterator[Line]:
        for number, request in enumerate(batch.requests):
            answer = self.answer(request["body"])
            if answer == "":  # it had no time
                expired = {"code": "batch_expired", "message": "This request could not be executed in time."}
                yield {"id": f"r{number}", "custom_id": request["custom_id"], "response": None, "error": expired}
                continue
            if isinstance(answer, str):
                answer = reply(answer) if batch.endpoint == "/v1/chat/completions" else completion(answer)
            response = {"status_code": answer.status, "request_id": f"q{number}", "body": answer.body}
            yield {"id": f"r{number}", "custom_id": request["custom_id"], "response": response, "error": None}


def _is_good(line: Line) -> bool:
    return bool(line["response"]) and line["response"]["status_code"] < 300
