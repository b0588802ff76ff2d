"""What `run --ray` costs and keeps: `python -m benchmarks.ray [PART]... [--runs N]`.

Each part prints a line of Markdown with what was measured beside what is wanted; without a name all parts run. Both
sides of a ratio are measured in turns, in one sitting, and the medians are compared, so that what else the machine does
meets both. The load of the machine stands before each part. Clusters are local ones: their nodes are processes here.

- `api`: whole commands against a loopback server that answers after 300 ms, 64 at a time.
- `hf`: asking a model of some millions of parameters in one replica, and in this process. Ray's start, with what a
  replica takes to load, is told apart.
- `nodes`: one replica, and two, on nodes that have one core each; both are loaded before the clock starts.
- `cells`: a model that answers at once, so that the calls are all that is left; by the clock, and in processor time of
  this process and the replica's.
- `kills`: whole commands on two to four nodes, which are killed at seeded moments, each replaced by a new one.
- `tables`: the whole command about new tables, on one processor alone, and with a node that has the other one; by the
  clock, and in processor time of the command and of the node. Once; results have to be the same.
"""

import argparse
import asyncio
import csv
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from benchmarks.engine import answered, made
from benchmarks.wire import served
from tabcontam.asking.query_plan import PlannedResult, RunSource
from tabcontam.asking.session import Session
from tabcontam.config import RunConfig
from tabcontam.evidence.questions import Capability, ReplyState, Scores, Token
from tabcontam.extensions.cluster.cluster import Cluster
from tabcontam.extensions.cluster.ray_library import USUAL
from tabcontam.extensions.cluster.ray_setting import RayOptions
from tabcontam.extensions.cluster.replicated_model import ReplicatedModel
from tabcontam.models.base import Model, ModelRequest, PromptForm
from tabcontam.models.hf.provider import HFModel
from tabcontam.runs.run import prepare
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Table, load_table
from tests.made_tables import ships
from tests.models.hf import tiny

LATENCY, CONNECTIONS = 0.3, 64
TURNS = 5
WARM = 20  # queries that are asked before the clock starts
ASKED = ("--dataset", "iris", "-k", "perplexity", "--no-controls", "--no-cache")  # 200 queries, two with one text
DIFFERENT = 199
SERIALIZERS, CELL_TURNS = ("is", "colon", "csv", "json"), 15  # of `cells`, whose answers take no time
NEW, NEW_ROWS = 8, 2000  # tables of `tables`
KILLS, NODES = 2, (2, 3, 4)  # how many nodes are killed in a run, and of how many
MIDDLE = {"hidden_size": 256, "num_hidden_layers": 4, "intermediate_size": 1024}


def say(part: str, what: str, figure: str, wanted: str, kept: bool) -> None:
    """One line of the table."""
    print(f"| {part} | {what} | {figure} | {wanted} | {'yes' if kept else '**no**'} |", flush=True)


def ratio(part: str, what: str, one: Callable[[], float], other: Callable[[], float], wanted: float) -> None:
    """How often as much `other` does in a second as `one`; both return seconds."""
    pairs = []
    for _ in range(TURNS):
        pairs.append((one(), other()))
        print(f"{part}: {pairs[-1][0]:.1f} s and {pairs[-1][1]:.1f} s", file=sys.stderr, flush=True)
    first, second = (median(side) for side in zip(*pairs, strict=True))
    each = ", ".join(f"{a / b:.2f}" for a, b in pairs)
    say(
        part,
        what,
        f"{first / second:.2f} ({first:.1f} s and {second:.1f} s; {each})",
        f"≥ {wanted}",
        first / second >= wanted,
    )


def command(*words: str) -> "subprocess.Popen[str]":
    """A real run, in a process of its own."""
    streams: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-m", "tabcontam", "run", *words, "-q"], **streams)


