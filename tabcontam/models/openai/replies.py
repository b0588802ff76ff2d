"""Readers of a server's JSON, in OpenAI's form and in variants. They check the type of every field."""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import fsum, isfinite
from typing import Any

from tabcontam.evidence.base import Usage
from tabcontam.models.base import WENT_ON, PromptForm
from tabcontam.reading.wrapping import without_thought

STAMPED_NOW = ("vllm", "sglang", "llamacpp")  # owners of entries whose `created` is the time of the listing
ENDLESS = "endless"  # the `finish_reason` of an answer that was ended before its end
SAYING = ("error", "message", "detail", "msg", "errors")  # fields of an error's body that may contain its message
DEEPEST = 8  # levels of a nested body that are read

Listed = Mapping[str, Any]  # the entry of one model in a list of models


@dataclass(frozen=True)
class ServedAnswer:
    """An answer of any server: its visible text, why it ended, and what it cost."""

    text: str = ""
    tokens: int | None = None  # of the text
    usage: Usage | None = None
    cut: bool = False  # at the token limit, which includes the thinking
    thought: bool = False  # the model thought before it
    refusal: str = ""  # why there is no answer
    stopped: str = ""  # any other reason why the text ended, "" for its natural end
    broken: str = ""  # the failure of the server while it wrote
    log_probability: float | None = None

    @property
    def cramped(self) -> bool:
        """Return whether the model thought until the tokens were used up."""
        return self.cut and self.thought


def chat_answer(body: object) -> ServedAnswer:
    choice = _choice(body)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise ValueError("the reply holds no message")
    text, refusal, parts_thought = _content(message.get("content"))
    text, tags_thought = without_thought(text)
    spent = _reasoning_tokens(body)
    apart = any(isinstance(message.get(name), str) and message[name] for name in ("reasoning_content", "reasoning"))
    refused = message.get("refusal")
    # OpenAI does not show the thinking but counts its tokens.
    thought = parts_thought or tags_thought or apart or spent > 0
    return _answer(body, choice, text, refused if isinstance(refused, str) else refusal, thought)


def completion_answer(body: object) -> ServedAnswer:
    choice = _choice(body)
    text = choice.get("text")
    if not isinstance(text, str | None):
        raise ValueError("the reply's text is no text")
    return _answer(body, choice, text or "")


def _answer(
    body: object, choice: Mapping[str, Any], text: str, refusal: str = "", thought: bool = False
) -> ServedAnswer:
    finish, written = choice.get("finish_reason"), _written(body)
    return ServedAnswer(
        text=text,
        tokens=None if written is None else max(0, written - _reasoning_tokens(body)),
        usage=usage(body),
        cut=finish in ("length", "max_tokens", "model_length"),
        thought=thought,
        refusal=refusal or ("content filter" if finish == "content_filter" else ""),
        stopped=WENT_ON if finish == ENDLESS else "",
        broken="the server stopped with an error" if finish == "error" else "",
        log_probability=_log_probability(choice),
    )


def _log_probability(choice: Mapping[str, Any]) -> float | None:
    content = json_at(choice, "logprobs", "content")
    each = [json_at(token, "logprob") for token in content] if isinstance(content, list) else []
    numbers = [float(one) for one in each if isinstance(one, int | float) and isfinite(one)]
    return fsum(numbers) if numbers and len(numbers) == len(each) else None


READERS: Mapping[PromptForm, Callable[[object], ServedAnswer]] = {
    PromptForm.CHAT: chat_answer,
    PromptForm.COMPLETION: completion_answer,
}


def _choice(body: object) -> dict[str, Any]:
    choice = json_at(body, "choices", 0)
    if isinstance(choice, dict):
        return choice
    detail = message(body)  # some servers report an error with status 200
    raise ValueError(f"the reply holds no choice{detail and ': '}{detail}")


