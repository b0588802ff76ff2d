"""Servers that want to be asked otherwise, through the public command: at one request more each."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tabcontam.asking import asker
from tabcontam.errors import Exit
from tests.commands import tabcontam
from tests.loopback import LoopbackServer, Response, completion, error, reply
from tests.loopback_habits import Body, Habit, alternates, at_least, habitual, lacks, of_events, streamed

RECOGNITION = ("--dataset", "iris", "--no-controls", "-k", "recognition", "--out", "run")
FASTAPI = {"type": "greater_than", "loc": ["body", "temperature"], "msg": "Input should be greater than 0", "input": 0}
PYDANTIC = (
    "1 validation error for ChatCompletionRequest\ntemperature\n  Input should be greater than 0 [type=greater_than]"
)
WRAPPED = {
    "error": {
        "message": "Provider returned error",
        "code": 400,
        "metadata": {"raw": json.dumps({"error": {"message": "temperature: no"}}), "provider_name": "Some"},
    }
}
ROLES = [
    error(400, "System role not supported"),
    error(500, "Conversation roles must alternate user/assistant/user/assistant/... at row 12"),
    error(400, "Only user and assistant roles are supported!", code=None),
    Response({"error": "Template error: Conversation roles must alternate", "error_type": "template_error"}, 422),
    Response({"detail": "jinja2.exceptions.TemplateError: System role not supported"}, 500),
    Response({"object": "error", "message": "roles must alternate between user and assistant", "code": 50001}, 400),
    Response(
        {"detail": [{"loc": ["body", "messages", 0, "role"], "msg": "Input should be 'user' or 'assistant'"}]}, 422
    ),
    error(
        400,
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        param="messages[0].role",
    ),
    error(400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
    Response(
        raw=b"Error rendering chat template: raise_exception called", status=500, headers={"Content-Type": "text/plain"}
    ),
]
TEMPERATURE = [
    error(400, "invalid temperature: only 1 is allowed for this model"),
    error(400, "no such value", param="temperature"),
    Response({"detail": [FASTAPI]}, 422),
    Response({"detail": PYDANTIC}, 422),
    Response(
        {"object": "error", "message": "`temperature` (=0.0) has to be a strictly positive float", "code": 400}, 400
    ),
    Response(
        {"error": "Input validation error: `temperature` must be strictly positive", "error_type": "validation"}, 422
    ),
    Response({"errors": [{"code": 5006, "message": "Error: temperature must be > 0"}], "success": False}, 400),
    Response({"statusCode": 400, "message": ["temperature must not be less than 0.1"], "error": "Bad Request"}, 400),
    Response(raw=b"Temperature out of range", status=400, headers={"Content-Type": "text/plain"}),
    Response(WRAPPED, 400),
    Response({"error": {"message": "temperature: must be 1", "code": 400}}),
    Response({"error": {"message": "temperature must be 1", "type": "invalid_request_error"}}),
]
MINIMA = [
    error(400, "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 4 instead."),
    error(400, "max_tokens must be at least 16"),
    error(400, "max_tokens must be greater than 15"),
    Response({"detail": [{"loc": ["body", "max_tokens"], "msg": "Input should be greater than or equal to 16"}]}, 422),
    error(400, "4 is less than the minimum of 16 - 'max_tokens'"),
    error(400, "Invalid max_tokens value, the valid range of max_tokens is [16, 8192]"),
    error(422, "an answer takes a minimum of 16 tokens", param="max_tokens"),
]
STREAMS = [
    error(400, "Stream must be set to true"),
    error(400, "This model only supports streaming", param="stream"),
    error(400, "Streaming is required for operations that may take longer than 10 minutes"),
    error(400, "parameter.enable_thinking must be set to false for non-streaming calls"),
]
WHOLE = of_events([{"choices": [{"delta": {"content": "fi"}}]}, {"choices": [{"delta": {"content": "ne"}}]}], end="")


def asked(server: LoopbackServer, path: Path, *arguments: str, code: Exit = Exit.DONE) -> tuple[list[Body], str]:
    """The bodies that a command sent, and all that it printed in one line."""
    given = arguments or RECOGNITION
    done = tabcontam("run", "--llm", f"openai:model@{server.url}", *given, cwd=path)
    assert done.returncode == code, done.stderr
    return server.asked, " ".join((done.stdout + done.stderr).split())


def notes(path: Path) -> list[str]:
    """The notes of the run."""
    return [note["text"] for note in json.loads((path / "run/results.json").read_text("utf-8"))["run"]["notes"]]


def states(path: Path) -> set[str]:
    """The states of the run's answers."""
    lines = (path / "run/trials.jsonl").read_text("utf-8").splitlines()
    return {json.loads(line)["state"] for line in lines}


