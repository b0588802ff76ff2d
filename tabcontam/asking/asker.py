"""The way from a query to a source's answer: first retries, then the limiter, then the wire.

A query gives its slot back while it waits for another try, so that others are asked meanwhile.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from random import uniform
from typing import Any

from tabcontam.asking.budget import Budget, Charge
from tabcontam.asking.estimate import tokens_read
from tabcontam.asking.limiter import Limiter
from tabcontam.asking.run_progress import Progress
from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import Answer, Prompt, Question, ReplyState, without_answer
from tabcontam.models.base import PAGE, FatalError, LackError, Model, ModelRequest, SpentError, TransientError
from tabcontam.models.prices import Price

TRIES = 10
MOST_BACKOFF = 60.0  # seconds, if the server asks for none
NOTHING = Decimal(0)
MOST_WAIT = 600.0  # seconds; a server that asks for more has ended the run for now
DEAD = 3  # queries given up in a row, after which a server counts as gone


class StoppedError(Exception):
    """The signal that nothing more is to be asked; the query was not sent."""


@dataclass
class Asker:
    """An asker of one LLM, which counts requests and dollars. `ended` is why nothing more is asked, once that is so.

    `spent` means that the user's limit ended it.
    """

    llm: str
    limiter: Limiter
    budget: Budget
    price: Price | None
    progress: Progress
    clock: Callable[[], float] = time.monotonic
    ended: str = ""
    spent: bool = False
    requests: int = 0
    retries: int = 0
    dollars: Decimal = NOTHING
    _answers: int = 0
    _given_up: int = 0
    _first: asyncio.Lock = field(default_factory=asyncio.Lock)  # held by the query that is asked before any answer came
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def stopped(self) -> bool:
        """Return whether nothing more is to be sent."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Send nothing more; queries that wait for another try give up."""
        self._stopped.set()

    def end(self, line: str) -> None:
        """Ask nothing more of this LLM, for this reason."""
        if not self.ended:
            self.ended = line
            self.progress.ended(self.llm, line)
        self.stop()

    async def ask(
        self, model: Model, query: Query, keep: Callable[[Answer], object], unwanted: Callable[[], bool] = lambda: False
    ) -> Answer:
        """Return the source's answer, `failed` if every try was in vain. Raises `StoppedError` if nothing is sent.

        `keep` writes the answer down before the request's connection takes another query: if the process is killed, no
        answer that had come is lost. `unwanted` is called just before a request is sent.
        """
        try:
            answer = await self._tried(partial(self._slotted, model, query, keep, unwanted))
        except TransientError as error:
            answer = self._gave_up(error, query)
            keep(answer)
            return answer
        except LackError as error:
            raise StoppedError from error
        except (FatalError, SpentError) as error:
            self.spent |= isinstance(error, SpentError) and not self.ended
            self.end(str(error))
            raise StoppedError from error
        self._answers += 1
        self._given_up = 0
        return answer

    async def ask_admitted(
        self,
        admitted: object,
        model: Model,
        query: Query,
        keep: Callable[[Answer], object],
        unwanted: Callable[[], bool] = lambda: False,
    ) -> Answer | None:
        """Ask as `ask` does, on behalf of what the limiter admitted; return None if nothing is sent."""
        try:
            return await self.ask(model, query, keep, unwanted)
        except StoppedError:
            return None
        finally:
            self.limiter.dismiss(admitted)

    async def _tried(self, ask_once: Callable[[], Awaitable[Answer]]) -> Answer:
        """Ask again after failures that may pass. A rate limit uses up no try while other queries are answered.

        Tenacity does not fit here: its functions for stopping and waiting would share this loop's state, in twice the
        lines.
        """
        jitter = 0.1  # of the wait that a server asks for, so that not all come back at once
        used, before, answers = 0, 0, self._answers
        while True:
            try:
                return await ask_once()
            except TransientError as error:
                moving, answers = self._answers > answers, self._answers
                used += not (error.crowded and moving)
                if used >= TRIES or (error.wait or 0) > MOST_WAIT:
                    raise
                seconds = backoff(before) if error.wait is None else error.wait + uniform(0, jitter * error.wait)
                self.retries += 1
                self.progress.waits(self.llm, error.kind, seconds)
            await self.pause(seconds)
            before += 1

    async def _slotted(self, model: Model, *asked: Any) -> Answer:
        """Ask once a slot is free; until a model that learns from its first answer has it, other queries wait."""
        if model.learns and not self._answers:
            async with self._first:
                if not self._answers:
                    return await self._in_turn(model, *asked)
        return await self._in_turn(model, *asked)

    async def _in_turn(
        self, model: Model, query: Query, keep: Callable[[Answer], object], unwanted: Callable[[], bool]
    ) -> Answer:
        request = object()
        await self.limiter.take(request, self.pause)
        try:
            if self.stopped or unwanted():
                raise StoppedError
            answer = await self._send(model, query)
            keep(answer)
            return answer
        finally:
            self.limiter.free(request)

    async def _send(self, model: Model, query: Query) -> Answer:
        question = query.question
        charge = await self.budget.charge(self._most(model, question, query.max_tokens))
        if self.stopped:  # while it waited for what the others leave
            self.budget.take_back(charge)
            raise StoppedError

        def again() -> None:
            self.budget.add(charge, self._most(model, question, query.max_tokens))

        began = self.clock()
        spent: Decimal | None = None  # a request of unknown cost counts at the most that it can cost
        try:
            answer = await model.answer(ModelRequest(question, query.max_tokens, again, model.structured))
            spent = self._spent(answer, charge)
        except TransientError as error:
            spent = charge.reserved if error.sent else charge.before
            if error.crowded:
                self.limiter.crowded(began, error.kind)
            raise
        except (FatalError, LackError) as error:
            spent = charge.before
            self.requests -= isinstance(error, LackError) and not error.sent
            raise
        except SpentError:  # of a further request; those before it were sent
            raise
        except Exception as error:  # a provider of any make
            why = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
            answer = without_answer(question, ReplyState.FAILED, why)
        finally:
            spent = charge.reserved if spent is None else spent
            self.budget.settle(charge, spent)
            self.requests += charge.requests
            self.dollars += spent
        self.limiter.answered(began)
        return replace(answer, seconds=self.clock() - began)

    def _most(self, model: Model, question: Question, max_tokens: int) -> Decimal:
        """Return the most that a request can cost."""
        thought = model.allowance if isinstance(question, Prompt) else 0
        most = max(max_tokens, model.least) + thought
        return self.price.cost(tokens_read(model, question), most) if self.price else NOTHING

    def _spent(self, answer: Answer, charge: Charge) -> Decimal:
        """Return what an answer cost: by the server's counts, else the most it could. A refused request is free."""
        if self.price and answer.usage:
            return self.price.cost(answer.usage.prompt, answer.usage.written)
        return charge.before if answer.state is ReplyState.FAILED else charge.reserved

    async def pause(self, seconds: float) -> None:
        """Wait for some seconds. Raises `StoppedError` if everything stops before."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)
            raise StoppedError

    def _gave_up(self, error: TransientError, query: Query) -> Answer:
        """Return the failed answer to a query whose tries are used up; end the LLM if several in a row were."""
        self._given_up += 1
        if (error.wait or 0) > MOST_WAIT:
            self.end(f"{error}; the server asks to wait {error.wait:.0f} s: then run the same command again")
        elif error.kind == PAGE and not self._answers:
            self.end(f"{error}: the server answers with a web page; correct the address, or wait until it is up")
        elif self._given_up >= DEAD:
            self.end(f"{error}; gave up after {DEAD} queries in a row failed {TRIES} times each")
        return without_answer(query.question, ReplyState.FAILED, str(error))


def backoff(before: int) -> float:
    """Return the seconds to wait before another try, if the server asks for none: longer after each try."""
    return uniform(0, min(MOST_BACKOFF, 2**before))
