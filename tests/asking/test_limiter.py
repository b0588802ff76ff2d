"""The limiter takes what a server gives: fast at first, and never more than it can be told to."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tabcontam.asking.limiter import CEILING, MORE, QUEUED, SLOW, START, Limiter


class Clock:
    """Time stands still until it is told to go on; a sleep makes it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def limiter(
    clock: Clock,
    start: int = START,
    ceiling: int = CEILING,
    tell: Callable[[int, int, str], None] = lambda before, now, kind: None,
) -> Limiter:
    return Limiter(start, ceiling, tell, clock)


async def full_round(limited: Limiter, clock: Clock, seconds: float = 1.0) -> None:
    """As many requests as there are slots, and one that waits for a slot; all are answered after so many seconds."""
    sent = []
    for _ in range(limited.limit):
        request = object()
        await limited.take(request, clock.sleep)
        sent.append((request, clock.now))
    last = object()
    waiting = asyncio.create_task(limited.take(last, clock.sleep))
    await asyncio.sleep(0)
    for request, began in sent:
        clock.now = max(clock.now, began + seconds)
        limited.answered(began)
        limited.free(request)
    await waiting
    limited.free(last)


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(coroutine)


def test_it_about_doubles_with_every_round_until_the_ceiling(clock: Clock) -> None:
    async def body() -> None:
        limited = limiter(clock)
        found = [limited.limit]
        while limited.limit < CEILING and len(found) < 8:
            await full_round(limited, clock)
            found.append(limited.limit)
        assert found[0] == START
        assert found[-1] == CEILING
        steps = [after / before for before, after in itertools.pairwise(found[:-1])]
        assert all(1.4 < step <= 2.1 for step in steps), found  # new slots are in use only a round later
        await full_round(limited, clock)
        assert limited.limit == CEILING

    run(body())


def test_a_complaint_takes_a_tenth_once_a_round(clock: Clock) -> None:
    told: list[tuple[int, int, str]] = []

    async def body() -> None:
        limited = limiter(clock, start=100, tell=lambda *change: told.append(change))
        clock.now = 1.0
        limited.crowded(0.0, "429")
        after_one = limited.limit
        limited.crowded(0.5, "429")  # sent before the first was heard of
        assert limited.limit == after_one
        limited.crowded(1.0, "503")  # sent after it, but in the same round
        assert limited.limit == after_one
        clock.now = 2.0
        limited.crowded(1.0, "503")
        assert 90 <= after_one <= 92
        assert 81 <= limited.limit <= 83
        assert told == [(100, after_one, "429"), (after_one, limited.limit, "503")]

    run(body())


def test_after_a_complaint_it_grows_by_one_then_two_then_four(clock: Clock) -> None:
    async def body() -> None:
        limited = limiter(clock, start=100)
        clock.now = 10.0
        limited.crowded(5.0, "429")
        clock.now += 100.0
        found = [limited.limit]
        for _ in range(6):
            await full_round(limited, clock)
            found.append(limited.limit)
        steps = [after - before for before, after in itertools.pairwise(found)]
        assert 0 <= steps[0] <= 4, found  # far from doubling
        assert max(steps) > steps[0], found

    run(body())


def test_what_the_user_allows_is_the_start_and_the_ceiling(clock: Clock) -> None:
    async def body() -> None:
        limited = limiter(clock, start=5, ceiling=5)
        for _ in range(5):
            await full_round(limited, clock)
            assert limited.limit == 5
        limited.crowded(clock.now, "429")
        for _ in range(20):
            await full_round(limited, clock)
            assert limited.limit <= 5
        assert limited.limit == 5

    run(body())


def test_it_does_not_grow_where_slots_stay_free(clock: Clock) -> None:
    async def body() -> None:
        limited = limiter(clock)
        for _ in range(50):
            clock.now += 1.0
            request, began = object(), clock.now
            await limited.take(request, clock.sleep)
            clock.now += 1.0
            limited.answered(began)
            limited.free(request)
        assert limited.limit == START

    run(body())


@pytest.mark.parametrize(("fastest", "grows"), [(1.0, False), (3 * SLOW, True)])
def test_it_does_not_grow_where_answers_stand_in_a_queue(clock: Clock, fastest: float, grows: bool) -> None:
    """A server that is slow from the first answer on has no queue."""

    async def body() -> None:
        limited = limiter(clock, ceiling=100_000)
        limited.answered(clock.now - fastest)
        for _ in range(4):
            await full_round(limited, clock, seconds=3 * SLOW)
        before = limited.limit
        await full_round(limited, clock, seconds=3 * SLOW)
        assert (limited.limit > before) is grows

    run(body())
    assert QUEUED * 1.0 < 3 * SLOW


