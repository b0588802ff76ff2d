"""Habits of a Gemini or Gemma model: the way to write requests that its server accepts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tabcontam.models.base import ModelRequest, PromptForm, without_system
from tabcontam.models.openai.errors import Problem
from tabcontam.models.served_llm import Habits

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
        """Return these habits without the parameter that a refusal names; None if it names none."""
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
        """Return the body of a request, without the parameters that the model refuses."""
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
