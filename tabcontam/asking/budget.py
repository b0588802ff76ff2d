"""The limits of a run: requests and US dollars, over all its LLMs together, never exceeded.

A request is counted before it is sent, at the most that it can cost; its real cost replaces that when the reply reports
it. While other requests are under way, one that does not fit waits for what they leave.
"""

import asyncio
from dataclasses import dataclass
from decimal import Decimal

from tabcontam.models.base import SpentError


@dataclass(eq=False)
class Charge:
    """The share of the budget of one query or one batch: `requests` sent, and the dollars `reserved` for them.

    `before` are those of all requests but the last.
    """

    requests: int = 0
    reserved: Decimal = Decimal(0)
    before: Decimal = Decimal(0)


class Budget:
    """Requests sent and dollars spent so far, against the limits that the user sets; None allows any."""

    def __init__(self, requests: int | None = None, dollars: Decimal | None = None) -> None:
        self.requests = 0
        self.dollars = Decimal(0)
        self._most_requests = requests
        self._most_dollars = dollars
        self._open: list[Charge] = []
        self._settled = asyncio.Event()

    async def charge(self, most: Decimal) -> Charge:
        """Make room for a request that costs `most` dollars at most. Raises `SpentError` if there is none."""
        while self._open and not self._fits(self._reserved + most) and self._fits(most):
            self._settled.clear()
            await self._settled.wait()
        return self.charge_now(most)

    def charge_now(self, most: Decimal) -> Charge:
        """Make room for a request without waiting for what others leave. Raises `SpentError` if there is none."""
        charge = Charge()
        self.add(charge, most)
        self._open.append(charge)
        return charge

    def take_up(self, requests: int, most: Decimal) -> Charge:
        """Count requests that were sent by an earlier run, and are paid for whatever the limits are now."""
        charge = Charge(requests, most)
        self.requests += requests
        self._open.append(charge)
        return charge

    def add(self, charge: Charge, most: Decimal) -> None:
        """Add one more request for this query, or to this batch. Raises `SpentError`."""
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
        """Note that a charge's requests cost so many dollars."""
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
