"""The words of the suite: query, trial, measurement, result, verdict.

One direction: a test writes `Query`s and judges `Trial`s. It never calls a model and never knows which LLM answers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from tabcontam.datasets import Table
    from tabcontam.decide.words import Dictionary
    from tabcontam.serializers import Serializer


class Kind(StrEnum):
    """What a test measures."""

    KNOWLEDGE = "knowledge"
    MEMORIZATION = "memorization"
    MEMBERSHIP = "membership"
    CLASSIFICATION = "classification"


class Verdict(StrEnum):
    """The five words of a judged cell; never fold one into another."""

    CONTAMINATED = "contaminated"
    NOT_DETECTED = "not detected"
    UNINFORMATIVE = "uninformative"
    NO_ANSWER = "no answer"
    SKIPPED = "skipped"


class State(StrEnum):
    """What became of a request.

    ok          usable, also when it ran into the token limit but the asked item was complete before it
    truncated   cut before the asked item was complete
    refused     a fact of the protocol: content filter, refusal field, safety block
    empty       no text
    failed      no reply at all; the only state that is not paid for
    """

    OK = "ok"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    EMPTY = "empty"
    FAILED = "failed"


class Capability(StrEnum):
    """What a test can need from an LLM."""

    GENERATE = "generate"
    CHAT = "chat"  # takes messages with roles
    COMPLETION = "completion"  # goes on with a text
    SCORE = "score"  # log-probabilities of given text
    SEED = "seed"  # is told a seed for its sampling
    INSTRUCTIONS = "instructions"  # understands a question; a control does not


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message: role is "system", "user" or "assistant"."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One query in its three renderings: chat, completion (base models), sequence-to-sequence.

    `stop` holds the stop strings of the completion rendering.
    """

    chat: tuple[Message, ...]
    completion: str
    seq2seq: str
    stop: tuple[str, ...] = ("\n",)


@dataclass(frozen=True, slots=True)
class Query:
    """One prompt, what was asked and the expected answer.

    `write` writes the prompt, the same each time; the query keeps none, since a plan has many queries. Two queries are
    equal by all the rest.
    `asked` and `expected` run in parallel for row tests (feature, value; None is a missing value); for the others
    `asked` holds the possible answers, if they are a closed list, and `expected` the words, names or the one answer.
    `paper` says that the query is one of the paper's own; `rows` are the table rows that stand in the prompt, whole or
    in part; `not_expected` are names that must not count (Wine Quality, where Wine is expected).
    """

    id: str
    write: Callable[[], Prompt] = field(compare=False, repr=False)
    asked: tuple[str, ...]
    expected: tuple[str | None, ...]
    max_tokens: int
    paper: bool = True
    rows: tuple[int, ...] = ()
    not_expected: tuple[str, ...] = ()

    @property
    def prompt(self) -> Prompt:
        """The prompt, written anew."""
        return self.write()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a server charged for a reply, over all requests it took: the prompts', and all that was written."""

    prompt: int
    written: int


@dataclass(frozen=True, slots=True)
class Reply:
    """Text and state. `detail` says why a reply is not ok; `tokens` counts the answer's tokens, where known.

    `usage` is what the server says it charged, thinking included; None where it says nothing.
    """

    text: str
    state: State
    detail: str = ""
    tokens: int | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """How one reply was read.

    `parsed` is what was understood; `readable` whether it was an answer at all (a text that declines is none); `hit`
    the decision by what was understood; `paper_hit` the published algorithm's on the text as it came.
    """

    parsed: Mapping[str, str | None] | str | None
    hit: bool
    paper_hit: bool
    readable: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """A query with the model's reply and, once judged, its reading."""

    query: Query
    reply: Reply
    reading: Reading | None = None
    cached: bool = False


@dataclass(frozen=True)
class Measurement:
    """What a test found, before any verdict.

    `hits` among the `trials`, of which `answered` could be read, by the answers as understood; `paper_hits` by the
    published algorithm. `detected` and `paper_detected` say whether that is enough, and are None where the paper has
    only a score. `claim` says what a hit is, in the words that follow "3 of 5".
    """

    trials: tuple[Trial, ...]
    hits: int
    paper_hits: int
    answered: int
    detected: bool | None
    paper_detected: bool | None
    claim: str


class Test(Protocol):
    """A contamination test: a frozen dataclass whose docstring is its page.

    `number` is the paper's Table 1 id, None for membership and classification.
    """

    id: ClassVar[str]
    number: ClassVar[int | None]
    kind: ClassVar[Kind]
    needs: ClassVar[frozenset[Capability]]
    shows_rows: ClassVar[bool]  # whether the serializer matters
    by_feature: ClassVar[bool]  # whether `asked` and `expected` of its queries run in parallel

    def queries(self, table: "Table", serializer: "Serializer", rng: Random) -> Sequence[Query]:
        """Every query of the cell, checked. Raises `Skip` with the reason where the table does not allow the test."""
        ...

    def complete(self, query: Query, text: str, serializer: "Serializer") -> bool:
        """Whether a text that was cut at the token limit held the whole asked item before it."""
        ...

    def read(self, query: Query, reply: Reply, serializer: "Serializer", dictionary: "Dictionary") -> Reading:
        """One reply, read and decided."""
        ...

    def judge(self, trials: Sequence[Trial], planned: int) -> Measurement:
        """The cell's statistic from its read trials, which may be fewer than were planned."""
        ...
