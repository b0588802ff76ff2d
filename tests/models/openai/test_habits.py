"""What is read of a server's limits, and how a request is made to keep them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.evidence.base import Message, Prompt
from tabcontam.models.base import ModelRequest, PromptForm
from tabcontam.models.openai.errors import Problem
from tabcontam.models.openai.habits import LengthLimits, OpenAIHabits, limits, smaller
from tabcontam.models.thresholds import MOST_THINKING_TOKENS

SMALL = st.none() | st.integers(-10, 10_000)


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (
            "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in the "
            "messages, 6048 in the completion). Please reduce the length of the messages or completion.",
            LengthLimits(context=6048, prompt=568),
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is 4096 "
            "tokens and your request has 2778 input tokens (8000 > 4096 - 2778).",
            LengthLimits(context=4096, prompt=2778),
        ),
        ("max_tokens=8888 cannot be greater than max_model_len=max_total_tokens=3072.", LengthLimits(context=3072)),
        (
            "This model's maximum context length is 100 tokens. However, you requested 90 output tokens and your "
            "prompt contains at least 11 input tokens, for a total of at least 101 tokens.",
            LengthLimits(context=100),
        ),
        ("the request exceeds the available context size (4096 tokens), try increasing it", LengthLimits(context=4096)),
        (
            "max_tokens is too large: 5000. This model supports at most 4096 completion tokens",
            LengthLimits(answer=4096),
        ),
        (
            "`max_tokens` must be less than or equal to `8192`, the maximum value for this model",
            LengthLimits(answer=8192),
        ),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", LengthLimits(answer=8192)),
        ("Unsupported parameter: 'max_tokens' is not supported with this model.", None),
        ("the row is too long", None),
    ],
)
def test_limits_are_read_from_the_words_of_servers(told: str, found: LengthLimits | None) -> None:
    assert limits(Problem(400, {"message": told})) == found


def test_a_code_says_that_it_is_about_lengths() -> None:
    assert limits(Problem(400, {"message": "too much", "code": "context_length_exceeded"})) == LengthLimits()


@given(st.integers(1, 500), SMALL)
def test_refusals_come_to_an_end(max_tokens: int, room: int | None) -> None:
    limit, turns = max_tokens + MOST_THINKING_TOKENS, 0
    while limit > max_tokens:
        limit = smaller(limit, max_tokens, room if turns == 0 else None)
        turns += 1
    assert limit == max_tokens
    assert turns <= 14


@given(
    st.builds(OpenAIHabits, st.just(frozenset({"max_tokens"})), st.booleans(), most=SMALL, context=SMALL),
    st.integers(1, 500),
)
def test_no_limit_takes_from_the_answer(habits: OpenAIHabits, max_tokens: int) -> None:
    prompt = Prompt((Message("user", "1, 2, " * 100),), "1, 2, ", "")
    for form in (PromptForm.CHAT, PromptForm.COMPLETION):
        limit = habits.limit(ModelRequest(prompt, max_tokens), form)
        assert max_tokens <= limit <= max_tokens + MOST_THINKING_TOKENS


BOUNDED = st.builds(OpenAIHabits, context=SMALL, most=SMALL)


@given(BOUNDED, BOUNDED)
def test_limits_only_shrink(one: OpenAIHabits, other: OpenAIHabits) -> None:
    joined = one.joined(other)
    assert joined == other.joined(one) == joined.joined(one)
    assert joined.context == min((given for given in (one.context, other.context) if given is not None), default=None)
