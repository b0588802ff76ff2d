"""From what is typed behind `--llm` to a model: names, providers, and providers of other packages."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tabcontam import entry_points
from tabcontam.errors import Unavailable, UsageError
from tabcontam.models import provider_registry
from tabcontam.models.base import unserved
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.models.provider_record import Provider
from tabcontam.models.provider_registry import LlmResolution, ModelSettings, find, resolve
from tests.added_points import added_points
from tests.commands import environment
from tests.loopback import LoopbackServer

ALL = provider_registry.BUILT_IN
TODAY = date(2026, 11, 21)
PAGE = Path(__file__).parents[2] / "docs" / "extend.md"


@pytest.fixture(autouse=True)
def no_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test meets the Ollama of the machine it runs on."""
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")


def packages(monkeypatch: pytest.MonkeyPatch, *installed: str) -> None:
    monkeypatch.setattr("tabcontam.models.hf.provider.find_spec", lambda name: name if name in installed else None)


def failure(spec: str, providers: Mapping[str, Provider] = ALL, today: date = TODAY) -> str:
    with pytest.raises(UsageError) as caught:
        find(spec, providers, today)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_name_of_an_api_goes_to_its_provider() -> None:
    assert str(find("gpt-4o", ALL, TODAY)) == "openai:gpt-4o-2024-08-06"
    assert str(find("gemini-2.5-flash-lite", ALL, TODAY)) == "gemini:gemini-2.5-flash-lite"
    assert str(find("claude-sonnet-5-5", ALL, TODAY)) == "anthropic:claude-sonnet-5-5"
    assert str(find("deepseek-chat", ALL, TODAY)) == "deepseek:deepseek-v4-flash"
    assert str(find("grok", ALL, TODAY)) == "xai:grok-4.7"
    assert str(find("mistral-large", ALL, TODAY)) == "mistral:mistral-large-latest"


def test_open_weights_go_to_a_running_ollama_that_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    packages(monkeypatch, "torch", "transformers")
    with LoopbackServer(models=["llama3:latest", "phi3:mini", "llama3.2:1b"]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url.removesuffix("/v1"))
        assert str(find("llama3", ALL)) == "ollama:llama3 (the instruct model)"
        assert str(find("phi-3", ALL)) == "ollama:phi3:mini"
        assert str(find("llama-3.2-1b", ALL)) == "ollama:llama3.2:1b"
        assert str(find("gemma", ALL)) == "hf:google/gemma-7b"
        assert str(find("mistral", ALL)) == "hf:mistralai/Mistral-7B-Instruct-v0.3"
        assert str(find("mistral-v0.1", ALL)) == "hf:mistralai/Mistral-7B-v0.1"


def test_open_weights_without_ollama_are_loaded_here(monkeypatch: pytest.MonkeyPatch) -> None:
    packages(monkeypatch, "torch", "transformers")
    found = find("llama3", ALL)
    ollama = "start Ollama and run: ollama pull llama3:8b"
    assert found == LlmResolution("llama3", ALL["hf"], "meta-llama/Meta-Llama-3-8B", otherwise=ollama)
    assert unserved(found.open(ModelSettings()), UsageError("no hub")) == f"{ollama} (no hub)"


def test_where_nothing_serves_it_every_way_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    packages(monkeypatch, "torch")
    said = failure("llama3")
    assert said.startswith("start Ollama and run: ollama pull llama3:8b; or ")
    assert said.endswith("no provider here serves Llama 3")
    assert 'pip install "tabcontam[hf]"' in said
    assert "openai:meta-llama/Meta-Llama-3-8B@http://HOST:PORT/v1" in said
    assert "pip install" not in failure("llama3", {name: ALL[name] for name in ("openai", "ollama")})
    assert "llama" not in failure("t0").lower()


def test_a_running_ollama_lacks_only_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    packages(monkeypatch)
    with LoopbackServer(models=["phi3:mini"]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url.removesuffix("/v1"))
        assert failure("llama3").startswith("run: ollama pull llama3:8b; or ")


