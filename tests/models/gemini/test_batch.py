"""What Gemini's batches alone do. What all batches do is in `tests.models.conformance`."""

from collections.abc import Mapping

import pytest

from tabcontam.models.gemini.batch import GeminiBatches
from tests.loopback_gemini import NAME, error
from tests.loopback_gemini_batches import GeminiBatchServer
from tests.loopback_http import Response
from tests.models.conformance.batching import done
from tests.models.conformance.gemini import Gemini
from tests.models.conformance.provider import SECRET
from tests.needed import needed

genai = needed("google.genai")


def test_the_servers_batches_are_those_that_the_official_client_takes() -> None:
    with GeminiBatchServer(lambda body: "fine", looks=2) as server:
        client = genai.Client(
            api_key=SECRET, vertexai=False, http_options={"base_url": server.url, "api_version": "v1beta"}
        )
        source = [{"contents": [{"role": "user", "parts": [{"text": "?"}]}], "metadata": {"key": "one"}}]
        made = client.batches.create(model=f"models/{NAME}", src=source, config={"display_name": "ours"})
        assert [client.batches.get(name=made.name).state.name for _ in range(2)] == [
            "JOB_STATE_PENDING", "JOB_STATE_SUCCEEDED",
        ]  # fmt: skip
        (held,) = client.batches.get(name=made.name).dest.inlined_responses
        assert (held.metadata, held.response.text) == ({"key": "one"}, "fine")
        assert [batch.display_name for batch in client.batches.list(config={"page_size": 10})] == ["ours"]
        client.batches.cancel(name=made.name)
        assert server.submitted[0].status == "BATCH_STATE_CANCELLED"
        client.close()


def test_without_a_list_of_batches_none_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unlisted(GeminiBatchServer):
        def _listed(self, query: Mapping[str, list[str]]) -> Response:
            return error(404, "not found", "NOT_FOUND")

    async def lost(batches: GeminiBatches) -> str | None:
        return await batches.find("m", 0.0, ())

    monkeypatch.setenv("GEMINI_API_KEY", SECRET)
    with Unlisted() as server:
        assert done(Gemini().passes(server, monkeypatch), lost) is None
