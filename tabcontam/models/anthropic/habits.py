"""Habits of a Claude model: the way to write requests that its server accepts, learned from refusals."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tabcontam.models.anthropic.errors import MOST, concern
from tabcontam.models.anthropic.replies import supports
from tabcontam.models.base import ModelRequest, in_turns
from tabcontam.models.openai.errors import Concern, Problem
from tabcontam.models.openai.habits import SYSTEM, WHOLE, minimum, unsupported
from tabcontam.models.prompt_form import NO_SYSTEM, NO_TEMPERATURE
from tabcontam.models.thresholds import MOST_THINKING_TOKENS

# Ways to ask for no thinking. A model accepts some of them or none; with none it thinks before every answer.
NO_THINKING = ("disabled", "between_tools")
# Arguments that a model may refuse, and the words of the refusal.
REFUSALS = {
    "temperature": re.compile(r"\btemperature\b|anthropic-version", re.IGNORECASE),
    "thinking": re.compile(r"thinking|between_tools", re.IGNORECASE),
    "output_config": re.compile(r"\beffort\b|\boutput_config\b", re.IGNORECASE),
}


@dataclass(frozen=True)
class AnthropicHabits:
    """The habits that a model's server has shown, such as refused arguments. None is ever removed."""

    refused: frozenset[str] = frozenset()  # names of arguments, and ways to ask for no thinking
    thinks: bool = False  # True if it was seen to think although asked not to
    most: int | None = None  # the most tokens that it can write
    least: int = 0  # the fewest tokens that the limit on an answer may be

    def joined(self, other: "AnthropicHabits") -> "AnthropicHabits":
        """Return these habits together with those of `other`."""
        most = min((most for most in (self.most, other.most) if most is not None), default=None)
        refused, thinks = self.refused | other.refused, self.thinks or other.thinks
        return AnthropicHabits(refused, thinks, most, max(self.least, other.least))

    def without(self, problem: Problem, arguments: Mapping[str, Any]) -> "AnthropicHabits | None":
        """Return these habits with what the refusal `problem` shows; None if another request would not help."""
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
        """Return whether the model may think: the token limit of an answer must then be larger."""
        return self.thinks or self.no_thinking is None

    @property
    def allowance(self) -> int:
        """The most tokens of thinking that the model may write in addition to the answer."""
        if not self.reasons:
            return 0
        return MOST_THINKING_TOKENS if self.most is None else min(MOST_THINKING_TOKENS, self.most)

    def arguments(self, request: ModelRequest) -> dict[str, Any]:
        """Return the body of a request except the model's name: the chat, and the prompt's temperature or else 0.

        Arguments that the model refuses are left out. A prompt's stop strings are not sent: only its completion form
        needs them.
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

    @property
    def notes(self) -> str:
        """A line that states how answers differ because requests lack the refused parts; "" if they do not."""
        lines = (("temperature" in self.refused, NO_TEMPERATURE), (SYSTEM in self.refused, NO_SYSTEM))
        return "; ".join(line for holds, line in lines if holds)


def stated_habits(about: Mapping[str, Any]) -> AnthropicHabits:
    """Return the habits that follow from the server's description of a model."""
    refused = {way for way in NO_THINKING if supports(about, "thinking", "types", way) is False}
    if supports(about, "effort", "low") is False:
        refused.add("output_config")
    most = about.get("max_tokens")
    bounded = isinstance(most, int) and not isinstance(most, bool) and most > 0
    return AnthropicHabits(frozenset(refused), most=most if bounded else None)
