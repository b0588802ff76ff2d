"""Whom a key goes to: one scheme, host and port, whatever is asked in the same run."""

import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tabcontam.api import run
from tabcontam.errors import Exit, UsageError
from tabcontam.models.keys import Host, KeyRing, host_of, split_variable
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.models.provider_record import ModelSettings
from tabcontam.models.provider_registry import key_owners, resolve
from tests.commands import tabcontam
from tests.loopback import LoopbackServer, Response, error

FIRST = "sk-first-canary-0123456789abcdef"  # no real keys
SECOND = "tk-second-canary-fedcba9876543210"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the developer's own keys."""
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "TABCONTAM_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def refused(*specs: str) -> str:
    """The line that one run with these LLMs is refused with."""
    settings = ModelSettings()
    with pytest.raises(UsageError) as caught:
        [resolve(spec).open(settings) for spec in specs]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def opened(*specs: str) -> list[str]:
    """The variables whose keys go to these LLMs in one run."""
    settings = ModelSettings()
    models: list[Any] = [resolve(spec).open(settings) for spec in specs]
    return [model.key_variable for model in models]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://host/v1", "https://host:443/v1"),
        ("https://host/v1", "https://HOST/other"),
        ("http://host./v1", "http://host:80"),
        ("http://[::1]:8000/v1", "http://[0:0:0:0:0:0:0:1]:8000/v1"),
    ],
)
def test_one_host_has_several_spellings(one: str, other: str) -> None:
    assert host_of(one) == host_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://host/v1", "http://host/v1"),
        ("https://host/v1", "https://host:8443/v1"),
        ("https://a-b.example/v1", "https://a.b.example/v1"),
        ("https://a-b.example/v1", "https://a_b.example/v1"),
        ("https://host/v1", "https://host.example/v1"),
    ],
)
def test_another_scheme_name_or_port_is_another_host(one: str, other: str) -> None:
    assert host_of(one) != host_of(other)


def test_a_host_is_written_as_an_address_begins() -> None:
    assert str(host_of("HTTPS://Host:443/v1")) == "https://host"
    assert str(Host("http", "::1", 8000)) == "http://[::1]:8000"


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("m@https://h/v1#MY_KEY", ("m@https://h/v1", "MY_KEY")),
        ("m@https://h/v1#none", ("m@https://h/v1", "none")),
        ("m#MY_KEY", ("m", "MY_KEY")),
        ("m@https://h/v1", ("m@https://h/v1", "")),
        ("a#1", ("a#1", "")),
        ("a#b@https://h/v1", ("a#b@https://h/v1", "")),
    ],
)
def test_a_variable_is_named_behind_the_address(rest: str, expected: tuple[str, str]) -> None:
    assert split_variable(rest) == expected


@pytest.mark.parametrize("key", [FIRST, "gsk_0123456789abcdef", "hf_ABCDEFGHIJKLMN", "two words", "", "É", "A" * 200])
def test_a_key_in_the_variables_place_is_not_repeated(key: str) -> None:
    said = refused(f"openai:m@https://h/v1#{key}")
    assert "never the key itself" in said
    assert not key or key not in said


def test_each_host_gets_the_key_that_is_named_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABCONTAM_API_KEY", FIRST)
    specs = ["openai:m@https://one.example/v1", "openai:m@https://two.example/v1#TWO", "openai:m@http://h/v1#none"]
    assert opened(*specs) == ["TABCONTAM_API_KEY", "TWO", ""]
    # One host may be asked for two models, by any spelling.
    assert opened("openai:a@https://h/v1#KEY", "openai:b@https://H:443/x#KEY") == ["KEY", "KEY"]


