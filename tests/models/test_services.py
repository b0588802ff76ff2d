"""Services that are one TOML entry each: how they are named, whose key they get, and what they are sent."""

import asyncio
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Message, Prompt
from tabcontam.models.base import ModelRequest, PromptForm
from tabcontam.models.openai.service_providers import provider_of
from tabcontam.models.prices import Price, price_of
from tabcontam.models.provider_record import ModelSettings
from tabcontam.models.provider_registry import BUILT_IN, key_owners, resolve
from tabcontam.models.services import Service, load_services, parse_services, service_at
from tests.loopback import LoopbackServer, error

ISSUES = (
    "openrouter", "groq", "together", "deepseek", "mistral", "xai", "hf-inference",
    "vllm", "sglang", "llamacpp", "lmstudio",
)  # fmt: skip
ASKED = ModelRequest(Prompt((Message("user", "Next?"),), "1, 2,", "Next?", ("\n",)), 16)
VLLM = "vllm:m@http://127.0.0.1:8000/v1"
VALID = """
[one]
title = "One"
about = "one of them"
address = "https://one.example/v1"
keys = ["ONE_API_KEY"]
sources = ["https://one.example/docs"]
as_of = 2026-11-23
"""


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the developer's own keys."""
    for name in ("TABCONTAM_API_KEY", *(key for service in load_services().values() for key in service.keys)):
        monkeypatch.delenv(name, raising=False)


def opened(spec: str, settings: ModelSettings | None = None) -> Any:
    return resolve(spec).open(settings or ModelSettings())


def asked(model: Any) -> Any:
    async def work() -> Any:
        try:
            await model.connect()
            return await model.generate(ASKED)
        finally:
            await model.close()

    return asyncio.run(work())


def test_they_are_those_that_people_have() -> None:
    assert tuple(load_services()) == ISSUES


