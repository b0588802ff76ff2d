"""The `vertex:` provider over the real SDK and Google's auth library, against servers on loopback that are both."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Message, Prompt, Reply
from tabcontam.models.base import FatalError, ModelRequest, TransientError
from tabcontam.models.gemini.provider import VertexModel
from tabcontam.models.keys import NO_KEY
from tabcontam.models.provider_registry import ModelSettings, resolve
from tests.loopback_clouds import PROJECT, PUBLISHED, TokenServer, VertexServer
from tests.loopback_gemini import NAME, GeminiServer, error
from tests.needed import needed

needed("google.genai")
needed("google.auth")

KEY = "AIza-secret-0123456789abcdef"  # no real key
ASKED = ModelRequest(Prompt((Message("user", "Next?"),), "", ""), 16)


@pytest.fixture(scope="module")
def private_key() -> str:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return made.private_bytes(*pem).decode()


@pytest.fixture
def tokens(private_key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TokenServer]:
    """A login of this machine: a service account whose tokens come from loopback."""
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "TABCONTAM_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("NO_PROXY", "*")
    with TokenServer() as server:
        account = {"type": "service_account", "project_id": "other", "private_key_id": "1", "private_key": private_key}
        account |= {"client_email": "a@b.iam.gserviceaccount.com", "token_uri": f"{server.url}/token"}
        login = tmp_path / "login.json"
        login.write_text(json.dumps(account))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(login))
        yield server


def opened(server: GeminiServer, name: str = NAME) -> VertexModel:
    return VertexModel(name, PROJECT, "us-central1", address=server.url)


def ask(model: VertexModel) -> Reply:
    async def run() -> Reply:
        try:
            await model.connect()
            return await model.generate(ASKED)
        finally:
            await model.close()

    return asyncio.run(run())


def test_asks_in_a_project_with_the_token_of_the_login_and_no_key(
    tokens: TokenServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with VertexServer() as trap, VertexServer() as server:
        monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", trap.url)
        monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "false")
        monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "elsewhere-1")
        model = opened(server)
        assert ask(model).text == "fine"
    told, asked = server.requests
    assert told.path == f"/v1beta1/{PUBLISHED}"
    assert asked.path == f"/v1beta1/projects/{PROJECT}/locations/us-central1/{PUBLISHED}:generateContent"
    assert model.version == "version=001"
    assert KEY not in str([dict(request.headers) for request in server.requests])
    assert trap.requests == []
    assert len(tokens.requests) == 1  # the token is kept


@pytest.mark.parametrize(
    ("location", "address"),
    [
        ("us-central1", "https://us-central1-aiplatform.googleapis.com"),
        ("northamerica-northeast1", "https://northamerica-northeast1-aiplatform.googleapis.com"),
        ("eu", "https://aiplatform.eu.rep.googleapis.com"),
        ("", "https://aiplatform.googleapis.com"),
    ],
)
def test_its_address_is_the_location_s(location: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", PROJECT)
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", location)
    model = resolve(f"vertex:{NAME}").open(ModelSettings())
    assert isinstance(model, VertexModel)
    assert model.identity == {"provider": "vertex", "address": address, "model": NAME}
    assert (model.spec, model.key_variable) == (f"vertex:{NAME}", "")
    assert NO_KEY == "none"


@pytest.mark.parametrize(
    ("project", "location", "said"),
    [
        ("", "us-central1", "set GOOGLE_CLOUD_PROJECT to its id"),
        ("evil/../x", "us-central1", "GOOGLE_CLOUD_PROJECT is"),
        ("UPPER-case", "us-central1", "GOOGLE_CLOUD_PROJECT is"),
        (PROJECT, "evil.example/", "GOOGLE_CLOUD_LOCATION is"),
        (PROJECT, "evil.example#", "GOOGLE_CLOUD_LOCATION is"),
        (PROJECT, "us-central1.evil.example", "GOOGLE_CLOUD_LOCATION is"),
        (PROJECT, "user@evil", "GOOGLE_CLOUD_LOCATION is"),
    ],
)
def test_takes_no_odd_place(project: str, location: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", project)
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", location)
    with pytest.raises(UsageError, match=said):
        resolve(f"vertex:{NAME}").open(ModelSettings())


@pytest.mark.parametrize("name", ["tunedModels/mine", "a b", "../x", "claude@20250101"])
def test_takes_no_odd_name(name: str) -> None:
    with pytest.raises(UsageError, match="type for example vertex:"):
        VertexModel(name, PROJECT, "global")


def test_suggests_the_nearest_name(tokens: TokenServer) -> None:
    with VertexServer() as server, pytest.raises(UsageError, match=f"did you mean {NAME}"):
        ask(opened(server, "gemini-2.5-flush"))


def test_a_login_that_is_not_taken_is_one_line(tokens: TokenServer) -> None:
    tokens.granted = False
    with (
        VertexServer() as server,
        pytest.raises(UsageError, match=r"rejects the login .*account not found.*gcloud auth") as bad,
    ):
        ask(opened(server))
    assert "\n" not in str(bad.value)
    assert server.requests == []


@pytest.mark.parametrize("login", ["missing", "{", "{}"])
def test_without_a_login_it_says_how_to_get_one(
    login: str, tokens: TokenServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "other.json"
    if login != "missing":
        path.write_text(login)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    with VertexServer() as server, pytest.raises(UsageError, match=r"no login for Google Cloud .*gcloud auth") as bad:
        ask(opened(server))
    assert "\n" not in str(bad.value)


def test_a_project_that_may_not_is_told(tokens: TokenServer) -> None:
    denied = error(403, "Permission 'aiplatform.endpoints.predict' denied", "PERMISSION_DENIED")
    with VertexServer(lambda body: denied) as server, pytest.raises(FatalError) as raised:
        ask(opened(server))
    assert str(raised.value).startswith(
        f"Vertex AI refused the Google login of this machine, in project {PROJECT}; check"
    )


def test_an_expired_token_is_renewed_once_for_all_requests(tokens: TokenServer) -> None:
    with VertexServer() as server:
        model = opened(server)

        async def run() -> list[Reply]:
            try:
                await model.connect()
                model._credentials.token = None
                return await asyncio.gather(*(model.generate(ASKED) for _ in range(8)))
            finally:
                await model.close()

        for _ in range(2):  # each in an event loop of its own
            assert [reply.text for reply in asyncio.run(run())] == ["fine"] * 8
    assert len(tokens.requests) == 4  # a first token and a new one in each loop


def test_a_token_that_cannot_be_renewed_may_pass(tokens: TokenServer) -> None:
    with VertexServer() as server:
        model = opened(server)

        async def run() -> None:
            try:
                await model.connect()
                tokens.granted, model._credentials.token = False, None
                await model.generate(ASKED)
            finally:
                await model.close()

        with pytest.raises(TransientError, match="the Google login cannot be renewed"):
            asyncio.run(run())
