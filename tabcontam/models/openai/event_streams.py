"""A stream of events, joined into the body that the server would have sent in one piece.

Only the beginning of a body shows that it is a stream, because servers send streams that no request asked for. By hand,
because httpx-sse reads only from a response, and the SDK joins only OpenAI's own events.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tabcontam.models.openai.replies import ENDLESS, json_at

BEGINS = re.compile(rb"(\xef\xbb\xbf)?\s*(data|event|id|retry)?:")
OFTEN = 8  # pieces of a text, tokens on most servers, between two checks of it
FIELD = re.compile(r"data: ?(.*)", re.DOTALL)


def is_stream(content: bytes) -> bool:
    """Return whether a body is a stream of events, since no JSON begins like such a stream."""
    return bool(BEGINS.match(content))


def joined(content: bytes) -> object:
    """Return the body that a stream makes, or the error in it. Raises ValueError if it broke off or is no JSON."""
    body, whole = _StreamBody(), False
    for data in _events(content.decode("utf-8-sig", "replace")):
        if data.strip() == "[DONE]":
            whole = True
            break
        event = json.loads(data)
        if not isinstance(event, dict):
            raise ValueError("an event of the stream is no object")
        if event.get("error"):
            return event
        body.add(event)
    if not (whole or body.ended):
        raise ValueError("the stream ended early")
    return body.made()


def _events(text: str) -> Iterator[str]:
    for event in re.split(r"(?:\r\n|\r|\n){2,}", text):
        lines = (FIELD.fullmatch(line) for line in re.split(r"\r\n|\r|\n", event))
        if data := "\n".join(line[1] for line in lines if line):
            yield data


class StreamWatch:
    """A watch over a stream while it comes. It ends the stream once `goes_on` returns True for the text so far.

    `read` returns the text in a body. Then `enough` is True, and `body` has the text so far, with `ENDLESS` as the
    reason. A broken stream is not watched: the reader of the whole body deals with it.
    """

    def __init__(self, read: Callable[[object], str], goes_on: Callable[[str], bool]) -> None:
        self._read, self._goes_on = read, goes_on
        self.enough = self.streams = self._off = False
        self.body: object = None
        self._made, self._came, self._pieces, self._due = _StreamBody(), b"", 0, OFTEN

    def __call__(self, part: bytes) -> bool:
        longest_event = 1 << 20  # bytes; an answer with a larger event is not watched
        self._off = self._off or len(self._came) > longest_event
        if not self._off:
            try:
                self._take(part)
            except (ValueError, RecursionError):
                self._off = True
        return self.enough

    def _take(self, part: bytes) -> None:
        self._came = (self._came + part).replace(b"\r\n", b"\n")
        whole, gap, self._came = self._came.rpartition(b"\n\n")
        for data in _events((whole + gap).decode("utf-8-sig", "replace")):
            event = json.loads(data)  # raises ValueError for the mark of the end
            if not isinstance(event, dict) or event.get("error"):
                raise ValueError("no part of an answer")
            self._made.add(event)
            self._pieces += any(json_at(event, "choices", 0, *place) for place in (("delta", "content"), ("text",)))
            self.streams = True
        if self._pieces >= self._due and not self._made.ended:
            self._due = self._pieces + OFTEN
            body: Any = self._made.made()
            self.enough = self._goes_on(self._read(body))
            if self.enough:
                usage = json_at(body, "usage") or {"completion_tokens": self._pieces}
                choice = {**body["choices"][0], "finish_reason": ENDLESS}
                self.body = {**body, "choices": [choice], "usage": usage}


class _StreamBody:
    """The events of one answer, added up, in OpenAI's form or in Anthropic's."""

    def __init__(self) -> None:
        self.ended = False
        self._top: dict[str, Any] = {}
        self._choice: dict[str, Any] = {}
        self._parts: defaultdict[tuple[str, ...], list[Any]] = defaultdict(list)  # parts to join, by their path
        self._blocks: list[dict[str, Any]] = []  # Anthropic's content

    def add(self, event: Mapping[str, Any]) -> None:
        if isinstance(event.get("type"), str) and "choices" not in event:
            self._add_message(event)
            return
        self._top |= {name: value for name, value in event.items() if value is not None and name != "choices"}
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index") in (0, None):
                self._add_choice(choice)

    def made(self) -> object:
        for place, parts in self._parts.items():
            inner = self._choice if place[0] != "block" else self._blocks[int(place[1])]
            *path, name = place if place[0] != "block" else place[2:]
            for step in path:
                inner = inner.setdefault(step, {})
            inner[name] = _sum(parts)
        if self._blocks:
            return {**self._top, "content": self._blocks}
        if self._choice and "text" not in self._choice:
            self._choice.setdefault("message", {})
        return {**self._top, "choices": [self._choice]} if self._choice else self._top

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        for name, value in choice.items():
            if name in ("delta", "message", "logprobs") and isinstance(value, dict):
                where = "logprobs" if name == "logprobs" else "message"
                for inner, part in value.items():
                    self._add_part((where, inner), part, adds=name != "message")
            elif name == "text":
                self._add_part((name,), value)
            elif value is not None:
                self._choice[name] = value
        self.ended |= choice.get("finish_reason") is not None

    def _add_message(self, event: Mapping[str, Any]) -> None:
        number, delta = event.get("index"), event.get("delta")
        match event.get("type"):
            case "message_start" if isinstance(begun := event.get("message"), dict):
                self._top |= begun
            case "content_block_start" if number == len(self._blocks) and isinstance(event.get("content_block"), dict):
                self._blocks.append(dict(event["content_block"]))
            case "content_block_delta" if isinstance(number, int) and 0 <= number < len(self._blocks):
                for name in ("text", "thinking"):
                    self._add_part(("block", str(number), name), json_at(delta, name))
            case "message_delta":
                self._top |= delta if isinstance(delta, dict) else {}
                usage = event.get("usage")
                before = json_at(self._top, "usage") or {}
                self._top["usage"] = {**before, **(usage if isinstance(usage, dict) else {})}
            case "message_stop":
                self.ended = True

    def _add_part(self, place: tuple[str, ...], part: Any, adds: bool = True) -> None:
        if isinstance(part, str | list) and place[-1] != "role":
            if not adds:
                self._parts[place].clear()  # the event has the whole message once more
            self._parts[place].append(part)


def _sum(parts: list[Any]) -> Any:
    if all(isinstance(part, str) for part in parts):
        return "".join(parts)
    lists = ([{"type": "text", "text": part}] if isinstance(part, str) else part for part in parts)
    return [entry for each in lists for entry in each]
