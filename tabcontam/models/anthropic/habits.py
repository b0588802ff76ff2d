"""Habits of a Claude model: how a request must be written so that its server takes it, learned from refusals."""

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

# Ways to ask for no thinking. Which of them a model takes differs; some take none, and think before every answer.
NO_THINKING = ("disabled", "between_tools")
# Arguments that a model may not take, and the words of its server's refusal.
REFUSALS = {
    "temperature": re.compile(r"\btemperature\b|anthropic-version", re.IGNORECASE),
    "thinking": re.compile(r"thinking|between_tools", re.IGNORECASE),
    "output_config": re.compile(r"\beffort\b|\boutput_config\b", re.IGNORECASE),
}


@dataclass(frozen=True)
class AnthropicHabits:
    """The demands that a model's server has shown. Habits only ever grow, and the limit only shrinks."""

    refused: frozenset[str] = frozenset()  # names of arguments, and ways to ask for no thinking
    thinks: bool = False  # whether it was seen to think although it was asked not to
    most: int | None = None  # tokens that it can write
    least: int = 0  # tokens that an answer must be allowed

    def joined(self, other: "AnthropicHabits") -> "AnthropicHabits":
        """Return the habits that either of the two has found."""
        most = min((most for most in (self.most, other.most) if most is not None), default=None)
        refused, thinks = self.refused | other.refused, self.thinks or other.thinks
        return AnthropicHabits(refused, thinks, most, max(self.least, other.least))

    def without(self, problem: Problem, arguments: Mapping[str, Any]) -> "AnthropicHabits | None":
        """Return these habits with what a refusal adds; None if another way of writing would not help."""
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
        """The way to ask for no thinking; None if none is left."""
        return next((way for way in NO_THINKING if way not in self.refused), None)

    @property
    def reasons(self) -> bool:
        """Return whether thinking needs room in addition to the answer."""
        return self.thinks or self.no_thinking is None

    @property
    def allowance(self) -> int:
        """The most tokens that may come on top of the answer's."""
        if not self.reasons:
            return 0
        return MOST_THINKING_TOKENS if self.most is None else min(MOST_THINKING_TOKENS, self.most)

    def arguments(self, request: ModelRequest) -> dict[str, Any]:
        """Return what is sent besides the model's name: the chat, decoded greedily if the model takes that, or drawn.

        A prompt's stop strings are those of its completion; a chat has none.
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
        """The consequence for the answers of the parts left out of the requests; "" if there is none."""
        lines = (("temperature" in self.refused, NO_TEMPERATURE), (SYSTEM in self.refused, NO_SYSTEM))
        return "; ".join(line for holds, line in lines if holds)


def stated_habits(about: Mapping[str, Any]) -> AnthropicHabits:
    """Return the habits that the server states of a model before it is asked anything."""
    refused = {way for way in NO_THINKING if supports(about, "thinking", "types", way) is False}
    if supports(about, "effort", "low") is False:
        refused.add("output_config")
    most = about.get("max_tokens")
    bounded = isinstance(most, int) and not isinstance(most, bool) and most > 0
    return AnthropicHabits(frozenset(refused), most=most if bounded else None)
