"""An API that is not at the address which was typed: found at another of the same host, or told in one line."""

import sqlite3
from pathlib import Path

import pytest

from tabcontam.errors import Exit
from tabcontam.models.openai.connection import other_places, without_endpoint
from tests.commands import tabcontam
from tests.loopback import LoopbackServer, Received, Response, error

ASKED = ("--dataset", "iris", "--no-controls", "-k", "recognition", "--out", "run")
KEY = "sk-canary-0123456789abcdef"  # no real key


@pytest.mark.parametrize(
    ("typed", "places"),
    [
        ("http://h:8000", ("http://h:8000/v1",)),
        ("http://h:8000/v1", ()),
        ("http://h:8000/v1/chat/completions", ("http://h:8000/v1",)),
        ("http://h:8000/v1/models", ("http://h:8000/v1",)),
        ("http://h:8000/api", ("http://h:8000/api/v1", "http://h:8000/v1")),
        ("https://openrouter.ai", ("https://openrouter.ai/api/v1", "https://openrouter.ai/v1")),
    ],
)
def test_where_it_may_be(typed: str, places: tuple[str, ...]) -> None:
    assert other_places(typed) == places


def test_only_an_endpoint_is_taken_off() -> None:
    assert without_endpoint("http://h/v1/completions") == "http://h/v1"
    assert without_endpoint("http://h/mycompletions") == "http://h/mycompletions"


class Pages(LoopbackServer):
    """A server with a web page wherever its API is not."""

    def _response(self, received: Received) -> Response:
        if not received.path.startswith("/v1/"):
            return Response(raw=b"<html>welcome</html>")
        return super()._response(received)


class Web(LoopbackServer):
    """A server that has no API at all."""

    def _response(self, received: Received) -> Response:
        return Response(raw=b"<html>welcome</html>")


class Strict(LoopbackServer):
    """A server that has nothing but its API, which it tells to nobody without a key."""

    def _response(self, received: Received) -> Response:
        if not received.path.startswith("/v1/"):
            return Response({"detail": "Not Found"}, 404)
        if received.headers["authorization"] != f"Bearer {KEY}":
            return error(401, "who are you?")
        return super()._response(received)


@pytest.mark.parametrize("kind", [Pages, Strict])
@pytest.mark.parametrize("path", ["", "/", "/v1/chat/completions", "/v1/models"])
@pytest.mark.slow
def test_it_is_found_and_said(tmp_path: Path, cache: Path, kind: type[LoopbackServer], path: str) -> None:
    with kind(lambda body: "Iris") as server:
        host = server.url.removesuffix("/v1")
        for typed, folder in ((f"{host}{path}", "run"), (server.url, "again")):
            asked = ["run", "--llm", f"openai:model@{typed}", *ASKED[:-1], folder]
            done = tabcontam(*asked, cwd=tmp_path, TABCONTAM_API_KEY=KEY)
            assert done.returncode == Exit.DONE, done.stderr
            if folder == "run":
                count = len(server.asked)
                assert f"tabcontam: no API at {typed.rstrip('/')}; asking {server.url}" in done.stderr
        # The address that was found is what its replies are stored under.
        assert len(server.asked) == count > 0


def test_a_wish_for_a_key_is_no_absence(tmp_path: Path) -> None:
    with Strict() as server:
        spec = f"openai:model@{server.url.removesuffix('/v1')}"
        done = tabcontam("run", "--llm", spec, *ASKED, cwd=tmp_path)
    assert done.returncode == Exit.USAGE
    assert f"the server at {server.url} wants a key" in done.stderr


def test_where_there_is_none_the_address_is_blamed_and_not_the_model(tmp_path: Path) -> None:
    with LoopbackServer(models=None, paths=()) as server:
        host = server.url.removesuffix("/v1")
        done = tabcontam("run", "--llm", f"openai:model@{host}", *ASKED, "--max-connections", "1", cwd=tmp_path)
        said = f"no API at {host} (HTTP 404: Not Found), and there is no API at {host}/v1 either; correct the address"
        assert said in " ".join((done.stdout + done.stderr).split())
        assert "does not offer" not in done.stdout + done.stderr
    with Web() as server:
        host = server.url.removesuffix("/v1")
        done = tabcontam("run", "--llm", f"openai:model@{host}", *ASKED, "--out", "other", cwd=tmp_path)
    assert done.returncode == Exit.USAGE
    assert (
        f"{host} answers with a web page and does not speak OpenAI's protocol, and there is no API at {host}/v1 either"
        in done.stderr
    )


def test_another_host_is_never_tried(tmp_path: Path) -> None:
    with LoopbackServer() as elsewhere:
        moved = Response({}, 307, {"Location": f"{elsewhere.url}/models"})
        with LoopbackServer(models_response=moved) as server:
            done = tabcontam("run", "--llm", f"openai:model@{server.url}", *ASKED, cwd=tmp_path, TABCONTAM_API_KEY=KEY)
        assert done.returncode == Exit.USAGE
        assert elsewhere.requests == []


@pytest.mark.slow
def test_an_endpoint_of_a_server_without_a_list_is_taken_off(tmp_path: Path) -> None:
    with LoopbackServer(lambda body: "Iris", models=None) as server:
        spec = f"openai:model@{server.url}/chat/completions"
        assert tabcontam("run", "--llm", spec, *ASKED, cwd=tmp_path).returncode == Exit.DONE
        assert server.asked


def test_a_plan_for_a_server_that_is_not_there_has_no_price(tmp_path: Path) -> None:
    with LoopbackServer() as server:
        url = server.url
    done = tabcontam("run", "--llm", f"openai:model@{url}", *ASKED[:-2], "--dry-run", cwd=tmp_path)
    assert "no server answers" in done.stdout
    assert "at an unknown price" in done.stdout
    assert "$" not in done.stdout
    with LoopbackServer() as server:
        done = tabcontam("run", "--llm", f"openai:model@{server.url}", *ASKED[:-2], "--dry-run", cwd=tmp_path)
    assert "at most $0.00" in done.stdout


def test_the_corrected_address_stands_in_the_store(tmp_path: Path, cache: Path) -> None:
    with Pages(lambda body: "Iris") as server:
        spec = f"openai:model@{server.url.removesuffix('/v1')}"
        assert tabcontam("run", "--llm", spec, *ASKED, cwd=tmp_path).returncode == Exit.DONE
    with sqlite3.connect(cache / "tabcontam/replies.sqlite") as store:
        assert {row[0] for row in store.execute("SELECT llm FROM replies")} == {spec}