def test_an_ollama_elsewhere_has_to_be_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    packages(monkeypatch)
    monkeypatch.setenv("OLLAMA_HOST", "http://example.invalid")
    assert "write ollama:llama3:8b to ask the Ollama at OLLAMA_HOST" in failure("llama3")


@pytest.mark.parametrize(
    ("typed", "to_type"),
    [
        ("llama3", "ollama pull llama3:8b"),
        ("llama3", 'pip install "tabcontam[hf]"'),
        ("t0", 'pip install "tabcontam[hf]"'),
        ("t0", "openai:bigscience/T0@http://HOST:PORT/v1"),
        ("gemini-1.5", "--llm gemini-3.8-flash"),
        ("gpt-3.5", "--llm gpt-5.6-terra"),
    ],
)
def test_what_is_missing_is_told_with_what_to_type(monkeypatch: pytest.MonkeyPatch, typed: str, to_type: str) -> None:
    packages(monkeypatch)
    with pytest.raises(Unavailable) as caught:
        find(typed, ALL, TODAY)
    assert to_type in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "to_type"),
    [
        ("gpt-4o", "set the environment variable OPENAI_API_KEY"),
        ("gemini-3.8-flash", "set the environment variable GEMINI_API_KEY"),
        ("ollama:llama3", "start it"),
    ],
)
def test_a_key_or_a_server_that_is_missing_is_told_by_the_provider(
    monkeypatch: pytest.MonkeyPatch, spec: str, to_type: str
) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "TABCONTAM_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    model = resolve(spec).open(ModelSettings())
    with pytest.raises(UsageError) as caught:
        asyncio.run(model.connect())
    assert to_type in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("typo", ["lama3", "zzz", "openai", "openai:", "opnai:x", "qwen2.5:7b"])
def test_a_typo_is_nothing_that_could_be_installed(typo: str) -> None:
    with pytest.raises(UsageError) as caught:
        find(typo, ALL, TODAY)
    assert not isinstance(caught.value, Unavailable)


def test_a_retired_model_names_its_successor() -> None:
    said = failure("gpt-4")
    assert "GPT-4 was retired on 2026-03-26; its successor is gpt-4.1" in said
    assert "openai:gpt-4-0125-preview" in said
    assert find("gpt-4o", ALL, date(2027, 1, 13)).model == "gpt-4o-2024-08-06"
    assert "its successor is gpt-6-luna" in failure("gpt-4o", today=date(2027, 1, 14))


def test_a_retired_model_is_asked_when_it_is_written_out() -> None:
    assert str(find("gemini:gemini-1.5-pro", ALL, TODAY)) == "gemini:gemini-1.5-pro"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("lama3", "did you mean llama-3"),
        ("gpt-4p", "gpt-4o"),
        ("mistrall", "did you mean mistral"),
        ("zzz", "see list llms, or write PROVIDER:MODEL"),
        ("", "see list llms"),
        ("openai", "'openai' names no model; write for example openai:NAME"),
        ("openai:", "names no model"),
        ("opnai:x", "did you mean openai?"),
        ("zzz:x", "known: control, openai"),
        ("qwen2.5:7b", "did you mean ollama:qwen2.5:7b?"),
        ("mistral:7b", "mistral:7b is Ollama's way to write a model; write ollama:mistral:7b"),
        ("mistral:", "names no model"),
        ("opnrouter:x", "did you mean openrouter?"),
        ("openruter:x", "did you mean openrouter?"),
        ("open-router:x", "did you mean openrouter?"),
        ("claude:x", "did you mean anthropic?"),
        ("google:x", "did you mean gemini?"),
        ("grok:x", "did you mean xai?"),
        ("llama.cpp:x", "did you mean llamacpp?"),
        ("huggingface:x", "did you mean hf-inference?"),
        ("LMStudio:x", "did you mean lmstudio?"),
        ("gpt-4o:x", "unknown provider 'gpt-4o'"),
    ],
)
def test_a_near_miss_suggests(typed: str, message: str) -> None:
    assert message in failure(typed)


