"""What runs in an actor on a machine of the cluster: a replica of a model, and how questions and answers are sent."""

import asyncio
import gc
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.evidence.questions import Answer, Capability, Passage, Question, Reply, Scores, State, Token
from tabcontam.subjects.base import FatalError, Form, Model, Request
from tabcontam.version import __version__

# Bytes of answers that go with a call. What is larger than 100 kB stays on the replica's machine until it is fetched.
# Where the head is lost just then, Ray ends the process that asks.
MOST = 96_000
SMALL = 80  # bytes of an answer beside its text
BETWEEN = "\0"  # what stands between the texts of tokens that are sent

# What goes to a replica and back: plain tuples, which Ray writes many times as fast as those that have a class.
Asked = tuple[
    int, Question | str, int
]  # the number that its answer will have, a question, the most tokens of the answer


@dataclass(frozen=True)
class Ended:
    """Why a model that was loaded answers nothing any more."""

    why: str


Columns = tuple[Any, ...]  # scores, as they are sent
Said = tuple[int, Answer | Ended | Columns | str]  # an answer, or the line that says why there is none


@dataclass(frozen=True)
class About:
    """What a replica knows once its model is loaded."""

    form: Form
    capabilities: frozenset[Capability]
    version: str
    connections: int


class Replica:
    """What an actor runs: one model, loaded when it is first asked for."""

    def __init__(self, make: Callable[[], Model]) -> None:
        self._model, self._loading = make(), asyncio.Lock()
        self._about: About | None = None
        self._answered: list[Said] = []
        self._under_way: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()

    async def here(self) -> None:
        """Answer as soon as a machine has had room for this replica."""

    async def about(self, version: str) -> About | str:
        """Load the model. A text says why that cannot be, or that this machine has another tabcontam."""
        if version != __version__:
            return f"a machine of the cluster has tabcontam {__version__}, and this one {version}; install the same"
        async with self._loading:
            if self._about is None:
                try:
                    await self._model.connect()
                except UsageError as error:
                    return str(error)
                gc.freeze()  # what is loaded stays: to look for what is free in it takes longer than to answer
                own = self._model
                self._about = About(own.form, own.capabilities, own.version, own.connections or 1)
        return self._about

    async def answers(self, asked: Sequence[Asked]) -> list[Said]:
        """Ask the model these questions too, and wait for an answer to any that it was asked: all that there are then,
        as far as they go with one call.

        Where several calls wait, one of them takes them. None are given once the model is asked nothing more.
        """
        for number, question, max_tokens in asked:
            self._under_way.add(number)
            task = asyncio.create_task(self._ask(number, Request(question_of(question), max_tokens)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        while self._under_way and not self._answered:
            self._changed.clear()
            await self._changed.wait()
        sizes = accumulate(_size(answer) for _, answer in self._answered)
        taken = max(1, sum(size <= MOST for size in sizes))
        answered, self._answered = self._answered[:taken], self._answered[taken:]
        return answered

    async def _ask(self, number: int, request: Request) -> None:
        try:
            answer: Answer | Ended | str = await self._model.answer(request)
        except FatalError as error:  # an engine that died: it would answer nothing else, either
            answer = Ended(one_line(error))
        except Exception as error:  # this question alone has no answer
            answer = one_line(error)
        self._answered.append((number, packed(answer)))
        self._under_way.discard(number)
        self._changed.set()


def question_of(sent: Question | str) -> Question:
    """The question that was sent: of a passage its text alone."""
    return Passage(sent) if isinstance(sent, str) else sent


def packed(answer: Answer | Ended | str) -> "Answer | Ended | str | Columns":
    """As it is sent: scores column by column, their texts as one, numbers as bytes.

    What has a class of its own, or many parts, takes Ray many times as long.
    """
    if not isinstance(answer, Scores):
        return answer
    columns: list[object] = []
    if answer.tokens:
        texts, *numbers = zip(*answer.tokens, strict=True)
        joined = BETWEEN.join(texts)
        columns = [joined if joined.count(BETWEEN) == len(texts) - 1 else texts, *map(_as_bytes, numbers)]
    return columns, answer.state.value, answer.detail, answer.usage, answer.seconds


def unpacked(sent: "Answer | Columns") -> Answer:
    """As it was before it was sent."""
    if not isinstance(sent, tuple):
        return sent
    columns, state, *more = sent
    tokens: tuple[Token, ...] = ()
    if columns:
        texts, *numbers = columns
        rows = zip(texts.split(BETWEEN) if isinstance(texts, str) else texts, *map(_as_numbers, numbers), strict=True)
        tokens = tuple(map(partial(tuple.__new__, Token), rows))
    return Scores(tokens, State(state), *more)


def _size(answer: Answer | Ended | Columns | str) -> int:
    """About how many bytes it has as it is sent."""
    if isinstance(answer, tuple):
        return SMALL + sum(map(len, answer[0]))
    return SMALL + len(answer.text) if isinstance(answer, Reply) else SMALL


def _as_bytes(numbers: Sequence[float | None]) -> object:
    floats = set(map(type, numbers)) == {float}
    return array("d", numbers).tobytes() if floats else numbers  # type: ignore[type-var] # which mypy does not see


def _as_numbers(held: Any) -> Sequence[float | None]:
    return memoryview(held).cast("d").tolist() if isinstance(held, bytes) else held
