"""An answer that goes on without end is ended, at servers of this machine; all others are asked as before."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tabcontam.evidence.questions import Message, Prompt, Reply, ReplyState
from tabcontam.models.base import WENT_ON, ModelRequest, TransientError
from tabcontam.models.openai import connection
from tabcontam.models.openai.provider import OpenAIModel
from tests.loopback import LoopbackServer, Response, completion, error, reply
from tests.loopback_habits import Body, of_events, streamed

ASKED = ("petal length (cm)", "petal width (cm)")
PROMPT = Prompt((Message("user", "Complete the row."),), "The petal length (cm) is", "", values=ASKED)
ROW = "The petal length (cm) is 4.0, The petal width (cm) is 1.3"
RAMBLE = ", ".join([ROW, *(f"The petal length (cm) is {n}.1, The petal width (cm) is {n}.2" for n in range(40))])


def answers(server: LoopbackServer, *requests: ModelRequest, form: str = "chat") -> list[Reply]:
    """What one model answers to these, one after the other; None in place of what may pass."""

    async def ask() -> list[Reply]:
        model = OpenAIModel("model", server.url, form)
        try:
            return [await model.generate(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(ask())


def rambling(body: Body, text: str = RAMBLE) -> Response:
    """What a small LLM sends, as a stream where that is asked for."""
    whole = reply(text, "length", 256) if "messages" in body else completion(text, "length", 256)
    return replace(streamed(whole, 8), pause=0.001) if body.get("stream") else whole


@pytest.mark.parametrize("form", ["chat", "completion"])
def test_one_that_goes_on_without_end_is_hung_up_on(form: str) -> None:
    prompt = replace(PROMPT, stop=())
    with LoopbackServer(rambling) as server:
        (got,) = answers(server, ModelRequest(prompt, 256), form=form)
    assert (got.state, got.detail) == (ReplyState.TRUNCATED, WENT_ON)
    assert got.text.startswith(ROW)
    assert RAMBLE.startswith(got.text)
    assert got.tokens == len(got.text) / 8 < 60
    assert len(server.left) == 1
    assert server.left[0] < len(RAMBLE) / 8 - 10
    (asked,) = server.asked
    assert asked["stream"] is True
    assert asked["stream_options"] == {"include_usage": True}


def test_a_text_that_reached_its_stop_has_ended() -> None:
    with LoopbackServer(lambda body: rambling(body, f" 4.0, The petal width (cm) is 1.3\n{RAMBLE}")) as server:
        (got,) = answers(server, ModelRequest(PROMPT, 256), form="completion")
    assert (got.state, got.text) == (ReplyState.OK, " 4.0, The petal width (cm) is 1.3")


ELSEWHERE = pytest.param(ModelRequest(PROMPT, 256), False, id="at a server elsewhere")
OTHERS = [
    ELSEWHERE,
    pytest.param(ModelRequest(replace(PROMPT, values=()), 256), True, id="where no values are asked"),
    pytest.param(ModelRequest(PROMPT, 256, structured=True), True, id="where the answer is held to a schema"),
]


@pytest.mark.parametrize(("request_", "local"), OTHERS)
def test_nothing_changes(request_: ModelRequest, local: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabcontam.models.served_model.is_loopback", lambda address: local)
    with LoopbackServer(rambling) as server:
        (got,) = answers(server, request_)
    assert (got.text, got.state, got.detail, got.tokens) == (RAMBLE, ReplyState.TRUNCATED, "token limit", 256)
    assert not {"stream", "stream_options"} & server.asked[0].keys()


THOUGHT = f"<think>\n{RAMBLE}\n</think>\n\n{ROW}"
ROWS = "\n".join([ROW] * 5)


@pytest.mark.parametrize(("text", "read"), [(ROW, ROW), (THOUGHT, ROW), (f"{RAMBLE}\n</think>\n{ROW}"[-200:], ROW)])
def test_one_that_ends_is_read_to_its_end_with_its_usage(text: str, read: str) -> None:
    with LoopbackServer(lambda body: streamed(reply(text, tokens=20), 4)) as server:
        (got,) = answers(server, ModelRequest(PROMPT, 256))
    assert (got.text, got.state, got.tokens) == (read, ReplyState.OK, 20)


def refusing(refusal: Response, *names: str) -> Callable[[Body], Response]:
    return lambda body: refusal if set(names) & body.keys() else rambling(body, ROW)


REFUSALS = [
    (error(400, "Unrecognized request argument supplied: stream_options", param="stream_options"), ["stream_options"]),
    (Response({"detail": [{"type": "extra_forbidden", "loc": ["body", "stream"]}]}, 422), ["stream"]),
    (error(400, "Streaming is not supported; supported are temperature and max_tokens"), ["stream"]),
    (error(501, "not implemented"), ["stream"]),
    (error(400, "bad request"), ["stream"]),
]


@pytest.mark.parametrize(("refusal", "names"), REFUSALS, ids=range(len(REFUSALS)))
def test_a_server_that_refuses_is_asked_as_before(refusal: Response, names: Sequence[str]) -> None:
    with LoopbackServer(refusing(refusal, *names)) as server:
        got = answers(server, ModelRequest(PROMPT, 256), ModelRequest(PROMPT, 256))
    assert [(one.text, one.state) for one in got] == [(ROW, ReplyState.TRUNCATED)] * 2
    first, *others = server.asked
    assert first["stream"]
    assert len(others) == 2
    for body in others:
        assert not set(names) & body.keys()
        assert (body["temperature"], body["max_tokens"]) == (0, 256)


def test_a_refusal_for_another_reason_is_none_of_streams() -> None:
    with LoopbackServer(lambda body: error(400, "bad row") if "4.0" in str(body) else rambling(body)) as server:
        bad = ModelRequest(replace(PROMPT, chat=(Message("user", "4.0"),)), 256)
        first, failed, after = answers(server, ModelRequest(PROMPT, 256), bad, ModelRequest(PROMPT, 256))
    assert [one.state for one in (first, failed, after)] == [
        ReplyState.TRUNCATED,
        ReplyState.FAILED,
        ReplyState.TRUNCATED,
    ]
    assert [bool(body.get("stream")) for body in server.asked] == [True] * 3


@pytest.mark.parametrize(
    "answer", [lambda text: reply(text), lambda text: Response(raw=b"\n\n" + json.dumps(reply(text).body).encode())]
)
def test_one_piece_in_place_of_a_stream_is_read(answer: Callable[[str], Response]) -> None:
    with LoopbackServer(lambda body: answer(RAMBLE)) as server:
        (got,) = answers(server, ModelRequest(PROMPT, 256))
    assert (got.text, got.state, got.tokens) == (RAMBLE, ReplyState.OK, 3)


EVENTS = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in (ROW, ", ", ROW)]
BROKEN = [
    of_events(EVENTS, end=""),  # it breaks off
    of_events(EVENTS, end="data: {\n\n"),
    replace(rambling({"messages": (), "stream": True}, ROW), pause=None, cut=True),
    error(500, "no such thing"),
]


@pytest.mark.parametrize("broken", BROKEN, ids=range(len(BROKEN)))
def test_a_stream_that_fails_may_pass_and_is_not_asked_for_again(broken: Response) -> None:
    async def twice(server: LoopbackServer) -> Reply:
        model = OpenAIModel("model", server.url)
        try:
            with pytest.raises(TransientError):
                await model.generate(ModelRequest(PROMPT, 256))
            return await model.generate(ModelRequest(PROMPT, 256))
        finally:
            await model.close()

    with LoopbackServer(lambda body: broken if "stream" in body else reply(ROW)) as server:
        got = asyncio.run(twice(server))
    assert (got.text, got.state) == (ROW, ReplyState.OK)
    assert ["stream" in body for body in server.asked] == [True, False]


def test_a_stream_that_stops_to_come_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "SECONDS", 0.3)
    slow: Any = replace(streamed(reply(ROW)), pause=0.5)
    with LoopbackServer(lambda body: slow) as server, pytest.raises(TransientError, match="timed out after"):
        answers(server, ModelRequest(PROMPT, 256))
