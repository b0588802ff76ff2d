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

    OK = "ok"  # usable, also if the reply ran into the token limit after the complete asked item
    TRUNCATED = "truncated"  # cut before the asked item was complete
    REFUSED = "refused"  # by the protocol: content filter, refusal field, safety block
    EMPTY = "empty"  # no text
    FAILED = "failed"  # no reply at all; only this state costs nothing


READ = (ReplyState.OK, ReplyState.TRUNCATED)  # states of replies with a text


class Capability(StrEnum):
    """A capability of a source that a test can need."""

    GENERATE = "generate"  # answers a `Prompt`
    CHAT = "chat"  # takes messages with roles
    COMPLETION = "completion"  # continues a text
    SCORE = "score"  # answers a `Passage` and `Endings`
    MOMENTS = "moments"  # reports the mean and the deviation at each token of a `Passage`
    SEARCH = "search"  # answers a `Lookup`
    SEED = "seed"  # accepts a seed for its sampling
    SAMPLE = "sample"  # draws a new answer to a `Prompt` each time, at a temperature
    INSTRUCTIONS = "instructions"  # understands a question; the controls do not


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message: role is "system", "user" or "assistant"."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question in words in three renderings: chat, completion (base models), sequence-to-sequence.

    The answer is decoded greedily. If `sample` is 1 or more, the answer is drawn at the `temperature` instead. The
    number `sample` distinguishes the draws: it is part of the key under which an answer is stored, and the seed for a
    server that accepts one.
    """

    chat: tuple[Message, ...]
    completion: str
    seq2seq: str
    stop: tuple[str, ...] = ("\n",)  # the stop strings of the completion
    temperature: float = 0.0
    sample: int = 0
    values: tuple[str, ...] = ()  # the features by which a server can be made to answer; see `structured_answers`


@dataclass(frozen=True, slots=True)
class Passage:
    """A text whose tokens a model scores, each given all tokens before it. The model writes nothing."""

    text: str


@dataclass(frozen=True, slots=True)
class Endings:
    """Endings of one text, whose likelihoods after the same beginning are compared."""

    beginning: str
    endings: tuple[str, ...]


class LookupMode(StrEnum):
    """The way in which the texts of a `Lookup` are compared with a document. Digits are always compared."""

    LETTERS = "letters"  # letter by letter, as they stand
    WORDS = "words"  # their words in sequence; case and the text between words do not matter
    SIGNS = "signs"  # their letters and digits in sequence; blanks and punctuation do not matter, case does
    CELLS = "cells"  # as values of a row, in any rendering: whole words, numbers by value, near other values


@dataclass(frozen=True, slots=True)
class Lookup:
    """Texts that are to be found in a corpus: each text that is found is a match, and is counted separately.

    With `LookupMode.CELLS`, each text is a value of a row, and `context` lists the row's other values. A match needs
    these values close by, in any order and each at its own place; at most `lacking` of them may be absent.

    At most `most` places are reported, but all documents with a match are counted.
    """

    texts: tuple[str, ...]
    most: int = 10
    by: LookupMode = LookupMode.LETTERS
    context: tuple[str, ...] = ()
    lacking: int = 0


Question = Prompt | Passage | Endings | Lookup


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens that a server charged for an answer, over all requests for it: all tokens read and written."""

    prompt: int
    written: int


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a model to a `Prompt`, and the outcome of the request."""

    text: str
    state: ReplyState
    detail: str = ""  # why the state is not ok
    tokens: int | None = None  # tokens of the answer, if known
    usage: Usage | None = None  # as reported by the server, thinking included; None if not reported
    seconds: float | None = field(default=None, compare=False)  # without the wait for its turn; None if not asked now
    log_probability: float | None = None  # sum over all written tokens, in nats, if reported


class Token(NamedTuple):
    """A token of a scored text.

    `log_probability` is in nats, given everything before the token. `mean` and `deviation` describe the log-probability
    of a token that is drawn from the model's distribution in this place, in nats (Zhang et al. 2025, "Min-K%++",
    equation 3); None if the distribution is not reported. The first token of a text has a log-probability of 0.0 if
    none is reported.
    """

    text: str
    log_probability: float
    mean: float | None = None
    deviation: float | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """The tokens of a `Passage` and the outcome of the request. Joined, the tokens are the text."""

    tokens: tuple[Token, ...]
    state: ReplyState
    detail: str = ""  # why the state is not ok
    usage: Usage | None = None  # as reported by the server; None if not reported
    seconds: float | None = field(default=None, compare=False)  # without the wait for its turn; None if not asked now

    @property
    def text(self) -> str:
        """The text that was scored."""
        return "".join(token.text for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """The likelihood of each of the `Endings`, and the outcome of the request.

    `values` has a number for each ending, in their order: the natural log-probability of the whole text, minus a
    constant that is the same for all endings. So only values of the same answer can be compared.
    """

    values: tuple[float, ...]
    state: ReplyState
    detail: str = ""  # why the state is not ok
    usage: Usage | None = None  # as reported by the server; None if not reported
    seconds: float | None = field(default=None, compare=False)  # without the wait for its turn; None if not asked now

    @property
    def text(self) -> str:
        """The values, one a line."""
        return "\n".join(f"{value:.6f}" for value in self.values)


class Match(NamedTuple):
    """A place where a text of a `Lookup` was found.

    `source` is the name of the document in its corpus. `offset` is the position of the first character of the match (in
    a row: of its first value) in bytes of the document as UTF-8; it is -1 if the corpus does not know it. `quote` is
    the text of the match with some text around it; `begin` and `end` delimit the match in the quote, so that it can be
    marked. `text` is the index of the found text in the `Lookup`, and `lacking` the number of values of the row that
    are absent.
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

    `documents` is the number of documents with at least one of the texts. `counts` has the number of documents with
    each text, in the order of the texts. `places` has some of the places, if possible at least one for each text that
    was found. `more` is true if counting ended early: the true numbers may be larger.
    """

    places: tuple[Match, ...]
    documents: int
    state: ReplyState
    detail: str = ""  # why the state is not ok
    usage: Usage | None = None  # as reported by the server; None if not reported
    seconds: float | None = field(default=None, compare=False)  # without the wait for its turn; None if not asked now
    counts: tuple[int, ...] = ()
    more: bool = False

    @property
    def text(self) -> str:
        """The quotes of the places, one a line."""
        return "\n".join(match.quote for match in self.places)


Answer = Reply | Scores | Likelihoods | Matches


AnswerType = TypeVar("AnswerType", bound=Answer)


def as_read(answer: AnswerType) -> AnswerType:
    """Return the part of an answer that tests read: the first 10,000 characters of a reply, after its thinking."""
    if not isinstance(answer, Reply):
        return answer
    return replace(
        answer, text=set_off(without_marks(without_thought(answer.text.strip(EDGES))[0])[:LONGEST_READ_REPLY])
    )


def without_answer(question: Question, state: ReplyState, detail: str) -> Answer:
    """Return an empty answer of the class that the question needs."""
    match question:
        case Prompt():
            return Reply("", state, detail)
        case Passage():
            return Scores((), state, detail)
        case Endings():
            return Likelihoods((), state, detail)
        case Lookup():
            return Matches((), 0, state, detail)
