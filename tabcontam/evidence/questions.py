"""The four kinds of question that can be asked, each with its kind of answer.

| question  | is                                        | answer         |
|-----------|-------------------------------------------|----------------|
| `Prompt`  | to be answered in words                   | `Reply`        |
| `Passage` | a text to be scored as it stands          | `Scores`       |
| `Endings` | endings of a text that are to be compared | `Likelihoods`  |
| `Lookup`  | texts to be found in a corpus             | `Matches`      |

Every answer reports the outcome of its request: a `state`, a `detail` if that is not `ok`, the tokens that the server
charged, and the seconds that it took.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, TypeVar

from tabcontam.evidence.thresholds import LONGEST_READ_REPLY
from tabcontam.reading.wrapping import EDGES, set_off, without_marks, without_thought


class ReplyState(StrEnum):
    """The outcome of a request."""

    OK = "ok"  # usable, also if it ran into the token limit after the asked item was complete
    TRUNCATED = "truncated"  # cut before the asked item was complete
    REFUSED = "refused"  # a fact of the protocol: content filter, refusal field, safety block
    EMPTY = "empty"  # no text
    FAILED = "failed"  # no reply at all; the only state that is not paid for


READ = (ReplyState.OK, ReplyState.TRUNCATED)  # replies that brought a text


class Capability(StrEnum):
    """A capability of a source that a test can need."""

    GENERATE = "generate"  # answers a `Prompt`
    CHAT = "chat"  # takes messages with roles
    COMPLETION = "completion"  # goes on with a text
    SCORE = "score"  # answers a `Passage` and `Endings`
    MOMENTS = "moments"  # reports the mean and the deviation at each token of a `Passage`
    SEARCH = "search"  # answers a `Lookup`
    SEED = "seed"  # takes a seed for its sampling
    SAMPLE = "sample"  # draws a new answer to a `Prompt` each time, at a temperature
    INSTRUCTIONS = "instructions"  # understands a question; a control does not


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message: role is "system", "user" or "assistant"."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question in words in its three renderings: chat, completion (base models), sequence-to-sequence.

    It is answered by greedy decoding. If `sample` is 1 or more, the answer is drawn at the `temperature`, and the
    number distinguishes the draws: it is part of the key under which an answer is stored, and the seed for a server
    that takes one.
    """

    chat: tuple[Message, ...]
    completion: str
    seq2seq: str
    stop: tuple[str, ...] = ("\n",)  # the stop strings of the completion
    temperature: float = 0.0
    sample: int = 0
    values: tuple[str, ...] = ()  # the features that a server can be made to answer by; see `structured_answers`


@dataclass(frozen=True, slots=True)
class Passage:
    """A text whose tokens are to be scored, each given all before it. The model is asked nothing and writes nothing."""

    text: str


@dataclass(frozen=True, slots=True)
class Endings:
    """Endings of one text, one of which is compared with the others: how likely is each after the same beginning?"""

    beginning: str
    endings: tuple[str, ...]


class LookupMode(StrEnum):
    """The way in which the texts of a `Lookup` are compared with a document. Digits always count."""

    LETTERS = "letters"  # letter by letter, as they stand
    WORDS = "words"  # their words in sequence: case, and the text between words, do not count
    SIGNS = "signs"  # their letters and digits in sequence: blanks and punctuation do not count, case does
    CELLS = "cells"  # as values of a row, in any rendering: whole words, numbers by their value, next to other values


@dataclass(frozen=True, slots=True)
class Lookup:
    """Texts that are to be found in a corpus: any one of them is a find, and each is counted by itself.

    With `LookupMode.CELLS` each text is a value that is compared with the others, as an ending is: the values `context`
    it have to stand close by, in any order and each at a place of its own, but for at most `lacking` of them.

    At most `most` places are reported; the documents that hold one are all counted.
    """

    texts: tuple[str, ...]
    most: int = 10
    by: LookupMode = LookupMode.LETTERS
    context: tuple[str, ...] = ()
    lacking: int = 0


