"""How fast and how safely a session asks: `python -m benchmarks.engine [latency|limited|faults|kill|own]...`.

Each part prints what was measured beside its limit; without a name all parts run. The server is the quick one of
`tests.loopback`, in a process of its own; the queries are the suite's, as a run plans them, and no two are identical.
With TABCONTAM_DATA there are more of them. What else the machine does is in every figure: its load stands before each.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.wire import served
from tabcontam.asking.query_plan import PlannedResult, RunSource, plan
from tabcontam.asking.reply_store import Store
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.session import Session
from tabcontam.asking.trial_file import RESULTS, TRIALS, Journal, write_question
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Capability, Query, Reply, ReplyState
from tabcontam.evidence.registry import all_tests
from tabcontam.models.base import Model, ModelRequest, PromptForm
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import load_table
from tabcontam.verdicts.result_types import Result, ResultKey
from tests.answerers import reply_of

NAMES = ("adult", "titanic", "bank", "iris", "wine") if "TABCONTAM_DATA" in os.environ else ("iris", "wine")
QUERIES = 2000
CONNECTIONS = 64
LATENCY = 0.3
SPEC = "openai:model"  # the same whatever port the server has, so that results can be compared
PEER = "tabmemcheck==0.1.6"
PEER_NEEDS = ("jellyfish", "pyyaml", "tiktoken", "tenacity")  # beside what tabcontam itself installs
PEER_QUERIES = 20
PEER_SCRIPT = """
import json, sys, time, types
sys.modules["xgboost"] = types.SimpleNamespace(XGBRegressor=None, XGBClassifier=None)  # large, and asks nothing
import tabmemcheck
llm = tabmemcheck.openai_setup("gpt-4")
first, *rest = json.load(sys.stdin)
assert tabmemcheck.send_chat_completion(llm, first, max_tokens=16)
start = time.perf_counter()
for messages in rest:
    assert tabmemcheck.send_chat_completion(llm, messages, max_tokens=16)
print(len(rest) / (time.perf_counter() - start))
"""
RATE, BURST = 100, 50
FAULTY = 1000
KILLS, KILL_LATENCY, KILL_CONNECTIONS, KILL_SEED = 50, 0.1, 16, 7


@cache
def planned() -> tuple[tuple[PlannedResult, ...], float]:
    """Every cell of the tables in every serializer, and the processor time that planning took, in ms a query."""
    tables, serializers = [load_table(name) for name in NAMES], list(load_serializers().values())
    start = time.process_time()
    cells = plan([RunSource(SimulatedModel("oracle"))], tables, serializers, all_tests(), RunConfig())
    spent = time.process_time() - start
    return tuple(cells), 1000 * spent / sum(len(cell.queries) for cell in cells)


@cache
def different() -> tuple[tuple[PlannedResult, Query], ...]:
    """The queries of the plan, identical ones once."""
    places = {as_text(query): (cell, query) for cell in planned()[0] for query in cell.queries}
    return tuple(places.values())


def cells_for(model: Model, most: int) -> list[PlannedResult]:
    """The cells of so many different queries, for another model: every n-th query, so that all tests are there."""
    places, subject = different(), RunSource(model)
    most = min(most, len(places))
    chosen: dict[ResultKey, tuple[PlannedResult, list[Query]]] = {}
    for cell, query in (places[number * len(places) // most] for number in range(most)):
        chosen.setdefault(cell.name, (cell, []))[1].append(query)
    return [replace(cell, subject=subject, written=tuple(queries)) for cell, queries in chosen.values()]


def as_text(query: Query) -> str:
    """The messages of a query, as JSON."""
    return json.dumps([write_question(query.prompt, PromptForm.CHAT), query.max_tokens])


def made(cells: Sequence[PlannedResult], folder: Path, connections: int | None) -> Session:
    """A session with its journal and its store, as a run has them."""
    options = RunConfig(max_connections=connections)
    store = Store.open(folder / "replies.sqlite")
    return Session(cells, options, Journal(folder), Progress(), store)


def asked(session: Session) -> float:
    """Connect, recall and ask as a run does; the seconds that asking took, from before the first request."""

    async def whole() -> float:
        try:
            await session.connect()
            session.recall()
            start = time.perf_counter()
            await session.ask()
            return time.perf_counter() - start
        finally:
            await session.close()
            session.store.close()

    return asyncio.run(whole())


def run(url: str, queries: int, connections: int | None = None) -> tuple[Session, float]:
    """A session of so many queries at this server, and the seconds that it asked."""
    model = OpenAIModel("model", url, max_connections=connections or 256, spec=SPEC)
    with tempfile.TemporaryDirectory() as folder:
        session = made(cells_for(model, queries), Path(folder), connections)
        return session, asked(session)


def answered(session: Session) -> int:
    """How many queries have a reply that is none of a failure."""
    trials = [trial for cell in session.trials.values() for trial in cell.values()]
    return sum(trial.reply.state is not ReplyState.FAILED for trial in trials)


def counts(url: str) -> Mapping[str, Any]:
    """What the server was asked, and what became of it."""
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/counts") as response:
        found: Mapping[str, Any] = json.load(response)
    return found


def say(part: str, text: str, kept: bool | None) -> None:
    """One line of the table; `kept` is None where nothing was measured."""
    verdict = {True: "kept", False: "MISSED", None: "not measured"}[kept]
    print(f"{part:8} {text}: {verdict}", flush=True)


def latency() -> None:
    """Many slow answers, as many at a time as the user allows; and the peer, which asks one at a time."""
    with served("--latency", str(LATENCY)) as url:
        session, seconds = run(url, QUERIES, CONNECTIONS)
        done = answered(session)
        peer = peer_rate(url)
    ideal = done * LATENCY / CONNECTIONS
    text = f"{done} queries, {LATENCY} s latency, {CONNECTIONS} connections: {seconds:.2f} s, {seconds / ideal:.3f}"
    say("latency", f"{text} times the ideal {ideal:.2f} s; limit 1.15", seconds <= 1.15 * ideal)
    if isinstance(peer, str):
        say("latency", f"throughput beside {PEER}; limit 50 times ({peer})", None)
        return
    ours = done / seconds
    text = f"{ours:.0f} queries a second, {PEER} {peer:.2f}: {ours / peer:.1f} times its throughput"
    say("latency", f"{text}; limit 50", ours >= 50 * peer)


def peer_rate(url: str) -> float | str:
    """Queries a second of the peer's own way to ask a chat model; or why there is none."""
    queries = [query for cell in cells_for(SimulatedModel("oracle"), PEER_QUERIES + 1) for query in cell.queries]
    given = json.dumps([write_question(query.prompt, PromptForm.CHAT) for query in queries])
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "1"]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONPATH": folder, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url}
        try:
            for what in (PEER_NEEDS, ("--no-deps", PEER)):
                subprocess.run([*pip, "--target", folder, *what], check=True, capture_output=True, text=True)
            command = [sys.executable, "-W", "ignore", "-c", PEER_SCRIPT]
            told = subprocess.run(
                command, input=given, check=True, capture_output=True, text=True, cwd=folder, env=environment
            )
            return float(told.stdout.split()[-1])
        except subprocess.CalledProcessError as error:
            return (str(error.stderr).strip().splitlines() or ["it failed"])[-1]


