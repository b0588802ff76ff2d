"""What the user allows is never exceeded, whatever comes back and in what order."""

import asyncio
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabcontam.asking.budget import Budget, Charge
from tabcontam.models.base import SpentError

CENT = Decimal("0.01")
CENTS = st.integers(0, 200).map(lambda cents: cents * CENT)


@st.composite
def bills(draw: st.DrawFn) -> tuple[Decimal, Decimal, int, bool]:
    """The most that a request may cost, what it did, after how long, and whether it was sent twice."""
    most = draw(CENTS)
    cost = min(most, draw(CENTS))
    return most, cost, draw(st.integers(0, 4)), draw(st.booleans())


def test_without_a_limit_everything_goes() -> None:
    async def body() -> None:
        budget = Budget()
        for _ in range(100):
            budget.settle(await budget.charge(Decimal(1000)), Decimal(1000))
        assert (budget.requests, budget.dollars) == (100, Decimal(100_000))

    asyncio.run(body())


def test_no_request_more_than_allowed_and_the_line_says_so() -> None:
    async def body() -> None:
        budget = Budget(requests=3)
        charges = [await budget.charge(Decimal(0)) for _ in range(2)]
        budget.add(charges[0], Decimal(0))
        for _ in range(2):
            with pytest.raises(SpentError, match=r"^--max-requests 3 is reached$"):
                await budget.charge(Decimal(0))
            with pytest.raises(SpentError, match=r"^--max-requests 3 is reached$"):
                budget.add(charges[1], Decimal(0))
        assert budget.requests == 3
        assert [charge.requests for charge in charges] == [2, 1]

    asyncio.run(body())


def test_a_request_that_fits_never_is_refused_at_once_in_one_line() -> None:
    async def body() -> None:
        budget = Budget(dollars=CENT)
        budget.settle(await budget.charge(CENT), CENT / 2)
        with pytest.raises(SpentError) as error:
            await asyncio.wait_for(budget.charge(CENT), 1)
        assert str(error.value) == (
            "--max-cost 0.01 allows no further request: $0.0050 is spent, and the next may cost $0.0100"
        )
        assert budget.requests == 1

    asyncio.run(body())


def test_one_that_does_not_fit_yet_waits_for_what_the_others_leave() -> None:
    async def body() -> None:
        budget = Budget(dollars=3 * CENT)
        first = await budget.charge(2 * CENT)
        waiting = asyncio.create_task(budget.charge(2 * CENT))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not waiting.done()
        budget.settle(first, CENT)
        second = await asyncio.wait_for(waiting, 1)
        assert second.reserved == 2 * CENT
        assert budget.requests == 2

    asyncio.run(body())


def test_one_that_waits_in_vain_is_refused() -> None:
    async def body() -> None:
        budget = Budget(dollars=3 * CENT)
        first = await budget.charge(2 * CENT)
        waiting = asyncio.create_task(budget.charge(2 * CENT))
        await asyncio.sleep(0)
        budget.settle(first, 2 * CENT)
        with pytest.raises(SpentError, match=r"--max-cost 0\.03"):
            await asyncio.wait_for(waiting, 1)

    asyncio.run(body())


def test_a_limit_to_the_cent_is_used_up_to_the_cent() -> None:
    async def body() -> None:
        budget = Budget(dollars=Decimal("0.30"))
        for _ in range(3):
            budget.settle(await budget.charge(Decimal("0.10")), Decimal("0.10"))  # 3 * 0.1 > 0.3 in binary
        assert budget.dollars == Decimal("0.30")

    asyncio.run(body())


@settings(max_examples=60, deadline=None)
@given(limit=CENTS.filter(bool), due=st.lists(bills(), max_size=25))
def test_the_dollars_are_never_exceeded(limit: Decimal, due: list[tuple[Decimal, Decimal, int, bool]]) -> None:
    async def one(budget: Budget, bill: tuple[Decimal, Decimal, int, bool]) -> None:
        most, cost, steps, twice = bill
        try:
            charge = await budget.charge(most)
        except SpentError:
            assert budget.dollars + most > limit or budget._reserved  # it would not have fitted
            return
        sent = 1
        try:
            for _ in range(steps):
                await asyncio.sleep(0)
                assert budget.dollars + budget._reserved <= limit
            if twice:
                budget.add(charge, most)
                sent = 2
        except SpentError:
            pass
        finally:
            assert charge.requests == sent
            budget.settle(charge, sent * cost)
        assert budget.dollars <= limit

    async def body() -> None:
        budget = Budget(dollars=limit)
        await asyncio.wait_for(asyncio.gather(*(one(budget, bill) for bill in due)), 5)
        assert budget.dollars <= limit
        assert budget._reserved == 0
        left = [most for most, _, _, _ in due if budget.dollars + most <= limit]
        assert budget.requests or not left  # what fits is sent

    asyncio.run(body())


@settings(max_examples=40, deadline=None)
@given(limit=st.integers(1, 20), queries=st.integers(0, 40))
def test_the_requests_are_never_exceeded(limit: int, queries: int) -> None:
    async def one(budget: Budget) -> int:
        try:
            charge = await budget.charge(Decimal(0))
        except SpentError:
            return 0
        await asyncio.sleep(0)
        budget.settle(charge, Decimal(0))
        return charge.requests

    async def body() -> None:
        budget = Budget(requests=limit)
        sent = await asyncio.gather(*(one(budget) for _ in range(queries)))
        assert sum(sent) == budget.requests == min(limit, queries)

    asyncio.run(body())


def test_two_charges_of_the_same_size_are_told_apart() -> None:
    assert Charge() != Charge()


def test_a_server_that_charges_more_than_it_may_is_sent_nothing_more() -> None:
    async def body() -> None:
        budget = Budget(dollars=10 * CENT)
        budget.settle(await budget.charge(CENT), 20 * CENT)
        with pytest.raises(SpentError, match=r"\$0\.2000 is spent"):
            await budget.charge(Decimal(0))

    asyncio.run(body())


def test_what_was_not_sent_is_not_counted() -> None:
    async def body() -> None:
        budget = Budget(requests=1, dollars=CENT)
        budget.take_back(await budget.charge(CENT))
        assert (budget.requests, budget.dollars) == (0, Decimal(0))
        assert (await budget.charge(CENT)).requests == 1

    asyncio.run(body())


def test_what_can_never_fit_is_refused_though_others_are_under_way() -> None:
    async def body() -> None:
        budget = Budget(dollars=2 * CENT)
        await budget.charge(CENT)
        with pytest.raises(SpentError):
            await asyncio.wait_for(budget.charge(3 * CENT), 1)

    asyncio.run(body())
