"""What `list llms` says of a named LLM."""

from datetime import date
from typing import Any

import pytest

from tabcontam.cli import list_command
from tabcontam.models.catalogue import CatalogueEntry
from tabcontam.models.prices import Price


def item(name: str) -> dict[str, Any]:
    return next(one for one in list_command.llms() if one["name"] == name)


def test_a_price_is_shown_where_it_is_known() -> None:
    assert "$2.5 for a million tokens of prompts, $10 for a million written" in item("gpt-4o")["text"].splitlines()
    assert item("gpt-4o")["entry"]["price"] == {
        "input": 2.5, "output": 10.0, "batch_input": None, "batch_output": None,
    }  # fmt: skip
    assert "$" not in item("llama-3")["text"]
    assert item("llama-3")["entry"]["price"] is None


def test_what_is_no_longer_served_has_no_price() -> None:
    assert "$" not in item("gpt-3.5-turbo")["text"]


@pytest.mark.parametrize(("name", "thinks"), [("gpt-6-luna", True), ("qwen3-8b", True), ("gpt-4o", False)])
def test_one_that_thinks_is_told(name: str, thinks: bool) -> None:
    assert ("reasons before it answers" in item(name)["text"]) is thinks
    assert item(name)["entry"]["reasons"] is thinks


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("gpt-4o", "the paper asked openai:gpt-4o-2024-08-06, the instruct model, by its text"),
        (
            "llama-3",
            "the paper asked hf:meta-llama/Meta-Llama-3-8B, the base model, by its code; its text states 8B and names "
            "no checkpoint",
        ),
        (
            "llama-3",
            "llama-3 means Ollama's llama3:8b if Ollama runs and has it: the instruct model; write "
            "hf:meta-llama/Meta-Llama-3-8B for the base model",
        ),
        (
            "gemini-1.5",
            "the paper asked gemini:gemini-1.5-pro, the instruct model, by its code; its text names no checkpoint",
        ),
    ],
)
def test_what_the_paper_asked_is_told_and_what_the_name_means_here(name: str, line: str) -> None:
    assert line in item(name)["text"].splitlines()


def test_of_an_llm_that_the_paper_did_not_ask_it_says_nothing() -> None:
    assert "the paper" not in item("qwen3-8b")["text"]


def test_verbose_shows_both_and_the_short_form_stays_a_line() -> None:
    entry = CatalogueEntry("a", "A", "as", 1, "closed", "instruct", reasons=True, openai="a", retired=date(2999, 1, 1))
    shown = [list_command._named(entry, Price(0.15, 0.6))]
    assert list_command.as_text(shown, verbose=False).count("\n") == 0
    text = list_command.as_text(shown, verbose=True)
    assert "    reasons before it answers, unless the request turns that off\n" in text
    assert "    $0.15 for a million tokens of prompts, $0.6 for a million written\n" in text