def test_requests_are_sent_evenly_from_the_first_complaint_on(clock: Clock) -> None:
    async def body() -> None:
        limited = limiter(clock, start=20)
        clock.now = 1.0
        for _ in range(5):
            request = object()
            await limited.take(request, clock.sleep)
            clock.now += 1.0
            limited.answered(clock.now - 1.0)
            limited.free(request)
        assert not clock.sleeps
        limited.crowded(clock.now, "429")
        sent = []
        for _ in range(10):
            await limited.take(object(), clock.sleep)
            sent.append(clock.now)
        gaps = [after - before for before, after in itertools.pairwise(sent)]
        assert gaps == pytest.approx([gaps[0]] * 9)
        assert gaps[0] == pytest.approx(1.0 / 18)  # a second a round, and 18 in it

    run(body())


def test_it_falls_no_lower_than_what_the_server_was_found_to_take(clock: Clock) -> None:
    async def body() -> None:
        limited = limiter(clock, start=200)
        for number in range(2500):  # 50 a second, and each takes a second; one in ten is too many
            clock.now += 0.02
            limited.answered(clock.now - 1.0)
            if number > 100 and number % 10 == 0:
                limited.crowded(clock.now, "429")
        assert 60 <= limited.limit <= 62

    run(body())


def test_a_server_that_answers_nothing_is_sent_less_and_less_but_never_nothing(clock: Clock) -> None:
    async def body() -> None:
        limited = limiter(clock)
        limited.answered(clock.now - 1.0)
        clock.now = 60.0
        for _ in range(200):
            clock.now += 1.0
            limited.crowded(clock.now, "429")
        assert 1 <= limited.limit <= 2
        for _ in range(2):
            request = object()
            await limited.take(request, clock.sleep)
            limited.free(request)
        assert clock.sleeps == [pytest.approx(100.0)]

    run(body())


def test_only_some_more_queries_are_taken_up_than_there_are_slots(clock: Clock) -> None:
    async def body() -> None:
        limited = limiter(clock, start=3, ceiling=3)
        queries = [object() for _ in range(3 + MORE)]
        for query in queries:
            await limited.admit(query)
        one_more = asyncio.create_task(limited.admit(object()))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not one_more.done()
        limited.dismiss(queries[0])
        await asyncio.wait_for(one_more, 1)

    run(body())


def test_no_more_requests_than_slots_are_under_way(clock: Clock) -> None:
    async def body() -> None:
        limited = limiter(clock, start=2, ceiling=2)
        first, second, third = object(), object(), object()
        await limited.take(first, clock.sleep)
        await limited.take(second, clock.sleep)
        waiting = asyncio.create_task(limited.take(third, clock.sleep))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not waiting.done()
        limited.free(second)
        await asyncio.wait_for(waiting, 1)

    run(body())


def test_answers_that_took_no_time_by_a_coarse_clock_are_counted(clock: Clock) -> None:
    async def body() -> None:
        limited = limiter(clock)
        limited.crowded(clock.now, "429")
        for _ in range(3):
            await full_round(limited, clock, seconds=0.0)
        assert 1 <= limited.limit <= CEILING

    run(body())


def test_a_complaint_at_the_ceiling_takes_a_tenth_of_the_ceiling(clock: Clock) -> None:
    told: list[tuple[int, int, str]] = []

    async def body() -> None:
        limited = limiter(clock, start=100, ceiling=100, tell=lambda *change: told.append(change))
        for _ in range(5):
            await full_round(limited, clock)
        assert told == []
        clock.now += 100.0
        limited.crowded(clock.now, "429")
        assert limited.limit == 91

    run(body())


def test_it_tells_of_changes_only(clock: Clock) -> None:
    told: list[tuple[int, int, str]] = []

    async def body() -> None:
        limited = limiter(clock, ceiling=40, tell=lambda *change: told.append(change))
        for _ in range(5):
            await full_round(limited, clock)
        assert told[0][0] == START
        assert told[-1][1] == 40
        assert all(before < now and kind == "" for before, now, kind in told)

    run(body())


def test_more_slots_let_more_queries_in(clock: Clock) -> None:
    async def body() -> None:
        limited = limiter(clock, start=2)
        for _ in range(6):
            await full_round(limited, clock)
        assert limited.limit > 4
        for _ in range(limited.limit + MORE):
            await asyncio.wait_for(limited.admit(object()), 1)

    run(body())


def test_requests_that_wait_for_their_turn_show_that_more_are_wanted(clock: Clock) -> None:
    """Slots may stay free then."""

    async def body() -> None:
        limited = limiter(clock, start=100)
        clock.now = 1.0
        limited.answered(0.0)
        limited.crowded(clock.now, "429")
        clock.now += 100.0
        before = limited.limit
        for _ in range(20):
            sent = []
            for _ in range(20):
                request = object()
                await limited.take(request, clock.sleep)
                sent.append((request, clock.now))
            for request, began in sent:
                clock.now = max(clock.now, began + 1.0)
                limited.answered(began)
                limited.free(request)
        assert limited.limit > before

    run(body())
