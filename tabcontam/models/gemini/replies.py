"""Readers of Gemini's answers and errors. They check the type of each field."""

import re

from tabcontam.evidence.base import Usage
from tabcontam.models.openai.errors import Concern, Problem
from tabcontam.models.openai.replies import ServedAnswer, json_at, message, tokens_at

NATURAL = ("", "STOP", "FINISH_REASON_UNSPECIFIED")
# Blocks by rule, or by the provider's classifiers. RECITATION matters most: the model was about to repeat a
# source word for word.
BLOCKS = re.compile(
    "(IMAGE_)?(SAFETY|RECITATION|PROHIBITED_CONTENT)|"
    "BLOCKLIST|SPII|LANGUAGE|ESCALATION|MODEL_ARMOR|PUP_LIMITED_DISABLED"
)
SPELLED_OUT = {"SPII": "sensitive personal information"}
# Errors that any other request would get too: patterns of status and message, what they concern, and the advice. The
# first match counts.
HOPELESS = {
    r"40[03] .*location is not supported": (
        Concern.REGION,
        "does not serve the region of this computer; ask from another region",
    ),
    r"402 |40[03] .*billing|400 .*FAILED_PRECONDITION|429 .*(prepay|spend(ing)? cap)": (
        Concern.QUOTA,
        "accepts {key} only with valid billing; set it up, or add credits",
    ),
    r"429 .*(\blimit: 0\b(?!\.)|'quotaValue': '0')": (
        Concern.QUOTA,
        "does not let {key} use {model}; set up billing for it, or name another model",
    ),
    r"429 .*per[ _]?day": (Concern.QUOTA, "grants {key} no more requests today; run the same command again tomorrow"),
    r"40[13] |400 .*API[_ ]key": (Concern.KEY, "refused {key}; check it, and what it may be used for"),
    r"404 ": (Concern.MODEL, "does not offer {model}, or no longer does; name another model"),
    r"3\d\d |405 ": (Concern.ADDRESS, "does not speak the Gemini protocol"),
}


def read_answer(body: object) -> ServedAnswer:
    """Return the answer in a reply. Raises ValueError if there is none."""
    counts = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    prompt, tokens, thoughts = (tokens_at(body, "usageMetadata", count) for count in counts)
    usage = None if prompt is None else Usage(prompt, (tokens or 0) + (thoughts or 0))
    block, candidate = json_at(body, "promptFeedback", "blockReason"), json_at(body, "candidates", 0)
    text, shown = _text(json_at(candidate, "content", "parts"))
    if isinstance(block, str) and block and not text:
        return ServedAnswer(tokens=tokens, usage=usage, refusal=f"prompt blocked: {_words(block)}")
    if not isinstance(candidate, dict):
        detail = message(body) if isinstance(body, dict) and "error" in body else ""
        raise ValueError(f"the reply holds no candidate{detail and ': '}{detail}")
    reason = candidate.get("finishReason")
    finish = reason if isinstance(reason, str) else ""
    return ServedAnswer(
        text=text,
        tokens=tokens,
        usage=usage,
        cut=finish == "MAX_TOKENS",
        thought=shown or bool(thoughts),
        refusal=_words(finish) if BLOCKS.fullmatch(finish) else "",
        stopped="" if finish in NATURAL else f"stopped: {_words(finish)}",
    )


def hopeless(problem: Problem) -> tuple[Concern, str] | None:
    """Return what an error concerns that any other request would get too, and the advice; None for other errors."""
    answered = f"{problem.status} {problem.body}"
    return next((what for words, what in HOPELESS.items() if re.match(words, answered, re.I | re.S)), None)


def concern(problem: Problem) -> Concern:
    """Return what an error concerns: this request alone, if no rule applies."""
    if found := hopeless(problem):
        return found[0]
    return Concern.PASSING if problem.status in (408, 429) or problem.status >= 500 else Concern.REQUEST


def _text(parts: object) -> tuple[str, bool]:
    """Return the text of all parts that are no thoughts, and whether there were thoughts."""
    found = [part for part in (parts if isinstance(parts, list) else []) if isinstance(part, dict)]
    texts = [part["text"] for part in found if not part.get("thought") and isinstance(part.get("text"), str)]
    return "".join(texts), any(part.get("thought") for part in found)


def _words(reason: str) -> str:
    return SPELLED_OUT.get(reason, reason.casefold().replace("_", " "))
