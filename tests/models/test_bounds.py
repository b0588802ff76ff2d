"""Answers without end: a body, a packed one, a byte now and then, headers; each ends in a line, in little memory."""

import gzip
import json
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tabcontam.errors import Exit
from tabcontam.models import bounds
from tabcontam.models.openai import connection
from tests.commands import tabcontam

Send = Callable[[bytes], object]
LISTING = json.dumps({"data": [{"id": "m"}]}).encode()


def endless(send: Send) -> None:
    while True:
        send(b"10000\r\n" + b" " * 65536 + b"\r\n")


def dripping(send: Send) -> None:
    while True:
        send(b"1\r\n \r\n")
        time.sleep(0.05)


def packed(send: Send) -> None:
    bomb = zlib.compressobj(9, zlib.DEFLATED, 31)
    text = b"".join(bomb.compress(b" " * 2**20) for _ in range(40)) + bomb.flush()
    send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(text), text))


def behind(send: Send) -> None:
    text = gzip.compress(LISTING)
    send(b"%x\r\n%s\r\n" % (len(text), text))
    endless(send)


def slow_headers(send: Send) -> None:
    while True:
        send(b"X: y\r\n")
        time.sleep(0.05)


CHUNKED = b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
GZIP = CHUNKED + b"Content-Encoding: gzip\r\n"
BODIES: dict[str, tuple[bytes, Callable[[Send], None]]] = {
    "endless": (CHUNKED + b"\r\n", endless),
    "packed": (GZIP + b"\r\n", packed),
    "behind": (GZIP + b"\r\n", behind),
    "dripping": (CHUNKED + b"\r\n", dripping),
    "headers": (CHUNKED, slow_headers),
}


@contextmanager
def server(kind: str, where: str) -> Iterator[str]:
    """A server whose answers of one kind (GET lists models, POST chats) have no end."""
    head, body = BODIES[kind]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self._answer("POST")

        def _answer(self, method: str) -> None:
            self.close_connection = True
            if method != where:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(LISTING), LISTING))
                return
            try:
                self.wfile.write(b"HTTP/1.1 200 OK\r\n" + head)
                body(self.wfile.write)
            except OSError:
                return

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (so it is called there)
            """Nothing is printed."""

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    thread = Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{made.server_port}/v1"
    finally:
        made.shutdown()
        made.server_close()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["GET", "POST"])
@pytest.mark.parametrize("kind", BODIES)
def test_an_answer_without_end_is_a_line(
    kind: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "LONGER", 1.0)
    monkeypatch.setattr(connection, "SECONDS", 1.0)
    monkeypatch.setitem(connection.LISTING, "timeout", 1.0)
    began = time.monotonic()
    with server(kind, where) as url:
        words = ["--llm", f"openai:m@{url}", "--dataset", "wine", "--no-controls", "--queries", "12", "--no-cache"]
        done = tabcontam("run", *words, "-k", "feature_completion", "--out", str(tmp_path / "out"))
    line = "1 s" if kind in ("dripping", "headers") else "the answer is longer than 16 MiB"
    if where == "GET":
        assert done.returncode == Exit.USAGE
        assert line in done.stderr
    else:
        assert "no answer" in done.stdout
        trials = [json.loads(text) for text in (tmp_path / "out" / "trials.jsonl").read_text("utf-8").splitlines()]
        assert {trial["state"] for trial in trials} <= {"failed", "empty"}
        assert "retries" not in done.stderr
    assert time.monotonic() - began < 60
