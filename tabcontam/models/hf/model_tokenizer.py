"""A model's tokenizer: from prompts to token ids, with or without the chat template, and from token ids to text."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from tabcontam.evidence.base import Message
from tabcontam.models.base import without_system

OPENED = re.compile(r"<think(ing)?>\s*$")


@dataclass(frozen=True)
class TokenIds:
    """A text as token ids."""

    ids: tuple[int, ...]


@dataclass(frozen=True)
class PromptTokens(TokenIds):
    """A prompt as token ids. `opened`: it ends within a thinking block. `goes_on`: whether a text has no end."""

    max_tokens: int
    stop: tuple[str, ...] = ()
    thinks: bool = False
    opened: bool = False
    goes_on: Callable[[str], bool] | None = None


class ModelTokenizer:
    """A tokenizer with a lock, because it cannot encode and decode at the same time on two threads."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._lock = Lock()
        self._reasons = "<think" in str(getattr(tokenizer, "chat_template", None) or "")
        tokens = (tokenizer.bos_token_id, tokenizer.eos_token_id)
        self.begin: list[int] = [token for token in tokens if token is not None][:1]  # before a text, if any

    def row(self, text: str, max_tokens: int, stop: Sequence[str]) -> PromptTokens:
        """Return a plain text as a row, with the special tokens that the tokenizer adds."""
        return PromptTokens(self._encode(text, special=True), max_tokens, tuple(filter(None, stop)))

    def chat_row(self, messages: Sequence[Message], max_tokens: int) -> PromptTokens:
        """Return a conversation as a row, in the tokenizer's template, which includes the special tokens."""
        text = self._templated(messages)
        opened = bool(OPENED.search(text))
        return PromptTokens(
            self._encode(text, special=False), max_tokens, thinks=self._reasons or opened, opened=opened
        )

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of an answer's tokens. No clean-up: it would remove the space from `is ?,`."""
        with self._lock:
            text: str = self._tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    def plain(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the tokens of each text, without special tokens."""
        with self._lock:
            read = self._tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
        return [tuple(ids) for ids in read]

    def pieces(self, text: str) -> list[tuple[int, str]]:
        """Return the tokens of a text, each with its part of the text. Joined, these parts are the text."""
        with self._lock:
            fast = self._tokenizer.is_fast
            read = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=fast, verbose=False)
        ids = read["input_ids"]
        if not fast:
            return [(token, self.decode([token])) for token in ids]
        pieces, begin = [], 0
        for number, (token, (_, end)) in enumerate(zip(ids, read["offset_mapping"], strict=True), start=1):
            # A token's offsets may leave spaces out, and all tokens of one character have the same offsets.
            end = len(text) if number == len(ids) else max(begin, end)
            pieces.append((token, text[begin:end]))
            begin = end
        return pieces

    def _encode(self, text: str, special: bool) -> tuple[int, ...]:
        with self._lock:
            ids: list[int] = self._tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"]
        return tuple(ids)

    def _templated(self, messages: Sequence[Message]) -> str:
        """Return the chat in the template. If the template has no system role, the user's text begins with its text."""
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        try:
            text = self._applied(messages)
        except Exception:  # a template may raise any error
            if not system:
                raise
            text = ""
        return text if text and system.strip() in text else self._applied(without_system(messages))

    def _applied(self, messages: Sequence[Message]) -> str:
        turns = [{"role": message.role, "content": message.content} for message in messages]
        with self._lock:
            text: str = self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return text
