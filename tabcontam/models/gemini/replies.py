"""Readers of the answers and errors of Gemini's server, and the habits that are learned from refusals."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tabcontam.evidence.base import Usage
from tabcontam.models.base import ModelRequest, PromptForm, without_system
from tabcontam.models.openai.errors import Concern, Problem
from tabcontam.models.openai.replies import ServedAnswer, json_at, message, tokens_at
from tabcontam.models.served_llm import Habits

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
    found = json_at(candidate, "content", "parts")
    parts = [part for part in (found if isinstance(found, list) else []) if isinstance(part, dict)]
    texts = [part["text"] for part in parts if not part.get("thought") and isinstance(part.get("text"), str)]
    text = "".join(texts)
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
        thought=bool(thoughts) or any(part.get("thought") for part in parts),
        refusal=_words(finish) if BLOCKS.fullmatch(finish) else "",
        stopped="" if finish in NATURAL else f"stopped: {_words(finish)}",
    )


def hopeless(problem: Problem) -> tuple[Concern, str] | None:
    """Return what an error concerns that any other request would get too, and the advice; None for other errors."""
    answered = f"{problem.status} {problem.body}"
    return next((what for words, what in HOPELESS.items() if re.match(words, answered, re.I | re.S)), None)


def concern(problem: Problem) -> Concern:
    if found := hopeless(problem):
        return found[0]
    return Concern.PASSING if passes(problem.status) else Concern.REQUEST


def passes(status: int) -> bool:
    return status in (408, 429) or status >= 500


def _words(reason: str) -> str:
    return SPELLED_OUT.get(reason, reason.casefold().replace("_", " "))


ROLES = {"assistant": "model"}
# Ways to ask for little thinking: by level from Gemini 3 on, by budget before. No model accepts all of them.
LITTLE_THINKING: Mapping[str, Mapping[str, Any]] = {
    "minimal thinking": {"thinking_level": "MINIMAL"},
    "low thinking": {"thinking_level": "LOW"},
    "no thinking": {"thinking_budget": 0},
}
SCHEMA = "responseJsonSchema"
# Parameters that a model may refuse, and the words of the refusal. Gemma accepts no system text.
REFUSALS = {
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    SCHEMA: re.compile(r"\bresponse[ _]?(json[ _]?schema|schema|mime[ _]?type)|\bjson mode", re.IGNORECASE),
    "systemInstruction": re.compile(r"\b(developer|system)[ _]?instruction", re.IGNORECASE),
    # Google does not always name the wrong argument; this one differs most between models.
    "thinkingConfig": re.compile(r"thinking|\bbudget\b|contains an invalid argument", re.IGNORECASE),
}


@dataclass(frozen=True)
class GeminiHabits(Habits):
    """The habits of a Gemini or Gemma model."""

    def adapted(
        self, problem: Problem, form: PromptForm, request: ModelRequest, arguments: Mapping[str, Any]
    ) -> "GeminiHabits | None":
        sent = {**arguments, **arguments["generationConfig"]}
        named = (name for name, words in REFUSALS.items() if name in sent and words.search(problem.text))
        name = next(named, None) if problem.status == 400 else None
        refused = self.thinking if name == "thinkingConfig" else name
        return None if refused is None else replace(self, refused=self.refused | {refused})

    @property
    def thinking(self) -> str | None:
        """The entry of `LITTLE_THINKING` to use; None if the model does not think, or refuses all of them."""
        return next((name for name in LITTLE_THINKING if name not in self.refused), None) if self.thinks else None

    def arguments(self, form: PromptForm, request: ModelRequest) -> dict[str, Any]:
        prompt, schema = request.prompt, None if SCHEMA in self.refused else request.schema
        system = "\n\n".join(message.content for message in prompt.chat if message.role == "system")
        turns = [message for message in prompt.chat if message.role != "system"]
        if "systemInstruction" in self.refused:
            turns = without_system(prompt.chat)
        contents = [{"role": ROLES.get(turn.role, turn.role), "parts": [{"text": turn.content}]} for turn in turns]
        config: dict[str, Any] = {
            "temperature": prompt.temperature or 0,
            "seed": prompt.sample,
            "maxOutputTokens": request.max_tokens + self.allowance,
        }
        if self.thinking:
            config["thinkingConfig"] = LITTLE_THINKING[self.thinking]
        if schema:
            config |= {"responseMimeType": "application/json", SCHEMA: schema}
        config = {name: value for name, value in config.items() if name not in self.refused}
        body: dict[str, Any] = {"contents": contents, "generationConfig": config}
        if system and "systemInstruction" not in self.refused:
            body["systemInstruction"] = {"parts": [{"text": system}], "role": "user"}
        return body
