"""Readers of the answers and errors that Anthropic's server sends. They check the type of each field."""

import re
from collections.abc import Mapping
from typing import Any

from tabcontam.evidence.base import Usage
from tabcontam.models.openai.errors import PASSING, Concern, Problem, wait
from tabcontam.models.openai.replies import ServedAnswer, json_at, message, tokens_at

NATURAL = ("", "end_turn", "stop_sequence", "refusal")
CUT = ("max_tokens", "model_context_window_exceeded")
THOUGHTS = ("thinking", "redacted_thinking")
READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")  # their sum is the prompt's tokens
# An account without money gets a 402, 400 or 429. Only an error about the growth of usage states when its limit ends.
SPENT = re.compile(
    r"credit balance is too low|reached your (specified )?([\w ]+ )?usage limits|spend(ing)? (limit|cap)", re.IGNORECASE
)
SPENT_CODE = re.compile(r"(\w+_)?spend_limit_reached|organization_on_hold|linked_organization_billing_unavailable")
# The server's filter on written text, which stops texts that are known word for word.
FILTERED = re.compile(r"content filtering policy", re.IGNORECASE)
REGION = re.compile(r"request not allowed|region|country|territory", re.IGNORECASE)


def read_answer(body: object) -> ServedAnswer:
    """Return the answer in a message. Raises ValueError if there is none."""
    content = json_at(body, "content")
    if not isinstance(content, list):
        detail = message(body) if isinstance(body, dict) and "error" in body else ""
        raise ValueError(f"the reply holds no content{detail and ': '}{detail}")
    blocks = [block for block in content if isinstance(block, dict)]
    texts = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    thinking = tokens_at(body, "usage", "output_tokens_details", "thinking_tokens") or 0
    written = tokens_at(body, "usage", "output_tokens")
    reason, category = json_at(body, "stop_reason"), json_at(body, "stop_details", "category")
    stop = reason if isinstance(reason, str) else ""
    refusal = f"refusal: {category.replace('_', ' ')}" if isinstance(category, str) and category else "refusal"
    return ServedAnswer(
        text="".join(texts),
        tokens=None if written is None else max(0, written - thinking),
        usage=_usage(body, written),
        cut=stop in CUT,
        thought=thinking > 0 or any(block.get("type") in THOUGHTS for block in blocks),
        refusal=refusal if stop == "refusal" else "",
        stopped="" if stop in NATURAL else f"stopped: {stop.replace('_', ' ')}",
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


def concern(problem: Problem) -> Concern:
    """Return what an error concerns: this request alone, if no rule applies."""
    status, kind, text = problem.status, json_at(problem.body, "error", "type"), problem.message
    if status == 400 and FILTERED.search(text):
        return Concern.CONTENT
    if status == 402 or kind == "billing_error" or (status in (400, 403, 429) and _spent(problem)):
        return Concern.QUOTA
    if problem.of_roles:
        return Concern.REQUEST
    if status in PASSING or (status >= 500 and status != 501):
        return Concern.PASSING
    if status in (401, 407) or kind == "authentication_error":
        return Concern.KEY
    if status == 403:
        return Concern.REGION if REGION.search(text) else Concern.KEY
    if status in (404, 410):
        return Concern.MODEL
    return Concern.ADDRESS if status < 400 or status in (405, 501) else Concern.REQUEST


def _spent(problem: Problem) -> bool:
    code = json_at(problem.body, "error", "details", "error_code")
    if isinstance(code, str) and SPENT_CODE.fullmatch(code):
        return True
    return bool(SPENT.search(problem.message)) and wait(problem) is None