def limited() -> None:
    """A server with a limit that nobody told us."""
    for seconds_each in (LATENCY, 0.05):
        settings = ("--rate", RATE, "--burst", BURST, "--retry-after", 1, "--latency", seconds_each)
        with served(*map(str, settings)) as url:
            session, seconds = run(url, QUERIES)
            refused = counts(url)["by_status"].get("429", 0)
        queries, done = sum(len(cell.queries) for cell in session.plan), answered(session)
        ideal = (queries - BURST) / RATE + seconds_each
        text = f"{queries} queries, {RATE} a second allowed, {seconds_each} s latency: {seconds:.2f} s"
        say(
            "limited", f"{text}, {seconds / ideal:.3f} times the ideal {ideal:.2f} s; limit 1.1", seconds <= 1.1 * ideal
        )
        text = f"{done} answered, limit {queries}; {refused / queries:.2f} refusals a request, limit 1"
        say("limited", text, done == queries and refused < queries)


def faults() -> None:
    """One request of five fails; replies and verdicts are those of a server that works."""
    found: list[tuple[Sequence[Result], dict[str, str]]] = []
    for share in (0.0, 0.2):
        with served("--faults", str(share), "--retry-after", "0.2", "--latency", "0.02") as url:
            session, seconds = run(url, FAULTY)
            what = counts(url)["by_status"]
        found.append((session.results(), replies(session)))
    queries, done = sum(len(cell.queries) for cell in session.plan), answered(session)
    met = ", ".join(f"{number} {name}" for name, number in what.items() if name != "200")
    say("faults", f"{done} answered in {seconds:.1f} s ({met}); limit {queries}", done == queries)
    same = found[0] == found[1]
    text = f"{len(found[0][0])} results and {len(found[0][1])} replies"
    say("faults", f"{text} {'equal' if same else 'NOT equal'} to those without faults", same)


def replies(session: Session) -> dict[str, str]:
    """State and text of every reply, by cell and query."""
    return {
        f"{name} {query}": f"{trial.reply.state} {trial.reply.text}"
        for name, trials in session.trials.items()
        for query, trial in trials.items()
    }


