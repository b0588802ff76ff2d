"""The way from a query to a source's answer: retries, a slot of the limiter (the permission to send one request), and
the request itself. A query that waits for another try frees its slot for other queries.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from random import uniform
from typing import TypeVar

from tabcontam.asking.budget import Budget, Charge
from tabcontam.asking.estimate import most_dollars
from tabcontam.asking.limiter import Limiter
from tabcontam.asking.run_progress import Progress
from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import Answer, Prompt, ReplyState, without_answer
from tabcontam.models.base import PAGE, FatalError, LackError, Model, ModelRequest, SpentError, TransientError
from tabcontam.models.prices import Price

TRIES = 10
MOST_BACKOFF = 60.0  # seconds; the longest wait before a retry if the server states no wait
NOTHING = Decimal(0)
MOST_WAIT = 600.0  # seconds; if a server asks for a longer wait, it is asked nothing more in this run
Done = TypeVar("Done")
DEAD = 3  # queries in a row that used up their tries, after which the LLM is asked nothing more


class StoppedError(Exception):
    """The error that is raised in place of sending a query, because nothing more is to be asked."""


@dataclass
class Asker:
    """An asker of one LLM, which counts its requests and dollars.

    `ended` is the reason why this LLM is asked nothing more; "" while it is asked. `spent` is true if the reason is a
    limit that the user set.
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
    _first: asyncio.Lock = field(default_factory=asyncio.Lock)  # held by the first query until its answer comes
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def stopped(self) -> bool:
        """Return whether this LLM is sent nothing more."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Send nothing more. Queries that wait for another try give up."""
        self._stopped.set()

    def end(self, line: str) -> None:
        """Ask nothing more of this LLM, and note the reason `line`."""
        if not self.ended:
            self.ended = line
            self.progress.ended(self.llm, line)
        self.stop()

    async def ask(
        self, model: Model, query: Query, keep: Callable[[Answer], object], unwanted: Callable[[], bool] = lambda: False
    ) -> Answer:
        """Return the source's answer, in the state `failed` if every try failed. Raises `StoppedError`.

        `keep` stores the answer before the slot is freed: if the process is killed later, the answer is not lost.
        `unwanted` is called just before a request is sent. Nothing is sent if it returns True or the asker is stopped.
        """
        try:
            once = partial(self._in_turn, model, query, keep, unwanted)
            answer = await self.retried(partial(self._slotted, model, once))
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
        """Return the answer as `ask` does, or None if nothing was sent. Then dismiss `admitted` from the limiter."""
        try:
            return await self.ask(model, query, keep, unwanted)
        except StoppedError:
            return None
        finally:
            self.limiter.dismiss(admitted)

    async def ask_each(self, model: Model, asked: Iterable[tuple[Query, Callable[[Answer], object]]]) -> None:
        """Ask these queries, as many at a time as the limiter has slots, each with the function that stores its answer.

        Nothing more is asked once this asker is stopped.
        """
        async with asyncio.TaskGroup() as under_way:
            for query, keep in asked:
                if self.stopped:
                    break
                admitted = object()
                await self.limiter.admit(admitted)
                under_way.create_task(self.ask_admitted(admitted, model, query, keep))

    async def retried(
        self, action: Callable[[], Awaitable[Done]], tries: int = TRIES, lets_pass: str | None = None
    ) -> Done:
        """Return the result of an action after at most so many `tries`. Raises at once an error of kind `lets_pass`.

        A refusal by a rate limit is not counted as a try while other queries get answers. The library Tenacity does not
        fit: its functions for stopping and waiting would have to share this loop's state.
        """
        used, before, answers = 0, 0, self._answers
        while True:
            try:
                return await action()
            except TransientError as error:
                moving, answers = self._answers > answers, self._answers
                used += not (error.crowded and moving)
                if used >= tries or (error.wait or 0) > MOST_WAIT or error.kind == lets_pass:
                    raise
                failure = error
            await self.wait_after(failure, before)
            before += 1

    async def wait_after(self, error: TransientError, before: int) -> None:
        """Wait until the next try after an error and `before` earlier tries. Raises `StoppedError`."""
        jitter = 0.1  # share of the wait that a server asks for, added at random
        seconds = backoff(before) if error.wait is None else error.wait + uniform(0, jitter * error.wait)
        self.retries += 1
        self.progress.waits(self.llm, error.kind, seconds)
        await self.pause(seconds)

    async def _slotted(self, model: Model, ask_once: Callable[[], Awaitable[Answer]]) -> Answer:
        """Send the query when a slot is free. If the first answer shows how to ask, other queries wait for it."""
        if model.learns and not self._answers:
            async with self._first:
                if not self._answers:
                    return await ask_once()
        return await ask_once()

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

        def most() -> Decimal:
            thinking = model.allowance if isinstance(question, Prompt) else 0
            return most_dollars(model, self.price, question, query.max_tokens, thinking)

        charge = await self.budget.charge(most())
        if self.stopped:  # it may have stopped while this query waited for money
            self.budget.take_back(charge)
            raise StoppedError

        began = self.clock()
        spent: Decimal | None = None  # while None, the request counts at the most that it can cost
        try:
            answer = await model.answer(
                ModelRequest(question, query.max_tokens, lambda: self.budget.add(charge, most()), model.structured)
            )
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
        except SpentError:  # a further request for this query did not fit the budget; the earlier ones were sent
            raise
        except Exception as error:  # a provider may raise any error
            why = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
            answer = without_answer(question, ReplyState.FAILED, why)
        finally:
            spent = charge.reserved if spent is None else spent
            self.budget.settle(charge, spent)
            self.requests += charge.requests
            self.dollars += spent
        self.limiter.answered(began)
        return replace(answer, seconds=self.clock() - began)

    def _spent(self, answer: Answer, charge: Charge) -> Decimal:
        """Return an answer's cost by the server's token counts. Without them, return the dollars reserved for its
        requests; the last request of a failed answer is then not counted.
        """
        if self.price and answer.usage:
            return self.price.cost(answer.usage.prompt, answer.usage.written)
        return charge.before if answer.state is ReplyState.FAILED else charge.reserved

    async def pause(self, seconds: float) -> None:
        """Wait for some seconds. Raises `StoppedError` if the asker is stopped meanwhile."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)
            raise StoppedError

    def _gave_up(self, error: TransientError, query: Query) -> Answer:
        """Return the failed answer after a query's last try. Ask the LLM nothing more if its server seems gone."""
        self._given_up += 1
        if (error.wait or 0) > MOST_WAIT:
            self.end(f"{error}; the server asks to wait {error.wait:.0f} s: then run the same command again")
        elif error.kind == PAGE and not self._answers:
            self.end(f"{error}: the server answers with a web page; correct the address, or wait until it is up")
        elif self._given_up >= DEAD:
            self.end(f"{error}; gave up after {DEAD} queries in a row failed {TRIES} times each")
        return without_answer(query.question, ReplyState.FAILED, str(error))


def backoff(before: int) -> float:
    """Return a random number of seconds to wait after `before` tries. Its upper bound doubles with each try."""
    return uniform(0, min(MOST_BACKOFF, 2**before))
