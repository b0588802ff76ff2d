"""What runs in an actor on a machine of the cluster: a replica of a model, and how questions and answers are sent."""

import asyncio
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.evidence.questions import Answer, Capability, Question, Scores, Token
from tabcontam.subjects.base import FatalError, Form, Model, Request
from tabcontam.version import __version__

# What goes to a replica and back: plain tuples, which Ray writes many times as fast as those that have a class.
Asked = tuple[int, Question, int]  # the number that its answer will have, a question, and the most tokens of the answer


@dataclass(frozen=True)
class Ended:
    """Why a model that was loaded answers nothing any more."""

    why: str


Said = tuple[int, Answer | Ended | str]  # an answer, or the line that says why there is none


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
                own = self._model
                self._about = About(own.form, own.capabilities, own.version, own.connections or 1)
        return self._about

    async def answers(self, asked: Sequence[Asked]) -> list[Said]:
        """Ask the model these questions too, and wait for an answer to any that it was asked: all that there are then.

        Where several calls wait, one of them takes them. None are given once the model is asked nothing more.
        """
        for number, question, max_tokens in asked:
            self._under_way.add(number)
            task = asyncio.create_task(self._ask(number, Request(question, max_tokens)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        while self._under_way and not self._answered:
            self._changed.clear()
            await self._changed.wait()
        answered, self._answered = self._answered, []
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


def packed(answer: Answer | Ended | str) -> Answer | Ended | str:
    """As it is sent: tokens column by column, numbers as bytes, which are written many times as fast as single ones."""
    if isinstance(answer, Scores) and answer.tokens:
        texts, *numbers = zip(*answer.tokens, strict=True)
        return replace(answer, tokens=(texts, *map(_as_bytes, numbers)))  # type: ignore[arg-type] # until unpacked
    return answer


def unpacked(answer: Answer) -> Answer:
    """As it was before it was sent."""
    if isinstance(answer, Scores) and answer.tokens:
        texts, *numbers = answer.tokens
        rows = zip(texts, *map(_as_numbers, numbers), strict=True)
        return replace(answer, tokens=tuple(map(partial(tuple.__new__, Token), rows)))
    return answer


def _as_bytes(numbers: Sequence[float | None]) -> object:
    known = [one for one in numbers if type(one) is float]
    return array("d", known).tobytes() if len(known) == len(numbers) else numbers


def _as_numbers(held: Any) -> Sequence[float | None]:
    return memoryview(held).cast("d").tolist() if isinstance(held, bytes) else held
