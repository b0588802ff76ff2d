"""A replica of a model (an actor on a machine of the cluster), and the form in which questions and answers are sent."""

import asyncio
import gc
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.evidence.questions import Answer, Capability, Passage, Question, Reply, ReplyState, Scores, Token
from tabcontam.models.base import FatalError, Model, ModelRequest, PromptForm
from tabcontam.version import __version__

# Bytes of answers in a call. Values above 100 kB stay on the replica's machine until they are fetched. If
# the head is lost at that moment, Ray ends the asking process.
MOST = 96_000
BETWEEN = "\0"  # separates the texts of tokens in a sent answer

# Values are sent as plain tuples, which Ray writes many times as fast as tuples of a class.
SentQuestion = tuple[int, Question | str, int]  # the number of its answer, a question, the most tokens of the answer


@dataclass(frozen=True)
class ModelEnd:
    """The reason why a loaded model answers nothing more."""

    why: str


ScoreColumns = tuple[Any, ...]  # scores in the form in which they are sent
# A question's number with its answer, or with the reason why there is none.
SentAnswer = tuple[int, Answer | ModelEnd | ScoreColumns | str]


@dataclass(frozen=True)
class ReplicaFacts:
    """The facts about a model that its replica knows once the model is loaded."""

    form: PromptForm
    capabilities: frozenset[Capability]
    version: str
    connections: int


class Replica:
    """The state of an actor: one model, which is loaded when `about` is first called."""

    def __init__(self, make: Callable[[], Model]) -> None:
        self._model, self._loading = make(), asyncio.Lock()
        self._about: ReplicaFacts | None = None
        self._answered: list[SentAnswer] = []
        self._under_way: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()

    async def here(self) -> None:
        """Return nothing, as soon as a machine has room for this replica."""

    async def about(self, version: str) -> ReplicaFacts | str:
        """Load the model; return its facts, or why that failed: a bad model, or another version of tabcontam."""
        if version != __version__:
            versions = f"a machine of the cluster has tabcontam {__version__}, this one {version}"
            return f"{versions}; install one version on both"
        async with self._loading:
            if self._about is None:
                try:
                    await self._model.connect()
                except UsageError as error:
                    return str(error)
                gc.freeze()  # the model stays loaded: a search for its garbage takes longer than an answer
                own = self._model
                self._about = ReplicaFacts(own.form, own.capabilities, own.version, own.connections or 1)
        return self._about

    async def answers(self, asked: Sequence[SentQuestion]) -> list[SentAnswer]:
        """Ask the model these questions too. Once an answer is ready, return as many as one call carries.

        If several calls wait, one of them returns the answers. The result is empty if no question is open.
        """
        for number, question, max_tokens in asked:
            self._under_way.add(number)
            task = asyncio.create_task(self._ask(number, ModelRequest(question_of(question), max_tokens)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        while self._under_way and not self._answered:
            self._changed.clear()
            await self._changed.wait()
        sizes = accumulate(_size(answer) for _, answer in self._answered)
        taken = max(1, sum(size <= MOST for size in sizes))
        answered, self._answered = self._answered[:taken], self._answered[taken:]
        return answered

    async def _ask(self, number: int, request: ModelRequest) -> None:
        try:
            answer: Answer | ModelEnd | str = await self._model.answer(request)
        except FatalError as error:  # an engine that died would answer no other question
            answer = ModelEnd(one_line(error))
        except Exception as error:  # only this question has no answer
            answer = one_line(error)
        self._answered.append((number, pack_answer(answer)))
        self._under_way.discard(number)
        self._changed.set()


def question_of(sent: Question | str) -> Question:
    """Return the question that was sent. A passage is sent as its bare text."""
    return Passage(sent) if isinstance(sent, str) else sent


def pack_answer(answer: Answer | ModelEnd | str) -> "Answer | ModelEnd | str | ScoreColumns":
    """Return the form in which an answer is sent: scores by column, the texts joined, the numbers as bytes.

    Ray takes many times as long to send a value of a class, or a value with many parts.
    """
    if not isinstance(answer, Scores):
        return answer
    columns: list[object] = []
    if answer.tokens:
        texts, *numbers = zip(*answer.tokens, strict=True)
        joined = BETWEEN.join(texts)
        columns = [joined if joined.count(BETWEEN) == len(texts) - 1 else texts, *map(_as_bytes, numbers)]
    return columns, answer.state.value, answer.detail, answer.usage, answer.seconds


def unpack_answer(sent: "Answer | ScoreColumns") -> Answer:
    """Return the answer from the form in which it was sent."""
    if not isinstance(sent, tuple):
        return sent
    columns, state, *more = sent
    tokens: tuple[Token, ...] = ()
    if columns:
        texts, *numbers = columns
        rows = zip(texts.split(BETWEEN) if isinstance(texts, str) else texts, *map(_as_numbers, numbers), strict=True)
        tokens = tuple(map(partial(tuple.__new__, Token), rows))
    return Scores(tokens, ReplyState(state), *more)


# small: bytes of an answer without its text
def _size(answer: Answer | ModelEnd | ScoreColumns | str, *, small: int = 80) -> int:
    """Return roughly how many bytes an answer has when it is sent."""
    if isinstance(answer, tuple):
        return small + sum(map(len, answer[0]))
    return small + len(answer.text) if isinstance(answer, Reply) else small


def _as_bytes(numbers: Sequence[float | None]) -> object:
    floats = set(map(type, numbers)) == {float}
    return array("d", numbers).tobytes() if floats else numbers  # type: ignore[type-var] # which mypy does not see


def _as_numbers(held: Any) -> Sequence[float | None]:
    return memoryview(held).cast("d").tolist() if isinstance(held, bytes) else held
