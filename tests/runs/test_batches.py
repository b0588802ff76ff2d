"""The whole command with `--batch-api`: sent once, killed, continued; the results of any run, at half the price."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tabcontam.asking import batch_asker as asking
from tabcontam.models import provider_registry
from tabcontam.models.anthropic import provider as anthropic
from tabcontam.models.gemini import provider as gemini
from tabcontam.models.gemini.provider import GeminiModel
from tabcontam.models.openai import provider
from tests.commands import environment, tabcontam
from tests.loopback import Response, reply
from tests.loopback_anthropic import NAME as CLAUDE
from tests.loopback_anthropic import reply as claude_reply
from tests.loopback_anthropic_batches import AnthropicBatchServer
from tests.loopback_batches import BatchServer
from tests.loopback_gemini import NAME
from tests.loopback_gemini import reply as gemini_reply
from tests.loopback_gemini_batches import GeminiBatchServer

RUN = ("run", "--llm", "openai:gpt-4o", "--dataset", "iris", "-k", "incomplete_completion", "--queries", "5")
ALONE = (*RUN, "--no-controls", "--no-cache")
KEY = "sk-whole-0123456789abcdef"  # no real key
TIMES = {"command", "started", "seconds", "durations"}
COMMAND = """\
import sys
from tabcontam.asking import batch_asker
from tabcontam.cli.commands import main
from tabcontam.models.openai import provider
provider.OPENAI, batch_asker.FIRST_LOOK, batch_asker.LAST_LOOK = sys.argv[1], 0.1, 0.1
sys.exit(main(sys.argv[2:]))
"""


def answered(body: dict[str, Any]) -> Response:
    """An answer that depends on the question alone, and what it costs."""
    made = reply(f"{len(json.dumps(body['messages'])) % 7}.{len(body['messages'])}")
    assert isinstance(made.body, dict)
    made.body["usage"] = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    return made


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    """A server that passes for OpenAI."""
    with BatchServer(answered, ("gpt-4o",)) as server:
        monkeypatch.setattr(provider, "OPENAI", server.url)
        monkeypatch.setattr(asking, "FIRST_LOOK", 0.001)
        yield server


def prices(server: BatchServer, folder: Path) -> tuple[str, str]:
    file = folder / "prices.toml"
    file.write_text(f'"openai:gpt-4o@{server.url}" = {{ input = 2.5, output = 10 }}\n')
    return "--prices", str(file)


def results(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return found


def trials(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    return sorted(lines, key=lambda line: str(line["query"]))


def dollars(folder: Path) -> float:
    found: float = results(folder)["run"]["llms"][0]["dollars"]
    return found


@pytest.mark.slow
def test_a_run_in_batches_gives_the_results_of_any_other_at_half_the_price(server: BatchServer, tmp_path: Path) -> None:
    for out, option in (("live", ()), ("batch", ("--batch-api",))):
        done = tabcontam(*ALONE, *option, "--out", str(tmp_path / out), *prices(server, tmp_path), OPENAI_API_KEY=KEY)
        assert done.returncode == 0, done.stderr
    assert ([len(batch.requests) for batch in server.submitted], len(server.live)) == ([4], 5 + 1)
    assert trials(tmp_path / "batch") == trials(tmp_path / "live")
    live, batch = results(tmp_path / "live"), results(tmp_path / "batch")
    for found in (live, batch):
        found["run"] = {name: fact for name, fact in found["run"].items() if name not in TIMES}
        found["run"]["llms"][0].pop("dollars")
    assert batch == live
    each = 1000 * 2.5e-6 + 100 * 10e-6
    assert dollars(tmp_path / "live") == pytest.approx(5 * each)
    assert dollars(tmp_path / "batch") == pytest.approx(each + 4 * each / 2)
    assert all(KEY not in file.read_text() for file in (tmp_path / "batch").iterdir())


def same_in_batches(spec: str, server: GeminiBatchServer | AnthropicBatchServer, folder: Path) -> None:
    """Assert that an LLM is asked once at once and four times in a batch, and that its answers are the same."""
    command = [word.replace("openai:gpt-4o", spec) for word in ALONE]
    for out, option in (("live", ()), ("batch", ("--batch-api",))):
        out_of = ("--out", str(folder / out))
        done = tabcontam(*command, *option, *out_of, GEMINI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY)
        assert done.returncode == 0, done.stderr
    assert ([len(each.requests) for each in server.submitted], len(server.live)) == ([4], 5 + 1)
    assert trials(folder / "batch") == trials(folder / "live")
    assert len(trials(folder / "batch")) == 5


@pytest.mark.slow
def test_gemini_too_gives_the_same_answers_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(body: dict[str, Any]) -> Response:
        return gemini_reply(f"{len(json.dumps(body['contents'])) % 7}.0", prompt=1000, tokens=100)

    with GeminiBatchServer(short) as server:
        google = partial(GeminiModel, address=server.url)
        opened = replace(
            provider_registry.BUILT_IN["gemini"], open=lambda model, settings: google(model, spec=settings.spec)
        )
        monkeypatch.setitem(provider_registry.BUILT_IN, "gemini", opened)
        monkeypatch.setattr(gemini, "GOOGLE", server.url)
        same_in_batches(f"gemini:{NAME}", server, tmp_path)


@pytest.mark.slow
def test_claude_too_gives_the_same_answers_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(body: dict[str, Any]) -> Response:
        return claude_reply(f"{len(json.dumps(body['messages'])) % 7}.0", read=1000, tokens=100)

    with AnthropicBatchServer(short) as server:
        monkeypatch.setattr(anthropic, "ANTHROPIC", server.url)
        same_in_batches(f"anthropic:{CLAUDE}", server, tmp_path)


def test_a_plan_states_the_price_of_batches(server: BatchServer, tmp_path: Path) -> None:
    plans = [
        json.loads(
            tabcontam(*ALONE, *option, "--dry-run", "--json", *prices(server, tmp_path), OPENAI_API_KEY=KEY).stdout
        )
        for option in ((), ("--batch-api",))
    ]
    (live,), (batch,) = (plan["llms"] for plan in plans)
    assert (live["batched"], batch["batched"]) == (False, True)
    assert live["dollars"] / 2 < batch["dollars"] < live["dollars"] * 0.62  # the dearest of five may be asked at once
    text = tabcontam(*ALONE, "--batch-api", "--dry-run", *prices(server, tmp_path), OPENAI_API_KEY=KEY).stdout
    assert f"${batch['dollars']:.4f} in batches, but for the first" in text


@pytest.mark.parametrize(("options", "line"), [
    (("--llm", "simulated:guesser", "--batch-api"), "simulated:guesser has no batch API; leave --batch-api out"),
    (("--llm", "openai:x@http://127.0.0.1:9/v1", "--llm", "simulated:mode", "--batch-api"), "have no batch API"),
    (("--batch-api",), "--batch-api: control:exposed and control:unexposed have no batch API"),
    (("--llm", "gpt-4o", "--batch-api", "-x"), "--batch-api asks everything at once, and -x one by one"),
    (("--llm", "gpt-4o", "--batch-api", "--until-decided"), "and --until-decided one by one"),
])  # fmt: skip
def test_what_does_not_go_with_batches_is_one_line(options: tuple[str, ...], line: str, tmp_path: Path) -> None:
    done = tabcontam("run", "--dataset", "iris", "--out", str(tmp_path / "run"), *options, OPENAI_API_KEY=KEY)
    assert done.returncode == 4
    assert line in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_llms_without_batches_are_asked_at_once_beside_the_others_and_it_says_so(
    server: BatchServer, tmp_path: Path
) -> None:
    done = tabcontam(
        *ALONE, "--llm", "simulated:mode", "--batch-api", "--out", str(tmp_path / "run"), OPENAI_API_KEY=KEY
    )
    assert done.returncode == 0, done.stderr
    assert "--batch-api: simulated:mode has no batch API: requests are sent at once, at the full price\n" in done.stderr
    assert "openai:gpt-4o: batch batch_0: 4/4 done since " in done.stderr
    assert len(trials(tmp_path / "run")) == 10


@pytest.mark.slow
def test_a_run_that_is_killed_while_its_batch_is_under_way_pays_for_nothing_twice(
    server: BatchServer, tmp_path: Path
) -> None:
    out, server.looks = tmp_path / "run", 10**6
    command = [
        sys.executable,
        "-c",
        COMMAND,
        server.url,
        *ALONE,
        "--batch-api",
        "--out",
        str(out),
        *prices(server, tmp_path),
    ]

    def started() -> subprocess.Popen[str]:
        return subprocess.Popen(
            command, env=environment(OPENAI_API_KEY=KEY, PYTHONPATH=os.getcwd()), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def looked_at(times: int) -> None:
        end = time.monotonic() + 60
        while not server.submitted or server.submitted[0].looks < times:
            assert time.monotonic() < end
            time.sleep(0.05)

    killed = started()
    looked_at(3)
    killed.kill()
    killed.communicate()
    again = started()
    looked_at(server.submitted[0].looks + 3)
    again.send_signal(signal.SIGINT)
    _, said = again.communicate(timeout=60)
    assert again.returncode == 2
    assert "batch batch_0 of openai:gpt-4o goes on at OpenAI, 0/4 done; to cancel it: curl -X POST" in said
    server.looks = 0
    last = tabcontam(*ALONE, "--batch-api", "--out", str(out), *prices(server, tmp_path), OPENAI_API_KEY=KEY)
    assert last.returncode == 0, last.stderr
    assert ([len(batch.requests) for batch in server.submitted], len(server.live)) == ([4], 1)
    assert len(trials(out)) == 5
    assert dollars(out) == pytest.approx(4 * (1000 * 2.5e-6 + 100 * 10e-6) / 2)