@pytest.mark.slow
@pytest.mark.parametrize("refusal", ROLES, ids=range(len(ROLES)))
def test_the_system_text_goes_to_the_head_of_the_users_turn(refusal: Response, tmp_path: Path) -> None:
    with habitual(Habit(alternates, refusal)) as server:
        bodies, _ = asked(server, tmp_path)
    assert [message["role"] for message in bodies[0]["messages"]] == ["system", "user"]
    system, user = (message["content"] for message in bodies[0]["messages"])
    assert bodies[1]["messages"] == [{"role": "user", "content": f"{system}\n\n{user}"}]
    assert all(map(alternates, bodies[1:]))
    assert states(tmp_path) == {"ok"}
    assert any("takes no system message" in note for note in notes(tmp_path))


@pytest.mark.slow
def test_where_that_does_not_help_the_error_is_the_servers_and_comes_once_a_query(tmp_path: Path) -> None:
    with habitual(Habit(lambda body: False, ROLES[1])) as server:
        bodies, printed = asked(server, tmp_path, code=Exit.USAGE)
    lines = (tmp_path / "run/trials.jsonl").read_text("utf-8").splitlines()
    assert len(bodies) == 2 * len(lines)
    assert "HTTP 500: Conversation roles must alternate" in printed


@pytest.mark.slow
@pytest.mark.parametrize("refusal", TEMPERATURE, ids=range(len(TEMPERATURE)))
def test_a_parameter_that_is_refused_is_left_out_from_then_on(refusal: Response, tmp_path: Path) -> None:
    with habitual(Habit(lacks("temperature"), refusal)) as server:
        bodies, _ = asked(server, tmp_path)
    assert ["temperature" in body for body in bodies] == [True] + [False] * (len(bodies) - 1)
    assert all(body["messages"] and body["max_tokens"] for body in bodies)
    assert any("takes no temperature, and answered at its own" in note for note in notes(tmp_path))


