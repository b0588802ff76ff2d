"""What `list llms` says of a named LLM."""

from datetime import date
from typing import Any

import pytest

from tabcontam.cli import listing
from tabcontam.subjects.catalogue import Entry
from tabcontam.subjects.prices import Price


def item(name: str) -> dict[str, Any]:
    return next(one for one in listing.llms() if one["name"] == name)


def test_a_price_is_shown_where_it_is_known() -> None:
    assert "$2.5 for a million tokens of prompts, $10 for a million written" in item("gpt-4o")["text"].splitlines()
    assert item("gpt-4o")["entry"]["price"] == {"input": 2.5, "output": 10.0}
    assert "$" not in item("llama-3")["text"]
    assert item("llama-3")["entry"]["price"] is None


def test_what_is_no_longer_served_has_no_price() -> None:
    assert "$" not in item("gpt-3.5-turbo")["text"]


@pytest.mark.parametrize(("name", "thinks"), [("gpt-6-luna", True), ("qwen3-8b", True), ("gpt-4o", False)])
def test_one_that_thinks_is_told(name: str, thinks: bool) -> None:
    assert ("thinks before it answers" in item(name)["text"]) is thinks
    assert item(name)["entry"]["reasons"] is thinks


def test_verbose_shows_both_and_the_short_form_stays_a_line() -> None:
    entry = Entry("a", "A", "as", 1, "closed", "instruct", reasons=True, openai="a", retired=date(2999, 1, 1))
    shown = [listing._named(entry, Price(0.15, 0.6))]
    assert listing.as_text(shown, verbose=False).count("\n") == 0
    text = listing.as_text(shown, verbose=True)
    assert "    thinks before it answers, unless it is told not to\n" in text
    assert "    $0.15 for a million tokens of prompts, $0.6 for a million written\n" in text
