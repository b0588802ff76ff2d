"""The SDK of all providers: what it prints, and that whatever a server sends can be read or not, and nothing else."""

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.models.conformance.provider import OTHER_KEY, SECRET, Provider

SCRIPT = """
import asyncio, importlib, sys
from tabcontam.models.base import ModelRequest
from tabcontam.evidence.base import Message, Prompt
module, kind, name, address = sys.argv[1:]
made = getattr(importlib.import_module(module), kind)
assert "openai" not in sys.modules
async def work():
    model = made(name, address) if "openai" in module else made(name, address=address)
    await model.connect()
    print((await model.generate(ModelRequest(Prompt((Message("user", "?"),), "", ""), 16))).text)
    await model.close()
asyncio.run(work())
"""


@pytest.mark.slow
def test_an_sdk_comes_with_the_first_query_and_prints_nothing(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**dict.fromkeys(provider.secrets, SECRET), **provider.noise}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(OTHER_KEY, raising=False)
    response, models, warnings = provider.odd
    with provider.server(lambda body: response, models=models) as server:
        kind = type(provider.own())
        found = [kind.__module__, kind.__name__, provider.old, server.url]
        command = [sys.executable, "-W", warnings, "-c", SCRIPT, *found]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")


def nested(provider: Provider) -> st.SearchStrategy[Any]:
    """JSON with the fields that a reply of this provider has."""
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(provider.fields), inner, max_size=4)
        ),
        max_leaves=12,
    )


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_a_server_sends_is_read_or_a_value_error(provider: Provider, data: st.DataObject) -> None:
    body = json.loads(json.dumps(data.draw(nested(provider))))
    for read in provider.readers:
        try:
            answer = read(body)
        except ValueError:
            continue
        assert isinstance(answer.text, str)
        assert all(isinstance(each, str) for each in (answer.refusal, answer.stopped, answer.broken))
