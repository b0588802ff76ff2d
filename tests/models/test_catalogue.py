"""The catalogue: what it says of the paper's LLMs, and what it does not accept."""

from datetime import date
from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.models.catalogue import (
    CatalogueEntry,
    find_entry,
    find_entry_of_spec,
    load_catalogue,
    parse_catalogue,
    successor,
)

# The checkpoints of the paper's section 4.1, and of its code where the paper names none.
PAPER = {
    "gpt-3.5-turbo": "openai:gpt-3.5-turbo-0125",
    "gpt-4": "openai:gpt-4-0125-preview",
    "gpt-4o": "openai:gpt-4o-2024-08-06",
    "gemini-1.0": "gemini:gemini-1.0-pro",
    "gemini-1.5": "gemini:gemini-1.5-pro",
    "llama-2": "hf:meta-llama/Llama-2-7b-hf",
    "llama-3": "hf:meta-llama/Meta-Llama-3-8B",
    "llama-3.1": "hf:meta-llama/Llama-3.1-8B",
    "gemma": "hf:google/gemma-7b",
    "gemma-2": "hf:google/gemma-2-9b",
    "phi-2": "hf:microsoft/phi-2",
    "phi-3": "hf:microsoft/Phi-3-mini-4k-instruct",
    "mistral-7b-v0.1": "hf:mistralai/Mistral-7B-v0.1",
    "t0": "hf:bigscience/T0",
    "gpt-j": "hf:EleutherAI/gpt-j-6b",
}
VALID = """
[one]
title = "One"
family = "ones"
order = 1
openness = "open"
variant = "base"
hf = "who/one"
"""


def test_the_papers_fifteen_are_there_with_their_checkpoints() -> None:
    assert {name: entry.served[0] for name, entry in load_catalogue().items() if entry.paper} == PAPER


def test_the_docs_tell_of_each_which_weights_its_name_means() -> None:
    page = (Path(__file__).parents[2] / "docs" / "test-your-own-model.md").read_text("utf-8")
    page = page.partition("### The paper's fifteen")[2]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| `")]
    told = {name.strip("`"): rest for name, *rest in rows if len(rest) == 4}
    assert list(told) == list(PAPER)
    for name, (weights, kind, _, alone) in told.items():
        entry = load_catalogue()[name]
        there = f"`{entry.ollama[0]}`, {entry.ollama_variant or entry.variant}" if entry.ollama else "-"
        assert (weights, kind, alone) == (f"`{entry.served[0]}`", entry.variant, there)


def test_the_papers_kinds_of_openness() -> None:
    entries = [entry for entry in load_catalogue().values() if entry.paper]
    kinds = {kind: [one.name for one in entries if one.openness == kind] for kind in ("closed", "semi-open", "open")}
    assert [len(names) for names in kinds.values()] == [5, 8, 2]
    assert kinds["open"] == ["t0", "gpt-j"]


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("llama3", "llama-3"),
        ("Llama 3", "llama-3"),
        ("LLAMA_3.1", "llama-3.1"),
        ("gpt-3.5", "gpt-3.5-turbo"),
        ("gpt4o", "gpt-4o"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("Phi3", "phi-3"),
        ("gptj", "gpt-j"),
        ("google/gemma-7b", "gemma"),
        ("llama3.2", "llama-3.2-3b-instruct"),
        ("meta-llama/Meta-Llama-3.1-8B", "llama-3.1"),
        ("qwen3", "qwen3-8b"),
        ("mistral", "mistral-7b-instruct"),
        ("deepseek-chat", "deepseek-v4-flash"),
        ("Claude Opus 5.5", "claude-opus-5.5"),
        ("claude-opus-5-5", "claude-opus-5.5"),
    ],
)
def test_a_name_is_found_however_it_is_written(typed: str, name: str) -> None:
    entry = find_entry(typed)
    assert entry is not None
    assert entry.name == name


def test_an_unknown_name_is_not_found() -> None:
    assert find_entry("llama") is None
    assert find_entry("") is None


