"""Servers on loopback that take batches beside the rest, well or badly; this one speaks OpenAI's protocol.

    with BatchServer(lambda body: "42", looks=2) as server:
        ...  # server.submitted, server.live

A batch has ended after `looks` looks at it; its requests are answered by the function that answers any other.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from tests.loopback import LoopbackServer, error
from tests.loopback_http import Answer, Loopback, Received, Response

MADE = 1_795_400_000.0  # when the first batch was made; each further one a second later
MOST_PAGE = 100
Line = dict[str, Any]
Ending = tuple[str, Any]


@dataclass
class Batch:
    """A batch as the server holds it; `made` is when, in seconds since 1970. An empty status says that it works."""

    id: str
    requests: Sequence[Line]
    made: float = MADE
    mark: Any = ""  # what its owner wrote on it
    endpoint: str = ""
    looks: int = 0
    status: str = ""
    fault: Any = None


class Batching(Loopback):
    """`looks`: how often a batch is looked at until it has ended. What it does badly:

    `refuse` gives the response to a batch that is not taken; `ending` the status that a batch ends with, and what is
    wrong with it; `lines` the results of a batch, as they would be, to as they are.
    """

    completed: ClassVar[str]  # the status of a batch that went well
    id_of: ClassVar[str]  # how a batch is named, from its number

    def __init__(
        self,
        answer: Answer = lambda body: "fine",
        *given: Any,
        looks: int = 1,
        refuse: Callable[[Sequence[Line]], Response | None] = lambda requests: None,
        ending: Callable[[Batch], Ending] | None = None,
        lines: Callable[[list[Any]], list[Any]] = lambda lines: lines,
        **named: Any,
    ) -> None:
        super().__init__(answer, *given, **named)
        self.looks = looks
        self.refuse = refuse
        self.ending: Callable[[Batch], Ending] = ending or (lambda batch: (self.completed, None))
        self.lines = lines
        self.batches: dict[str, Batch] = {}

    @property
    def submitted(self) -> list[Batch]:
        """The batches that were taken, in order."""
        return list(self.batches.values())

    def shown(self, batch: Batch) -> Line:
        """What is told of a batch."""
        raise NotImplementedError

    def take(self, requests: Sequence[Line], names: Sequence[str], **about: Any) -> Response:
        """Take a batch of requests with these names."""
        assert len(set(names)) == len(names), "a name came twice"
        if refused := self.refuse(requests):
            return refused
        number = len(self.batches)
        batch = Batch(self.id_of.format(number), requests, **({"made": MADE + number} | about))
        self.batches[batch.id] = batch
        return Response(self.shown(batch))

    def looked_at(self, batch: Batch) -> Response:
        """Look at a batch once more."""
        batch.looks += 1
        if not batch.status and batch.looks >= self.looks:
            batch.status, batch.fault = self.ending(batch)
        return Response(self.shown(batch))

    def page(self, after: str, most: int) -> tuple[list[Line], bool]:
        """So many batches behind the one with this id, the newest first, and whether there are more."""
        newest = sorted(self.submitted, key=lambda batch: -batch.made)
        first = next((number + 1 for number, batch in enumerate(newest) if batch.id == after), 0)
        page = newest[first : first + most]
        return [self.shown(batch) for batch in page], first + len(page) < len(newest)


class BatchServer(Batching, LoopbackServer):
    """OpenAI's batches: files of requests and of results. Its errors are a list of codes with messages."""

    completed = "completed"
    id_of = "batch_{}"

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.cancelled: list[str] = []
        self._files: dict[str, bytes] = {}
        self._numbers = count(1)

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
                query = parse_qs(urlsplit(received.path).query)
                page, more = self.page(query.get("after", [""])[0], min(MOST_PAGE, int(query.get("limit", ["20"])[0])))
                return Response({"object": "list", "data": page, "has_more": more})
            case "GET", ["batches", name] if name in self.batches:
                return self.looked_at(self.batches[name])
            case "POST", ["batches", name, "cancel"] if name in self.batches:
                self.cancelled.append(name)
                self.batches[name].status = "cancelled"
                return Response(self.shown(self.batches[name]))
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
        assert {(request["method"], request["url"]) for request in requests} == {("POST", order["endpoint"])}
        assert len({request["body"]["model"] for request in requests}) == 1, "a batch has one model"
        names = [request["custom_id"] for request in requests]
        return self.take(requests, names, mark=order.get("metadata") or {}, endpoint=order["endpoint"])

    def shown(self, batch: Batch) -> Line:
        """As the API tells of it: it is validated first."""
        ended = batch.status in ("completed", "expired", "cancelled")
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": batch.endpoint,
            "completion_window": "24h",
            "input_file_id": "file-in",
            "status": batch.status or ("in_progress" if batch.looks else "validating"),
            "created_at": int(batch.made),
            "metadata": dict(batch.mark),
            "request_counts": {
                "total": len(batch.requests),
                "completed": len(batch.requests) if batch.status == self.completed else 0,
                "failed": 0,
            },
            "errors": {"object": "list", "data": batch.fault} if batch.fault else None,
            "output_file_id": f"{batch.id}-output" if ended else None,
            "error_file_id": f"{batch.id}-error" if ended else None,
        }

    def _content(self, name: str) -> bytes | None:
        batch, _, kind = name.rpartition("-")
        if batch not in self.batches:
            return self._files.get(name)
        held = self.batches[batch]
        results = [self._result(held.endpoint, request) for request in held.requests]
        return in_lines(self.lines([in_bytes(line) for line in results if (kind == "output") == _is_good(line)]))

    def _result(self, endpoint: str, request: Line) -> Line:
        result: Line = {"id": f"r-{request['custom_id']}", "custom_id": request["custom_id"]}
        answer = self.answer(request["body"])
        if answer == "":  # it had no time
            expired = {"code": "batch_expired", "message": "This request could not be executed in time."}
            return {**result, "response": None, "error": expired}
        answer = self.written(answer, endpoint) if isinstance(answer, str) else answer
        response = {"status_code": answer.status, "request_id": "q", "body": answer.body}
        return {**result, "response": response, "error": None}


def in_bytes(line: Line) -> bytes:
    """A line of a file of results."""
    return json.dumps(line).encode()


def in_lines(lines: Iterable[bytes]) -> bytes:
    """A file of results."""
    return b"".join(line + b"\n" for line in lines)


def _is_good(line: Line) -> bool:
    return bool(line["response"]) and line["response"]["status_code"] < 300
