"""A server on loopback with the habits of many: what it refuses, in whose words, and how it answers.

    with habitual(wants=lambda body: "temperature" not in body, refusal=error(400, "…")) as server: ...

A habit is a condition that a request has to keep, and the response to one that does not.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from tests.loopback import Answer, LoopbackServer, Response, completion, reply

Body = dict[str, Any]


@dataclass(frozen=True)
class Habit:
    """What a server wants of a request, and what it sends where that is not so."""

    wants: Callable[[Body], bool]
    refusal: Response


def habitual(*habits: Habit, answer: Answer = lambda body: "fine", **server: Any) -> LoopbackServer:
    """A server with these habits, the first of which it looks at first; a stream is what it is asked for."""

    def respond(body: Body) -> str | Response:
        for habit in habits:
            if not habit.wants(body):
                return habit.refusal
        found = answer(body)
        if isinstance(found, str):
            found = reply(found) if "messages" in body else completion(found)
        return streamed(found) if body.get("stream") else found

    return LoopbackServer(respond, **server)


def lacks(*names: str) -> Callable[[Body], bool]:
    """The wish that none of these parameters is sent."""
    return lambda body: not set(names) & body.keys()


def at_least(tokens: int) -> Callable[[Body], bool]:
    """The wish that an answer may have so many tokens."""
    return lambda body: (body.get("max_tokens") or body.get("max_completion_tokens") or tokens) >= tokens


def alternates(body: Body) -> bool:
    """Whether user and assistant take turns, and nobody else says anything."""
    roles = [message["role"] for message in body.get("messages", ())]
    return roles == ["user" if number % 2 == 0 else "assistant" for number in range(len(roles))]


def streamed(response: Response, size: int = 3) -> Response:
    """A reply as the events of a stream, its text cut into pieces; the usage comes last, with no choice."""
    body: Any = response.body
    (choice,), usage = body["choices"], body.get("usage")
    chat = "message" in choice
    text = choice["message"]["content"] if chat else choice["text"]
    pieces = [text[place : place + size] for place in range(0, len(text), size)]
    events: list[Any] = [
        {"choices": [{"index": 0, **({"delta": {"content": piece}} if chat else {"text": piece})}]} for piece in pieces
    ]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    events.append({"choices": [], "usage": usage})
    return of_events(events)


def of_events(events: Iterable[object], end: str = "data: [DONE]\n\n") -> Response:
    """These events, with what some servers send between them."""
    lines = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return Response(
        raw=f": OPENROUTER PROCESSING\n\n{lines}{end}".encode(), headers={"Content-Type": "text/event-stream"}
    )


def with_status(response: Response, status: int) -> Response:
    """That response with another status."""
    return replace(response, status=status)