Question = Prompt | Passage | Endings | Lookup


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens that a server charged for an answer, over all requests it took: those it read, and all it wrote."""

    prompt: int
    written: int


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a model to a `Prompt`, and the outcome of the request."""

    text: str
    state: ReplyState
    detail: str = ""  # why it is not ok
    tokens: int | None = None  # of the answer, if known
    usage: Usage | None = None  # as the server reports it, thinking included; None if it does not
    seconds: float | None = field(default=None, compare=False)  # without the wait for its turn; None if not asked now
    log_probability: float | None = None  # of all tokens written, in nats, if reported


class Token(NamedTuple):
    """A token of a scored text.

    `log_probability` is in nats, given everything before the token. `mean` and `deviation` are those of the
    log-probability of a token drawn from the model's distribution at that place, in nats, as Min-K%++ compares them
    (Zhang et al. 2025, "Min-K%++", equation 3); None if the distribution is not reported. A first token that is scored
    given nothing has a log-probability of 0.0 if none is reported.
    """

    text: str
    log_probability: float
    mean: float | None = None
    deviation: float | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """The tokens of a `Passage`, which joined are its text, and the outcome of the request."""

    tokens: tuple[Token, ...]
    state: ReplyState
    detail: str = ""  # why it is not ok
    usage: Usage | None = None  # as the server reports it; None if it does not
    seconds: float | None = field(default=None, compare=False)  # without the wait for its turn; None if not asked now

    @property
    def text(self) -> str:
        """The text that was scored."""
        return "".join(token.text for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """The likelihood of each of the `Endings`, and the outcome of the request.

    `values` has a natural-log probability for each ending, in their order: that of the whole text, less one number that
    all of them share. So the values of one answer can be compared with each other, and with nothing else.
    """

    values: tuple[float, ...]
    state: ReplyState
    detail: str = ""  # why it is not ok
    usage: Usage | None = None  # as the server reports it; None if it does not
    seconds: float | None = field(default=None, compare=False)  # without the wait for its turn; None if not asked now

    @property
    def text(self) -> str:
        """The values, a line each."""
        return "\n".join(f"{value:.6f}" for value in self.values)


class Match(NamedTuple):
    """A place where a text of a `Lookup` was found.

    `source` is the name of the document in its corpus. `offset` is the place of the first character found (of a row: of
    the first of its values), in bytes of the document as UTF-8 if the corpus knows it, else -1. `quote` is the text as
    it stands there with some of the text around it; `begin` and `end` delimit the characters of the quote that were
    found, so that they can be marked. `text` is the place of the text in the `Lookup`, and `lacking` the number of
    values next to it that are absent.
    """

    source: str
    offset: int
    quote: str
    begin: int = 0
    end: int = 0
    text: int = 0
    lacking: int = 0


@dataclass(frozen=True, slots=True)
class Matches:
    """The places of the texts of a `Lookup`, and the outcome of the request.

    `documents` counts those that hold one of the texts, and `counts` those that hold each of them, in their order.
    `places` has some of the places, none if there is none, and at least one of every text that was found if there is
    room. `more` is true if counting ended early: there are at least so many documents.
    """

    places: tuple[Match, ...]
    documents: int
    state: ReplyState
    detail: str = ""  # why it is not ok
    usage: Usage | None = None  # as the server reports it; None if it does not
    seconds: float | None = field(default=None, compare=False)  # without the wait for its turn; None if not asked now
    counts: tuple[int, ...] = ()
    more: bool = False

    @property
    def text(self) -> str:
        """The quotes of the places, a line each."""
        return "\n".join(match.quote for match in self.places)


Answer = Reply | Scores | Likelihoods | Matches


AnswerType = TypeVar("AnswerType", bound=Answer)


def as_read(answer: AnswerType) -> AnswerType:
    """Return the part of an answer that tests read: of a reply the first 10,000 characters after any thinking."""
    if not isinstance(answer, Reply):
        return answer
    return replace(
        answer, text=set_off(without_marks(without_thought(answer.text.strip(EDGES))[0])[:LONGEST_READ_REPLY])
    )


def without_answer(question: Question, state: ReplyState, detail: str) -> Answer:
    """Return an empty answer to a question, of the class that belongs to the question."""
    match question:
        case Prompt():
            return Reply("", state, detail)
        case Passage():
            return Scores((), state, detail)
        case Endings():
            return Likelihoods((), state, detail)
        case Lookup():
            return Matches((), 0, state, detail)
