"""The number of requests that one LLM is sent at a time: as many as its server takes.

Additive increase, multiplicative decrease (Chiu and Jain 1989), as in TCP: the number doubles with every round of
answers until the server first complains of too many; then a complaint takes a tenth, and a round without one adds one,
the next two, then four. A complaint never takes so much that the server would have less to do than it did in the last
seconds, and a little more: else a rate limit would not be used up. From the first complaint on requests are sent evenly
over a round (pacing), since a rate limit refuses bursts first; so the number may fall below one.
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
ROUND = 0.25  # seconds, at least, between two looks at how it goes
MORE = 32  # queries that may wait besides those under way
SLOW = 30.0  # seconds: if answers take longer, and several times as long as the fastest, they wait in a queue
QUEUED = 4


class Limiter:
    """Slots for requests. At every change `tell` gets their number before, the number now, and why it shrank."""

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
        self._step = float(start)  # what a round adds
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
        """Wait until one more query may be taken up; it may then wait for a slot, or between its tries."""
        await self._queries.acquire_on_behalf_of(query)

    def dismiss(self, query: object) -> None:
        """Note that this query needs no slot any more, so that another may be taken up."""
        self._queries.release_on_behalf_of(query)

    async def take(self, request: object, pause: Pause) -> None:
        """Wait until it is this request's turn and a slot is free. `pause` waits for some seconds."""
        if self._paced:
            await self._await_turn(pause)
        if self._slots.available_tokens < 1:
            self._full = self._clock()
        await self._slots.acquire_on_behalf_of(request)

    async def _await_turn(self, pause: Pause) -> None:
        """Wait in line. Only the first in it has a time to be sent: those after it go by the pace of that moment."""
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
        """Note an answer to a request sent at this time. If all slots were in use, the server may take more."""
        tick = 1e-6  # seconds: by a coarse clock a quick answer took none
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

    # pressure: of the rate that the server was found to take
    def crowded(self, began: float, kind: str, *, shrink: float = 0.9, pressure: float = 1.2) -> None:
        """Note that the server has too much to do. The number shrinks once a round: older requests show nothing new."""
        self._paced = True
        now = self._clock()
        if began >= self._shrunk and now - self._shrunk >= min(self._latency or ROUND, ROUND):
            self._changed = self._shrunk = now
            self._set(max(self._exact * shrink, pressure * self._rate() * self._latency), kind)
            self._step = min(1.0, self._exact / 10)

    def _rate(self) -> float:
        """Return the answers per second, of late."""
        window_seconds = 2.0  # seconds over which answers are counted, or two rounds if these are longer
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
    """The limiters of a session: one for each model at each address, however often it is named."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, str], ...], Limiter] = {}

    def of(self, model: Model, connections: int | None, tell: Callable[[str, int, int, str], None]) -> Limiter:
        """Return a model's limiter, for `connections` requests; None to find out. `tell` gets each change."""
        identity = model.identity or {"spec": model.spec}
        who = tuple(sorted(identity.items()))
        if who not in self._known:
            fixed = model.connections or connections
            self._known[who] = Limiter(fixed or START, fixed or CEILING, partial(tell, model.spec))
        return self._known[who]
