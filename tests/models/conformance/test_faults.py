"""What may pass is told by kind after a single request; what will not, in one line: who, what, and what to do."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tabcontam.models.base import FatalError, TransientError
from tests.loopback_http import Response
from tests.models.conformance.provider import (
    OTHER,
    OTHER_KEY,
    SECRET,
    Passing,
    Provider,
    ask_once,
    of,
    outcome,
    outcomes,
    trouble,
)


def passing(found: object) -> TransientError:
    assert isinstance(found, TransientError), found
    return found


@pytest.mark.slow
def test_what_may_pass_says_whether_it_is_crowded_and_was_sent(anybody: Provider) -> None:
    responses, expected = zip(*anybody.passing, strict=True)
    found = [
        Passing(error.kind, error.crowded, error.sent, known.line and error.text)
        for error, known in zip(map(passing, outcomes(anybody, responses)), expected, strict=True)
    ]
    assert found == list(expected)


@pytest.mark.slow
def test_what_holds_no_reply_may_pass(anybody: Provider) -> None:
    found = map(passing, outcomes(anybody, [Response(body) for body, _ in anybody.no_reply]))
    expected = [(said, "no reply", True) for _, said in anybody.no_reply]
    assert [(error.text, error.kind, error.sent) for error in found] == expected


@pytest.mark.slow
def test_silence_may_pass(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    provider.impatient(monkeypatch, 0.3)  # enough for the request to arrive on a busy machine
    raised = passing(outcome(provider, Response(hang=True)))
    assert (raised.kind, raised.crowded, raised.sent) == ("timeout", True, True)
    assert raised.text == provider.timed_out


def test_an_absent_server_is_never_paid_for(anybody: Provider) -> None:
    with anybody.server() as server:
        model = anybody.at(server.url)
    with pytest.raises(TransientError, match=r"^connection failed") as caught:
        ask_once(model)
    assert (caught.value.kind, caught.value.crowded, caught.value.sent) == ("no connection", False, False)


def test_tells_how_long_the_server_wants_to_wait(anybody: Provider) -> None:
    responses, expected = zip(*anybody.waits, strict=True)
    assert [passing(error).wait for error in outcomes(anybody, responses)] == list(expected)
    in_a_minute = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    wait = passing(outcome(anybody, anybody.error(503, "busy", {"Retry-After": in_a_minute}))).wait
    assert wait is not None
    assert 50 < wait <= 60


@of("anthropic", "gemini")
def test_what_was_answered_before_may_have_to_be_paid_for(provider: Provider) -> None:
    responses = [provider.thought(), provider.error(429, "slow down")]
    with provider.server(lambda body: responses.pop(0)) as server, pytest.raises(TransientError) as caught:
        ask_once(provider.at(server.url))
    assert caught.value.sent


def test_what_will_not_pass_is_one_line(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OTHER_KEY, "" if provider.needs_no_key else OTHER)
    responses, expected = zip(*provider.fatal, strict=True)
    for error, said in zip(outcomes(provider, responses), expected, strict=True):
        assert isinstance(error, FatalError)
        assert said in str(error)
        assert re.search(provider.fatal_line, str(error)), error


def test_what_will_not_pass_names_the_maker_and_its_key(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(provider.keys[0], SECRET)
    with provider.server(lambda body: provider.wrong_key) as server:
        raised = trouble(provider.passes(server, monkeypatch), FatalError)
    assert raised.startswith(provider.refused_key)
    assert SECRET not in raised
