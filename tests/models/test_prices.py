"""Prices: the shipped table, the user's, what is found in them, and a bound on a prompt's tokens."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.errors import UsageError
from tabcontam.models.catalogue import load_catalogue
from tabcontam.models.gemini.provider import GOOGLE
from tabcontam.models.keys import OPENAI
from tabcontam.models.prices import Price, load_prices, price_of, prompt_bound

TODAY = date(2026, 11, 21)
TABLE = {
    "openai:gpt-4o": Price(2.5, 10.0),
    "openai:gpt-4o-2024-05-13": Price(5.0, 15.0),
    "gemini:gemini-3.8-flash": Price(1.5, 7.5),
    "azure:mine": Price(1.0, 2.0),
    "azure:mine@https://dear.openai.azure.com/openai/v1": Price(3.0, 4.0),
    "openai:mine@http://example.org:8000/v1": Price(0.1, 0.2),
}
dollars = st.floats(0, 1_000_000, allow_nan=False)
tokens = st.integers(0, 10**12)


def of(provider: str, model: str, address: str = "", local: bool = False) -> Price | None:
    return price_of({"provider": provider, "address": address, "model": model}, local, TABLE)


def test_every_closed_model_of_the_catalogue_that_is_served_has_a_price() -> None:
    prices = load_prices()
    closed = [entry for entry in load_catalogue().values() if entry.openness == "closed"]
    served = [entry.name for entry in closed if not entry.gone(TODAY)]
    assert {name for name in served if price_of(load_catalogue()[name].asked, False, prices) is None} == set()
    assert len(served) > 15


def test_shipped_prices_are_those_of_the_providers() -> None:
    prices = load_prices()
    assert prices["openai:gpt-4o-2024-08-06"] == Price(2.5, 10.0)
    assert prices["openai:gpt-4o-mini"] == Price(0.15, 0.6)
    assert prices["openai:gpt-6-luna"] == Price(0.1, 0.5)
    assert prices["gemini:gemini-2.5-flash-lite"] == Price(0.1, 0.4)
    assert all(0 < price.input < price.output for price in prices.values())


def test_a_cost_is_exact() -> None:
    assert Price(2.5, 10.0).cost(1_000_000, 100_000) == Decimal("3.5")
    assert Price(0.15, 0.6).cost(1, 1) == Decimal("0.00000075")
    assert Price(0.0, 0.0).cost(10**9, 10**9) == 0


@given(dollars, dollars, tokens, tokens)
def test_a_cost_is_never_rounded_down(input_: float, output: float, prompt: int, written: int) -> None:
    exact = prompt * Fraction(str(input_)) + written * Fraction(str(output))
    cost = Fraction(Price(input_, output).cost(prompt, written))
    assert exact / 1_000_000 <= cost <= exact / 1_000_000 * (1 + Fraction(1, 10**20))


def test_what_runs_on_this_machine_is_free() -> None:
    assert of("openai", "gpt-4o", "http://127.0.0.1:8000/v1", local=True) == Price(0.0, 0.0)
    assert of("hf", "anything", local=True) == Price(0.0, 0.0)


def test_a_providers_own_address_finds_its_entry() -> None:
    assert of("openai", "gpt-4o") == of("openai", "gpt-4o", OPENAI) == Price(2.5, 10.0)
    assert of("gemini", "gemini-3.8-flash", GOOGLE) == Price(1.5, 7.5)
    assert of("gemini", "models/gemini-3.8-flash", GOOGLE) == Price(1.5, 7.5)


def test_a_dated_name_never_borrows_a_price() -> None:
    assert of("openai", "gpt-4o-2024-05-13") == Price(5.0, 15.0)
    assert of("openai", "gpt-4o-2024-08-06") is None
    assert of("openai", "gpt-4o-mini") is None
    assert of("openai", "models/gpt-4o") is None
    assert of("gemini", "gemini-3.8-flash-001") is None


def test_another_server_costs_what_is_said_of_it_alone() -> None:
    assert of("openai", "mine", "http://example.org:8000/v1") == Price(0.1, 0.2)
    assert of("openai", "mine", "http://example.org:8001/v1") is None
    assert of("openai", "gpt-4o", "http://example.org:8000/v1") is None
    assert of("gemini", "gemini-3.8-flash", OPENAI) is None
    assert of("openai", "mine") is None


def test_a_cloud_has_one_price_wherever_its_user_has_it_unless_an_address_is_named() -> None:
    assert of("azure", "mine", "https://my.openai.azure.com/openai/v1") == Price(1.0, 2.0)
    assert of("azure", "mine", "https://dear.openai.azure.com/openai/v1") == Price(3.0, 4.0)
    assert of("azure", "other", "https://my.openai.azure.com/openai/v1") is None
    assert of("bedrock", "mine", "https://my.openai.azure.com/openai/v1") is None


def test_nothing_known_is_no_price() -> None:
    assert price_of({}, False, TABLE) is None
    assert of("mine", "x") is None


def written(folder: Path, text: str) -> Path:
    path = folder / "prices.toml"
    path.write_text(text, "utf-8")
    return path


def test_the_users_file_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    text = '["openai:NAME@http://HOST:8000/v1/"]\ninput = 1\noutput = 0\n'
    assert load_prices(written(tmp_path, text)) == {"openai:NAME@http://HOST:8000/v1": Price(1.0, 0.0)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a", "cannot be read: Expected"),
        ("input = 1", "['input'] is not a model; write for example [\"openai:gpt-4o\"]"),
        ("[openai.gpt-4o]\ninput = 1\noutput = 1", "['openai'] is not a model"),
        ('["a:b"]\ninput = 1', "['a:b'] lacks output"),
        ('["a:b"]\ninput = 1\noutput = 1\ncached = 1', "unknown key 'cached'; known: input, output"),
        ('["a:b"]\ninput = -0.1\noutput = 1', "['a:b'] input cannot be -0.1"),
        ('["a:b"]\ninput = 1\noutput = nan', "['a:b'] output cannot be nan"),
        ('["a:b"]\ninput = inf\noutput = 1', "input cannot be inf"),
        ('["a:b"]\ninput = "1"\noutput = 1', "input cannot be '1'"),
        ('["a:b"]\ninput = true\noutput = 1', "input cannot be True"),
        ('["a:b"]\ninput = 2000000\noutput = 1', "write US dollars per million tokens"),
        (f'["a:b"]\ninput = {"9" * 400}\noutput = 1', "input cannot be 999"),
        ('["a:\\u001b[2J\\nb"]\ninput = 1\noutput = 1', "is not a model"),
        ("a = " + "[" * 5000, "cannot be read"),
    ],
)
def test_a_broken_file_is_one_line_that_names_it(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        load_prices(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < len(str(path)) + 250


def test_a_file_that_is_not_there_or_no_text_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"price file .*none\.toml.* cannot be read: No such file"):
        load_prices(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot be read"):
        load_prices(tmp_path / "bytes.toml")


def test_the_bound_counts_bytes_and_what_a_template_adds() -> None:
    assert prompt_bound(0, 0) > 0
    assert prompt_bound(100, 1) - prompt_bound(99, 1) == 1
    assert prompt_bound(0, 3) - prompt_bound(0, 2) == prompt_bound(0, 1) - prompt_bound(0, 0) > 0


@pytest.fixture(scope="module")
def byte_level() -> Any:
    pytest.importorskip("tokenizers")
    pytest.importorskip("transformers")
    from tests.models.hf import tiny

    return tiny.tokenizer(["5.1,3.5,1.4,0.2,Iris-setosa"] * 20, template=tiny.CHAT)


@pytest.mark.slow
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=4))
def test_no_byte_level_tokenizer_exceeds_the_bound(byte_level: Any, texts: list[str]) -> None:
    messages = [{"role": "user", "content": text} for text in texts]
    asked = byte_level.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    found = len(byte_level(asked)["input_ids"])
    assert found <= prompt_bound(sum(len(text.encode()) for text in texts), len(texts))
