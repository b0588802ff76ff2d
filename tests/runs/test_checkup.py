"""`doctor`: what is here and what is missing; nothing leaves this machine, and no key is shown."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tabcontam.models.provider_registry import BUILT_IN
from tabcontam.runs import checkup as checking
from tabcontam.runs.checkup import CheckState, checkup
from tests.commands import tabcontam
from tests.loopback import LoopbackServer

SILENT = "http://127.0.0.1:9/v1"
SECRET = "sk-never-to-be-shown-1234567890"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries of the project are imported by other tests; two are enough here."""
    monkeypatch.setattr(checking, "_requirements", lambda: (["numpy", "jinja2"], {"hf": ["torch", "none-such"]}))


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(models=["one", "two"]) as listening:
        yield listening


def states(text: str) -> dict[str, str]:
    """Each check's state, as --json prints them."""
    return {check["name"]: check["state"] for check in json.loads(text)["checks"]}


@pytest.mark.slow
def test_everything_that_a_plain_run_needs_is_here(tmp_path: Path) -> None:
    done = tabcontam("doctor", cwd=tmp_path, TABCONTAM_DATA=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    lines = {line[8:26].strip(): line for line in done.stdout.splitlines()}
    assert lines["libraries"].startswith("ok      libraries         numpy ")
    assert lines["extra hf"].endswith("none-such not installed; type: pip install 'tabcontam[hf]'")
    assert lines["keys not set"].startswith("absent  keys not set      OPENAI_API_KEY (openai), ")
    assert "keys set" not in lines
    assert lines["ollama"].startswith("absent  ollama            no answer at http://127.0.0.1:9/v1")
    assert lines["TABCONTAM_DATA"].endswith(str(tmp_path))
    assert lines["output"].endswith("no terminal, encoding utf-8")
    assert [path.name for path in tmp_path.iterdir()] == []


@pytest.mark.slow
def test_keys_are_told_by_name_and_never_by_value(tmp_path: Path) -> None:
    keys = {"OPENAI_API_KEY": SECRET, "TABCONTAM_API_KEY": SECRET}
    for more in ([], ["--json"]):
        done = tabcontam("doctor", *more, cwd=tmp_path, **keys)
        assert SECRET not in done.stdout + done.stderr
        assert SECRET[:6] not in done.stdout
    held = {check["name"]: check["detail"] for check in json.loads(done.stdout)["checks"]}
    assert held["keys set"] == "OPENAI_API_KEY (openai), TABCONTAM_API_KEY (other servers)"
    assert "GEMINI_API_KEY (gemini)" in held["keys not set"]


@pytest.mark.slow
def test_servers_on_this_machine_are_looked_for_and_others_are_not_asked(
    tmp_path: Path, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = urlsplit(server.url)
    local, silent = replace(BUILT_IN["vllm"], address=server.url), replace(BUILT_IN["sglang"], address=SILENT)
    monkeypatch.setattr(checking, "BUILT_IN", {"vllm": local, "sglang": silent, "openai": BUILT_IN["openai"]})
    found = {check.name: check for check in checkup()}
    assert (found["vllm"].state, found["vllm"].detail) == (CheckState.OK, f"2 models at {server.url}")
    assert (found["sglang"].state, found["sglang"].detail) == (CheckState.ABSENT, f"no answer at {SILENT}")
    assert "openai" not in found  # nothing beyond this machine is asked
    assert not any("authorization" in {name.lower() for name in request.headers} for request in server.requests)
    done = tabcontam("doctor", cwd=tmp_path, OLLAMA_HOST=f"http://127.0.0.1:{host.port}")
    assert "ok      ollama            2 models at " in done.stdout
    done = tabcontam("doctor", cwd=tmp_path, OLLAMA_HOST="http://192.0.2.1")
    assert "OLLAMA_HOST names another machine, which is not asked" in done.stdout


@pytest.mark.slow
def test_an_llm_that_is_named_is_reached(tmp_path: Path, server: LoopbackServer) -> None:
    there, gone = f"openai:one@{server.url}", "openai:one@http://127.0.0.1:9/v1"
    done = tabcontam("doctor", "--json", "--llm", there, "--llm", "simulated:oracle", cwd=tmp_path)
    assert done.returncode == 0
    assert (states(done.stdout)[there], states(done.stdout)["simulated:oracle"]) == ("ok", "ok")
    done = tabcontam("doctor", "--llm", "gpt-4o", cwd=tmp_path)  # without a key nothing is sent
    assert done.returncode == 4
    assert "broken  gpt-4o " in done.stdout
    assert gone not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"TABCONTAM_PATH": "/nowhere"}, "broken  datasets          TABCONTAM_PATH names no folder: /nowhere"),
        ({"TABCONTAM_DATA": "/nowhere"}, "absent  TABCONTAM_DATA    /nowhere is not a folder; correct it, or unset it"),
        ({"XDG_CACHE_HOME": "/proc/nowhere"}, "absent  cache             /proc/nowhere/tabcontam cannot be written"),
    ],
)
def test_what_is_wrong_with_a_folder_is_told(tmp_path: Path, changes: dict[str, str], line: str) -> None:
    done = tabcontam("doctor", cwd=tmp_path, **changes)
    assert line in done.stdout
    assert done.returncode == (4 if line.startswith("broken") else 0)


@pytest.mark.slow
def test_a_library_that_cannot_be_imported_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "_requirements", lambda: (["numpy", "no-such-library"], {}))
    broken = [check for check in checkup() if check.state is CheckState.BROKEN]
    assert [(check.name, check.advice) for check in broken] == [
        ("no-such-library", "type: pip install --force-reinstall no-such-library")
    ]


@pytest.mark.slow
def test_a_hostile_folder_drives_no_terminal(tmp_path: Path) -> None:
    odd = tmp_path / "a\x1b[31mb\nc"
    odd.mkdir()
    done = tabcontam("doctor", cwd=odd)
    assert "\x1b" not in done.stdout
    assert all(line[:7].strip() in ("ok", "absent", "broken") for line in done.stdout.splitlines())
