"""The limits of a run: requests and US dollars, for all its LLMs together. They are never exceeded.

Before a request is sent, its highest possible cost is counted. Once its reply reports the real cost, that cost replaces
the highest possible one. A request that does not fit waits while other requests are under way, as they may cost less
than was reserved.
"""

import asyncio
from dataclasses import dataclass
from decimal import Decimal

from tabcontam.models.base import SpentError


@dataclass(eq=False)
class Charge:
    """The share of the budget of one query or one batch: `requests` sent, and the dollars `reserved` for them.

    `before`: the dollars reserved for all these requests except the last.
    """

    requests: int = 0
    reserved: Decimal = Decimal(0)
    before: Decimal = Decimal(0)


class Budget:
    """Requests sent and dollars spent so far, and the user's limits on both; a limit of None allows any number."""

    def __init__(self, requests: int | None = None, dollars: Decimal | None = None) -> None:
        self.requests = 0
        self.dollars = Decimal(0)
        self._most_requests = requests
        self._most_dollars = dollars
        self._open: list[Charge] = []
        self._settled = asyncio.Event()

    async def charge(self, most: Decimal) -> Charge:
        """Reserve `most` dollars for a request, after waiting for other requests if need be. Raises `SpentError`."""
        while self._open and not self._fits(self._reserved + most) and self._fits(most):
            self._settled.clear()
            await self._settled.wait()
        return self.charge_now(most)

    def charge_now(self, most: Decimal) -> Charge:
        """Reserve `most` dollars for a request without waiting. Raises `SpentError` if the limits do not allow it."""
        charge = Charge()
        self.add(charge, most)
        self._open.append(charge)
        return charge

    def take_up(self, requests: int, most: Decimal) -> Charge:
        """Count requests that an earlier run sent. As they are paid for, they count even if they exceed the limits."""
        charge = Charge(requests, most)
        self.requests += requests
        self._open.append(charge)
        return charge

    def add(self, charge: Charge, most: Decimal) -> None:
        """Reserve `most` dollars for one more request of this charge. Raises `SpentError` if they do not fit."""
        if self._most_requests is not None and self.requests >= self._most_requests:
            raise SpentError(f"--max-requests {self._most_requests} is reached")
        if not self._fits(self._reserved + most):
            raise SpentError(
                f"--max-cost {self._most_dollars} allows no further request: ${self.dollars:.4f} is spent, and the "
                f"next may cost ${most:.4f}"
            )
        self.requests += 1
        charge.requests += 1
        charge.before = charge.reserved
        charge.reserved += most

    def settle(self, charge: Charge, spent: Decimal) -> None:
        """Note that the requests of a charge cost `spent` dollars."""
        self._open.remove(charge)
        self.dollars += spent
        self._settled.set()

    def take_back(self, charge: Charge) -> None:
        """Note that nothing was sent for a charge."""
        self.requests -= charge.requests
        self.settle(charge, Decimal(0))

    @property
    def _reserved(self) -> Decimal:
        return sum((charge.reserved for charge in self._open), Decimal(0))

    def _fits(self, more: Decimal) -> bool:
        return self._most_dollars is None or self.dollars + more <= self._most_dollars