def test_the_order_within_a_family_has_no_ties() -> None:
    entries = load_catalogue().values()
    places = [(entry.family, entry.order) for entry in entries]
    assert len(set(places)) == len(places)


def test_a_closed_model_is_behind_an_api_and_only_it_can_be_retired() -> None:
    for entry in load_catalogue().values():
        behind_api = bool(entry.asked)
        assert behind_api or entry.openness != "closed", entry.name
        assert behind_api != (entry.hf is not None), entry.name
        assert behind_api or entry.retired is None, entry.name


def test_every_kind_of_openness_has_one_for_a_laptop() -> None:
    small = [entry for entry in load_catalogue().values() if entry.size is not None and entry.size <= 2]
    assert {entry.openness for entry in small} == {"semi-open", "open"}
    assert {entry.variant for entry in small} == {"base", "instruct"}
    assert {entry.reasons for entry in small} == {True, False}


def test_what_is_retired_asks_for_what_is_listed_later_in_its_family() -> None:
    entries = load_catalogue()
    for entry in entries.values():
        if entry.successor is not None:
            after = entries[entry.successor]
            assert after.family == entry.family
            assert after.order > entry.order, entry.name


def test_those_that_think_are_told_apart() -> None:
    entries = load_catalogue()
    thinking = {name for name, entry in entries.items() if entry.reasons}
    assert {"o3", "gpt-5", "gpt-6-luna", "gemini-2.5-pro", "qwen3-8b", "gpt-oss-20b"} <= thinking
    assert not thinking & {"gpt-4o", "gpt-4.1", "gemini-2.5-flash-lite", "llama-3", "qwen2.5-7b"}
    assert not [name for name in thinking if entries[name].paper]


def test_a_successor_is_one_that_is_still_served() -> None:
    gpt4 = load_catalogue()["gpt-4"]
    assert successor(gpt4, date(2026, 11, 1)).name == "gpt-4.1"
    assert successor(gpt4, date(2027, 2, 1)).name == "gpt-6-luna"


def test_a_model_is_served_until_the_day_it_is_retired() -> None:
    gpt4o = load_catalogue()["gpt-4o"]
    assert not gpt4o.gone(date(2027, 1, 13))
    assert gpt4o.gone(date(2027, 1, 14))


def test_a_catalogue_is_read() -> None:
    (entry,) = parse_catalogue(VALID + 'size = 7\nollama = ["one:7b"]\n', "test").values()
    assert entry == CatalogueEntry("one", "One", "ones", 1, "open", "base", size=7.0, hf="who/one", ollama=("one:7b",))
    assert isinstance(entry.size, float)
    assert entry.reasons is False


