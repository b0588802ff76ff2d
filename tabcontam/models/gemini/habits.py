"""Habits of a Gemini or Gemma model: the way to write requests that its server accepts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tabcontam.models.base import ModelRequest, without_system
from tabcontam.models.thresholds import MOST_THINKING_TOKENS

ROLES = {"assistant": "model"}
# Ways to ask for little thinking: by level from Gemini 3 on, by budget before. No model accepts all of them.
LITTLE_THINKING: Mapping[str, Mapping[str, Any]] = {
    "minimal thinking": {"thinking_level": "MINIMAL"},
    "low thinking": {"thinking_level": "LOW"},
    "no thinking": {"thinking_budget": 0},
}
SCHEMA = "response_json_schema"
# Parameters that a model may refuse, and the words of the refusal. Gemma accepts no system text.
REFUSALS = {
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    SCHEMA: re.compile(r"\bresponse[ _]?(json[ _]?schema|schema|mime[ _]?type)|\bjson mode", re.IGNORECASE),
    "system_instruction": re.compile(r"\b(developer|system)[ _]?instruction", re.IGNORECASE),
    # Google does not always name the wrong argument; this one differs most between models.
    "thinking_config": re.compile(r"thinking|\bbudget\b|contains an invalid argument", re.IGNORECASE),
}


@dataclass(frozen=True)
class GeminiHabits:
    """The habits that a model's server has shown so far, such as refused parameters. None is ever removed."""

    refused: frozenset[str] = frozenset()
    thinks: bool = False

    def joined(self, other: "GeminiHabits") -> "GeminiHabits":
        """Return these habits together with those of `other`."""
        return GeminiHabits(self.refused | other.refused, self.thinks or other.thinks)

    def without(self, error: Exception, config: Mapping[str, Any]) -> "GeminiHabits | None":
        """Return these habits without the parameter that a refusal names; None if it names none."""
        if getattr(error, "code", None) != 400:
            return None
        text = str(getattr(error, "details", ""))
        names = (name for name, words in REFUSALS.items() if config.get(name) is not None and words.search(text))
        name = next(names, None)
        refused = self.thinking if name == "thinking_config" else name
        return None if refused is None else replace(self, refused=self.refused | {refused})

    @property
    def allowance(self) -> int:
        """The tokens of thinking that the model may write in addition to the answer."""
        return MOST_THINKING_TOKENS if self.thinks else 0

    @property
    def thinking(self) -> str | None:
        """The entry of `LITTLE_THINKING` to use; None if the model does not think, or refuses all of them."""
        return next((name for name in LITTLE_THINKING if name not in self.refused), None) if self.thinks else None

    def arguments(self, request: ModelRequest) -> dict[str, Any]:
        """Return the body of a request: the chat, and the prompt's temperature or else 0.

        Parameters that the model refuses are left out.
        """
        prompt, schema = request.prompt, None if SCHEMA in self.refused else request.schema
        system = "\n\n".join(message.content for message in prompt.chat if message.role == "system")
        turns = [message for message in prompt.chat if message.role != "system"]
        if "system_instruction" in self.refused:
            turns = without_system(prompt.chat)
        config = {
            "temperature": prompt.temperature or 0,
            "seed": prompt.sample,
            "max_output_tokens": request.max_tokens + self.allowance,
            "system_instruction": system or None,
            "thinking_config": LITTLE_THINKING.get(self.thinking or ""),
        }
        if schema:
            config |= {"response_mime_type": "application/json", SCHEMA: schema}
        return {
            "contents": [
                {"role": ROLES.get(turn.role, turn.role), "parts": [{"text": turn.content}]} for turn in turns
            ],
            "config": {name: value for name, value in config.items() if name not in self.refused},
        }
