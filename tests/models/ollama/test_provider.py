"""Where Ollama is looked for, and what is believed of what it says."""

import pytest

from tabcontam.models.ollama import provider as ollama
from tests.loopback import LoopbackServer, Response


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:8000", "http://127.0.0.1:8000/v1"),
        (":8000", "http://127.0.0.1:8000/v1"),
        ("localhost", "http://localhost:11434/v1"),
        ("::1", "http://[::1]:11434/v1"),
        ("[::]:8000", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1"),
        ("https://example.com", "https://example.com:443/v1"),
        ("http://example.com/ollama/", "http://example.com:80/ollama/v1"),
        ("127.0.0.1:port", "http://127.0.0.1:11434/v1"),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it(monkeypatch: pytest.MonkeyPatch, host: str, address: str) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert ollama.address() == address


def tags_of(monkeypatch: pytest.MonkeyPatch, server: LoopbackServer) -> frozenset[str] | None:
    monkeypatch.setenv("OLLAMA_HOST", server.url.removesuffix("/v1"))
    return ollama.tags()


def test_what_it_has_is_asked_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABCONTAM_API_KEY", "a-secret-of-the-user")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with LoopbackServer(models=["llama3:latest", "phi:2.7b"]) as server:
        assert tags_of(monkeypatch, server) == frozenset({"llama3:latest", "llama3", "phi:2.7b"})
        (request,) = server.requests
    assert "authorization" not in request.headers


@pytest.mark.parametrize(
    "response",
    [
        Response(raw=b"<html>"),
        Response(raw=b"[" * 100_000),
        Response(["llama3"]),
        Response({"data": None}),
        Response({"data": []}, status=500),
        Response({}, status=302, headers={"Location": "http://127.0.0.1:9/v1/models"}),
        Response({"data": []}, cut=True),
        Response(hang=True),
    ],
)
def test_a_server_that_is_no_ollama_is_none(monkeypatch: pytest.MonkeyPatch, response: Response) -> None:
    monkeypatch.setattr(ollama, "SECONDS", 0.2)
    with LoopbackServer(models_response=response) as server:
        assert tags_of(monkeypatch, server) is None


def test_odd_entries_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackServer(models_response=Response({"data": [1, {"id": 2}, {}, {"id": "phi"}]})) as server:
        assert tags_of(monkeypatch, server) == frozenset({"phi"})


@pytest.mark.parametrize("host", ["127.0.0.1:9", "example.invalid", "https://127.0.0.1:9"])
def test_nobody_there_or_elsewhere_is_none(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert ollama.tags() is None
