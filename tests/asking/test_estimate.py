"""What a run takes at most is told before anything is sent, and never told too low."""

from decimal import Decimal

import pytest

from tabcontam.asking.estimate import estimate, may_think, tokens_read
from tabcontam.evidence.base import Capability, Endings, Message, Prompt, Query, Reply
from tabcontam.models.base import Model, ModelRequest, PromptForm
from tabcontam.models.prices import Price
from tabcontam.models.thresholds import MOST_THINKING_TOKENS

PROMPT = Prompt((Message("system", "Be short."), Message("user", "Schöne Zeile?")), "Zeile: ", "Zeile")
PRICE = Price(2.0, 10.0)


class Named(Model):
    """A model of this name; no network."""

    capabilities = frozenset({Capability.GENERATE})

    def __init__(self, spec: str = "openai:gpt-4o", form: PromptForm = PromptForm.CHAT) -> None:
        self.spec = spec
        self._form = form

    @property
    def form(self) -> PromptForm:
        return self._form

    async def generate(self, request: ModelRequest) -> Reply:
        raise AssertionError("nothing is to be asked")


class Kept(Named):
    """One whose replies are not worth storing."""

    identity = None


def queries(number: int, max_tokens: int = 50) -> list[Query]:
    return [Query(str(each), lambda: PROMPT, ("a",), ("b",), max_tokens) for each in range(number)]


@pytest.mark.parametrize(("form", "text", "messages"), [
    (PromptForm.CHAT, "Be short.Schöne Zeile?", 2),
    (PromptForm.COMPLETION, "Zeile: ", 1),
    (PromptForm.SEQ2SEQ, "Zeile", 1),
])  # fmt: skip
def test_a_prompt_is_bounded_in_the_form_in_which_it_is_sent(form: PromptForm, text: str, messages: int) -> None:
    assert tokens_read(Named(form=form), PROMPT) == len(text.encode()) + 64 * messages + 320


def test_a_cell_that_is_no_text_is_bounded_too() -> None:
    prompt = Prompt((Message("user", "half \ud800 a pair"),), "", "")
    assert tokens_read(Named(), prompt) > len("half  a pair")


@pytest.mark.parametrize(("spec", "thinks"), [
    ("openai:gpt-4o", False),
    ("openai:gpt-5", True),
    ("gemini:gemini-2.5-pro", True),
    ("gemini:models/gemini-2.5-pro", True),
    ("openai:nobody-knows-this-one", True),
])  # fmt: skip
def test_all_may_think_but_those_that_are_known_not_to(spec: str, thinks: bool) -> None:
    assert may_think(Named(spec)) is thinks


def test_what_is_made_here_does_not_think() -> None:
    assert not may_think(Kept("control:exposed"))


def test_the_bounds_are_the_sums_over_what_is_left() -> None:
    model, left = Named(), queries(3)
    found = estimate(model, PRICE, 10, 7, left, None)
    prompts = 3 * tokens_read(model, PROMPT)
    assert (found.queries, found.answered, found.requests) == (10, 7, 3)
    assert (found.prompt_tokens, found.answer_tokens, found.thinking_tokens) == (prompts, 150, 0)
    assert found.dollars == PRICE.cost(prompts, 150)
    assert found.missing is None


def test_one_that_thinks_may_be_asked_twice_and_think_on_top() -> None:
    model, left = Named("openai:gpt-5"), queries(3)
    found = estimate(model, PRICE, 3, 0, left, None)
    prompts = 2 * 3 * tokens_read(model, PROMPT)
    assert (found.requests, found.prompt_tokens, found.answer_tokens) == (3, prompts, 300)
    assert found.thinking_tokens == 3 * MOST_THINKING_TOKENS
    assert found.dollars == PRICE.cost(prompts, 300 + 3 * MOST_THINKING_TOKENS)


def test_without_a_price_there_is_no_sum() -> None:
    assert estimate(Named(), None, 3, 0, queries(3), None).dollars is None


def test_what_is_free_costs_nothing() -> None:
    assert estimate(Named(), Price(0, 0), 3, 0, queries(3), None).dollars == Decimal(0)


def test_nothing_left_is_nothing_to_pay() -> None:
    found = estimate(Named(), PRICE, 3, 3, [], None)
    assert (found.requests, found.prompt_tokens, found.dollars) == (0, 0, Decimal(0))


def test_why_an_llm_is_missing_is_kept() -> None:
    assert estimate(Named(), PRICE, 3, 0, queries(3), "no key").missing == "no key"


def test_a_server_that_compares_endings_is_sent_each_of_them() -> None:
    asked = Endings("The age is ", ("39", "40", "39"))
    query = Query("q", lambda: asked, ("a",), ("b",), 0)
    found = estimate(Named(), PRICE, 1, 0, [query], None)
    assert (found.requests, found.answer_tokens) == (2, 0)
    assert found.prompt_tokens >= 3 * len("The age is 39")
