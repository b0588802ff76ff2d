"""The number of requests that one LLM is sent at a time: as many as its server accepts.

Additive increase, multiplicative decrease (Chiu and Jain 1989), as in TCP. The number doubles with every round of
answers until the server first complains of too many requests. From then on a complaint reduces the number by a tenth.
The first round without a complaint adds one slot, the next round two, the one after it four. No complaint reduces the
number below the requests that the recent rate of answers needs: else a rate limit would not be used up. After the first
complaint, requests are sent evenly over a round (pacing), since a rate limit refuses bursts first. With pacing, the
number may fall below one.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from math import ceil

from anyio import CapacityLimiter

from tabcontam.models.base import Model

Pause = Callable[[float], Awaitable[None]]

START = 16
CEILING = 256
ROUND = 0.25  # seconds; the shortest round
MORE = 32  # queries that may wait, in addition to those under way
SLOW = 30.0  # seconds; answers that take longer, and `QUEUED` times as long as the fastest, wait in the server's queue
QUEUED = 4


class Limiter:
    """Slots, each for one request at a time. `tell` gets each change of their number: old, new, why it fell."""

    def __init__(
        self,
        start: int,
        ceiling: int,
        tell: Callable[[int, int, str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._slots = CapacityLimiter(start)
        self._queries = CapacityLimiter(start + MORE)
        self._line = asyncio.Lock()
        self._exact = float(start)
        self._ceiling = ceiling
        self._tell = tell
        self._clock = clock
        self._step = float(start)  # requests that a round adds
        self._paced = False
        self._changed = self._full = clock()
        self._shrunk = self._changed - ROUND
        self._latency = self._fastest = self._turn = 0.0
        self._answers: deque[float] = deque()

    @property
    def limit(self) -> int:
        """The number of requests at a time."""
        return int(self._slots.total_tokens)

    async def admit(self, query: object) -> None:
        """Wait until one more query is admitted. An admitted query may wait for a slot or for another try."""
        await self._queries.acquire_on_behalf_of(query)

    def dismiss(self, query: object) -> None:
        """Note that this query needs no slot any more. Another query is then admitted."""
        self._queries.release_on_behalf_of(query)

    async def take(self, request: object, pause: Pause) -> None:
        """Wait until it is this request's turn and a slot is free. `pause` is called to wait for some seconds."""
        if self._paced:
            await self._await_turn(pause)
        if self._slots.available_tokens < 1:
            self._full = self._clock()
        await self._slots.acquire_on_behalf_of(request)

    async def _await_turn(self, pause: Pause) -> None:
        """Wait for the requests before this one. Only the first one has a time to be sent; the next gets one then."""
        if self._line.locked():
            self._full = self._clock()
        async with self._line:
            now = self._clock()
            if self._turn > now:
                self._full = now
                await pause(self._turn - now)
            self._turn = max(self._turn, now) + (self._latency or ROUND) / self._exact

    def free(self, request: object) -> None:
        """Give the slot back."""
        self._slots.release_on_behalf_of(request)

    def answered(self, began: float) -> None:
        """Note an answer to a request that was sent at `began`. If all slots were in use, their number may grow."""
        tick = 1e-6  # seconds; by a coarse clock a quick answer would take 0
        smoothing = 0.1
        now = self._clock()
        took = max(now - began, tick)
        self._answers.append(now)
        self._fastest = min(self._fastest or took, took)
        self._latency += smoothing * (took - self._latency) if self._latency else took
        if self._full < began or self._latency > max(SLOW, QUEUED * self._fastest):
            return  # more requests would only wait longer at the server, until they time out
        round_ = max(self._latency, ROUND)
        if now - self._changed > round_:  # a round without a complaint
            self._changed = now
            self._step = min(2 * self._step, self._exact / 2) if self._paced else self._exact
        answers = self._exact * (round_ / self._latency if self._paced else 1)
        self._set(self._exact + self._step / answers, "")

    # pressure: a complaint leaves room for this multiple of the recent answers per second
    def crowded(self, began: float, kind: str, *, shrink: float = 0.9, pressure: float = 1.2) -> None:
        """Note that the server complained of too many requests. The slots become fewer, but at most once a round.

        A complaint about a request that was sent before the last reduction shows nothing new.
        """
        self._paced = True
        now = self._clock()
        if began >= self._shrunk and now - self._shrunk >= min(self._latency or ROUND, ROUND):
            self._changed = self._shrunk = now
            self._set(max(self._exact * shrink, pressure * self._rate() * self._latency), kind)
            self._step = min(1.0, self._exact / 10)

    def _rate(self) -> float:
        window_seconds = 2.0  # seconds in which answers are counted; two rounds if these take longer
        now, window = self._clock(), max(window_seconds, 2 * self._latency)
        while self._answers and self._answers[0] < now - window:
            self._answers.popleft()
        return len(self._answers) / window

    def _set(self, exact: float, kind: str, *, least: float = 0.01) -> None:
        before = self.limit
        self._exact = min(max(exact, least), float(self._ceiling))
        self._slots.total_tokens = min(self._ceiling, ceil(self._exact) + self._paced)
        self._queries.total_tokens = self.limit + MORE
        if self.limit != before:
            self._tell(before, self.limit, kind)


class Limiters:
    """The limiters of a session: one for each model at each address, even if the model has several names."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, str], ...], Limiter] = {}

    def of(self, model: Model, connections: int | None, tell: Callable[[str, int, int, str], None]) -> Limiter:
        """Return a model's limiter for `connections` requests at a time; None: as many as the server accepts.

        `tell` gets each change of the number.
        """
        identity = model.identity or {"spec": model.spec}
        who = tuple(sorted(identity.items()))
        if who not in self._known:
            fixed = model.connections or connections
            self._known[who] = Limiter(fixed or START, fixed or CEILING, partial(tell, model.spec))
        return self._known[who]
