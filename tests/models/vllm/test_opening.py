"""How `vllm:` is written, and what it says where it cannot be: nothing is loaded, and one line says what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tabcontam.cli.commands import main
from tabcontam.errors import Exit, UsageError
from tabcontam.models.hf.provider import HFModel
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.models.provider_record import ModelSettings
from tabcontam.models.provider_registry import resolve
from tabcontam.models.vllm import engine_start
from tabcontam.models.vllm.provider import VLLMModel
from tests.models.vllm.stand_in import installed

HERE = ModelSettings(form="completion", spec="vllm:org/name")


def test_without_an_address_it_is_loaded_here() -> None:
    model = resolve("vllm:org/name").open(HERE)
    assert isinstance(model, VLLMModel)
    assert (model.spec, model.form, model.local, model.control) == ("vllm:org/name", "completion", True, False)
    assert model.identity == {"provider": "vllm", "address": "", "model": "org/name"}


@pytest.mark.parametrize("rest", ["org/name@http://127.0.0.1:8000/v1", "org/name#VLLM_API_KEY"])
def test_with_an_address_or_a_key_it_is_a_server(rest: str) -> None:
    model = resolve(f"vllm:{rest}").open(ModelSettings())
    assert isinstance(model, OpenAIModel)
    assert model.address == "http://127.0.0.1:8000/v1"


def test_an_address_that_is_cut_short_is_no_name() -> None:
    with pytest.raises(UsageError, match="bad address in vllm:org/name@localhost:8000; type vllm:NAME@http://host"):
        resolve("vllm:org/name@localhost:8000").open(ModelSettings())


def test_a_label_stands_for_it() -> None:
    found = resolve("mine=vllm:org/name")
    assert (found.label, found.open(ModelSettings()).stands_for) == ("mine", "vllm:org/name")


def test_it_shares_no_reply_with_transformers(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    ours, theirs = VLLMModel(str(tmp_path / "mine")).identity, HFModel(str(tmp_path / "mine")).identity
    assert ours != theirs
    assert dict(theirs) | {"provider": "vllm"} == ours


def test_another_process_makes_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    made = VLLMModel("model", form="chat").elsewhere()
    assert isinstance(made, VLLMModel)
    assert (made._name, made.spec, made.form) == (str(tmp_path / "model"), "vllm:model", "chat")


def test_importing_it_imports_no_vllm() -> None:
    code = "import sys, tabcontam.models.vllm.provider; sys.exit('torch' in sys.modules or 'vllm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_the_package_a_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine_start, "find_spec", lambda name: None)
    out = str(tmp_path / "run")
    assert main(["run", "--llm", "vllm:org/name", "--dataset", "iris", "-k", "perplexity", "--out", out]) == Exit.USAGE
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "vllm:" in line]
    assert "vllm:org/name needs the package vllm and a GPU; type pip install 'tabcontam[vllm]'" in line
    assert "or write hf:org/name, which needs none" in line
    assert "vllm:NAME@http://127.0.0.1:8000/v1" in line


def test_without_a_gpu_a_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, device="")
    with pytest.raises(UsageError, match=r"vllm:org/name needs a GPU, and vLLM finds none on this machine; .*hf:org"):
        engine_start.files_of("org/name")


def test_nothing_is_reported_to_its_makers(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, device="")
    monkeypatch.delenv("VLLM_NO_USAGE_STATS", raising=False)
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")  # the user's own
    with pytest.raises(UsageError):
        engine_start.files_of("org/name")
    assert os.environ["VLLM_NO_USAGE_STATS"] == "1"
    assert os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"


def test_a_library_that_is_missing_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    monkeypatch.delattr(sys.modules["vllm.platforms"], "current_platform")
    with pytest.raises(UsageError, match=r"vllm: cannot be used here .*hf:org/name"):
        engine_start.files_of("org/name")
