"""The quick server for tests: its settings do what they say, and two runs of it can be compared."""

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.request import urlopen

import pytest

from tests.loopback_quick import FAULTS, Bucket, Server, Settings, chosen_line

ROWS = [f"{number}, {number + 1}, {number + 2}" for number in range(20)]


@dataclass(frozen=True)
class Got:
    """What came back: the status, 0 where the connection broke; the headers; the body if it was JSON."""

    status: int
    headers: str = ""
    body: Any = None

    @property
    def text(self) -> str:
        return str(self.body["choices"][0]["message"]["content"])


def chat(prompt: str) -> dict[str, Any]:
    return {"model": "model", "messages": [{"role": "user", "content": prompt}]}


async def exchange(port: int, bodies: Sequence[dict[str, Any] | None]) -> list[Got]:
    """One connection, kept open for one request after the other; None asks for the counts."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    got = []
    for body in bodies:
        raw = b"" if body is None else json.dumps(body).encode()
        path = "GET /counts" if body is None else "POST /v1/chat/completions"
        writer.write(f"{path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(raw)}\r\n\r\n".encode() + raw)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, ConnectionError):
            got.append(Got(0))
            await closed(writer)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        content = await reader.readexactly(int(head.partition("Content-Length: ")[2].split()[0]))
        try:
            read = json.loads(content)
        except ValueError:
            read = None
        got.append(Got(int(head.split()[1]), head, read))
    await closed(writer)
    return got


async def closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


def talk(settings: Settings, *connections: Sequence[dict[str, Any] | None]) -> tuple[list[list[Got]], dict[str, Any]]:
    """What each of several connections gets at a time, and the counts after it."""

    async def run() -> tuple[list[list[Got]], dict[str, Any]]:
        server = await Server(settings).listen(0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            got = await asyncio.gather(*(exchange(port, bodies) for bodies in connections))
            ((counts,),) = [await exchange(port, [None])]
            return got, counts.body

    return asyncio.run(run())


def test_an_answer_is_a_line_of_the_prompt_and_always_the_same() -> None:
    bodies = [chat("\n".join([*ROWS, str(number)])) for number in range(10)]
    ((first,), _), ((second,), _) = talk(Settings(), bodies), talk(Settings(), bodies[::-1])
    assert [got.text for got in first] == [got.text for got in second[::-1]]
    assert {got.text for got in first} <= {*ROWS, *map(str, range(10))}
    assert len({got.text for got in first}) > 1
    assert chosen_line({"prompt": "one line"}) == "one line"


def test_counts_tell_what_was_asked_and_answered() -> None:
    _, counts = talk(Settings(), [chat("a"), chat("b"), chat("a")])
    assert counts == {"requests": 3, "answered": 3, "by_status": {"200": 3}, "duplicates": 1, "most_at_once": 1}


def test_a_limit_turns_away_what_is_too_much() -> None:
    ((got,), counts) = talk(Settings(rate=0.01, burst=3, retry_after=2), [chat(str(number)) for number in range(5)])
    assert [answer.status for answer in got] == [200, 200, 200, 429, 429]
    assert "Retry-After: 2\r\n" in got[-1].headers
    assert counts["by_status"] == {"200": 3, "429": 2}


def test_a_bucket_fills_again_but_not_over() -> None:
    bucket = Bucket(rate=10, burst=2, now=0)
    assert [bucket.take(0) for _ in range(3)] == [True, True, False]
    assert bucket.take(0.1)
    assert [bucket.take(100) for _ in range(3)] == [True, True, False]


def test_faults_follow_the_seed_and_the_body_alone() -> None:
    bodies = [chat(str(number)) for number in range(120)]
    shuffled = random.Random(1).sample(bodies, len(bodies))
    ((first,), counts) = talk(Settings(faults=0.5, seed=1), bodies)
    ((second,), _) = talk(Settings(faults=0.5, seed=1), shuffled)
    ((third,), _) = talk(Settings(faults=0.5, seed=2), bodies)
    by_body = dict(zip(map(str, shuffled), second, strict=True))
    assert [got.status for got in first] == [by_body[str(body)].status for body in bodies]
    assert [got.status for got in first] != [got.status for got in third]
    assert set(counts["by_status"]) == {*FAULTS, "200"}
    assert counts["answered"] == sum(got.status == 200 and got.body is not None for got in first)
    assert 40 < sum(counts["by_status"][fault] for fault in FAULTS) < 80


def test_a_body_that_met_a_fault_gets_through_in_the_end() -> None:
    ((got,), counts) = talk(Settings(faults=0.5, seed=3), [chat("x")] * 40)
    assert any(answer.status == 200 and answer.body for answer in got)
    assert counts["duplicates"] == counts["answered"] - 1


def test_hundreds_are_served_at_a_time() -> None:
    _, counts = talk(Settings(latency=0.3), *([chat(str(number))] for number in range(256)))
    assert counts["answered"] == 256
    assert counts["most_at_once"] == 256


@pytest.mark.parametrize("path", ["/v1/models", "/counts"])
def test_it_runs_in_a_process_of_its_own(path: str) -> None:
    command = [sys.executable, "-m", "tests.loopback", "--port", "0", "--model", "mine", "--latency", "0.01"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            with urlopen(url.removesuffix("/v1") + path, timeout=10) as response:
                body = json.loads(response.read())
        finally:
            process.terminate()
    assert body["data"][0]["id"] == "mine" if "data" in body else body["requests"] == 0