def test_only_what_is_behind_an_api_has_a_price_to_look_up() -> None:
    entries = load_catalogue()
    assert entries["gpt-4o"].asked == {"provider": "openai", "model": "gpt-4o-2024-08-06"}
    assert entries["gemini-3.8-flash"].asked == {"provider": "gemini", "model": "gemini-3.8-flash"}
    assert entries["claude-haiku-5.5"].asked == {"provider": "anthropic", "model": "claude-haiku-5-5"}
    assert entries["grok-4.7"].asked == {"provider": "xai", "model": "grok-4.7"}
    assert entries["llama-3"].asked == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[one", "cannot be read"),
        ("one = 1", "outside any entry"),
        (VALID + 'licence = "MIT"', "unknown key 'licence'"),
        (VALID.replace('title = "One"\n', ""), "[one] lacks title"),
        (VALID.replace('"One"', '""'), "[one] title cannot be ''"),
        (VALID.replace("order = 1", "order = true"), "[one] order cannot be True"),
        (VALID + 'size = "7B"', "[one] size cannot be '7B'"),
        (VALID + "size = -1", "[one] size is -1.0"),
        (VALID + 'aliases = "uno"', "[one] aliases is no list of texts"),
        (VALID.replace('"open"', '"ajar"'), "openness is 'ajar'; known: closed, semi-open, open"),
        (VALID + 'cutoff = "2024-01"', "cutoff and cutoff_source must be given together"),
        (VALID + 'cutoff = "January"\ncutoff_source = "https://example.org"', "write YYYY-MM"),
        (VALID + 'cutoff = "2024-01"\ncutoff_source = "model card"', "write the https:// address"),
        (VALID + "reasons = 1", "[one] reasons cannot be 1"),
        (VALID + "retired = 2026-01-01", "retired and successor must be given together"),
        (VALID + "retired = 2026-01-01T00:00:00\nsuccessor = 'two'", "retired cannot be"),
        (VALID + 'retired = 2026-01-01\nsuccessor = "two"', "successor 'two' has no entry"),
        (VALID + 'retired = 2026-01-01\nsuccessor = "one"', "[one] succeeds itself"),
        (VALID + 'ollama_variant = "base"', "ollama_variant without ollama"),
        (VALID.replace('hf = "who/one"\n', ""), "names no provider"),
        (VALID + 'api = ["nobody:one"]', "[one] api has 'nobody:one'; write SERVICE:MODEL"),
        (VALID + 'api = ["groq"]', "[one] api has 'groq'"),
        (VALID + VALID.replace("[one]", "[two]").replace("who/one", "who/two") + 'aliases = ["On-E"]', "both named"),
    ],
)
def test_a_broken_catalogue_is_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_catalogue(text, "test.toml")
    assert message in str(caught.value)
    assert "catalogue test.toml cannot be read" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "entry"),
    [
        ("llama3", "llama-3"),
        ("Llama 3", "llama-3"),
        ("hf:meta-llama/Meta-Llama-3-8B", "llama-3"),
        ("hf:meta-llama/Meta-Llama-3.1-8B", "llama-3.1"),
        ("ollama:llama3:8b", "llama-3"),
        ("ollama:llama3:latest", "llama-3"),
        ("openai:llama3@http://127.0.0.1:11434/v1", "llama-3"),
        ("openai:meta-llama/Meta-Llama-3-8B@https://10.0.0.1:8000/v1", "llama-3"),
        ("openai:gpt-4o-2024-08-06", "gpt-4o"),
        ("openai:gpt-4o", "gpt-4o"),
        ("gemini:gemini-1.5-pro", "gemini-1.5"),
        # what people and Ollama call mistral is another version than the paper's
        ("mistral", "mistral-7b-instruct"),
        ("mistral-v0.1", "mistral-7b-v0.1"),
        ("ollama:mistral", "mistral-7b-instruct"),
        ("openai:mistral@http://127.0.0.1:11434/v1", "mistral-7b-instruct"),
        ("openai:mistralai/Mistral-7B-v0.1@http://127.0.0.1:8000/v1", "mistral-7b-v0.1"),
        ("vllm:mistralai/Mistral-7B-v0.1@http://127.0.0.1:8000/v1#KEY", "mistral-7b-v0.1"),
        ("together:Qwen/Qwen3-8B", "qwen3-8b"),
        ("deepseek:deepseek-v4-flash", "deepseek-v4-flash"),
        ("anthropic:claude-haiku-4-5", "claude-haiku-4.5"),
        ("openai:gpt-4o#KEY", "gpt-4o"),
    ],
)
def test_an_llm_stands_for_an_entry_however_it_is_named(spec: str, entry: str) -> None:
    found = find_entry_of_spec(spec)
    assert found is not None
    assert found.name == entry


@pytest.mark.parametrize(
    "spec",
    [
        "control:exposed",
        "simulated:guesser",
        "ollama:llama3:70b",
        "ollama:nobody",
        "other:gpt-4",
        "openrouter:mistral",
        "groq:gpt-4o",
        "hf:./model",
        "",
        ":",
    ],
)
def test_other_llms_stand_for_none(spec: str) -> None:
    assert find_entry_of_spec(spec) is None


def test_every_way_to_serve_an_entry_stands_for_it() -> None:
    for entry in load_catalogue().values():
        assert {find_entry_of_spec(spec) for spec in entry.served} == {entry}, entry.name
        assert {find_entry_of_spec(name) for name in entry.names} == {entry}, entry.name
