"""What a model does not take is learned once, and no query is lost."""

import json
from dataclasses import replace

import pytest

from tabcontam.evidence.base import Reply, ReplyState, Usage
from tabcontam.evidence.structured_answers import PROBE, is_enforced, schema_of
from tabcontam.models.base import SpentError, TransientError
from tabcontam.models.thresholds import MOST_THINKING_TOKENS
from tests.loopback_http import Response
from tests.models.conformance.provider import ASKED, Body, Provider, ask, ask_once, in_turn, outcome, trouble, within

HELD = replace(ASKED, question=replace(ASKED.prompt, values=("age", "name (given)")), structured=True)


def test_gives_thinking_its_own_allowance_and_remembers(anybody: Provider) -> None:
    with anybody.server(anybody.thinking) as server:
        model = anybody.at(server.url)
        first, *later = in_turn(model, 3)
    assert (first.text, first.state, first.detail, first.tokens) == ("42", ReplyState.OK, "", 3)
    assert (first.usage, [reply.usage for reply in later]) == (Usage(80, 19), [Usage(40, 3)] * 2)
    assert {reply.text for reply in later} == {"42"}
    assert [anybody.room(body) for body in server.asked] == [16] + [16 + MOST_THINKING_TOKENS] * 3
    assert model.allowance == MOST_THINKING_TOKENS


def test_remembers_thinking_although_the_next_request_fails(anybody: Provider) -> None:
    responses = [anybody.thought(), anybody.error(503, "busy"), anybody.text("42")]
    with anybody.server(lambda body: responses.pop(0)) as server:
        model = anybody.at(server.url)
        trouble(model, TransientError)
        assert ask_once(model).text == "42"
    assert [anybody.room(body) for body in server.asked] == [16] + [16 + MOST_THINKING_TOKENS] * 2


def test_an_allowance_has_an_end(anybody: Provider) -> None:
    got = outcome(anybody, anybody.thought(9999))
    assert isinstance(got, Reply)
    assert replace(got, usage=None) == Reply("", ReplyState.TRUNCATED, "all tokens went into reasoning", 0)


def test_asks_for_as_little_thinking_as_the_model_takes(provider: Provider) -> None:
    for thinker in provider.thinkers:
        with provider.server(thinker.answer(), models=thinker.models) as server:
            model = provider.at(server.url)
            if thinker.models:  # which say it
                within(model, model.connect)
            assert ask_once(model).text == "42"
            assert len(server.asked) == thinker.tried
            assert ask_once(model).text == "42"
        assert len(server.asked) == thinker.tried + 1
        assert provider.thinks(server.asked[-1]) == thinker.sent
        room = 16 + thinker.allowance
        assert (provider.room(server.asked[-1]), model.allowance) == (room, thinker.allowance)


@pytest.mark.slow
def test_leaves_out_what_is_not_taken(anybody: Provider) -> None:
    for name, refusal in anybody.refusals:

        def answer(body: Body, name: str = name, refusal: Response = refusal) -> str | Response:
            return refusal if name in anybody.parameters(body) else "42"

        with anybody.server(answer) as server:
            model = anybody.at(server.url)
            assert ask_once(model).text == "42"
            assert [reply.text for reply in ask(model, times=3)] == ["42"] * 3
        assert [name in anybody.parameters(body) for body in server.asked] == [True] + [False] * 4


def test_keeps_nothing_that_did_not_help(anybody: Provider) -> None:
    name, refusal = anybody.refusals[0]
    responses: list[str | Response] = [refusal, anybody.error(400, "still no"), "42"]
    with anybody.server(lambda body: responses.pop(0)) as server:
        assert [reply.state for reply in in_turn(anybody.at(server.url), 2)] == [ReplyState.FAILED, ReplyState.OK]
    assert [name in anybody.parameters(body) for body in server.asked] == [True, False, True]


def test_holds_an_answer_to_a_schema_only_where_it_is_wanted(anybody: Provider) -> None:
    with anybody.server(lambda body: "{}") as server:
        for request in (HELD, replace(HELD, structured=False), replace(ASKED, structured=True)):
            ask_once(anybody.at(server.url), request)
    held, free, without_values = server.asked
    assert anybody.schema(held) == schema_of(HELD.prompt.values)
    assert "JSON object" in json.dumps(held)
    assert (anybody.schema(free), "JSON" in json.dumps(free)) == (None, False)
    assert without_values == anybody.sent


def test_a_server_that_holds_none_to_a_schema_ends_no_llm(anybody: Provider) -> None:
    for refusal in anybody.no_schema:

        def answer(body: Body, refusal: Response = refusal) -> str | Response:
            return refusal if anybody.schema(body) else "Blue."

        with anybody.server(answer) as server:
            model = anybody.at(server.url)
            assert not is_enforced(ask_once(model, replace(HELD, question=PROBE)))
            assert ask_once(model).text == "Blue."


def test_a_model_that_refuses_everything_fails(anybody: Provider) -> None:
    got = outcome(anybody, anybody.error(400, anybody.refuses_all))
    assert isinstance(got, Reply)
    assert got.state is ReplyState.FAILED


def test_asks_before_every_further_request(anybody: Provider) -> None:
    name, refusal = anybody.refusals[0]

    def answer(body: Body) -> Response:
        return refusal if name in anybody.parameters(body) else anybody.thinking(body)

    calls: list[int] = []
    with anybody.server(answer) as server:
        model = anybody.at(server.url)
        request = replace(ASKED, again=lambda: calls.append(len(server.asked)))
        assert ask_once(model, request).text == "42"
        assert (calls, len(server.asked)) == ([1, 2], 3)
        assert ask_once(model, request).text == "42"  # all that is known: one request
        assert (calls, len(server.asked)) == ([1, 2], 4)


def test_sends_no_further_request_beyond_the_limit(anybody: Provider) -> None:
    def spent() -> None:
        raise SpentError("--max-requests 1 is reached")

    name, refusal = anybody.refusals[0]
    for answer in (anybody.thinking, lambda body: refusal if name in anybody.parameters(body) else "42"):
        with anybody.server(answer) as server:
            with pytest.raises(SpentError, match="--max-requests"):
                ask_once(anybody.at(server.url), replace(ASKED, again=spent))
            assert len(server.asked) == 1


def test_what_was_paid_before_a_failure_is_told(anybody: Provider) -> None:
    responses = [anybody.thought(prompt=40), anybody.error(400, "bad")]
    with anybody.server(lambda body: responses.pop(0)) as server:
        got = ask_once(anybody.at(server.url))
    assert got == Reply("", ReplyState.FAILED, "HTTP 400: bad", usage=Usage(40, 16))
