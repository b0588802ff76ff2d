"""Readers of Gemini's JSON. They check the type of each field.

The SDK's own types would warn on the user's terminal about every value that is newer than the SDK.
"""

import re
from dataclasses import dataclass

from tabcontam.evidence.base import Reply, Usage
from tabcontam.models.base import as_reply
from tabcontam.models.openai.replies import json_at, message, tokens_at

NATURAL = ("", "STOP", "FINISH_REASON_UNSPECIFIED")
# Blocks by rule, or by the provider's classifiers. RECITATION matters most: the model was about to repeat a
# source word for word.
BLOCKS = re.compile(
    "(IMAGE_)?(SAFETY|RECITATION|PROHIBITED_CONTENT)|"
    "BLOCKLIST|SPII|LANGUAGE|ESCALATION|MODEL_ARMOR|PUP_LIMITED_DISABLED"
)
SPELLED_OUT = {"SPII": "sensitive personal information"}
DELAY = re.compile(r"'retryDelay': '(\d{1,9}(\.\d*)?)s'", re.ASCII)


@dataclass(frozen=True)
class GeminiAnswer:
    """One candidate for an answer: its visible text, why it ended, and whether the model thought before it.

    `block`: why the prompt was not answered at all. `usage`: the tokens that the server charges.
    """

    text: str = ""
    finish: str = ""
    block: str = ""
    thought: bool = False
    tokens: int | None = None
    usage: Usage | None = None

    @property
    def cut(self) -> bool:
        """Return whether the text was cut at the token limit, which includes the thinking."""
        return self.finish == "MAX_TOKENS"

    def reply(self) -> Reply:
        """Return the candidate as a reply."""
        refusal = f"prompt blocked: {_words(self.block)}" if self.block else None
        return as_reply(
            self.text,
            self.tokens,
            refusal=_words(self.finish) if BLOCKS.fullmatch(self.finish) else refusal,
            cut=self.cut,
            reasoned=self.thought,
            stopped="" if self.finish in NATURAL else f"stopped: {_words(self.finish)}",
        )


def read_answer(body: object) -> GeminiAnswer:
    """Return the answer in a reply. Raises ValueError if there is none."""
    counts = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    prompt, tokens, thoughts = (tokens_at(body, "usageMetadata", count) for count in counts)
    usage = None if prompt is None else Usage(prompt, (tokens or 0) + (thoughts or 0))
    block, candidate = json_at(body, "promptFeedback", "blockReason"), json_at(body, "candidates", 0)
    text, shown = _text(json_at(candidate, "content", "parts"))
    if isinstance(block, str) and block and not text:
        return GeminiAnswer(block=block, tokens=tokens, usage=usage)
    if not isinstance(candidate, dict):
        detail = message(body) if isinstance(body, dict) and "error" in body else ""
        raise ValueError(f"the reply holds no candidate{detail and ': '}{detail}")
    finish = candidate.get("finishReason")
    return GeminiAnswer(
        text=text,
        finish=finish if isinstance(finish, str) else "",
        thought=shown or bool(thoughts),
        tokens=tokens,
        usage=usage,
    )


def retry_delay(body: object) -> float | None:
    """Return the seconds to wait that the details of an error state, such as "28s"; None without them."""
    found = DELAY.search(str(body))
    return float(found[1]) if found else None


def _text(parts: object) -> tuple[str, bool]:
    """Return the text of all parts that are no thoughts, and whether there were thoughts."""
    found = [part for part in (parts if isinstance(parts, list) else []) if isinstance(part, dict)]
    texts = [part["text"] for part in found if not part.get("thought") and isinstance(part.get("text"), str)]
    whole = "".join(texts).encode("utf-8", "replace").decode()  # half a surrogate pair cannot be written to a file
    return whole, any(part.get("thought") for part in found)


def _words(reason: str) -> str:
    return SPELLED_OUT.get(reason, reason.casefold().replace("_", " "))
