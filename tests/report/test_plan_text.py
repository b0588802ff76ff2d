"""The plan says what would be asked, what it costs at most, and what is missing."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from tabcontam.asking.estimate import Estimate
from tabcontam.asking.query_plan import PlannedResult, RunSource, plan
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Capability, Reply
from tabcontam.evidence.registry import by_id
from tabcontam.models.base import Model, ModelRequest, PromptForm
from tabcontam.report.plan_text import plan_document, plan_text
from tabcontam.tables.serializers import load_serializers
from tests.made_tables import ships

PAID = Estimate("openai:a", 1000, 200, 800, 1_234_567, 40_000, 0, Decimal("3.256"), None)
CHEAP = replace(PAID, llm="openai:b", dollars=Decimal("0.0042"))
UNPRICED = replace(PAID, llm="openai:c", dollars=None)
THINKING = replace(PAID, llm="openai:d", thinking_tokens=3_276_800)
MISSING = Estimate("hf:e", 1000, 0, 1000, 99, 99, 0, None, "pip install tabcontam[hf]")
DONE = replace(PAID, llm="openai:f", answered=1000, requests=0, prompt_tokens=0, answer_tokens=0, dollars=Decimal(0))


class Named(Model):
    spec = "openai:a"
    capabilities = frozenset({Capability.GENERATE})
    form = PromptForm.CHAT

    async def generate(self, request: ModelRequest) -> Reply:
        raise AssertionError("nothing is to be asked")


def cells() -> list[PlannedResult]:
    tests = [by_id()["full_completion"], by_id()["membership"]]
    return plan([RunSource(Named())], [ships()], [load_serializers()["is"]], tests, RunConfig())


def lines(*estimates: Estimate) -> list[str]:
    return plan_text(cells(), estimates, {}).splitlines()


def test_a_line_a_cell() -> None:
    first, second = lines(PAID)[:2]
    assert first.startswith("openai:a  ships@made-up  is  default  full_completion  ")
    assert first.endswith(" to ask")
    assert second == "openai:a  skipped: 1 test needs an LLM that understands a question: membership"


def test_what_nobody_knows_yet_of_a_server_is_counted_and_said() -> None:
    unsure = Named()
    unsure.may_have = frozenset({Capability.SCORE})
    cells = plan([RunSource(unsure)], [ships()], [load_serializers()["is"]], [by_id()["perplexity"]], RunConfig())
    unsure_bounds = replace(PAID, unsure=True)
    text = plan_text(cells, [unsure_bounds], {("openai:a", "ships"): 31}).splitlines()
    assert text[0].endswith("perplexity  up to 200 to ask, if it has log-probabilities")
    assert text[2] == "openai:a: 200 of 1,000 queries are answered already, up to 800 requests are left"
    assert "up to 31 rows of ships would be shown to openai:a" in text
    assert text[-1].startswith("up to 800 requests for 1 result")
    assert plan_document(cells, [unsure_bounds], {})["results"][0]["if_it_has"] == "log-probabilities"


def test_a_cell_that_could_tell_nothing_is_not_zero_queries_without_a_reason() -> None:
    uninformative = [replace(cell, uninformative="too few rows") for cell in cells()[:1]]
    assert plan_text(uninformative, [PAID], {}).splitlines()[0].endswith("full_completion  uninformative: too few rows")
    assert plan_document(uninformative, [PAID], {})["results"][0]["reason"] == "too few rows"


def test_what_an_llm_takes_at_most() -> None:
    text = lines(PAID)
    assert "openai:a: 200 of 1,000 queries are answered already, 800 requests are left" in text
    assert "  at most 1,234,567 tokens of prompts, 40,000 of answers: $3.26" in text
    assert text[-1] == "800 requests for 2 results, at most $3.26; nothing was asked"


def test_what_costs_less_than_a_dollar_is_told_more_exactly() -> None:
    assert "  at most 1,234,567 tokens of prompts, 40,000 of answers: $0.0042" in lines(CHEAP)


def test_thinking_comes_on_top() -> None:
    bounds = "  at most 1,234,567 tokens of prompts, 40,000 of answers and 3,276,800 of thinking: $3.26"
    assert bounds in lines(THINKING)


def test_an_llm_without_a_price_is_named() -> None:
    text = lines(PAID, UNPRICED)
    assert "  at most 1,234,567 tokens of prompts, 40,000 of answers: no price known" in text
    assert text[-2:] == [
        "1,600 requests for 2 results, at most $3.26; nothing was asked",
        "no price is known for openai:c; see --prices",
    ]


def test_a_missing_llm_says_why_and_takes_nothing() -> None:
    text = lines(PAID, MISSING)
    assert "hf:e: pip install tabcontam[hf]" in text
    assert text[-1] == "800 requests for 2 results, at most $3.26; nothing was asked"
    assert sum("at most" in line for line in text) == 2
    assert text[text.index("hf:e: pip install tabcontam[hf]") + 1] == "  its price is unknown"


def test_where_nobody_can_be_reached_the_price_is_unknown() -> None:
    text = lines(MISSING)
    assert text[-1] == "1,000 requests for 2 results, at an unknown price; nothing was asked"
    assert not any("$" in line for line in text)


def test_an_llm_that_does_not_answer_now_is_estimated_if_it_has_a_price() -> None:
    text = lines(replace(PAID, missing="no server answers"))
    assert "openai:a: no server answers" in text
    assert text[-1] == "800 requests for 2 results, at most $3.26; nothing was asked"


def test_nothing_left_has_no_bounds() -> None:
    text = lines(DONE)
    assert "openai:f: 1,000 of 1,000 queries are answered already, 0 requests are left" in text
    assert text[-1] == "0 requests for 2 results, at most $0.00; nothing was asked"
    assert not any("tokens" in line for line in text)


def test_the_rows_that_would_leave_are_counted() -> None:
    text = plan_text(cells(), [PAID], {("openai:a", "my.csv"): 31})
    assert "31 rows of my.csv would be shown to openai:a" in text.splitlines()


@pytest.mark.parametrize(("estimate", "dollars"), [(PAID, 3.256), (UNPRICED, None), (MISSING, None), (DONE, 0.0)])
def test_the_plan_as_json(estimate: Estimate, dollars: float | None) -> None:
    document = json.loads(json.dumps(plan_document(cells(), [estimate], {("openai:a", "my.csv"): 31})))
    (llm,) = document["llms"]
    assert llm["dollars"] == dollars
    assert (llm["llm"], llm["requests"], llm["missing"]) == (estimate.llm, estimate.requests, estimate.missing)
    assert document["rows_leaving"] == [{"llm": "openai:a", "dataset": "my.csv", "rows": 31}]
    full, membership = document["results"]
    assert (full["test"], full["reason"]) == ("full_completion", None)
    assert full["queries"] > 0
    assert (membership["queries"], membership["reason"].startswith("openai:a cannot")) == (0, True)
