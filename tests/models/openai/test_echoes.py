"""What servers send in place of the log-probabilities of a text is told, and never taken for them."""

import asyncio
from typing import Any

import pytest

from tabcontam.evidence.base import Capability, Endings, Likelihoods, ReplyState
from tabcontam.models.base import LackError, ModelRequest
from tabcontam.models.openai.provider import OpenAIModel
from tests.loopback import LoopbackServer, Response

TEXT = "The age is "
WORDS = ("39 years", "41 years", "77 years")


def echo(tokens: list[str], scores: list[object]) -> Response:
    """A completion that scores these tokens, and one more that it wrote."""
    told = {"tokens": [*tokens, "!"], "token_logprobs": [*scores, -0.1]}
    return Response({"choices": [{"index": 0, "text": "!", "finish_reason": "length", "logprobs": told}]})


def cut(text: str) -> list[str]:
    return [word + " " * (number < text.count(" ")) for number, word in enumerate(text.split(" "))]


def whole(text: str) -> Response:
    tokens = cut(text)
    return echo(tokens, [None, *(-float(len(token)) for token in tokens[1:])])


def fewer(text: str) -> Response:
    return echo(cut(text)[:-1], [None, *([-1.0] * (len(cut(text)) - 2))])


def others(text: str) -> Response:
    return echo([token.upper() for token in cut(text)], [None, *([-1.0] * (len(cut(text)) - 1))])


def impossible(text: str) -> Response:
    return echo(cut(text), [None, *([-9999.0] * (len(cut(text)) - 1))])


def minus_infinity(text: str) -> Response:
    return echo(cut(text), [None, *([float("-inf")] * (len(cut(text)) - 1))])


def no_numbers(text: str) -> Response:
    return echo(cut(text), [None, *([float("nan")] * (len(cut(text)) - 1))])


FAULTS = {made.__name__: made for made in (fewer, others, impossible, minus_infinity, no_numbers)}


def compared(answer: Any) -> Likelihoods:
    with LoopbackServer(lambda body: answer(str(body["prompt"]))) as server:
        model = OpenAIModel("model", server.url, form="completion", needs=frozenset({Capability.SCORE}))

        async def ask() -> Likelihoods:
            try:
                return await model.compare(ModelRequest(Endings(TEXT, WORDS)))
            finally:
                await model.close()

        return asyncio.run(ask())


def test_a_server_that_scores_is_believed() -> None:
    found = compared(whole)
    assert found.state is ReplyState.OK
    assert len(found.values) == 3


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_scores_something_else_scores_no_given_text(fault: str) -> None:
    with pytest.raises(LackError, match="does not score a given text"):
        compared(FAULTS[fault])


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ("fewer", "the server does not score the text that it is given"),
        ("others", "the server does not score the text that it is given"),
        ("impossible", "the server reports that every token of the text is impossible"),
        ("minus_infinity", "the server does not score every token of the text"),
        ("no_numbers", "the server does not score every token of the text"),
    ],
)
def test_one_bad_text_among_good_ones_fails_its_question_alone(fault: str, line: str) -> None:
    found = compared(lambda text: FAULTS[fault](text) if text.endswith(WORDS[1]) else whole(text))
    assert (found.state, found.values) == (ReplyState.FAILED, ())
    assert line in found.detail
