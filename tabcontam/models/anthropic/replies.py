"""Readers of the answers and errors of Anthropic's server, and the habits that are learned from refusals."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tabcontam.evidence.base import Usage
from tabcontam.models.base import ModelRequest, PromptForm, in_turns
from tabcontam.models.openai.errors import PASSING, Concern, Problem, wait
from tabcontam.models.openai.habits import WHOLE, minimum, unsupported
from tabcontam.models.openai.replies import ServedAnswer, json_at, message, tokens_at
from tabcontam.models.served_llm import SYSTEM, Habits

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
    read = [tokens_at(body, "usage", name) for name in READ]
    reason, category = json_at(body, "stop_reason"), json_at(body, "stop_details", "category")
    stop = reason if isinstance(reason, str) else ""
    refusal = f"refusal: {category.replace('_', ' ')}" if isinstance(category, str) and category else "refusal"
    return ServedAnswer(
        text="".join(texts),
        tokens=None if written is None else max(0, written - thinking),
        usage=None if read[0] is None or written is None else Usage(sum(count or 0 for count in read), written),
        cut=stop in CUT,
        thought=thinking > 0 or any(block.get("type") in THOUGHTS for block in blocks),
        refusal=refusal if stop == "refusal" else "",
        stopped="" if stop in NATURAL else f"stopped: {stop.replace('_', ' ')}",
    )


def listed_names(listing: object) -> list[str]:
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
        return self.thinks or self.no_thinking is None

    def arguments(self, form: PromptForm, request: ModelRequest) -> dict[str, Any]:
        """Return the body of a request except the model's name. Stop strings are only for texts to continue."""
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
    refused = {way for way in NO_THINKING if supports(about, "thinking", "types", way) is False}
    if supports(about, "effort", "low") is False:
        refused.add("output_config")
    most = about.get("max_tokens")
    bounded = isinstance(most, int) and not isinstance(most, bool) and most > 0
    return AnthropicHabits(frozenset(refused), most=most if bounded else None)
