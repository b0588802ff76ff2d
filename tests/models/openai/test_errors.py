"""What an error of a server that speaks OpenAI's protocol is taken to mean."""

import json
import time
from email.utils import formatdate
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.models.openai.errors import Concern, Problem, concern, hidden_error, may_only_chat, wait

NAMES = ("error", "message", "code", "type", "detail", "status", "param")
RESETS = ("retry-after", "retry-after-ms", "x-ratelimit-reset", "x-ratelimit-reset-tokens", "date")


def problem(status: int, told: str = "", **names: object) -> Problem:
    """In OpenAI's shape."""
    return Problem(status, {"message": told, **names})


@pytest.mark.parametrize(
    ("given", "whom"),
    [
        (problem(429, "Rate limit reached", code="rate_limit_exceeded"), Concern.PASSING),
        (problem(529, "Overloaded"), Concern.PASSING),
        (problem(501, "not implemented"), Concern.MODEL),
        (problem(429, "You exceeded your current quota", type="insufficient_quota"), Concern.QUOTA),
        (problem(429, "not active", code="billing_not_active"), Concern.QUOTA),
        (problem(400, "row: insufficient funds"), Concern.REQUEST),
        (problem(403, "Insufficient credits"), Concern.QUOTA),
        (problem(403, "Your input was flagged"), Concern.CONTENT),
        (problem(400, "filtered", code="content_filter"), Concern.CONTENT),
        (problem(401, "Incorrect API key provided"), Concern.KEY),
        (problem(400, "API key not valid. Please pass a valid API key."), Concern.KEY),
        (problem(403, "The caller does not have permission"), Concern.KEY),
        (problem(403, "no", code="unsupported_country_region_territory"), Concern.REGION),
        (Problem(403, "<html>Access denied"), Concern.REQUEST),
        (problem(404, "model 'x' not found"), Concern.MODEL),
        (problem(410, "model was retired"), Concern.MODEL),
        (problem(400, "The model `x` does not exist"), Concern.MODEL),
        (problem(400, "the column does not exist"), Concern.REQUEST),
        (Problem(302), Concern.ADDRESS),
        (problem(418, "teapot"), Concern.REQUEST),
        (Problem(429, [{"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}]), Concern.PASSING),
    ],
)
def test_an_error_concerns_whom_it_says(given: Problem, whom: Concern) -> None:
    assert concern(given) is whom


def test_a_quota_that_comes_back_is_no_end() -> None:
    told = "You exceeded your current quota, please check your plan and billing details. Please retry in 28.5s."
    assert concern(problem(429, told)) is Concern.PASSING
    assert concern(problem(429, told, code="insufficient_quota")) is Concern.QUOTA


@pytest.mark.parametrize(
    ("headers", "told", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"retry-after": "2"}, "try again in 9s", 2.0),
        ({"retry-after": " 0.25 "}, "", 0.25),
        ({"retry-after": "0"}, "", 0.0),
        ({"retry-after": "-3"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "9" * 400}, "", None),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:10 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 10.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 0.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}, "", 360.0),
        ({"x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "6m0s"}, "", None),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "20ms",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "1.5s",
            },
            "",
            1.5,
        ),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "12"}, "", 12.0),
        ({}, "Rate limit reached. Please try again in 1.5s. Visit", 1.5),
        ({}, "Please try again in 20ms.", 0.02),
        ({}, "Please try again in 6m0s.", 360.0),
        ({}, "Please try again in 1h2m3s.", 3723.0),
        ({}, "Please retry after 26 seconds.", 26.0),
        ({}, "Please retry in 28.5s, or later", 28.5),
        ({}, "Try again later", None),
        ({}, "Please try again in 5 moons", None),
        ({}, f"try again in {'9' * 400}s", None),
    ],
)
def test_the_wait_is_what_a_server_asks_for(headers: dict[str, str], told: str, seconds: float | None) -> None:
    waited = wait(Problem(429, {"message": told}, headers))
    assert waited == (None if seconds is None else pytest.approx(seconds))


def test_words_ask_for_a_wait_only_in_a_429() -> None:
    assert wait(problem(503, "try again in 5s")) is None
    assert wait(Problem(503, None, {"retry-after": "5"})) == 5.0


def test_a_date_is_measured_by_our_clock_where_the_server_tells_none() -> None:
    waited = wait(Problem(503, None, {"retry-after": formatdate(time.time() + 60, usegmt=True)}))
    assert waited is not None
    assert 55 < waited < 61


@pytest.mark.parametrize("off", [-86_400, 0, 86_400])
def test_a_point_in_time_is_measured_by_the_clock_of_the_server(off: int) -> None:
    there = time.time() + off
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{there + 30:.0f}", "date": formatdate(there)}
    waited = wait(Problem(429, None, headers))
    assert waited is not None
    assert 28 < waited < 32


@pytest.mark.parametrize("scale", [1, 1000])
def test_a_limit_may_end_at_a_point_in_time(scale: int) -> None:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{(time.time() + 30) * scale:.0f}"}
    waited = wait(Problem(429, None, headers))
    assert waited is not None
    assert 28 < waited < 31


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"error": {"message": "slow", "code": 429}}, 429),
        ({"error": {"message": "slow", "code": "rate_limit_exceeded"}}, 429),
        ({"error": {"message": "Provider is overloaded"}}, 503),
        ({"error": {"message": "no", "code": "401"}}, 401),
        ({"error": {"message": "odd"}}, None),
        ({"error": None}, None),
        ({"error": {"code": 429}, "choices": [{}]}, None),
        ([], None),
    ],
)
def test_an_error_may_hide_behind_status_200(body: object, status: int | None) -> None:
    found = hidden_error(body)
    assert (found and found.status) == status


@pytest.mark.parametrize(
    ("given", "may"),
    [
        (problem(401, "You have insufficient permissions for this operation."), True),
        (problem(401, "Missing scopes: api.model.read"), True),
        (problem(401, "Incorrect API key provided"), False),
        (problem(403, "Missing scopes: api.model.read"), True),
        (problem(403, "Invalid API key"), False),
        (problem(403, "Country, region, or territory not supported"), False),
        (problem(500, "Missing scopes"), False),
    ],
)
def test_a_key_may_be_for_chat_alone(given: Problem, may: bool) -> None:
    assert may_only_chat(given) is may


TEXT = st.text(max_size=30) | st.from_regex(r"(try again in )?[0-9.]{1,20}(ms|s|m|h| seconds)?", fullmatch=True)
BODIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.integers(200, 599), BODIES, st.dictionaries(st.sampled_from(RESETS), TEXT))
def test_whatever_a_server_sends_means_something(status: int, body: object, headers: dict[str, str]) -> None:
    body = json.loads(json.dumps(body))
    found = Problem(status, body, {**headers, "x-ratelimit-remaining-tokens": "0", "x-ratelimit-remaining": "0"})
    assert isinstance(concern(found), Concern)
    assert isinstance(may_only_chat(found), bool)
    assert isinstance(hidden_error(body), Problem | None)
    waited = wait(found)
    assert waited is None or (waited >= 0 and isfinite(waited))