def test_a_provider_says_itself_how_its_llms_are_written() -> None:
    for provider in ALL.values():
        assert provider.spellings
        assert all(spelling.startswith(f"{provider.name}:") for spelling in provider.spellings)


@pytest.mark.slow
def test_listing_and_resolving_import_no_library_of_a_provider() -> None:
    code = (
        "import sys; from tabcontam.cli.list_command import llms; from tabcontam.models.provider_registry import "
        "resolve; llms();"
        "[resolve(spec) for spec in ('openai:x', 'ollama:x', 'gemini:x', 'hf:x', 'control:exposed', 'gpt-4o')];"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    heavy = {"openai", "httpx", "google.genai", "torch", "transformers", "pandas", "sklearn", "pydivsufsort"}
    assert not heavy & set(done.stdout.split())


def fake(monkeypatch: pytest.MonkeyPatch, provider: str) -> list[tuple[str, dict[str, Any]]]:
    """A stand-in for the provider's model; what it was made with."""
    calls: list[tuple[str, dict[str, Any]]] = []
    made = {"hf": "HFModel", "gemini": "GeminiModel"}[provider]
    place = f"tabcontam.models.{provider}.provider.{made}"
    monkeypatch.setattr(place, lambda name, **settings: calls.append((name, settings)))
    return calls


def test_what_the_providers_with_files_of_their_own_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    hf, gemini = fake(monkeypatch, "hf"), fake(monkeypatch, "gemini")
    packages(monkeypatch, "torch", "transformers")
    settings = ModelSettings(connections=3, batch_size=5, form="completion")
    resolve("hf:some/folder").open(settings)
    resolve("T0").open(settings)
    resolve("gemini-2.5-flash-lite").open(settings)
    told = {"form": "completion", "batch_size": 5}
    assert hf == [("some/folder", told | {"spec": "hf:some/folder"}), ("bigscience/T0", told | {"spec": "T0"})]
    assert gemini == [("gemini-2.5-flash-lite", {"max_connections": 3, "spec": "gemini-2.5-flash-lite"})]


def test_a_model_keeps_the_name_that_was_typed() -> None:
    model: Any = resolve("GPT 4o").open(ModelSettings())
    assert (model.spec, model.model, model.local) == ("GPT 4o", "gpt-4o-2024-08-06", False)
    model = resolve("ollama:llama3:8b").open(ModelSettings())
    assert (model.spec, model.model, model.address) == ("ollama:llama3:8b", "llama3:8b", "http://127.0.0.1:9/v1")
    assert model.local


# --- providers of other packages


def offered(monkeypatch: pytest.MonkeyPatch, **points: str) -> None:
    named = [(name, value, re.split("[.:]", value)[0]) for name, value in points.items()]
    added_points(monkeypatch, provider_registry.GROUP, named)


def open_known(model: str, settings: ModelSettings) -> Any:
    opened: Any = SimulatedModel("oracle")
    opened.spec = f"{settings.spec} of {model}"
    return opened


def open_nothing(model: str, settings: ModelSettings) -> None:
    return None


def open_badly(model: str, settings: ModelSettings) -> None:
    raise RuntimeError("out of\norder")


def test_a_provider_of_another_package_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, mine="tests.models.test_provider_registry:open_known")
    assert resolve("mine:x:y").open(ModelSettings()).spec == "mine:x:y of x:y"


class Headstrong(SimulatedModel):
    """A model that makes its name itself."""

    def __init__(self, model: str, settings: ModelSettings) -> None:
        self.kind = model

    spec = property(lambda self: f"mine:{self.kind}")


