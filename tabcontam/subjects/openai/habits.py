"""What a model was found to want, and how a request is written that it takes."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tabcontam.evidence.base import Prompt
from tabcontam.subjects.base import THINKING, Form, Request
from tabcontam.subjects.openai.errors import NO_MODEL, NOT_THERE, Problem

MOST_STOPS = 4  # OpenAI takes no more
OPTIONAL = ("temperature", "stop", "max_tokens", "random_seed", "seed")
CHARACTERS = 2  # of a prompt to a token: fewer than in most texts, so that what is taken to fit does
TEMPLATE = 32  # tokens that a chat template may add

UNSUPPORTED = re.compile(
    r"unsupported|not support|n't support|unrecognized|unknown|unexpected|deprecated|not (permitted|allowed)|extra",
    re.IGNORECASE,
)
NO_CHAT = re.compile(r"not a chat model|chat[ _]template|does(n't| not) support chat\b", re.IGNORECASE)
TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|(context|model)[ _](length|len|window|size)\b|"
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
class Limits:
    """What a server said of lengths: of prompt and answer together, of this prompt, of an answer; None if nothing."""

    context: int | None = None
    prompt: int | None = None
    answer: int | None = None

    @property
    def room(self) -> int | None:
        """The tokens that are left for an answer to this prompt, where they are known."""
        left = None if self.context is None or self.prompt is None else self.context - self.prompt
        return _least(left, self.answer)


def _least(*numbers: int | None) -> int | None:
    return min((number for number in numbers if number is not None), default=None)


def limits(problem: Problem) -> Limits | None:
    """What a server said of lengths when it refused a request; None where lengths were not the reason."""
    if not TOO_LONG.search(f"{problem.message} {problem.names}"):
        return None
    found = [pattern.search(problem.message) for pattern in (CONTEXT, GIVEN, MOST)]
    stated = [int(next(filter(None, match.groups()))) if match else None for match in found]
    return Limits(*stated)


@dataclass(frozen=True)
class Habits:
    """What a model was found to want, from what its server said. Habits only ever grow, and limits only shrink."""

    refused: frozenset[str] = frozenset()
    thinks: bool = False
    context: int | None = None  # tokens of prompt and answer, where that bounds the thinking
    most: int | None = None  # tokens of an answer
    room: int | None = None  # tokens of an answer to the prompt that is being asked; nothing to others
    seed: str = ""  # what the service calls the parameter for a seed, where it takes one

    def joined(self, other: "Habits") -> "Habits":
        """What either has found of the model."""
        return Habits(
            self.refused | other.refused,
            self.thinks or other.thinks,
            _least(self.context, other.context),
            _least(self.most, other.most),
            seed=self.seed or other.seed,
        )

    def adapted(self, problem: Problem, form: Form, request: Request, arguments: Mapping[str, Any]) -> "Habits | None":
        """These, with what a refusal says that this model does not take; None where other words would not help."""
        if found := limits(problem):
            limit = self.limit(request, form)
            if limit <= request.max_tokens:
                return None
            context, most = _least(self.context, found.context), _least(self.most, found.answer)
            return replace(self, context=context, most=most, room=smaller(limit, request.max_tokens, found.room))
        name = unsupported(problem, form, arguments) if problem.status in (400, 422) else None
        return None if name is None else replace(self, refused=self.refused | {name})

    @property
    def reasons(self) -> bool:
        """A model that wants `max_completion_tokens` is taken for one that reasons."""
        return self.thinks or "max_tokens" in self.refused

    @property
    def allowance(self) -> int:
        """The most tokens beyond the answer's."""
        return (_least(THINKING, self.context, self.most) or 0) if self.reasons else 0

    def limit(self, request: Request, form: Form) -> int:
        """The tokens that a request may write: its answer's, and as many for thinking as are likely to fit."""
        wanted = request.max_tokens + (THINKING if self.reasons else 0)
        room = _least(self.most, self.room)
        if self.context is not None:
            room = _least(room, self.context - TEMPLATE - _length(request.prompt, form) // CHARACTERS)
        return wanted if room is None else max(request.max_tokens, min(wanted, room))

    def arguments(self, form: Form, request: Request) -> dict[str, Any]:
        """What is sent besides the model's name: greedy decoding, where the model takes that, or a draw."""
        prompt, limit = request.prompt, self.limit(request, form)
        arguments: dict[str, Any] = {"temperature": prompt.temperature or 0, "max_tokens": limit}
        if self.seed:
            arguments[self.seed] = prompt.sample
        if form is Form.CHAT:
            messages = [{"role": message.role, "content": message.content} for message in prompt.chat]
            arguments |= {"messages": messages, "max_completion_tokens": limit}
            # One of the two limits: older servers know the first alone, reasoning models the second alone.
            del arguments["max_tokens" if "max_tokens" in self.refused else "max_completion_tokens"]
        else:
            arguments |= {"prompt": prompt.completion, "stop": list(prompt.stop[:MOST_STOPS])}
            if not prompt.stop:
                del arguments["stop"]
        return {name: value for name, value in arguments.items() if name not in self.refused or name == "max_tokens"}


def smaller(limit: int, max_tokens: int, room: int | None) -> int:
    """The next limit to try after a refused one: what the server said is left, or half of the thinking."""
    half = max_tokens + (limit - max_tokens) // 2
    return max(max_tokens, min(half if room is None else room, limit - 1))


def _length(prompt: Prompt, form: Form) -> int:
    texts: Iterable[str] = (message.content for message in prompt.chat) if form is Form.CHAT else (prompt.completion,)
    return sum(map(len, texts))


def unsupported(problem: Problem, form: Form, arguments: Mapping[str, Any]) -> str | None:
    """The parameter that a server says this model does not take."""
    if not UNSUPPORTED.search(problem.text):
        return None
    param = problem.field("param")
    for name in OPTIONAL:
        if name not in arguments or (name == "max_tokens" and form is not Form.CHAT):
            continue
        if param == name if param else re.search(rf"\b{name}\b", problem.text):
            return name
    return None


def says_no_chat(problem: Problem) -> bool:
    """Whether a server says that this model has no chat form."""
    return bool(NO_CHAT.search(problem.text))


def may_lack_chat(problem: Problem) -> bool:
    """Whether the other form is worth a try."""
    if problem.status in NOT_THERE:
        return says_no_chat(problem) or not NO_MODEL.search(problem.text)
    return problem.status in (400, 422) and says_no_chat(problem)