def test_several_are_left_out_one_after_the_other(tmp_path: Path) -> None:
    habits = (
        Habit(lacks("temperature"), TEMPERATURE[0]),
        Habit(lacks("max_tokens"), error(400, "Unsupported parameter: 'max_tokens'")),
        Habit(lacks("max_completion_tokens"), error(400, "Unknown parameter max_completion_tokens")),
        Habit(alternates, ROLES[0]),
    )
    with habitual(*habits) as server:
        bodies, _ = asked(server, tmp_path)
    assert [set(body) for body in bodies[4:]] == [{"model", "messages"}] * (len(bodies) - 4)
    assert any("takes no limit on tokens" in note for note in notes(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("said", ["Use max_completion_tokens instead of max_tokens", "`max_tokens`: unknown field"])
def test_one_limit_on_tokens_stands_for_the_other(said: str, tmp_path: Path) -> None:
    with habitual(Habit(lacks("max_tokens"), error(400, said))) as server:
        bodies, _ = asked(server, tmp_path)
    assert all(body["max_completion_tokens"] for body in bodies[1:])
    assert not any("takes no limit" in note for note in notes(tmp_path))


def test_a_limit_that_is_too_high_is_never_dropped(tmp_path: Path) -> None:
    said = "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4090 `inputs` tokens and 20 `max_new_tokens`"
    with habitual(Habit(lambda body: False, Response({"error": said}, 422))) as server:
        bodies, printed = asked(server, tmp_path, code=Exit.USAGE)
    assert all("max_tokens" in body for body in bodies)
    assert "the prompt is too long: HTTP 422" in printed


@pytest.mark.slow
@pytest.mark.parametrize("named", ["messages", "model", "prompt"])
def test_what_makes_the_question_is_never_left_out(named: str, tmp_path: Path) -> None:
    refusal = error(400, "temperature and stop are fine, this is not", param=named)
    with habitual(Habit(lambda body: False, refusal)) as server:
        bodies, printed = asked(server, tmp_path, code=Exit.USAGE)
    assert all("temperature" in body and "messages" in body for body in bodies)
    assert "this is not" in printed


@pytest.mark.slow
def test_without_a_stop_string_the_answer_is_cut_here(tmp_path: Path) -> None:
    refusal = error(400, "Unrecognized request argument supplied: stop")
    with habitual(Habit(lacks("stop"), refusal), answer=lambda body: completion("Iris\nand more")) as server:
        asked(server, tmp_path, *RECOGNITION, "--form", "completion")
    lines = (tmp_path / "run/trials.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["reply"] for line in lines} == {"Iris"}


@pytest.mark.slow
@pytest.mark.parametrize("refusal", MINIMA, ids=range(len(MINIMA)))
def test_a_minimum_of_tokens_is_kept_to(refusal: Response, tmp_path: Path) -> None:
    def answer(body: Body) -> Response:
        return reply("Yes" if body["max_tokens"] == 16 else "no", tokens=1)

    with habitual(Habit(at_least(16), refusal), answer=answer) as server:
        bodies, _ = asked(server, tmp_path, *RECOGNITION[:4], "membership", "--queries", "6", "--out", "run")
    limits = [body["max_tokens"] for body in bodies]
    assert limits[0] < 16
    assert limits[1:] == [16] * (len(limits) - 1)
    assert states(tmp_path) == {"ok"}
    lines = [json.loads(line) for line in (tmp_path / "run/trials.jsonl").read_text("utf-8").splitlines()]
    assert all(line["parsed"] for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("refusal", STREAMS, ids=range(len(STREAMS)))
def test_a_server_that_only_streams_is_asked_for_a_stream(refusal: Response, tmp_path: Path) -> None:
    with habitual(Habit(lambda body: body.get("stream") is True, refusal)) as server:
        bodies, _ = asked(server, tmp_path)
    assert [body.get("stream") for body in bodies] == [None] + [True] * (len(bodies) - 1)
    lines = [json.loads(line) for line in (tmp_path / "run/trials.jsonl").read_text("utf-8").splitlines()]
    assert {(line["reply"], line["state"], line["tokens"]) for line in lines} == {("fine", "ok", 3)}


@pytest.mark.slow
def test_a_stream_that_nobody_asked_for_is_read(tmp_path: Path) -> None:
    with LoopbackServer(lambda body: streamed(reply("fine", "length"))) as server:
        asked(server, tmp_path)
    assert states(tmp_path) == {"truncated"}


def test_a_provider_that_was_wrapped_is_shown(tmp_path: Path) -> None:
    raw = json.dumps({"type": "error", "error": {"type": "invalid", "message": "the cat has eaten it"}})
    wrapped = {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}}
    with LoopbackServer(lambda body: Response(wrapped, 400)) as server:
        _, printed = asked(server, tmp_path, code=Exit.USAGE)
    assert "Provider returned error: the cat has eaten it" in printed


PAGE = b"<!DOCTYPE html>\n<html><title>Welcome</title></html>"
OTHERS: Sequence[tuple[Response, str]] = [
    (Response(raw=PAGE, headers={"Content-Type": "text/html"}), "a web page and no JSON"),
    (Response(raw=b"\n <html>", headers={"Content-Type": "application/json"}), "a web page and no JSON"),
    (Response(raw=PAGE, status=400, headers={"Content-Type": "text/html"}), "a web page and no JSON (HTTP 400)"),
    (Response(raw=PAGE, status=403, headers={"Content-Type": "text/html"}), "a web page and no JSON (HTTP 403)"),
    (Response(raw=PAGE, status=404, headers={"Content-Type": "text/html"}), "a web page and no JSON (HTTP 404)"),
    (Response(raw=PAGE, status=500, headers={"Content-Type": "text/html"}), "a web page and no JSON (HTTP 500)"),
    (Response({"status": "ok"}), 'JSON that is no completion ({"status": "ok"})'),
    (Response(["ok"]), 'JSON that is no completion (["ok"])'),
]


@pytest.mark.slow
@pytest.mark.parametrize(("response", "said"), OTHERS, ids=range(len(OTHERS)))
def test_what_is_no_api_ends_it_after_one_query(response: Response, said: str, tmp_path: Path) -> None:
    with LoopbackServer(lambda body: response, models=None) as server:
        root = server.url.removesuffix("/v1")
        done = tabcontam("run", "--llm", f"openai:model@{server.url}", *RECOGNITION, cwd=tmp_path)
    assert done.returncode == Exit.USAGE
    assert len(server.asked) == 1 + (response.status == 404)  # which the other form might not be
    printed = " ".join((done.stdout + done.stderr).split())
    assert f"the server at {root}/v1 answers with {said}; correct the address after the @" in printed


@pytest.mark.parametrize("status", [200, 400, 403, 500])
def test_a_page_in_place_of_the_list_of_models_says_so_before_any_query(status: int, tmp_path: Path) -> None:
    page = Response(raw=PAGE, status=status, headers={"Content-Type": "text/html"})
    with LoopbackServer(models_response=page) as server:
        bodies, printed = asked(server, tmp_path, code=Exit.USAGE)
    assert bodies == []
    assert "answers with a web page and" in printed


@pytest.mark.slow
def test_a_gateways_page_may_pass_and_ends_it_once_a_query_is_given_up(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(asker, "MOST_BACKOFF", 0.0)
    page = Response(raw=PAGE, status=502, headers={"Content-Type": "text/html"})
    with LoopbackServer(lambda body: page, models=None) as server:
        _, printed = asked(server, tmp_path, "--max-connections", "1", *RECOGNITION, code=Exit.USAGE)
    assert "HTTP 502: the server answers with a web page" in printed


def test_the_line_names_the_address_with_v1(tmp_path: Path) -> None:
    class Root(LoopbackServer):
        @property
        def url(self) -> str:
            return super().url.removesuffix("/v1")

    with Root(lambda body: Response(raw=PAGE), models=None) as server:
        _, printed = asked(server, tmp_path, code=Exit.USAGE)
        assert f"which most often ends in /v1: {server.url}/v1" in printed


@pytest.mark.slow
def test_a_page_between_answers_ends_nothing(tmp_path: Path) -> None:
    pages = iter([False, True])

    def answer(body: Body) -> str | Response:
        return Response(raw=PAGE) if next(pages, False) else "fine"

    with LoopbackServer(answer) as server:
        asked(server, tmp_path)
    assert states(tmp_path) == {"ok"}


@pytest.mark.slow
def test_a_score_is_read_whatever_the_server_wants(tmp_path: Path) -> None:
    def echo(body: Body) -> Response:
        tokens = [*body["prompt"], "x"]
        scores = [None, *(-0.5 for _ in tokens[1:])]
        return Response({"choices": [{"text": "", "logprobs": {"tokens": tokens, "token_logprobs": scores}}]})

    def events(body: Body) -> Response:
        (choice,) = echo(body).body["choices"]  # type: ignore[index]
        half = len(choice["logprobs"]["tokens"]) // 2
        parts: list[Callable[[list[Any]], list[Any]]] = [lambda one: one[:half], lambda one: one[half:]]
        return of_events(
            {"choices": [{"text": "", "logprobs": {name: part(one) for name, one in choice["logprobs"].items()}}]}
            for part in parts
        )

    habits = (
        Habit(lacks("temperature"), TEMPERATURE[4]),
        Habit(at_least(16), MINIMA[1]),
        Habit(lambda body: body.get("stream") is True, STREAMS[1]),
    )
    given = ("--dataset", "iris", "--no-controls", "-k", "row_order", "--queries", "8", "--out", "run")
    with habitual(*habits, answer=lambda body: "no") as server:
        inner = server.answer
        server.answer = lambda body: (
            events(body) if isinstance(found := inner(body), Response) and found.status == 200 else found
        )
        bodies, _ = asked(server, tmp_path, *given)
    assert states(tmp_path) == {"ok"}
    assert all(body["echo"] and body["logprobs"] for body in bodies)
    assert all(body["stream"] and body["max_tokens"] == 16 and "temperature" not in body for body in bodies[3:])
