"""A server that is none of ours: `transformers serve` on loopback, asked through OpenAI's protocol in both forms."""

import asyncio
import csv
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Query, ReplyState
from tabcontam.evidence.registry import by_id
from tabcontam.models.base import Model, ModelRequest, PromptForm
from tabcontam.models.hf.provider import HFModel
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import load_table
from tests.commands import tabcontam
from tests.made_tables import ships
from tests.models.hf import tiny
from tests.needed import needed

torch: Any = needed("torch")
needed("transformers")
for package in ("fastapi", "uvicorn", "accelerate"):
    needed(package)

pytestmark = pytest.mark.slow
NAME, COMMIT = "zand/ships", "0123456789" * 4
IS = load_serializers()["is"]
SECONDS = 120  # that a server may take to start


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve ships in a file."""
    path, table = tmp_path_factory.mktemp("data") / "ships.csv", ships(12)
    with path.open("w", encoding="utf-8", newline="") as open_file:
        csv.writer(open_file).writerows([table.columns, *table.rows])
    return path


@pytest.fixture(scope="module")
def query(file: Path) -> Query:
    """Test 8, the paper's own: which row comes next? It shows the first four."""
    first: Query = by_id()["full_completion"].queries(load_table(str(file)), IS, Random(0))[0]
    return first


def texts(query: Query, reader: Any) -> Iterator[tuple[str, str]]:
    """The query as both forms show it to a model, and the rows that follow it."""
    row = IS.row(query.asked, query.expected)
    turns = [{"role": message.role, "content": message.content} for message in query.prompt.chat]
    yield reader.apply_chat_template(turns, tokenize=False, add_generation_prompt=True), f"{row}</s>"
    yield f"<s>{query.prompt.completion}", f"{row}\n"


def taught(query: Query) -> tuple[Any, Any]:
    """A model that learns to go on with the fifth ship."""
    lines = [*query.prompt.completion.splitlines(), *(message.content for message in query.prompt.chat)]
    reader, model = tiny.tokenizer(lines, tiny.CHAT), tiny.causal(max_position_embeddings=2048)
    samples = []
    for prompt, answer in texts(query, reader):
        given, wanted = (reader(text, add_special_tokens=False)["input_ids"] for text in (prompt, answer))
        samples.append(([*given, *wanted], [*[-100] * len(given), *wanted]))
    tiny.learn(model, lambda rng: rng.choice(samples), steps=80)
    return model, reader


@pytest.fixture(scope="module")
def hub(query: Query, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the hub's client leaves it, with a model that was taught to go on with the fifth ship."""
    cache = tmp_path_factory.mktemp("hub")
    repository = cache / f"models--{NAME.replace('/', '--')}"
    own = tiny.kept(pytestconfig, partial(taught, query), repr(query.prompt), IS.row(query.asked, query.expected))
    shutil.copytree(own, repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    return cache


@pytest.fixture(scope="module")
def address(hub: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the server answers."""
    pytest.importorskip("transformers.cli.serving.completion")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", NAME]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(hub), "OMP_NUM_THREADS": "1"}
    with log.open("wb") as output:
        server = subprocess.Popen(command, env=offline, stdout=output, stderr=output)
    try:
        wait_for(f"http://127.0.0.1:{port}/health", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def wait_for(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    """Until the server answers there."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + SECONDS
    while server.poll() is None and time.monotonic() < end:
        try:
            with direct.open(url, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"transformers serve did not start:\n{log.read_text('utf-8', 'replace')[-2000:]}")


def replies(model: Model, query: Query) -> list[tuple[str, ReplyState, int | None]]:
    """To the query as it is, to one with too few tokens for it, and to both at a time."""

    async def asked() -> list[Any]:
        await model.connect()
        try:
            requests = [ModelRequest(query.prompt, limit) for limit in (query.max_tokens, 5)]
            alone = [await model.generate(request) for request in requests]
            return [*alone, *await asyncio.gather(*map(model.generate, requests))]
        finally:
            await model.close()

    return [(reply.text, reply.state, reply.tokens) for reply in asyncio.run(asked())]


@pytest.mark.parametrize("form", [PromptForm.CHAT, PromptForm.COMPLETION])
def test_a_model_behind_a_server_answers_as_in_this_process(
    form: PromptForm, address: str, hub: Path, query: Query
) -> None:
    model = OpenAIModel(NAME, address, form=form)
    whole, cut, *together = replies(model, query)
    assert model.form is form
    assert model.local
    assert whole[:2] == (IS.row(query.asked, query.expected), ReplyState.OK)
    assert cut[1:] == (ReplyState.TRUNCATED, 5)
    assert together == [whole, cut]
    here = replies(HFModel(str(next(hub.glob("*/snapshots/*"))), form=form), query)
    assert [reply[:2] for reply in here] == [reply[:2] for reply in (whole, cut, whole, cut)]


def test_the_form_is_chat_where_the_server_has_it(address: str, query: Query) -> None:
    model = OpenAIModel(NAME, address)
    assert replies(model, query)[0][0] == IS.row(query.asked, query.expected)
    assert model.form is PromptForm.CHAT


def test_a_model_that_the_server_does_not_have_is_one_line(address: str) -> None:
    model = OpenAIModel("zand/ship", address)

    async def refused() -> str:
        with pytest.raises(UsageError) as error:
            await model.connect()
        await model.close()
        return str(error.value)

    line = asyncio.run(refused())
    assert f"did you mean {NAME}" in line
    assert "\n" not in line


@pytest.mark.parametrize("form", ["auto", "completion"])
def test_a_whole_run_against_the_server_finds_the_row(
    form: str, address: str, file: Path, query: Query, tmp_path: Path
) -> None:
    options = ["--form", form, "--no-controls", "--out", str(tmp_path / "run"), "--json"]
    options += ["--llm", f"openai:{NAME}@{address}", "--dataset", str(file)]
    done = tabcontam("run", "-k", "full", "--queries", "1", "--rules", "paper", *options)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    (cell,) = json.loads(done.stdout)["results"]
    assert (cell["test"], cell["verdict"], cell["hits"]) == ("full_completion", "contaminated", 1)
    (line,) = map(json.loads, (tmp_path / "run" / "trials.jsonl").read_text("utf-8").splitlines())
    assert (line["state"], line["reply"]) == ("ok", IS.row(query.asked, query.expected))