def seconds(*words: str) -> float:
    """How long a whole run takes."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        run = command(*words, "--out", f"{folder}/run")
        _, said = run.communicate()
        if run.returncode:
            raise SystemExit(said)
        return time.perf_counter() - start


@contextmanager
def model_of(**sizes: Any) -> Iterator[str]:
    """A folder with an untrained model."""
    lines = tiny.rows_of(load_table("iris"), load_serializer("is"))
    with tempfile.TemporaryDirectory() as folder:
        yield str(
            tiny.saved(
                tiny.causal(max_position_embeddings=4096, **sizes), tiny.tokenizer(lines), Path(folder) / "model"
            )
        )


@contextmanager
def machines(nodes: int) -> Iterator[Any]:
    """A cluster of processes here: a head without cores, and so many nodes of one core each."""
    os.environ.update(USUAL)
    from ray.cluster_utils import Cluster as Machines

    found = Machines(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for _ in range(nodes):
            found.add_node(num_cpus=1)
        yield found
    finally:
        found.shutdown()  # type: ignore[no-untyped-call]


def planned(folder: str, serializers: tuple[str, ...] = ()) -> list[PlannedResult]:
    """What is asked of a model in these measurements: passages of two tables."""
    order = RunConfig(
        llm=(f"hf:{folder}",), dataset=("iris", "wine"), tests="perplexity", controls=False, serializer=serializers
    )
    return list(prepare(order, asks=False).plan)


def asked(model: Model, cells: Sequence[PlannedResult]) -> tuple[float, float]:
    """Seconds until the model is reached, and until all is answered, from when its replicas are there."""
    subject = RunSource(model)
    cells = [replace(cell, subject=subject) for cell in cells]
    first = [replace(cells[0], written=cells[0].written[:WARM])]
    own = [replace(cells[0], written=cells[0].written[WARM:]), *cells[1:]]

    async def whole(name: str) -> tuple[float, float]:
        sessions = [made(part, Path(name, str(number)), None) for number, part in enumerate((first, own))]
        try:
            start = time.perf_counter()
            await sessions[0].connect()
            reached = time.perf_counter() - start
            await _all(sessions[0])
            while isinstance(model, ReplicatedModel) and len(model._ready) < model._cluster.order.replicas:
                await asyncio.sleep(0.05)
            start = time.perf_counter()
            await _all(sessions[1])
            took = time.perf_counter() - start
            if answered(sessions[1]) < sum(len(cell.queries) for cell in own):
                raise SystemExit(f"{model.spec} did not answer all queries")
            return reached, took
        finally:
            await sessions[0].close()

    with tempfile.TemporaryDirectory() as name:
        for number in range(2):
            Path(name, str(number)).mkdir()
        return asyncio.run(whole(name))


async def _all(session: Session) -> None:
    session.recall()
    await session.ask()
    session.store.close()


def on_ray(folder: str, address: str = "", replicas: int = 1) -> Model:
    """The model in so many replicas."""
    return Cluster(RayOptions(address, replicas)).holds(HFModel(folder))


def api(runs: int) -> None:
    """LLMs behind an API."""
    with served("--latency", str(LATENCY)) as url:
        words: tuple[str, ...] = (
            "--llm",
            f"openai:model@{url}",
            "--dataset",
            "iris",
            "--dataset",
            "wine",
            "--no-controls",
            "--no-cache",
        )
        words += ("--max-connections", str(CONNECTIONS))
        what = f"throughput of whole commands, {LATENCY} s an answer, {CONNECTIONS} connections"
        ratio("api", what, lambda: seconds(*words), lambda: seconds(*words, "--ray", "replicas=1"), 0.95)


def hf(runs: int) -> None:
    """A model on this machine."""
    begun: dict[str, list[float]] = {"here": [], "ray": []}
    with model_of(**MIDDLE) as folder:
        cells = planned(folder)

        def timed(where: str, model: Model) -> float:
            reached, took = asked(model, cells)
            begun[where].append(reached)
            return took

        ratio(
            "hf",
            f"throughput of one replica, {sum(len(cell.queries) for cell in cells) - WARM} queries",
            lambda: timed("here", HFModel(folder)),
            lambda: timed("ray", on_ray(folder)),
            0.95,
        )
    print(
        f"\nUntil the model was loaded {median(begun['here']):.1f} s passed; until Ray had begun and loaded it "
        f"{median(begun['ray']):.1f} s.\n"
    )


def nodes(runs: int) -> None:
    """Two nodes beside one."""
    with model_of(**MIDDLE) as folder, machines(2) as cluster:
        cells = planned(folder)

        def timed(replicas: int) -> float:
            return asked(on_ray(folder, cluster.address, replicas), cells)[1]

        ratio(
            "nodes",
            "throughput of two nodes with one core each, as a multiple of one",
            partial(timed, 1),
            partial(timed, 2),
            1.6,
        )


class Instant(Model):
    """A model that answers at once, as long as answers are: what is left are the calls."""

    spec, local, form, connections, version = "instant:model", True, PromptForm.COMPLETION, 32, "1"
    capabilities = frozenset({Capability.SCORE, Capability.MOMENTS})

    @property
    def elsewhere(self) -> Callable[[], Model]:
        """Another one."""
        return Instant

    async def score(self, request: ModelRequest) -> Scores:
        """Three letters are a token."""
        text = request.passage.text
        pieces = (text[start : start + 3] for start in range(0, len(text), 3))
        return Scores(tuple(Token(piece, -place / 7, -3.2, 1.1) for place, piece in enumerate(pieces)), ReplyState.OK)


async def spent(model: Model) -> float:
    """Seconds of processor time so far: of this process, and of the replicas."""
    held = model._ready if isinstance(model, ReplicatedModel) else []
    told: list[float] = [await one.actor.__ray_call__.remote(cpu_seconds) for one in held]
    return time.process_time() + sum(told)


def cpu_seconds(replica: object) -> float:
    """Of this process."""
    return time.process_time()


def cells(runs: int) -> None:
    """What a call costs."""
    with model_of() as folder:
        own = planned(folder, SERIALIZERS)
    gc.freeze()  # as the command does with its plan

    async def timed(model: Model) -> tuple[float, float]:
        subject = RunSource(model)
        with tempfile.TemporaryDirectory() as name:
            session = made([replace(cell, subject=subject) for cell in own], Path(name), None)
            start, cpu = time.perf_counter(), await spent(model)
            await _all(session)
            return time.perf_counter() - start, await spent(model) - cpu

    async def turns() -> list[tuple[tuple[float, float], tuple[float, float]]]:
        here, ray = Instant(), Cluster(RayOptions()).holds(Instant())
        ray.version = ""
        await ray.connect()
        try:
            return [(await timed(here), await timed(ray)) for _ in range(CELL_TURNS + 1)][1:]  # the first warms up
        finally:
            await ray.close()

    pairs = asyncio.run(turns())
    queries = sum(len(cell.queries) for cell in own) / len(own)
    clock, cpu = ([1000 * (ray[n] - here[n]) / len(own) for here, ray in pairs] for n in range(2))
    text = (
        f"{median(clock):.1f} ms, {median(clock) / queries:.2f} ms a query ({', '.join(f'{one:.0f}' for one in clock)})"
    )
    say("results", f"time more for a cell of {queries:.0f} queries", text, "< 20 ms", median(clock) < 20)
    print(f"\nProcessor time more for a cell: {median(cpu):.1f} ms ({', '.join(f'{one:.0f}' for one in cpu)}).\n")


def kills(runs: int) -> None:
    """Nodes that are killed."""
    with model_of() as folder, tempfile.TemporaryDirectory() as name:
        words = ("--llm", f"hf:{folder}", *ASKED)
        whole = command(*words, "--out", f"{name}/whole")
        if whole.wait():
            raise SystemExit("the run that nobody disturbs failed")
        wanted, _ = told(Path(name, "whole"))
        good = killed = again = 0
        most = 0.0
        for seed in range(runs):
            out = Path(name, f"run-{seed}")
            deaths, code, said = disturbed(words, out, Random(seed))
            killed += deaths
            if code:
                print(f"\nrun {seed} ended with {code}: {said[-300:]}\n", flush=True)
                continue
            found, llm = told(out)
            lines = [json.loads(line)["query"] for line in (out / "trials.jsonl").read_text("utf-8").splitlines()]
            again += llm["retries"]
            most = max(most, llm["retries"] / max(deaths, 1))
            once = llm["requests"] - llm["retries"] == DIFFERENT and len(set(lines)) == len(lines)
            good += once and found == wanted
            print(
                f"kills: {good} of {seed + 1} runs, {killed} nodes killed, {again} asked again",
                file=sys.stderr,
                flush=True,
            )
    text = f"{good} of {runs} ({killed} nodes killed; {again} queries in flight asked again, at most {most:.0f} a node)"
    say("kills", "runs in which nothing is lost, and what was answered is asked once", text, "all", good == runs)


def told(folder: Path) -> tuple[Any, Mapping[str, int]]:
    """The cells and tables of a run, and what it counted of its LLM."""
    found = json.loads((folder / "results.json").read_text("utf-8"))
    return [found["results"], found["tables"], found["ranking"]], found["run"]["llms"][0]


def disturbed(words: Sequence[str], out: Path, rng: Random) -> tuple[int, int, str]:
    """A run on some nodes, of which one is killed when so many answers are there: kills, exit code, what it said."""
    at, count = sorted(rng.randrange(1, DIFFERENT - 10) for _ in range(KILLS)), rng.choice(NODES)
    with machines(count) as cluster:
        up = list(cluster.worker_nodes)
        run = command(
            *words, "--ray", f"address={cluster.address},replicas={count}", "--batch-size", "1", "--out", str(out)
        )
        trials, deaths = out / "trials.jsonl", 0
        while run.poll() is None:
            lines = trials.read_bytes().count(b"\n") if trials.exists() else 0
            if deaths < KILLS and lines >= at[deaths]:
                cluster.remove_node(up.pop(rng.randrange(len(up))), allow_graceful=False)
                up.append(cluster.add_node(num_cpus=1))
                deaths += 1
            time.sleep(0.01)
        _, said = run.communicate()
    return deaths, run.returncode, said


def tables(runs: int) -> None:
    """New tables, prepared on two machines."""
    if len(os.sched_getaffinity(0)) < 2:  # type: ignore[attr-defined,unused-ignore]
        raise SystemExit("the machine has one processor, which cannot stand for two machines")
    own, other, *_ = sorted(os.sched_getaffinity(0))  # type: ignore[attr-defined,unused-ignore]
    with tempfile.TemporaryDirectory() as folder:
        words = ["--llm", "simulated:guesser", "--no-controls", "--no-cache"]
        for seed in range(NEW):
            words += ["--dataset", str(written(ships(NEW_ROWS, seed=seed), Path(folder, f"{seed}.csv")))]
        alone = on_processor(own, words, Path(folder, "alone"), None)
        os.sched_setaffinity(0, {other})  # type: ignore[attr-defined,unused-ignore] # of the nodes, which inherit it
        with machines(1) as cluster:
            (node,) = cluster.worker_nodes
            there = node.all_processes["raylet"][0].process.pid
            ray = ["--ray", f"address={cluster.address}"]
            both = on_processor(own, [*words, *ray], Path(folder, "both"), there)
        same = told(Path(folder, "alone"))[0] == told(Path(folder, "both"))[0]
    text = (
        f"{alone[0] / both[0]:.2f} ({alone[0]:.0f} s and {both[0]:.0f} s; processor time of the command "
        f"{alone[1]:.0f} s and {both[1]:.0f} s, of the node {both[2]:.0f} s; {'same' if same else 'other'} results)"
    )
    what = f"time for {NEW} new tables of {NEW_ROWS} rows, as a multiple of that with another node"
    say("tables", what, text, "> 1", same and alone[0] > both[0])


def written(table: Table, path: Path) -> Path:
    """The table as a file, with one column more."""
    rng = Random(table.sha256)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*table.columns, "berth"])
        rows.writerows([*row, rng.randrange(40)] for row in table.rows)
    return path


def on_processor(number: int, words: Sequence[str], out: Path, node: int | None) -> tuple[float, float, float]:
    """A run on one processor, with a cache folder of its own: seconds, processor time of the run and of the node."""
    before, start, last = os.times(), time.perf_counter(), dict[int, float]()
    env = os.environ | {"XDG_CACHE_HOME": f"{out}-cache"}
    pinned = ["taskset", "-c", str(number), sys.executable, "-m", "tabcontam", "run", *words, "-q", "--out", str(out)]
    run = subprocess.Popen(pinned, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while run.poll() is None:
        last |= below(node) if node else {}
        time.sleep(0.2)
    took, after = time.perf_counter() - start, os.times()
    if run.returncode and run.stderr:
        raise SystemExit(run.stderr.read())
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return took, spent, sum(last.values())


def below(pid: int) -> dict[int, float]:
    """Seconds of processor time of each process that this one began, on Linux."""
    found: dict[int, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent, *_, user, system = (folder / "stat").read_text().rpartition(") ")[2].split()[1:13]
            if int(parent) == pid:
                found[int(folder.name)] = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return found


PARTS = {"api": api, "hf": hf, "nodes": nodes, "results": cells, "kills": kills, "tables": tables}


def main() -> None:
    """The named parts, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS])
    parser.add_argument("--runs", type=int, default=20, help="runs with kills")
    given = parser.parse_args()
    parts = given.parts or list(PARTS)
    if len(parts) > 1:  # Ray remembers in a process which token its first cluster had
        for name in parts:
            subprocess.run([sys.executable, "-m", "benchmarks.ray", name, f"--runs={given.runs}"], check=True)
        return
    print(f"\nLoad {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.\n")
    print("| part | what | measured | wanted | kept |\n|---|---|---|---|---|", flush=True)
    PARTS[parts[0]](given.runs)


if __name__ == "__main__":
    main()
