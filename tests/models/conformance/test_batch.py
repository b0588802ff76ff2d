"""Batches: what is sent, how they are looked after, and that their replies are those that come elsewhere."""

import json
from functools import partial
from typing import Any, TypeVar

import pytest

from tabcontam.evidence.base import Message, Prompt, Reply, ReplyState, Usage
from tabcontam.models.base import ModelRequest, TransientError
from tabcontam.models.batch_api import BatchProgress
from tabcontam.models.thresholds import MOST_THINKING_TOKENS
from tests.loopback_batches import MADE, Batch
from tests.loopback_http import Response
from tests.models.conformance.batching import (
    BATCHES,
    NAMES,
    Batched,
    Opener,
    Replies,
    answered,
    done,
    finished,
    read,
    submitted,
    taken,
)
from tests.models.conformance.provider import ASKED, OTHER_KEY, SECRET, Body, Provider, of

Found = TypeVar("Found")


@pytest.fixture
def batched(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Batched:
    """What the provider's batch API has of its own; its key is there."""
    monkeypatch.setenv(provider.keys[0], SECRET)
    return BATCHES[provider.name]


@pytest.fixture
def at(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """A model at a server that passes for its maker's own."""
    return lambda server: provider.passes(server, monkeypatch)


def given(found: Found, *_: object) -> Found:
    """What is given, whatever is asked."""
    return found


@pytest.mark.slow
def test_only_the_makers_own_address_has_them(provider: Provider, batched: Batched) -> None:
    assert provider.own().batches
    assert provider.at("http://127.0.0.1:1/v1").batches is None


def test_are_sent_looked_after_and_read(provider: Provider, batched: Batched, at: Opener) -> None:
    async def whole(batches: Any) -> tuple[list[BatchProgress], Replies]:
        batch = await submitted(batches)
        return [await batches.standing(batch) for _ in range(2)], await read(batches, batch, batches.sent)

    for ways in batched.ways:
        with batched.server(lambda body: provider.text("42", prompt=7), looks=2, **ways) as server:
            standings, found = done(at(server), whole)
            (batch,) = server.submitted
        assert standings == [BatchProgress(False, 0, 2), BatchProgress(True, 2, 2)]
        assert found == dict.fromkeys(NAMES, (Reply("42", ReplyState.OK, "", 3, Usage(7, 3)), False))
        assert [batched.body(request) for request in batch.requests] == [provider.sent] * 2
        assert batch.mark == batched.mark
        assert {provider.key(request.headers) for request in server.requests} == {SECRET}


def test_a_reply_is_what_it_is_elsewhere(provider: Provider, batched: Batched, at: Opener) -> None:
    """All answers of the suite in one batch."""
    known = [(response, expected) for response, expected in provider.replies if response.status == 200]
    known = [(response, expected) for response, expected in known if "error" not in str(response.body)]
    requests = [ModelRequest(Prompt((Message("user", f"case {number};"),), "", ""), 16) for number in range(len(known))]

    def answer(body: Body) -> Response:
        (number,) = [number for number in range(len(known)) if f"case {number};" in str(body)]
        return known[number][0]

    async def whole(batches: Any) -> Replies:
        sent, written = batches.sent, [batches.written(f"r{at}", request) for at, request in enumerate(requests)]
        return await finished(batches, await batches.submit(written, "m"), sent)

    with batched.server(answer) as server:
        found = done(at(server), whole)
    assert {again for reply, again in found.values() if reply.detail != provider.used_up} == {False}
    assert {name: reply for name, (reply, _) in found.items()} == {
        f"r{number}": expected for number, (_, expected) in enumerate(known)
    }


def test_what_may_pass_is_worth_another_try_and_nothing_else(batched: Batched, at: Opener) -> None:
    for response, again in batched.faults:
        got, may_be_better = answered(at, batched.server, response)
        assert (got.state, may_be_better) == (ReplyState.FAILED, again), response


def test_what_a_model_does_not_take_is_left_out_of_the_next(batched: Batched, at: Opener) -> None:
    with batched.server(lambda body: batched.refused) as server:
        model = at(server)
        assert not batched.left_out(model.written(ASKED))
        assert [again for _, again in done(model, taken).values()] == [True, True]
        assert batched.left_out(model.written(ASKED))


def test_who_thought_until_the_tokens_were_used_up_gets_more_room_in_the_next(
    provider: Provider, batched: Batched, at: Opener
) -> None:
    with batched.server(lambda body: provider.thought()) as server:
        model = at(server)
        got, again = done(model, taken)["a"]
        assert (got.state, got.detail, again) == (ReplyState.TRUNCATED, provider.used_up, True)
        assert model.allowance == MOST_THINKING_TOKENS
        assert done(model, taken)["a"][1] is False  # there was room this time


@of("openai", "gemini")  # Anthropic's only end
def test_that_end_badly_say_how(batched: Batched, at: Opener) -> None:
    for ending, reason, crowded in batched.endings:
        with batched.server(ending=partial(given, ending)) as server:

            async def whole(batches: Any) -> BatchProgress:
                found: BatchProgress = await batches.standing(await submitted(batches))
                return found

            standing = done(at(server), whole)
        assert (standing.ended, standing.reason, standing.crowded) == (True, reason, crowded)


@of("openai", "gemini")  # Anthropic's bear no mark
def test_are_found_by_their_mark_among_many(provider: Provider, batched: Batched, at: Opener) -> None:
    openai = provider.name == "openai"
    with batched.server() as server:
        for number in range(230):
            mark: Any = {"tabcontam": f"m{number}"} if openai else f"tabcontam-m{number}"
            name = server.id_of.format(number)
            server.batches[name] = Batch(name, [], MADE + number, mark)

        async def whole(batches: Any) -> list[str | None]:
            return [await batches.find(mark, MADE, ()) for mark in ("m3", "m228", "m230")]

        named = [server.id_of.format(number).removeprefix("batches/") for number in (3, 228)]
        assert done(at(server), whole) == [*named, None]


def test_that_are_not_there_any_more_have_ended_without_results(batched: Batched, at: Opener) -> None:
    with batched.server() as server:

        async def whole(batches: Any) -> tuple[BatchProgress, Replies]:
            return await batches.standing("b9"), await read(batches, "b9", batches.sent)

        assert done(at(server), whole) == (BatchProgress(True, reason="the batch no longer exists"), {})


def test_what_is_no_result_is_passed_over(batched: Batched, at: Opener) -> None:
    with batched.server(lines=lambda lines: [*batched.junk, *reversed(lines)]) as server:
        found = done(at(server), taken)
    assert {name: got.state for name, (got, _) in found.items()} == {
        "a": ReplyState.OK, "b": ReplyState.OK, "c": ReplyState.FAILED, "d": ReplyState.FAILED,
    }  # fmt: skip


def test_the_key_is_in_no_reply_and_in_no_command(provider: Provider, batched: Batched, at: Opener) -> None:
    told = answered(at, batched.server, f"your key is {SECRET}")[0]
    assert (told.state, told.text) == (ReplyState.OK, "your key is ***")
    assert SECRET not in answered(at, batched.server, provider.error(400, f"bad key {SECRET}"))[0].detail
    with batched.server() as server:
        assert at(server).batches.cancelling("b1") == batched.command.format(server.url)


def test_where_none_is_taken_the_reason_is_told_by_kind(
    batched: Batched, at: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(OTHER_KEY, raising=False)
    for refusal, kind, said in batched.no_batch:
        with batched.server(refuse=partial(given, refusal)) as server:
            with pytest.raises(kind, match=said) as caught:
                done(at(server), submitted)
            if refusal.status == 429:
                assert isinstance(caught.value, TransientError)
                assert (caught.value.kind, caught.value.crowded) == ("429", True)


def test_a_request_is_one_line_and_one_that_json_cannot_hold_is_not_written(
    provider: Provider, batched: Batched
) -> None:
    batches = provider.own().batches
    with pytest.raises(ValueError, match="surrogate"):
        batches.written("a", ModelRequest(Prompt((Message("user", "half \ud800"),), "", ""), 16))
    line = batches.written("a", ModelRequest(Prompt((Message("user", "Zeile\n\u2028ä" * 100),), "", ""), 16))
    assert b"\n" not in line
    assert any("Zeile\n\u2028ä" in text for text in texts_in(json.loads(line)))


def texts_in(held: Any) -> list[str]:
    """All texts in JSON."""
    inner = held.values() if isinstance(held, dict) else held if isinstance(held, list) else ()
    return [held] if isinstance(held, str) else [text for one in inner for text in texts_in(one)]
