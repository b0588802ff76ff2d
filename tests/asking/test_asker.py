"""What goes wrong is tried again, told, charged and, where that is no use, given up."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from tabcontam.asking import asker as module
from tabcontam.asking.asker import DEAD, MOST_BACKOFF, MOST_WAIT, TRIES, Asker, StoppedError, backoff
from tabcontam.asking.budget import Budget
from tabcontam.asking.estimate import tokens_read
from tabcontam.asking.limiter import Limiter
from tabcontam.asking.run_progress import Progress
from tabcontam.evidence.base import Answer, Capability, Message, Prompt, Query, Reply, ReplyState, Usage
from tabcontam.models.base import FatalError, Model, ModelRequest, PromptForm, SpentError, TransientError
from tabcontam.models.prices import Price

PROMPT = Prompt((Message("user", "what?"),), "what? ", "what")
QUERY = Query("q", lambda: PROMPT, ("a",), ("b",), 16)
FINE = Reply("fine", ReplyState.OK, usage=Usage(10, 20))
DOLLAR_A_TOKEN = Price(1_000_000, 1_000_000)
BUSY = TransientError("HTTP 429: too many", "429", crowded=True)
BROKEN = TransientError("HTTP 500: broken", "500")
LOST = TransientError("timed out", "timeout", sent=True)
Outcome = Reply | BaseException


class Scripted(Model):
    """A model that gives one outcome after the other, the last for good."""

    spec = "spy:one"
    capabilities = frozenset({Capability.GENERATE})
    form = PromptForm.CHAT

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = list(outcomes)
        self.asked = 0

    async def generate(self, request: ModelRequest) -> Reply:
        self.asked += 1
        await asyncio.sleep(0)
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


class Thorough(Scripted):
    """A model that sends so many requests for each reply."""

    def __init__(self, requests: int, *outcomes: Outcome) -> None:
        super().__init__(*outcomes)
        self.requests = requests

    async def generate(self, request: ModelRequest) -> Reply:
        for _ in range(self.requests - 1):
            self.asked += 1
            request.again()
        return await super().generate(request)


class Told(Progress):
    """What a session was told."""

    def __init__(self) -> None:
        self.waited: list[tuple[str, float]] = []
        self.lines: list[tuple[str, str]] = []

    def waits(self, llm: str, kind: str, seconds: float) -> None:
        self.waited.append((kind, seconds))

    def ended(self, llm: str, line: str) -> None:
        self.lines.append((llm, line))


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BACKOFF", 0)


@pytest.fixture
def told() -> Told:
    return Told()


def asking(told: Told, budget: Budget | None = None, price: Price | None = None) -> Asker:
    limiter = Limiter(16, 256, lambda before, now, kind: None)
    return Asker("spy:one", limiter, budget or Budget(), price, told)


def keep(answer: Answer) -> None:
    """Write down nothing."""


def ask(asker: Asker, model: Model, queries: int = 1) -> list[Answer | BaseException]:
    """The replies to so many queries at once, or what they raised."""

    async def whole() -> list[Answer | BaseException]:
        asked = (asker.ask(model, QUERY, keep) for _ in range(queries))
        return await asyncio.gather(*asked, return_exceptions=True)

    return asyncio.run(whole())


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(coroutine)


def without_waiting(
    monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], Coroutine[Any, Any, object]] | None = None
) -> list[float]:
    """No wait lasts; how long each would have. `meanwhile` happens in its place."""
    waits: list[float] = []

    async def pause(self: Asker, seconds: float) -> None:
        waits.append(seconds)
        if meanwhile:
            await meanwhile()

    monkeypatch.setattr(Asker, "pause", pause)
    return waits


@pytest.mark.parametrize("error", [
    BUSY,
    TransientError("HTTP 503: overloaded", "503", 0.001, crowded=True),
    BROKEN,
    LOST,
    TransientError("cut off", "connection"),
    TransientError("broken JSON", "reply", sent=True),
])  # fmt: skip
def test_what_may_pass_is_tried_again(told: Told, error: TransientError) -> None:
    asker, model = asking(told), Scripted(error, error, FINE)
    assert ask(asker, model) == [FINE]
    assert (model.asked, asker.requests, asker.retries) == (3, 3, 2)
    assert [kind for kind, _ in told.waited] == [error.kind] * 2
    assert not asker.ended


def test_it_is_tried_at_least_eight_times_and_then_no_more(told: Told) -> None:
    asker, model = asking(told), Scripted(BROKEN)
    assert ask(asker, model) == [Reply("", ReplyState.FAILED, "HTTP 500: broken")]
    assert model.asked == TRIES >= 8
    assert not asker.ended  # one query alone ends nothing


@pytest.mark.parametrize("failures", [7, TRIES - 1])
def test_an_answer_after_many_failures_counts(told: Told, failures: int) -> None:
    assert ask(asking(told), Scripted(*[BROKEN] * failures, FINE)) == [FINE]


def test_between_tries_it_waits_longer_and_longer_and_not_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BACKOFF", MOST_BACKOFF)
    longest = []
    for before in (0, 2, 4, TRIES, 10_000):
        found = [backoff(before) for _ in range(200)]
        assert len(set(found)) > 100
        longest.append(max(found))
    assert longest[:3] == sorted(longest[:3])
    assert longest[0] <= 1
    assert 40 < longest[3] <= 60
    assert longest[4] <= 60


def test_the_wait_that_a_server_asks_for_is_never_cut_short(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = without_waiting(monkeypatch)
    slow = TransientError("HTTP 429", "429", 30.0, crowded=True)
    assert ask(asking(told), Scripted(*[slow] * 8, FINE)) == [FINE]
    waits = [wait for wait in waits if wait > 1]  # the others space the requests
    assert len(waits) == 8
    assert all(30.0 <= wait <= 33.0 for wait in waits)
    assert len(set(waits)) > 1  # not all come back at once
    assert told.waited == [("429", wait) for wait in waits]


def test_the_wait_is_waited(told: Told) -> None:
    began = time.monotonic()
    assert ask(asking(told), Scripted(TransientError("HTTP 503", "503", 0.05), FINE)) == [FINE]
    assert time.monotonic() - began >= 0.05


def test_a_server_that_asks_to_wait_too_long_ends_the_llm_at_once(told: Told) -> None:
    asker = asking(told)
    model = Scripted(TransientError("HTTP 429: daily limit", "429", MOST_WAIT + 1, crowded=True))
    (reply,) = ask(asker, model)
    assert isinstance(reply, Reply)
    assert reply.state is ReplyState.FAILED
    assert model.asked == 1
    assert asker.ended == "HTTP 429: daily limit; the server asks to wait 601 s: then run the same command again"
    assert ask(asker, model, 2)
    assert model.asked == 1


def test_a_rate_limit_uses_up_no_tries_while_others_are_answered(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    asker, easy = asking(told), Scripted(FINE)

    async def another() -> object:
        asker.limiter._paced = False  # the turn of a request is no wait between tries
        return await asker.ask(easy, QUERY, keep)

    without_waiting(monkeypatch, another)
    hard = Scripted(*[BUSY] * (3 * TRIES), FINE)
    assert ask(asker, hard) == [FINE]
    assert hard.asked == 3 * TRIES + 1


def test_a_rate_limit_that_lets_nobody_through_uses_up_the_tries(told: Told) -> None:
    model = Scripted(BUSY)
    (reply,) = ask(asking(told), model)
    assert isinstance(reply, Reply)
    assert (reply.state, model.asked) == (ReplyState.FAILED, TRIES)


def test_a_fault_that_is_no_rate_limit_uses_up_tries_though_others_are_answered(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    asker, easy, hard = asking(told), Scripted(FINE), Scripted(BROKEN)

    async def another() -> object:
        asker.limiter._paced = False  # the turn of a request is no wait between tries
        return await asker.ask(easy, QUERY, keep)

    without_waiting(monkeypatch, another)
    ask(asker, hard)
    assert hard.asked == TRIES


def test_what_is_fatal_ends_the_llm_with_one_line(told: Told) -> None:
    asker, model = asking(told), Scripted(FatalError("HTTP 401: wrong key"))
    results = ask(asker, model, 5)
    assert all(isinstance(result, StoppedError) for result in results)
    assert told.lines == [("spy:one", "HTTP 401: wrong key")]
    assert (asker.ended, asker.spent, asker.stopped) == ("HTTP 401: wrong key", False, True)
    assert ask(asker, Scripted(FINE), 3)
    assert asker.requests == model.asked


@pytest.mark.parametrize("end", [
    lambda asker: asker.stop(),
    lambda asker: asker.end("gone"),
])  # fmt: skip
def test_whoever_waits_for_another_try_gives_up(told: Told, end: Callable[[Asker], None]) -> None:
    async def body() -> None:
        asker, model = asking(told), Scripted(TransientError("HTTP 503", "503", 500.0))
        waiting = [asyncio.create_task(asker.ask(model, QUERY, keep)) for _ in range(3)]
        while len(told.waited) < 3:
            await asyncio.sleep(0)
        end(asker)
        results = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 1)
        assert [type(result) for result in results] == [StoppedError] * 3
        assert model.asked == 3

    run(body())


def test_a_fatal_reply_ends_those_that_wait(told: Told) -> None:
    async def body() -> None:
        asker, model = asking(told), Scripted(TransientError("HTTP 503", "503", 500.0))
        waiting = asyncio.create_task(asker.ask(model, QUERY, keep))
        while not told.waited:
            await asyncio.sleep(0)
        with pytest.raises(StoppedError):
            await asker.ask(Scripted(FatalError("quota")), QUERY, keep)
        with pytest.raises(StoppedError):
            await asyncio.wait_for(waiting, 1)

    run(body())


def test_after_stopping_nothing_is_sent_and_what_is_under_way_is_waited_for(told: Told) -> None:
    class Slow(Scripted):
        async def generate(self, request: ModelRequest) -> Reply:
            await asyncio.sleep(0.01)
            return await super().generate(request)

    async def body() -> None:
        asker, model = asking(told), Slow(FINE)
        under_way = asyncio.create_task(asker.ask(model, QUERY, keep))
        await asyncio.sleep(0.001)
        asker.stop()
        with pytest.raises(StoppedError):
            await asker.ask(model, QUERY, keep)
        assert await under_way == FINE
        assert model.asked == 1
        assert asker.ended == ""

    run(body())


def test_one_that_waits_for_the_budget_is_not_sent_after_stopping(told: Told) -> None:
    """Its slot is its own, but the dollars are not there before another reply says what it cost."""

    class Held(Scripted):
        def __init__(self, *outcomes: Outcome) -> None:
            super().__init__(*outcomes)
            self.go = asyncio.Event()

        async def generate(self, request: ModelRequest) -> Reply:
            await self.go.wait()
            return await super().generate(request)

    async def body() -> None:
        model = Held(Reply("fine", ReplyState.OK, usage=Usage(1, 1)))
        most = DOLLAR_A_TOKEN.cost(tokens_read(model, PROMPT), QUERY.max_tokens)
        asker = asking(told, Budget(dollars=most + 10), DOLLAR_A_TOKEN)
        both = [asyncio.create_task(asker.ask(model, QUERY, keep)) for _ in range(2)]
        await asyncio.sleep(0.001)
        asker.stop()
        model.go.set()
        first, second = await asyncio.gather(*both, return_exceptions=True)
        assert isinstance(first, Reply)
        assert isinstance(second, StoppedError)
        assert (model.asked, asker.requests) == (1, 1)
        assert asker.budget._open == []

    run(body())


def test_whoever_waits_for_its_turn_gives_up_too(told: Told) -> None:
    """From the first complaint on requests are sent evenly: a turn may be minutes away."""

    async def body() -> None:
        asker, model = asking(told), Scripted(FINE)
        asker.limiter.answered(asker.clock() - 500.0)
        asker.limiter.crowded(asker.clock(), "429")
        asked = [asyncio.create_task(asker.ask(model, QUERY, keep)) for _ in range(3)]
        await asyncio.sleep(0.005)
        asker.stop()
        first, *others = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 1)
        assert first == FINE
        assert [type(other) for other in others] == [StoppedError] * 2
        assert model.asked == 1
        assert asker.limiter._slots.borrowed_tokens == 0

    run(body())


def test_an_answer_is_written_down_before_its_connection_takes_the_next_query(told: Told) -> None:
    async def body() -> None:
        asker = Asker("spy:one", Limiter(1, 1, lambda before, now, kind: None), Budget(), None, told)
        model, written = Scripted(FINE), list[int]()

        def written_down(answer: Answer) -> None:
            written.append(model.asked)

        await asyncio.gather(*(asker.ask(model, QUERY, written_down) for _ in range(5)))
        assert written == [1, 2, 3, 4, 5]  # after so many requests each answer was written

    run(body())


def test_a_query_that_is_given_up_is_written_down_as_failed(told: Told) -> None:
    async def body() -> None:
        written = list[Answer]()
        answer = await asking(told).ask(Scripted(BROKEN), QUERY, written.append)
        assert written == [answer]
        assert answer.state is ReplyState.FAILED

    run(body())


def test_a_query_that_is_not_wanted_any_more_is_not_sent(told: Told) -> None:
    async def body() -> None:
        model = Scripted(FINE)
        with pytest.raises(StoppedError):
            await asking(told).ask(model, QUERY, keep, unwanted=lambda: True)
        assert model.asked == 0

    run(body())


def test_a_server_that_fails_several_queries_in_a_row_is_gone(told: Told) -> None:
    asker, model = asking(told), Scripted(BROKEN)
    for number in range(1, DEAD + 1):
        ask(asker, model)
        assert bool(asker.ended) is (number == DEAD)
    assert asker.ended == "HTTP 500: broken; gave up after 3 queries in a row failed 10 times each"
    assert not asker.spent
    assert len(told.lines) == 1


def test_an_answer_in_between_means_that_it_is_not_gone(told: Told) -> None:
    asker = asking(told)
    for _ in range(DEAD):
        ask(asker, Scripted(BROKEN))
        ask(asker, Scripted(FINE))
    assert not asker.ended


@pytest.mark.parametrize("error", [ValueError("half\na \x00 reply"), KeyError("choices"), RuntimeError("x" * 5000)])
def test_whatever_else_a_provider_raises_is_a_failed_reply(told: Told, error: Exception) -> None:
    asker, model = asking(told), Scripted(error)
    (reply,) = ask(asker, model)
    assert isinstance(reply, Reply)
    assert (reply.state, model.asked, asker.ended) == (ReplyState.FAILED, 1, "")
    assert reply.detail.startswith(type(error).__name__)
    assert "\n" not in reply.detail
    assert len(reply.detail) <= 300


def test_every_slot_is_given_back(told: Told) -> None:
    outcomes: Sequence[Outcome] = (FINE, ValueError("x"), BROKEN)
    asker = asking(told)
    for outcome in outcomes:
        ask(asker, Scripted(outcome, FINE))
    assert asker.limiter._slots.borrowed_tokens == 0
    assert asker.budget._open == []


# What it costs


def test_a_reply_costs_what_the_server_counted(told: Told) -> None:
    asker = asking(told, Budget(), Price(2.0, 10.0))
    ask(asker, Scripted(FINE), 3)
    assert asker.dollars == asker.budget.dollars == 3 * Price(2.0, 10.0).cost(10, 20)


def test_a_reply_without_a_count_costs_the_most_that_it_can(told: Told) -> None:
    asker, model = asking(told, Budget(), DOLLAR_A_TOKEN), Scripted(Reply("fine", ReplyState.OK))
    model.allowance = 100
    ask(asker, model)
    assert asker.dollars == tokens_read(model, PROMPT) + QUERY.max_tokens + 100


@pytest.mark.parametrize(("error", "charged"), [(LOST, True), (BROKEN, False), (BUSY, False)])
def test_a_fault_after_sending_is_charged_in_full(told: Told, error: TransientError, charged: bool) -> None:
    asker, model = asking(told, Budget(), DOLLAR_A_TOKEN), Scripted(error, FINE)
    ask(asker, model)
    most = tokens_read(model, PROMPT) + QUERY.max_tokens
    assert asker.dollars == asker.budget.dollars == 30 + charged * most


def test_a_failed_reply_costs_nothing_unless_the_server_counted(told: Told) -> None:
    asker = asking(told, Budget(), DOLLAR_A_TOKEN)
    ask(asker, Scripted(Reply("", ReplyState.FAILED, "HTTP 400")))
    assert asker.dollars == 0
    ask(asker, Scripted(Reply("", ReplyState.FAILED, "HTTP 400", usage=Usage(5, 2))))
    assert asker.dollars == 7


def test_what_a_provider_breaks_on_is_charged_in_full(told: Told) -> None:
    asker, model = asking(told, Budget(), DOLLAR_A_TOKEN), Scripted(KeyError("choices"))
    ask(asker, model)
    assert asker.dollars == tokens_read(model, PROMPT) + QUERY.max_tokens


@pytest.mark.parametrize(("error", "times"), [
    (BROKEN, 1),
    (LOST, 2),
    (FatalError("quota"), 1),
])  # fmt: skip
def test_a_first_request_counts_though_the_second_fails(told: Told, error: Exception, times: int) -> None:
    """Whether it was paid for is not known: the most that it can have cost is counted, and none for the refused."""
    asker, model = asking(told, Budget(), DOLLAR_A_TOKEN), Thorough(2, error, Reply("", ReplyState.FAILED))
    model.requests = 2
    most = tokens_read(model, PROMPT) + QUERY.max_tokens

    async def once() -> None:
        with pytest.raises(type(error)):
            await asker._send(model, QUERY)

    run(once())
    assert asker.dollars == asker.budget.dollars == times * most
    assert asker.requests == 2


def test_no_further_request_for_a_reply_beyond_the_limit(told: Told) -> None:
    asker, model = asking(told, Budget(requests=4)), Thorough(3, FINE)
    assert ask(asker, model) == [FINE]
    (stopped,) = ask(asker, model)
    assert isinstance(stopped, StoppedError)
    assert isinstance(stopped.__cause__, SpentError)
    assert (asker.requests, asker.budget.requests) == (4, 4)
    assert (asker.ended, asker.spent) == ("--max-requests 4 is reached", True)


def test_what_was_sent_before_the_limit_is_charged(told: Told) -> None:
    model = Thorough(2, FINE)
    most = DOLLAR_A_TOKEN.cost(tokens_read(model, PROMPT), QUERY.max_tokens)
    asker = asking(told, Budget(dollars=most), DOLLAR_A_TOKEN)
    ask(asker, model)
    assert asker.spent
    assert asker.budget.dollars == asker.dollars == most


def test_that_it_was_the_users_limit_is_known_though_several_meet_it(told: Told) -> None:
    asker, model = asking(told, Budget(requests=3)), Scripted(FINE)
    results = ask(asker, model, 10)
    assert results.count(FINE) == 3
    assert (asker.requests, model.asked) == (3, 3)
    assert asker.spent
    assert told.lines == [("spy:one", "--max-requests 3 is reached")]


def test_that_it_was_the_users_limit_is_known_though_several_wait_for_the_same_dollars(told: Told) -> None:
    model = Scripted(Reply("fine", ReplyState.OK))
    most = DOLLAR_A_TOKEN.cost(tokens_read(model, PROMPT), QUERY.max_tokens)
    asker = asking(told, Budget(dollars=2 * most), DOLLAR_A_TOKEN)
    assert ask(asker, model, 10).count(Reply("fine", ReplyState.OK)) == 2
    assert asker.spent
    assert asker.ended.startswith("--max-cost ")
    assert asker.dollars <= 2 * most


def test_a_limit_after_a_fatal_end_does_not_take_its_place(told: Told) -> None:
    asker = asking(told, Budget(requests=1))
    asker.end("HTTP 401")
    ask(asker, Scripted(FINE), 2)
    assert (asker.ended, asker.spent) == ("HTTP 401", False)


# What the limiter hears


@pytest.mark.parametrize(("error", "shrinks"), [(BUSY, True), (BROKEN, False), (LOST, False)])
def test_only_what_fewer_requests_would_help_makes_them_fewer(told: Told, error: TransientError, shrinks: bool) -> None:
    changes: list[tuple[int, int, str]] = []
    asker = asking(told)
    asker.limiter = Limiter(100, 100, lambda before, now, kind: changes.append((before, now, kind)))
    ask(asker, Scripted(error, FINE))
    assert [kind for before, now, kind in changes if now < before] == ([error.kind] if shrinks else [])


def test_answers_make_more_requests_at_a_time(told: Told) -> None:
    asker = asking(told)
    asker.limiter = Limiter(2, 64, lambda before, now, kind: None)

    async def body() -> None:
        model, asked = Scripted(FINE), []
        for _ in range(30):
            asked += [asyncio.create_task(asker.ask(model, QUERY, keep)) for _ in range(2)]
            await asyncio.sleep(0)
        await asyncio.gather(*asked)

    run(body())
    assert asker.limiter.limit > 2


def test_what_is_broken_off_is_charged_in_full(told: Told) -> None:
    class Endless(Scripted):
        async def generate(self, request: ModelRequest) -> Reply:
            await asyncio.sleep(100)
            return FINE

    async def body() -> None:
        asker, model = asking(told, Budget(), DOLLAR_A_TOKEN), Endless(FINE)
        asked = asyncio.create_task(asker.ask(model, QUERY, keep))
        await asyncio.sleep(0.005)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert asker.budget.dollars == tokens_read(model, PROMPT) + QUERY.max_tokens
        assert asker.limiter._slots.borrowed_tokens == 0

    run(body())