@pytest.mark.parametrize("service", load_services().values(), ids=lambda service: service.name)
def test_each_is_asked_at_its_address_with_its_key_alone(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    for each in load_services().values():
        for key in each.keys:
            monkeypatch.setenv(key, f"the key of {each.name}")
    # Without an address vLLM is no server, but loads the model itself.
    model = opened(f"{service.name}:some/model:free" + f"@{service.address}" * (service.name == "vllm"))
    assert (model.model, model.address, model.local) == ("some/model:free", service.address, service.own_machine)
    assert model.key_variable == (service.keys or ("TABCONTAM_API_KEY",))[0]
    assert BUILT_IN[service.name].keys == service.keys
    assert all(source.startswith("https://") for source in service.sources)
    # Asked at the address, it is the same LLM: its replies are the same.
    assert opened(f"openai:some/model:free@{service.address}").identity == model.identity


def test_a_key_that_is_missing_is_named() -> None:
    with pytest.raises(UsageError, match="no key for Groq; set the environment variable GROQ_API_KEY"):
        asked(opened("groq:model"))


def test_a_services_key_goes_to_its_host_alone() -> None:
    assert opened("openai:m@https://openrouter.ai/api/v1#OPENROUTER_API_KEY").key_variable == "OPENROUTER_API_KEY"
    with pytest.raises(
        UsageError, match=r"GROQ_API_KEY goes to https://api\.groq\.com alone, not to https://h\.example"
    ):
        opened("openai:m@https://h.example/v1#GROQ_API_KEY")
    # What runs anywhere has no host of its own; another server of its kind gets its key, and one host alone.
    assert "VLLM_API_KEY" not in key_owners()
    settings = ModelSettings()
    assert opened("vllm:m@https://gpu.example/v1#VLLM_API_KEY", settings).key_variable == "VLLM_API_KEY"
    with pytest.raises(UsageError, match="VLLM_API_KEY would go to two servers"):
        opened("vllm:m#VLLM_API_KEY", settings)


def test_the_key_for_others_is_taken_where_only_the_address_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABCONTAM_API_KEY", "a-key")
    assert opened("openai:m@https://openrouter.ai/api/v1").key_variable == "TABCONTAM_API_KEY"
    assert opened(VLLM).key_variable == "TABCONTAM_API_KEY"
    monkeypatch.setenv("OPENROUTER_API_KEY", "its-key")
    assert opened("openai:m@https://openrouter.ai/api/v1").key_variable == "OPENROUTER_API_KEY"
    # A service's key goes to no proxy that is written in its place.
    assert opened("openrouter:m@https://proxy.example/v1").key_variable == "TABCONTAM_API_KEY"


def test_a_server_of_ones_own_is_asked_where_it_is() -> None:
    with LoopbackServer(lambda body: "fine") as server:
        assert asked(opened(f"vllm:model@{server.url}")).text == "fine"
        (body,) = server.asked
    assert body["seed"] == 0
    assert server.requests[0].headers["authorization"] == "Bearer no-key"


@pytest.mark.parametrize("name", ["seed", "random_seed"])
def test_a_seed_that_is_not_taken_is_left_out(name: str) -> None:
    refused = error(400, f"Unrecognized request argument supplied: {name}", param=name)
    service = parse_services(VALID + f'seed = "{name}"', "test")["one"]
    with LoopbackServer(lambda body: refused if name in body else "fine") as server:
        model = provider_of(service).open(f"model@{server.url}#none", ModelSettings())
        assert asked(model).text == "fine"
        assert [name in body for body in server.asked] == [True, False]


def test_what_a_service_has_is_known_before_it_is_asked() -> None:
    scoring = ModelSettings(needs=frozenset({Capability.SCORE}))
    assert opened(VLLM, scoring).may_have == frozenset({Capability.SCORE})
    assert opened("llamacpp:m", scoring).may_have == frozenset()
    assert opened("mistral:m", scoring).may_have == frozenset()  # it has no completion form, which scores need
    assert (opened("groq:m").form, opened("groq:m").settled) == (PromptForm.CHAT, True)
    assert opened("groq:m", ModelSettings(form="completion")).form is PromptForm.COMPLETION
    assert not opened(VLLM).settled


def test_a_new_entry_needs_no_code() -> None:
    provider = provider_of(parse_services(VALID, "test")["one"])
    assert provider.spellings == {"one:NAME": "one of them; the key is in ONE_API_KEY"}
    model: Any = provider.open("m", ModelSettings(spec="one:m"))
    assert (model.spec, model.address, model.key_variable) == ("one:m", "https://one.example/v1", "ONE_API_KEY")


def test_a_price_may_be_named_by_the_service() -> None:
    identity = opened("groq:m").identity
    assert price_of(identity, False, {"groq:m": Price(1.0, 2.0)}) == Price(1.0, 2.0)
    own = "openai:m@https://api.groq.com/openai/v1"
    assert price_of(identity, False, {"groq:m": Price(1.0, 2.0), own: Price(3.0, 4.0)}) == Price(3.0, 4.0)
    assert price_of(identity, False, {"openai:m": Price(1.0, 2.0)}) is None


def test_an_address_is_a_services_by_its_host() -> None:
    found = service_at("https://API.groq.com:443/anything")
    assert found is not None
    assert found.name == "groq"
    assert service_at("http://api.groq.com/openai/v1") is None
    assert service_at("http://127.0.0.1:8000/v1") is None  # whatever runs there


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[one", "cannot be read"),
        ("one = 1", "outside any entry"),
        (VALID + "more = 1", "[one] has the unknown key 'more'"),
        (VALID.replace('"https://one.example/v1"', '"one.example"'), "bad address 'one.example'"),
        (VALID.replace("https://one", "http://one"), "would send its key unencrypted"),
        (VALID.replace("ONE_API_KEY", "sk-abc"), "write the name of an environment variable, in capitals"),
        (VALID + 'seed = "x"', "[one] seed is 'x'; known: seed, random_seed"),
        (VALID + 'form = "auto"', "[one] form is 'auto'; known: chat, completion"),
        (VALID + 'log_probabilities = "perhaps"', "log_probabilities is 'perhaps'; known: yes, no"),
    ],
)
def test_a_broken_file_is_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_services(text, "test.toml")
    assert message in str(caught.value)
    assert "services test.toml cannot be read" in str(caught.value)
    assert "\n" not in str(caught.value)