def test_a_label_reaches_the_model_of_another_package(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(
        monkeypatch,
        mine="tests.models.test_provider_registry:open_known",
        headstrong="tests.models.test_provider_registry:Headstrong",
    )
    assert resolve("a=mine:x").open(ModelSettings()).spec == "a"
    with pytest.raises(UsageError, match="headstrong: takes no label; leave a= out"):
        resolve("a=headstrong:x").open(ModelSettings())
    assert resolve("mine=gpt-4o").label == "mine"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_package:opener", "of the package no_such_package cannot be loaded: ModuleNotFoundError"),
        ("tests.models.test_provider_registry:nothing_there", "cannot be loaded: AttributeError"),
        ("tests.models.test_provider_registry:ALL", "is not a function"),
        ("tests.models.test_provider_registry:open_nothing", "failed: it returned no model"),
        ("tests.models.test_provider_registry:open_badly", "of the package tests failed: RuntimeError: out of order"),
    ],
)
def test_a_broken_one_is_one_line(monkeypatch: pytest.MonkeyPatch, value: str, message: str) -> None:
    offered(monkeypatch, broken=value)
    with pytest.raises(UsageError) as caught:
        resolve("broken:x").open(ModelSettings())
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_broken_one_harms_nobody_else(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    offered(monkeypatch, broken="no_such_package:opener", mine="tests.models.test_provider_registry:open_known")
    assert [point.name for point, _ in provider_registry.load_plugins()] == ["mine"]
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert resolve("mine:x").open(ModelSettings())
    assert not capsys.readouterr().err


def test_a_built_in_provider_cannot_be_shadowed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # hf and gemini neither, whether or not their files are there
    offered(monkeypatch, **dict.fromkeys(provider_registry.BUILT_IN, "tests.models.test_provider_registry:open_known"))
    assert resolve("simulated:oracle").open(ModelSettings()).spec == "simulated:oracle"
    assert not provider_registry.plugin_providers()
    complaints = capsys.readouterr().err.splitlines()
    assert len(complaints) == len(provider_registry.BUILT_IN)
    assert all("of the package tests is left out: tabcontam has a provider of that name" in one for one in complaints)


def test_an_odd_or_a_second_name_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    value = "tests.models.test_provider_registry:open_known"
    points = [(name, value, "tests") for name in ("mine", "mine", "two words", "a:b")]
    added_points(monkeypatch, provider_registry.GROUP, points)
    found, complaints = entry_points.find_entry_points(provider_registry.GROUP, "provider", ())
    assert list(found) == ["mine"]
    assert len(complaints) == 3


def section(title: str) -> str:
    return PAGE.read_text("utf-8").partition(f"## {title}\n")[2].partition("\n## ")[0]


def installed(folder: Path) -> Path:
    """The docs' example as an installed distribution; the folder for `PYTHONPATH`."""
    text = section("A provider")
    code = text.partition("```python\n")[2].partition("```")[0]
    assert len(code.splitlines()) <= 20
    (folder / "tabcontam_echo.py").write_text(code, "utf-8")
    about = folder / "tabcontam_echo-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tabcontam-echo\nVersion: 1.0\n")
    group, _, rest = text.partition('[project.entry-points."')[2].partition('"]\n')
    line = rest.partition("\n")[0].replace('"', "")
    (about / "entry_points.txt").write_text(f"[{group}]\n{line}\n")
    return folder


@pytest.mark.slow
def test_the_provider_of_the_docs_works_from_a_package(tmp_path: Path) -> None:
    folder = installed(tmp_path)
    command = [sys.executable, "-m", "tabcontam"]
    asked = ["run", "--llm", "echo:me", "--no-controls", "--dataset", "iris", "-k", "recognition", "--out", "run"]
    path = environment(PYTHONPATH=str(folder))
    done = subprocess.run([*command, *asked], cwd=tmp_path, env=path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    run = json.loads((tmp_path / "run/results.json").read_text("utf-8"))
    assert [llm["spec"] for llm in run["run"]["llms"]] == ["echo:me"]
    assert {cell["llm"] for cell in run["results"]} == {"echo:me"}
    listed = subprocess.run([*command, "list", "llms"], env=path, capture_output=True, text=True, check=True)
    assert "from the package tabcontam-echo" in listed.stdout
    assert not listed.stderr
