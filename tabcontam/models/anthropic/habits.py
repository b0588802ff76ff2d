"""Habits of a Claude model: the way to write requests that its server accepts, learned from refusals."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tabcontam.models.anthropic.replies import concern, supports
from tabcontam.models.base import ModelRequest, PromptForm, in_turns
from tabcontam.models.openai.errors import Concern, Problem
from tabcontam.models.openai.habits import WHOLE, minimum, unsupported
from tabcontam.models.served_llm import SYSTEM, Habits

# Ways to ask for no thinking. A model accepts some of them or none; with none it thinks before every answer.
NO_THINKING = ("disabled", "between_tools")
# Arguments that a model may refuse, and the words of the refusal.
REFUSALS = {
    "temperature": re.compile(r"\btemperature\b|anthropic-version", re.IGNORECASE),
    "thinking": re.compile(r"thinking|between_tools", re.IGNORECASE),
    "output_config": re.compile(r"\beffort\b|\boutput_config\b", re.IGNORECASE),
}
MOST = re.compile(r"max_tokens: \d+ > (\d{1,9})")


@dataclass(frozen=True)
class AnthropicHabits(Habits):
    """The habits of a Claude model. `refused` has names of arguments, and ways to ask for no thinking."""

    def adapted(
        self, problem: Problem, form: PromptForm, request: ModelRequest, arguments: Mapping[str, Any]
    ) -> "AnthropicHabits | None":
        """Return these habits with what a refusal of `arguments` shows; None if another request would not help."""
        if concern(problem) is not Concern.REQUEST:
            return None
        if least := minimum(problem, arguments, None):
            return replace(self, least=least)
        most = MOST.search(problem.message)
        if most and int(most[1]) < arguments["max_tokens"]:
            return self.joined(AnthropicHabits(most=int(most[1])))
        words_of = REFUSALS.items() if problem.status in (400, 422) else ()
        named = (name for name, words in words_of if name in arguments and words.search(problem.message))
        name = next(named, None) or unsupported(problem, arguments)
        refused = {"thinking": self.no_thinking, "system": SYSTEM}.get(name or "", name)
        return None if refused is None or refused in self.refused else replace(self, refused=self.refused | {refused})

    @property
    def no_thinking(self) -> str | None:
        """The argument's value that asks for no thinking; None if the model refuses every such value."""
        return next((way for way in NO_THINKING if way not in self.refused), None)

    @property
    def reasons(self) -> bool:
        """Return whether the model may think, for example although it was asked not to."""
        return self.thinks or self.no_thinking is None

    def arguments(self, form: PromptForm, request: ModelRequest) -> dict[str, Any]:
        """Return the body of a request except the model's name, without the arguments that the model refuses.

        A prompt's stop strings are not sent: only its completion form needs them.
        """
        chat = in_turns(request.prompt.chat) if SYSTEM in self.refused else request.prompt.chat
        system = "\n\n".join(message.content for message in chat if message.role == "system").strip()
        turns = [{"role": turn.role, "content": turn.content} for turn in chat if turn.role != "system"]
        wanted = max(request.max_tokens, self.least) + self.allowance
        arguments: dict[str, Any] = {
            "max_tokens": wanted if self.most is None else max(1, min(wanted, self.most)),
            "messages": turns or [{"role": "user", "content": system}],
            "temperature": request.prompt.temperature or 0,
        }
        if system and turns:
            arguments["system"] = system
        if self.no_thinking:
            arguments["thinking"] = {"type": self.no_thinking}
        output: dict[str, Any] = {} if self.no_thinking else {"effort": "low"}
        if request.schema:
            output["format"] = {"type": "json_schema", "schema": request.schema}
        if output:
            arguments["output_config"] = output
        if WHOLE in self.refused:
            arguments["stream"] = True
        return {name: value for name, value in arguments.items() if name not in self.refused}


def stated_habits(about: Mapping[str, Any]) -> AnthropicHabits:
    """Return the habits that follow from the server's description of a model."""
    refused = {way for way in NO_THINKING if supports(about, "thinking", "types", way) is False}
    if supports(about, "effort", "low") is False:
        refused.add("output_config")
    most = about.get("max_tokens")
    bounded = isinstance(most, int) and not isinstance(most, bool) and most > 0
    return AnthropicHabits(frozenset(refused), most=most if bounded else None)
