"""Habits of a model: the way to write requests that its server accepts, learned from refusals."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from tabcontam.models.base import ModelRequest, PromptForm, in_turns
from tabcontam.models.openai.errors import NO_MODEL, NOT_THERE, Concern, Problem, concern
from tabcontam.models.served_llm import SYSTEM, Habits, smallest
from tabcontam.models.thresholds import MOST_THINKING_TOKENS

REFUSING = (200, 400, 422)  # the statuses with which servers refuse a part of a request; some use 200
# Parameters without which a request would ask something else. A server that scores no text refuses the last three.
NEEDED = ("model", "messages", "prompt", "echo", "logprobs", "prompt_logprobs")
TOKENS = ("max_completion_tokens", "max_tokens")  # the two names of the limit
WHOLE = "answers in one piece"  # a demand of a server that is no parameter, as `SYSTEM`
STREAM = "stream"  # a request may ask for it even if the server does not demand it

UNSUPPORTED = re.compile(
    r"unsupported|not support|n't support|unrecognized|unknown|unexpected|deprecated|instead|extra|"
    r"not (permitted|allowed)",
    re.IGNORECASE,
)
LIMIT = re.compile(r"max(imum)?[ _-]?(\w{1,12}[ _-]?)?tokens?\b", re.IGNORECASE)
# Words about the fewest tokens, or about a number that is too small.
LEAST = re.compile(
    r"at least|minimum|>|≥|greater|larger|more than|less than|below|between|range|too (small|low|few)", re.IGNORECASE
)
FEWEST = re.compile(r"(minimum|at least).{0,40}\btokens|\btokens\b.{0,40}(minimum|at least)", re.IGNORECASE)
BEYOND = re.compile(r"(?:greater than|larger than|more than|higher than|>)\s*(\d{1,4})(?![\w.])", re.IGNORECASE)
WHOLE_NUMBER = re.compile(r"(?<![\w.,-])\d{1,4}(?![\w-]|[.,]\d)")
STREAMS = r"\bstream|non-?stream"
NO_CHAT = re.compile(r"not a chat model|chat[ _]template|does(n't| not) support chat\b", re.IGNORECASE)
TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|(context|model)[ _](length|len|window|size)\b|"
    r"tokens`? ?\+ ?`?max_new_tokens|"
    r"max_(completion_)?tokens\W.{0,60}(too large|less than or equal|valid range)|at most \d+ completion tokens",
    re.IGNORECASE,
)
CONTEXT = re.compile(
    r"(?:context[ _](?:length|window|size)|max_model_len|max_total_tokens)[^\d.]{0,30}(\d{1,9})", re.IGNORECASE
)
GIVEN = re.compile(r"(?<!least )\b(\d{1,9})(?: tokens)? (?:in the (?:messages|prompt)|input tokens)", re.IGNORECASE)
MOST = re.compile(
    r"at most (\d{1,9}) completion tokens|less than or equal to \W?(\d{1,9})|"
    r"range of max_tokens is \[\d+, ?(\d{1,9})\]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class LengthLimits:
    """Lengths in tokens, None if not stated: limit of prompt and answer, length of this prompt, limit of an answer."""

    context: int | None = None
    prompt: int | None = None
    answer: int | None = None

    @property
    def room(self) -> int | None:
        left = None if self.context is None or self.prompt is None else self.context - self.prompt
        return smallest(left, self.answer)


def limits(problem: Problem) -> LengthLimits | None:
    """Return the lengths that a refusal states; None if the request was refused for another reason than its length."""
    if not TOO_LONG.search(f"{problem.message} {problem.names}"):
        return None
    found = [pattern.search(problem.message) for pattern in (CONTEXT, GIVEN, MOST)]
    stated = [int(next(filter(None, match.groups()))) if match else None for match in found]
    return LengthLimits(*stated)


@dataclass(frozen=True)
class OpenAIHabits(Habits):
    """The habits of a model over OpenAI's protocol."""

    context: int | None = None  # tokens of prompt and answer together, if they limit the thinking
    room: int | None = None  # the most tokens of an answer to the prompt that is being asked; other prompts ignore it
    seed: str = ""  # the service's name of the parameter for a seed; "" if it has none
    scores: bool = False  # True if answers must come with their log-probabilities

    def joined(self, other: "OpenAIHabits") -> "OpenAIHabits":
        return replace(super().joined(other), context=smallest(self.context, other.context), room=None)

    def adapted(
        self, problem: Problem, form: PromptForm, request: ModelRequest | None, arguments: Mapping[str, Any]
    ) -> "OpenAIHabits | None":
        """Return these habits with what a refusal shows, if another request may help. `request`: None for a text."""
        found = limits(problem)
        if least := minimum(problem, arguments, found):
            return replace(self, least=least)
        if found:
            limit = self.limit(request, form) if request else 0
            if not request or limit <= self.fewest(request):
                return None
            context, most = smallest(self.context, found.context), smallest(self.most, found.answer)
            return replace(self, context=context, most=most, room=smaller(limit, self.fewest(request), found.room))
        what = unsupported(problem, arguments)
        return None if what is None or what in self.refused else replace(self, refused=self.refused | {what})

    def whole(self) -> "OpenAIHabits":
        """Return these habits, and the new habit of not asking for streams."""
        return replace(self, refused=self.refused | {STREAM})

    @property
    def reasons(self) -> bool:
        """Return whether the model reasons. A model that demands `max_completion_tokens` is assumed to reason."""
        return self.thinks or "max_tokens" in self.refused

    @property
    def allowance(self) -> int:
        return smallest(super().allowance, self.context) or 0

    def fewest(self, request: ModelRequest) -> int:
        return max(request.max_tokens, self.least)

    def limit(self, request: ModelRequest, form: PromptForm) -> int:
        """Return the token limit of a request: the answer's limit, and as much thinking as is likely to fit."""
        template = 32  # tokens that a chat template may add
        characters = 2  # characters of a token, fewer than in most texts: a prompt that seems to fit then fits
        fewest = self.fewest(request)
        wanted = fewest + (MOST_THINKING_TOKENS if self.reasons else 0)
        room = smallest(self.most, self.room)
        if self.context is not None:
            prompt = request.prompt
            texts = [turn.content for turn in prompt.chat] if form is PromptForm.CHAT else [prompt.completion]
            room = smallest(room, self.context - template - sum(map(len, texts)) // characters)
        return wanted if room is None else max(fewest, min(wanted, room))

    def arguments(self, form: PromptForm, request: ModelRequest, streamed: bool = False) -> dict[str, Any]:
        most_stops = 4  # OpenAI accepts no more
        prompt, limit = request.prompt, self.limit(request, form)
        arguments: dict[str, Any] = {"temperature": prompt.temperature or 0, "max_tokens": limit}
        if self.seed:
            arguments[self.seed] = prompt.sample
        if form is PromptForm.CHAT:
            chat = in_turns(prompt.chat) if SYSTEM in self.refused else prompt.chat
            messages = [{"role": message.role, "content": message.content} for message in chat]
            arguments |= {"messages": messages, "max_completion_tokens": limit}
            if self.scores:
                arguments["logprobs"] = True
            if request.schema:
                schema = {"name": "answer", "strict": True, "schema": request.schema}
                arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
            # One of the two limits: older servers know only the first, reasoning models only the second.
            del arguments["max_tokens" if "max_tokens" in self.refused else "max_completion_tokens"]
        else:
            arguments |= {"prompt": prompt.completion, "stop": list(prompt.stop[:most_stops])}
            if not prompt.stop:
                del arguments["stop"]
            if self.scores:
                arguments["logprobs"] = 1
        return self.taken(arguments, streamed)

    def taken(self, arguments: Mapping[str, Any], streamed: bool = False) -> dict[str, Any]:
        """Return the arguments that the model accepts, for a stream if `streamed` or if it answers in no other way."""
        asked = dict(arguments)
        if WHOLE in self.refused or (streamed and STREAM not in self.refused):
            asked |= {STREAM: True, "stream_options": {"include_usage": True}}
        allowed = {name: max(arguments[name], self.least) for name in TOKENS if name in arguments}
        refused = self.refused - {STREAM}
        return {name: value for name, value in {**asked, **allowed}.items() if name not in refused}


def smaller(limit: int, max_tokens: int, room: int | None) -> int:
    """Return the token limit to try after `limit` was refused: the stated `room`, or else with half the thinking."""
    half = max_tokens + (limit - max_tokens) // 2
    return max(max_tokens, min(half if room is None else room, limit - 1))


def unsupported(problem: Problem, arguments: Mapping[str, Any]) -> str | None:
    """Return what a refusal calls not supported: a sent parameter, system messages, or an answer without a stream."""
    optional = {_plain(name): name for name in arguments if name not in NEEDED}
    optional["maxoutputtokens"] = next((name for name in TOKENS if name in arguments), "")
    places = [_plain(place) for place in problem.places] if problem.status in REFUSING else []
    name = next((optional[place] for place in places if place in optional), None)
    roles = [message["role"] for message in arguments.get("messages", ())]
    # In a chat with such roles, `in_turns` would change something.
    changes = "system" in (*arguments, *roles) or any(one == after for one, after in pairwise(roles))
    if name is None and problem.of_roles and changes:
        return SYSTEM
    if name is None and problem.status in REFUSING and not any(place in NEEDED[:3] for place in places):
        name = _named(problem, arguments)
    if name in TOKENS and re.search(r"\d", problem.message) and not UNSUPPORTED.search(problem.text):
        return None  # only the number is wrong
    return name


def _named(problem: Problem, arguments: Mapping[str, Any]) -> str | None:
    text = f"{problem.message or problem.text} {problem.names}"
    if STREAM not in arguments and re.search(STREAMS, text, re.IGNORECASE):
        return WHOLE
    found: dict[str, re.Match[str]] = {}
    for name in arguments.keys() - set(NEEDED):
        # The name as a separate word: max_tokens, maxTokens, max tokens.
        word = rf"(?<![A-Za-z]){'[ _-]?'.join(name.split('_'))}(?![a-z])"
        if match := re.search(STREAMS if name == STREAM else word, text, re.IGNORECASE):
            found[name] = match
    return min(found, key=lambda name: (found[name].start(), -len(name)), default=None)  # not stream for stream_options


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


# most_least: tokens; no server has a larger minimum
def minimum(
    problem: Problem, arguments: Mapping[str, Any], found: LengthLimits | None, *, most_least: int = 1024
) -> int | None:
    """Return the fewest tokens that a refusing server accepts as a limit; None if it states no such number."""
    given = next((arguments[name] for name in TOKENS if name in arguments), None)
    text = problem.message
    about_prompt = found is not None and (found.context or found.prompt)
    about = LIMIT.search(f"{text} {problem.field('param')}") or FEWEST.search(text)
    if problem.status not in REFUSING or given is None or about_prompt or not about or not LEAST.search(text):
        return None
    beyond = [int(number) + 1 for number in BEYOND.findall(text)]
    stated = [number for number in map(int, WHOLE_NUMBER.findall(text)) if number + 1 not in beyond]
    return min((number for number in (*beyond, *stated) if given < number <= most_least), default=None)


def says_no_chat(problem: Problem) -> bool:
    return bool(NO_CHAT.search(problem.text))


def may_lack_chat(problem: Problem) -> bool:
    """Return whether the completion form is worth a try after this refusal of a chat."""
    if problem.of_roles:
        return False
    if problem.status in NOT_THERE:
        return says_no_chat(problem) or not NO_MODEL.search(problem.text)
    return problem.status in (400, 422) and says_no_chat(problem)


def may_lack_streams(problem: Problem, *, not_implemented: int = 501) -> bool:
    """Return whether a refused request is worth a try without a stream, even if the refusal names no stream."""
    of_request = concern(problem) is Concern.REQUEST and not may_lack_chat(problem)
    return of_request or problem.status == not_implemented