@pytest.mark.parametrize(
    "specs",
    [
        ("openai:m@https://one.example/v1", "openai:m@https://two.example/v1"),
        ("openai:m@https://one.example/v1", "openai:m@http://one.example/v1"),
        ("openai:m@http://127.0.0.1:8000/v1", "openai:m@http://127.0.0.1:8001/v1"),
        ("openai:m@https://a-b.example/v1", "openai:m@https://a.b.example/v1"),
    ],
)
def test_the_one_key_for_others_goes_to_one_of_them_alone(
    specs: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert opened(*specs) == ["TABCONTAM_API_KEY"] * 2  # which is not set: nobody gets anything
    monkeypatch.setenv("TABCONTAM_API_KEY", FIRST)
    said = refused(*specs)
    assert said.startswith("TABCONTAM_API_KEY would go to two servers, ")
    assert "add #NAME_OF_A_VARIABLE after its address" in said
    assert FIRST not in said


def test_a_variable_that_is_named_goes_to_one_host_whether_or_not_it_is_set() -> None:
    said = refused("openai:m@https://one.example/v1#KEY", "openai:m@https://two.example/v1#KEY")
    assert "KEY would go to two servers, https://one.example and https://two.example" in said


@pytest.mark.parametrize("variable", key_owners())
def test_a_providers_own_variable_is_named_for_no_other_host(variable: str) -> None:
    said = refused(f"openai:m@https://gateway.example/v1#{variable}")
    assert said.startswith(f"{variable} goes to ")
    assert "alone, not to https://gateway.example" in said


def test_a_providers_key_goes_to_its_host_at_any_address() -> None:
    assert opened("openai:m@https://API.openai.com:443/v1") == ["OPENAI_API_KEY"]
    assert opened("openai:m@http://api.openai.com/v1") == ["TABCONTAM_API_KEY"]  # in the clear: somebody else
    assert opened("openai:m@https://api.openai.com/v1#MINE", "openai:m#MINE") == ["MINE", "MINE"]
    google = "https://generativelanguage.googleapis.com/v1beta/openai"
    assert opened(f"openai:gemini@{google}#GEMINI_API_KEY") == ["GEMINI_API_KEY"]


def test_an_ollama_of_this_machine_gets_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABCONTAM_API_KEY", FIRST)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    assert opened("ollama:llama3", "openai:m@https://one.example/v1") == ["", "TABCONTAM_API_KEY"]
    monkeypatch.setenv("OLLAMA_HOST", "https://two.example")
    assert "two servers" in refused("ollama:llama3", "openai:m@https://one.example/v1")


def test_a_ring_belongs_to_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABCONTAM_API_KEY", FIRST)
    assert opened("openai:m@https://one.example/v1") == opened("openai:m@https://two.example/v1")
    ring = KeyRing()
    ring.claim(OpenAIModel("m", "https://one.example/v1"), {})
    with pytest.raises(UsageError):
        ring.claim(OpenAIModel("m", "https://two.example/v1"), {})


# --- a whole run


def talkative(key: str) -> Callable[[dict[str, Any]], str | Response]:
    """A server that repeats its key: in a reply, and in a refusal."""
    turns: list[object] = []

    def answer(body: dict[str, Any]) -> str | Response:
        turns.append(body)
        return error(400, f"bad {key}") if len(turns) % 3 == 0 else f"Iris, by {key}"

    return answer


@pytest.mark.slow
@pytest.mark.parametrize("way", ["--llm", "--reference"])
def test_two_servers_of_one_run_see_their_own_key_and_nobody_sees_the_other(
    tmp_path: Path, cache: Path, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with LoopbackServer(talkative(FIRST)) as one, LoopbackServer(talkative(SECOND)) as two:
        specs = ["--llm", f"openai:model@{one.url}#FIRST_KEY", way, f"openai:model@{two.url}#SECOND_KEY"]
        asked = ["--dataset", "iris", "--no-controls", "-k", "feature_completion", "--queries", "9", "--out", "run"]
        done = tabcontam("run", *specs, *asked, cwd=tmp_path, FIRST_KEY=FIRST, SECOND_KEY=SECOND)
        seen = {FIRST: one.requests, SECOND: two.requests}
    assert done.returncode == Exit.DONE, done.stderr
    for key, other in ((FIRST, SECOND), (SECOND, FIRST)):
        assert {request.method for request in seen[key]} == {"GET", "POST"}
        assert {request.headers["authorization"] for request in seen[key]} == {f"Bearer {key}"}
        assert all(other not in str(request) and "_KEY" not in str(request) for request in seen[key])
        assert all(key not in str((request.path, request.body)) for request in seen[key])
    files = [path for folder in (tmp_path, cache) for path in folder.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"results.json", "trials.jsonl", "replies.sqlite", "index.html"}
    for key in (FIRST, SECOND):
        assert [path for path in files if key.encode() in path.read_bytes()] == []
        assert key not in done.stdout + done.stderr + caplog.text
    assert "#SECOND_KEY" in (tmp_path / "run/results.json").read_text("utf-8")  # the name is no secret
    with sqlite3.connect(cache / "tabcontam/replies.sqlite") as store:
        llms = {row[0] for row in store.execute("SELECT llm FROM replies")}
    assert llms


@pytest.mark.parametrize("way", ["--llm", "--reference"])
def test_one_key_for_two_servers_is_refused_before_anything_is_sent(tmp_path: Path, way: str) -> None:
    with LoopbackServer() as one, LoopbackServer() as two:
        specs = ["--llm", f"openai:model@{one.url}", way, f"openai:model@{two.url}"]
        for command in (["run", "--no-controls"], ["run", "--dry-run"], ["gate"]):
            done = tabcontam(*command, *specs, "--dataset", "iris", cwd=tmp_path, TABCONTAM_API_KEY=FIRST)
            assert done.returncode == Exit.USAGE
            (line,) = done.stderr.splitlines()
            assert "TABCONTAM_API_KEY would go to two servers" in line
        assert one.requests == two.requests == []
    assert list(tmp_path.iterdir()) == []


def test_python_refuses_it_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABCONTAM_API_KEY", FIRST)
    with LoopbackServer() as one, LoopbackServer() as two:
        llms = [f"openai:model@{server.url}" for server in (one, two)]
        with pytest.raises(UsageError, match="TABCONTAM_API_KEY would go to two servers"):
            run(llms, "iris", out=tmp_path / "run")
        assert one.requests == two.requests == []


def test_what_is_named_and_not_set_is_one_line(tmp_path: Path) -> None:
    with LoopbackServer() as server:
        spec = f"openai:model@{server.url}#MY_KEY"
        done = tabcontam("run", "--llm", spec, "--dataset", "iris", "--no-controls", "-k", "recognition", cwd=tmp_path)
        assert server.requests == []
    assert done.returncode == Exit.USAGE
    assert f"no key for the server at {server.url}; set the environment variable MY_KEY" in done.stderr


@pytest.mark.parametrize("spec", ["openai:m@http://gpu.example:8000/v1", "anthropic:m@http://gpu.example:8000"])
def test_no_key_goes_over_a_network_in_the_clear(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert opened(spec) == ["TABCONTAM_API_KEY"]  # which is not set: nothing is sent
    monkeypatch.setenv("TABCONTAM_API_KEY", FIRST)
    monkeypatch.setenv("MY_KEY", FIRST)
    for named, variable in ((spec, "TABCONTAM_API_KEY"), (f"{spec}#MY_KEY", "MY_KEY")):
        said = refused(named)
        assert said.startswith(f"{variable} would go to http://gpu.example:8000 unencrypted; write https://")
        assert "ssh -L 8000:localhost:8000 gpu.example" in said
        assert FIRST not in said
    assert opened(f"{spec}#none") == [""]
    assert opened("openai:m@http://localhost:8000/v1#MY_KEY", "openai:m@http://[::1]:8/v1#none") == ["MY_KEY", ""]
