"""Servers behind Anthropic's protocol that want to be asked otherwise, through the public command."""

import json
from pathlib import Path
from typing import Any

import pytest

from tabcontam.errors import Exit
from tests.commands import tabcontam
from tests.loopback import Response
from tests.loopback_anthropic import NAME, AnthropicServer, error, reply
from tests.loopback_habits import Body, of_events
from tests.needed import needed

needed("anthropic")
RUN = ("--dataset", "iris", "--no-controls", "-k", "recognition", "--out", "run")
EVENTS: list[Any] = [
    {"type": "message_start", "message": {**reply().body, "stop_reason": None}},  # type: ignore[dict-item]
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "fi"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ne"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]


def asked(server: AnthropicServer, path: Path, code: Exit = Exit.DONE) -> tuple[list[Body], str]:
    """The bodies that a command sent, and all that it printed in one line."""
    done = tabcontam("run", "--llm", f"anthropic:{NAME}@{server.url}", *RUN, cwd=path)
    assert done.returncode == code, done.stderr
    return server.asked, " ".join((done.stdout + done.stderr).split())


def trials(path: Path) -> list[dict[str, Any]]:
    """The run's answers."""
    return [json.loads(line) for line in (path / "run/trials.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, 500])
def test_the_system_text_goes_to_the_head_of_the_users_turn(status: int, tmp_path: Path) -> None:
    refusal = error(status, "System role not supported")
    with AnthropicServer(lambda body: refusal if "system" in body else "fine") as server:
        bodies, _ = asked(server, tmp_path)
    assert bodies[1]["messages"][0]["content"].startswith(bodies[0]["system"])
    assert ["system" in body for body in bodies] == [True] + [False] * (len(bodies) - 1)


def test_a_server_that_only_streams_is_asked_for_a_stream(tmp_path: Path) -> None:
    refusal = error(400, "Streaming is required for operations that may take longer than 10 minutes")
    events = of_events(EVENTS, end="")
    with AnthropicServer(lambda body: events if body.get("stream") else refusal) as server:
        bodies, _ = asked(server, tmp_path)
    assert [body.get("stream") for body in bodies] == [None] + [True] * (len(bodies) - 1)
    assert {(line["reply"], line["state"], line["tokens"]) for line in trials(tmp_path)} == {("fine", "ok", 2)}


def test_a_minimum_of_tokens_and_a_refused_temperature_are_learned_once(tmp_path: Path) -> None:
    few, greedy = error(400, "max_tokens: must be at least 512"), error(400, "temperature: only 1 is allowed")

    def answer(body: Body) -> str | Response:
        return few if body["max_tokens"] < 512 else greedy if "temperature" in body else "fine"

    with AnthropicServer(answer) as server:
        bodies, _ = asked(server, tmp_path)
    assert len(bodies) == len(trials(tmp_path)) + 2
    assert {body["max_tokens"] for body in bodies[1:]} == {512}


@pytest.mark.parametrize("response", [Response(raw=b"<html>hello"), Response({"status": "ok"})], ids=["page", "json"])
def test_what_is_no_api_ends_it_after_one_query(response: Response, tmp_path: Path) -> None:
    with AnthropicServer(lambda body: response) as server:
        bodies, printed = asked(server, tmp_path, Exit.USAGE)
    assert len(bodies) == 1
    assert "does not speak Anthropic's protocol: it answers with" in printed