def kill() -> None:
    """Runs that are killed at random moments: what was answered and not written down; one of them is continued."""
    random = Random(KILL_SEED)
    with served("--latency", str(KILL_LATENCY)) as url, tempfile.TemporaryDirectory() as name:
        whole = Path(name, "whole")
        began = time.monotonic()
        code = status(whole, url)
        once, seconds = int(counts(url)["answered"]), time.monotonic() - began
        lost: list[int] = []
        for number in range(KILLS):
            folder, before = Path(name, str(number)), int(counts(url)["answered"])
            status(folder, url, random.uniform(0, once * KILL_LATENCY / KILL_CONNECTIONS))
            time.sleep(3 * KILL_LATENCY)  # until the server has answered nobody
            trials = folder / TRIALS
            written = sum(line.endswith(b"\n") for line in trials.open("rb")) if trials.exists() else 0
            lost.append(int(counts(url)["answered"]) - before - written)
        status(folder, url)
        documents = [json.loads((one / RESULTS).read_text()) for one in (whole, folder)]
        lines, own = (len((one / TRIALS).read_text().splitlines()) for one in (folder, whole))
    text = f"{once} queries in {seconds:.1f} s, {KILLS} runs killed at random moments (seed {KILL_SEED})"
    most = f"at most {max(lost)} to be asked again ({sorted(lost)[KILLS // 2]} in the median), limit {KILL_CONNECTIONS}"
    say("kill", f"{text}: {most}", code == 0 and min(lost) >= 0 and max(lost) <= KILL_CONNECTIONS)
    same = all(documents[0][part] == documents[1][part] for part in ("results", "tables", "ranking"))
    text = f"{len(documents[0]['results'])} cells {'equal' if same else 'NOT equal'} to the undisturbed run's"
    say("kill", f"{text}, {lines} lines in {TRIALS}, limit {own}", same and lines == own)


def status(out: Path, url: str, moment: float | None = None) -> int | None:
    """The exit status of a run; None where it was killed, so many seconds after its first request."""
    before = counts(url)["requests"]
    with command(out, url) as process:
        if moment is None:
            return process.wait()
        while counts(url)["requests"] == before and process.poll() is None:
            time.sleep(0.01)
        try:
            return process.wait(moment)
        except subprocess.TimeoutExpired:
            process.kill()
            return None


def command(out: Path, url: str) -> "subprocess.Popen[bytes]":
    """A real run, in a process of its own, whose answers its folder alone keeps."""
    which = [text for name in NAMES[:3] for text in ("--dataset", name)]
    arguments = ["run", "--llm", f"openai:model@{url}", "--no-controls", *which, "--out", str(out), "-q", "--no-cache"]
    return subprocess.Popen(
        [sys.executable, "-m", "tabcontam", *arguments, "--max-connections", str(KILL_CONNECTIONS)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"XDG_CACHE_HOME": f"{out.parent}-cache"},
    )


class Instant(Model):
    """A model that has its answers ready."""

    spec = "instant:model"
    form = PromptForm.CHAT
    version = "1"
    capabilities = frozenset({Capability.GENERATE, Capability.INSTRUCTIONS})

    def __init__(self) -> None:
        self.replies: dict[str, Reply] = {}

    def learn(self, cells: Sequence[PlannedResult]) -> None:
        """Make the answers: an answer with talk around it, by the text that is asked."""
        for cell in cells:
            for query in cell.queries:
                self.replies[query.prompt.chat[-1].content] = reply_of("formatter", query, cell.table)

    async def generate(self, request: ModelRequest) -> Reply:
        return self.replies[request.prompt.chat[-1].content]


def own() -> None:
    """Processor time of everything but the wire, and of that with the wire."""
    planning = planned()[1]
    instant = Instant()
    cells = cells_for(instant, QUERIES)
    instant.learn(cells)
    asking = planning + processor_time(cells)
    say("own", f"{asking:.2f} ms of processor time a query but for the wire; limit 2 ms", asking <= 2)
    with served() as url:
        model = OpenAIModel("model", url, max_connections=CONNECTIONS, spec=SPEC)
        wired = planning + processor_time(cells_for(model, QUERIES))
    print(f"{'own':8} {wired:.2f} ms with the OpenAI provider and its wire ({planning:.2f} ms of each is planning)")


def processor_time(cells: Sequence[PlannedResult]) -> float:
    """Milliseconds a query from recalling to the results."""
    with tempfile.TemporaryDirectory() as folder:
        session = made(cells, Path(folder), CONNECTIONS)
        start = time.process_time()
        asked(session)
        session.results()
        spent = time.process_time() - start
    assert answered(session) == sum(len(cell.queries) for cell in cells)
    return 1000 * spent / answered(session)


PARTS: Mapping[str, Callable[[], None]] = {
    "latency": latency,
    "limited": limited,
    "faults": faults,
    "kill": kill,
    "own": own,
}


def main() -> None:
    """The named parts, or all."""
    named = sys.argv[1:] or list(PARTS)
    if unknown := [name for name in named if name not in PARTS]:
        sys.exit(f"no part is named {unknown[0]}; known: {', '.join(PARTS)}")
    for name in named:
        if hasattr(os, "getloadavg"):
            print(f"{name:8} begins at a load of {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main()
