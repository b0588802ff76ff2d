"""What is sent, and what is read of an answer: its text, its state, and what it cost."""

import pytest

from tabcontam.evidence.base import Message, Prompt, Reply, ReplyState
from tabcontam.models.base import ModelRequest
from tests.loopback_http import Response
from tests.models.conformance.provider import Provider, ask, ask_once, of, outcomes


def test_sends_system_text_roles_and_greedy_decoding(anybody: Provider) -> None:
    with anybody.server(lambda body: anybody.text("3", tokens=2)) as server:
        reply = ask_once(anybody.at(server.url))
    assert (reply.text, reply.state, reply.detail, reply.tokens) == ("3", ReplyState.OK, "", 2)
    assert server.asked == [anybody.sent]
    assert [request.path for request in server.requests] == [anybody.path]


@pytest.mark.slow
def test_reads_text_state_and_tokens(anybody: Provider) -> None:
    responses, expected = zip(*anybody.replies, strict=True)
    assert outcomes(anybody, responses) == list(expected)
    assert {reply.state for reply in expected} >= {
        ReplyState.OK,
        ReplyState.TRUNCATED,
        ReplyState.REFUSED,
        ReplyState.EMPTY,
    }


def test_tells_what_is_wrong_with_one_request(anybody: Provider) -> None:
    responses, details = zip(*anybody.failed, strict=True)
    assert outcomes(anybody, responses) == [Reply("", ReplyState.FAILED, detail) for detail in details]


def test_costs_what_the_server_states(anybody: Provider) -> None:
    responses, expected = zip(*anybody.usages, strict=True)
    found = outcomes(anybody, responses)
    assert [reply.usage if isinstance(reply, Reply) else reply for reply in found] == list(expected)


@pytest.mark.slow
def test_goes_through_many_loops_and_connections(provider: Provider) -> None:
    with provider.server(lambda body: Response(provider.text("fine").body, latency=0.01)) as server:
        model = provider.at(server.url, connections=3)
        for _ in range(2):
            assert {reply.state for reply in ask(model, times=15)} == {ReplyState.OK}
    assert server.most_concurrent <= 3


@of("openai", "anthropic")
def test_what_no_request_can_hold_is_not_sent(provider: Provider) -> None:
    with provider.server() as server:
        got = ask_once(provider.at(server.url), ModelRequest(Prompt((Message("user", "half \ud800"),), "", ""), 16))
    assert got.state is ReplyState.FAILED
    assert server.asked == []
