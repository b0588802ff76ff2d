"""The local side of a replica: the questions that it is sent, and the tasks that wait for their answers."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

from tabcontam.errors import one_line
from tabcontam.evidence.questions import Answer, Passage, Question, ReplyState, without_answer
from tabcontam.extensions.cluster import ray_library
from tabcontam.extensions.cluster.replica import ModelEnd, ReplicaFacts, ScoreColumns, SentQuestion, unpack_answer
from tabcontam.models.base import FatalError, ModelRequest, TransientError
from tabcontam.version import __version__


class ReplicaClient:
    """A replica of a model, with its open questions. `lost` is called once the replica is lost.

    A call takes more than a millisecond, even a small one. So questions that are asked at about the same time share a
    call, up to `at_once` of them. Answers that are ready at about the same time share a call, too. One call always
    waits for the next answer.
    """

    def __init__(self, actor: Any, lost: Callable[["ReplicaClient", Exception], None], at_once: int) -> None:
        self.actor, self.at_once, self._lost = actor, at_once, lost
        self._numbers = count()
        self._unsent: list[SentQuestion] = []
        self._waiting: dict[int, tuple[Question, asyncio.Future[Answer]]] = {}
        self._calls: set[asyncio.Task[Any]] = set()
        self._open = 0  # calls that will bring an answer, including one that is being prepared
        self._gathering = False
        self._ended = ""

    @property
    def under_way(self) -> int:
        """The number of questions that it has not answered yet."""
        return len(self._waiting)

    async def ask(self, request: ModelRequest) -> Answer:
        """Return the answer. Raises `TransientError` if the replica is lost, `FatalError` if the cluster is lost."""
        number = next(self._numbers)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        question = request.question
        self._waiting[number] = question, answer
        self._unsent.append((number, question.text if isinstance(question, Passage) else question, request.max_tokens))
        self._call()
        return await answer

    async def about(self) -> ReplicaFacts | str:
        """Return the facts about its model once it is loaded. Raises `FatalError` if it was ended, and Ray's errors."""
        call = asyncio.ensure_future(self._about())
        self._calls.add(call)
        await asyncio.wait([call])
        self._calls.discard(call)
        if call.cancelled():
            raise FatalError(self._ended)
        return call.result()

    async def _about(self) -> ReplicaFacts | str:
        facts: ReplicaFacts | str = await self.actor.about.remote(__version__)
        return facts

    async def here(self) -> None:
        """Wait until a machine has room for the replica; if the replica is lost before that, never return."""
        with suppress(Exception):  # the task that waits in `about` raises it
            await self.actor.here.remote()
            return
        await asyncio.Event().wait()

    def end(self, error: TransientError | FatalError) -> None:
        """Wait for no more answers. Every waiting task raises this error."""
        self._ended = str(error)
        for call in self._calls:
            call.cancel()
        waiting, self._waiting = self._waiting, {}
        for _, answer in waiting.values():
            if not answer.done():  # else its caller waits no longer
                answer.set_exception(error)

    def _call(self) -> None:
        if self._gathering:  # the call that is being prepared will take the question
            return
        self._gathering = True
        self._open += 1
        call = asyncio.ensure_future(self._called())
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def _called(self) -> None:
        """Send the unsent questions, and handle the answers that the call returns."""
        try:
            answers = await self.actor.answers.remote(await self._gathered())
        except ray_library.lost_errors() as error:
            self._lost(self, error)
            return
        except Exception as error:  # the call failed: any open question may have lost its answer
            answers = [(number, one_line(getattr(error, "cause", error))) for number in self._waiting]
        self._open -= 1
        dead = ""
        for number, answer in answers:
            if isinstance(answer, ModelEnd):
                dead = answer.why
            else:
                self._take(number, answer)
        if dead:
            self._lost(self, FatalError(dead))
            return
        if self._waiting and not self._open:
            self._call()

    async def _gathered(self) -> list[SentQuestion]:
        """Return the questions to send, once they fill a call or no more are added."""
        seen = -1
        while seen < len(self._unsent) < self.at_once:
            seen = len(self._unsent)
            await asyncio.sleep(0)
        asked, self._unsent = self._unsent[: self.at_once], self._unsent[self.at_once :]
        self._gathering = False
        if self._unsent:
            self._call()
        return asked

    def _take(self, number: int, sent: Answer | ScoreColumns | str) -> None:
        if number not in self._waiting:
            return
        question, answer = self._waiting.pop(number)
        if not answer.done():  # else its caller waits no longer
            answer.set_result(
                without_answer(question, ReplyState.FAILED, sent) if isinstance(sent, str) else unpack_answer(sent)
            )
