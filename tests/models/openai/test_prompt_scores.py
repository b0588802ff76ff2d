"""The log-probabilities of given text, read from what servers send."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.models.openai.prompt_scores import read_scores


def echo(tokens: Sequence[object], scores: Sequence[object]) -> object:
    return {"choices": [{"logprobs": {"tokens": list(tokens), "token_logprobs": list(scores)}}]}


def prompt(*entries: tuple[str, float] | None) -> object:
    """vLLM's own field: each token under its id, the first not told."""
    told = [entry and {"5": {"logprob": entry[1], "rank": 1, "decoded_token": entry[0]}} for entry in entries]
    return {"choices": [{"prompt_logprobs": told}]}


@pytest.mark.parametrize(
    ("body", "text", "pairs"),
    [
        (echo(["1", ",", " 2", " 3"], [None, -1, -2, -3]), "1, 2", [("1", 0.0), (",", -1.0), (" 2", -2.0)]),
        (echo(["1", ",", " 2"], [None, -1, -2]), "1, 2", [("1", 0.0), (",", -1.0), (" 2", -2.0)]),
        (echo(["<s>", "a", "b", "c"], [None, -1, -2, -3]), "ab", [("a", -1.0), ("b", -2.0)]),
        (echo(["", "a", "b", "c"], [None, -1, -2, -3]), "ab", [("a", -1.0), ("b", -2.0)]),
        (echo(["▁a", "▁b", "c"], [None, -1, -2]), "a b", [("a", 0.0), (" b", -1.0)]),
        (echo(["a", "Ġb", "Ċ", "<0x0A>"], [None, -1, -2, -3]), "a b\n\n",
         [("a", 0.0), (" b", -1.0), ("\n", -2.0), ("\n", -3.0)]),
        (echo(["1", "\ufffd", "\ufffd", "2", "x"], [None, -1, -2, -3, -4]), "1é2",
         [("1", 0.0), ("é", -1.0), ("", -2.0), ("2", -3.0)]),
        (echo(["1", "bytes:\\xc3", "bytes:\\xa9", "x"], [None, -1, -2, -3]), "1é",
         [("1", 0.0), ("é", -1.0), ("", -2.0)]),
        (echo(["1", "", "é", "x"], [None, -1, -2, -3]), "1é", [("1", 0.0), ("", -1.0), ("é", -2.0)]),
        (echo(["a", "b"], [-0.5, 0.0000001]), "ab", [("a", -0.5), ("b", 0.0)]),
        (prompt(None, ("a", -1), ("b", -2)), "ab", [("a", -1.0), ("b", -2.0)]),
        (prompt(None, ("b", -2)), "aaab", [("aaa", 0.0), ("b", -2.0)]),
        (prompt(None, ("a", -1), ("a", -2)), "aaa", [("a", 0.0), ("a", -1.0), ("a", -2.0)]),
    ],
)  # fmt: skip
def test_tokens_are_the_text(body: object, text: str, pairs: list[tuple[str, float]]) -> None:
    assert read_scores(body, text) == pairs


@pytest.mark.parametrize(
    "body",
    [
        None,
        {"choices": []},
        {"choices": [{"logprobs": None}]},
        echo([], []),
        echo(["x"], [-0.1]),
        echo(["a"], [None]),
        echo(["a", "b"], [None, None]),
        echo(["a", "b"], [None, float("nan")]),
        echo(["a", "b"], [None, float("-inf")]),
        echo(["a", "b"], [None, 0.5]),
        echo(["a", "b"], [None, True]),
        echo(["a", "b"], [None, "-1"]),
        echo(["a", 7], [None, -1]),
        echo(["b", "a"], [None, -1]),
        prompt(None),
        echo(["a", "\ufffd", "x" * 40], [None, -1, -2]),
        {"choices": [{"logprobs": {"content": [{"token": "a", "logprob": -1}]}}]},
        {"choices": [{"prompt_logprobs": [None, {"5": {"logprob": None, "decoded_token": "b"}}]}]},
    ],
)
def test_what_is_not_the_text_scored_is_told(body: object) -> None:
    with pytest.raises(ValueError, match=r"server|choice"):
        read_scores(body, "ab")


WORDS = st.text(st.sampled_from("aé中🙂 ,\n<▁"), min_size=1, max_size=4)


@given(st.lists(WORDS, min_size=1, max_size=8), st.booleans(), WORDS)
def test_the_pieces_of_any_text_join_to_it(tokens: list[str], special: bool, generated: str) -> None:
    text = "".join(tokens)
    sent = [*(["<|begin|>"] if special else []), *tokens, generated]
    pairs = read_scores(echo(sent, [None, *(-1.0 for _ in sent[1:])]), text)
    assert "".join(token for token, _ in pairs) == text
    assert [token for token, _ in pairs] == tokens


NAMES = ("choices", "logprobs", "tokens", "token_logprobs", "prompt_logprobs", "decoded_token", "logprob", "5")


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.integers() | st.floats() | st.sampled_from(["a", "b", "", "\ufffd"]),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    )
)
def test_whatever_a_server_sends_is_read_or_a_value_error(inner: object) -> None:
    for body in (inner, {"choices": [inner]}, {"choices": [{"logprobs": inner, "prompt_logprobs": inner}]}):
        try:
            pairs = read_scores(json.loads(json.dumps(body)), "ab")
        except ValueError:
            continue
        assert "".join(token for token, _ in pairs) == "ab"