def _content(content: object) -> tuple[str, str, bool]:
    """Return a message's text, its refusal, and whether it contains thinking. `content`: a text, parts, or None."""
    if isinstance(content, str | None):
        return content or "", "", False
    if not isinstance(content, list):
        raise ValueError("the reply's content is no text")
    parts = [part for part in content if isinstance(part, dict)]

    def joined(kind: str, types: Iterable[str]) -> str:
        chosen = [part.get(kind) for part in parts if part.get("type", "text") in types]
        return "".join(text for text in chosen if isinstance(text, str))

    thought = any(part.get("type") in ("thinking", "reasoning") for part in parts)
    return joined("text", ("text", "output_text")), joined("refusal", ("refusal",)), thought


def usage(body: object) -> Usage | None:
    """Return the tokens that are charged for a reply; None unless it states both counts."""
    prompt, written = tokens_at(body, "usage", "prompt_tokens"), _written(body)
    return None if prompt is None or written is None else Usage(prompt, written)


def _written(body: object) -> int | None:
    """Return the number of all written tokens. Some servers count the thinking only in the total."""
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    prompt, completion, total = (tokens_at(body, "usage", name) for name in names)
    if completion is None or prompt is None or total is None:
        return completion
    return max(completion, total - prompt)


def _reasoning_tokens(body: object) -> int:
    return tokens_at(body, "usage", "completion_tokens_details", "reasoning_tokens") or 0


def json_at(body: object, *path: str | int) -> Any:
    """Return the value at a path of names and indices in a server's JSON; None if there is none."""
    for step in path:
        if isinstance(step, str):
            body = body.get(step) if isinstance(body, dict) else None
        else:
            body = body[step] if isinstance(body, list) and len(body) > step else None
    return body


def tokens_at(body: object, *path: str | int) -> int | None:
    """Return the number of tokens at a path in a server's JSON; None if there is none. Booleans do not count."""
    count = json_at(body, *path)
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None


# most_parts: parts of a list that are read
def message(body: object, depth: int = DEEPEST, *, most_parts: int = 8) -> str:
    """Return the message in an error's body, in any form that servers and proxies use; "" for a web page."""
    texts: list[str] = []
    if isinstance(body, str) and not is_page(body):
        wrapped = message(parsed(body), depth - 1) if depth and body.lstrip()[:1] in ("{", "[") else ""
        return wrapped or body
    if isinstance(body, list) and depth:
        texts = [message(part, depth - 1) for part in body[:most_parts]]
        return "; ".join(filter(None, texts)) or (str(body) if body else "")
    if isinstance(body, dict) and depth:
        for part in (*(body.get(name) for name in SAYING), json_at(body, "metadata", "raw")):
            if (text := message(part, depth - 1)) and not any(text in known for known in texts):
                texts.append(text)
        where = body.get("loc")
        texts[:0] = [".".join(map(str, where[:most_parts]))] if texts and isinstance(where, list) else []
    return ": ".join(texts)


def is_page(text: str) -> bool:
    """Return whether a body is a web page or other markup, since no JSON begins like markup."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def parsed(text: str) -> object:
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def read_listing(listing: object) -> dict[str, Listed]:
    """Return the entries of a server's list of models, by the model's name."""
    entries = json_at(listing, "data")
    return {
        entry["id"]: entry
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    }


def find_listed(model: str, listed: Mapping[str, Listed]) -> Listed | None:
    """Return this model's entry. Ollama lists llama3 as llama3:latest, Gemini's server lists models as models/NAME."""
    names = (model, f"{model}:latest", f"models/{model}")
    return next((listed[name] for name in names if name in listed), None)


def weights_version(entry: Listed, *, recent_seconds: int = 600) -> str:
    """Return what a list entry states to identify a model's weights: a digest, version, file or time of making."""
    facts = {name: entry.get(name) for name in ("digest", "version", "created")}
    if entry.get("root") != entry["id"]:
        facts["root"] = entry.get("root")
    created = facts["created"]
    recent = isinstance(created, int | float) and abs(created - time.time()) < recent_seconds
    if recent or str(entry.get("owned_by", "")).casefold() in STAMPED_NOW:
        del facts["created"]  # with the time of the listing, every run would ask again
    known = {name: fact for name, fact in facts.items() if isinstance(fact, str | int | float) and fact}
    return " ".join(f"{name}={fact}" for name, fact in known.items())
