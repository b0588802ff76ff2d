"""Readers of the JSON that Anthropic's server sends. They check the type of each field."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tabcontam.evidence.base import Reply, Usage
from tabcontam.models.base import as_reply
from tabcontam.models.openai.replies import json_at, message, tokens_at

NATURAL = ("", "end_turn", "stop_sequence")
CUT = ("max_tokens", "model_context_window_exceeded")
THOUGHTS = ("thinking", "redacted_thinking")
READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")  # their sum is the prompt's tokens


@dataclass(frozen=True)
class AnthropicAnswer:
    """One message: its visible text, why it ended, and whether the model thought before it.

    `refusal`: why the maker's classifiers stopped the message, if they did. `tokens`: the number of tokens of the text.
    `usage`: the tokens that are charged.
    """

    text: str = ""
    stop: str = ""
    refusal: str = ""
    thought: bool = False
    tokens: int | None = None
    usage: Usage | None = None

    @property
    def cut(self) -> bool:
        """Return whether the text was cut at the token limit, which includes the thinking."""
        return self.stop in CUT

    def reply(self) -> Reply:
        """Return the message as a reply."""
        return as_reply(
            self.text,
            self.tokens,
            refusal=self.refusal or "refusal" if self.stop == "refusal" else None,
            cut=self.cut,
            reasoned=self.thought,
            stopped="" if self.stop in NATURAL else f"stopped: {self.stop.replace('_', ' ')}",
        )


def read_answer(body: object) -> AnthropicAnswer:
    """Return the answer in a message. Raises ValueError if there is none."""
    content = json_at(body, "content")
    if not isinstance(content, list):
        detail = message(body) if isinstance(body, dict) and "error" in body else ""
        raise ValueError(f"the reply holds no content{detail and ': '}{detail}")
    blocks = [block for block in content if isinstance(block, dict)]
    texts = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    thinking = tokens_at(body, "usage", "output_tokens_details", "thinking_tokens") or 0
    written = tokens_at(body, "usage", "output_tokens")
    stop, category = json_at(body, "stop_reason"), json_at(body, "stop_details", "category")
    return AnthropicAnswer(
        text="".join(texts).encode("utf-8", "replace").decode(),  # half a surrogate pair cannot be written to a file
        stop=stop if isinstance(stop, str) else "",
        refusal=f"refusal: {category.replace('_', ' ')}" if isinstance(category, str) and category else "",
        thought=thinking > 0 or any(block.get("type") in THOUGHTS for block in blocks),
        tokens=None if written is None else max(0, written - thinking),
        usage=_usage(body, written),
    )


def _usage(body: object, written: int | None) -> Usage | None:
    """Return the charged tokens, including tokens of a cache; None if the server states none."""
    read = [tokens_at(body, "usage", name) for name in READ]
    return None if read[0] is None or written is None else Usage(sum(count or 0 for count in read), written)


def listed_names(listing: object) -> list[str]:
    """Return the names in a list of models."""
    entries = json_at(listing, "data")
    names = (json_at(entry, "id") for entry in (entries if isinstance(entries, list) else []))
    return [name for name in names if isinstance(name, str) and name]


def supports(about: Mapping[str, Any], *path: str) -> bool | None:
    """Return whether a model supports the capability at this `path` of its description `about`; None if not stated."""
    stated = json_at(about, "capabilities", *path, "supported")
    return stated if isinstance(stated, bool) else None
