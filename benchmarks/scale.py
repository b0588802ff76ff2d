"""How long would 1,000 LLMs x 1,000 tables take? `python -m benchmarks.scale [--measure] [--docs]`.

A discrete-event model of a run on 8, 64 and 512 GPUs, with replicas, stragglers and the rate limits of services.
`--measure` measures this machine in about two minutes and writes `scale.json` beside this file: what is asked about a
table; what the process that drives a run computes and holds for a table and for each pair of an LLM and a table; how
quickly weights are read; how unevenly equal batches take their time; and real runs against a loopback server, which the
model has to foretell. No GPU, no large model and no service was measured: their speeds, limits and prices are
assumptions, which options change.

The limit beside each time is what the tokens take when every GPU computes at full speed from the first second to the
last, or, where that is longer, what the requests take at the rate that a service allows.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from random import Random
from statistics import mean, median
from time import perf_counter
from typing import Any, TypeAlias
from unittest.mock import patch

import simpy

from benchmarks.engine import answered, asked, made
from benchmarks.processes import used_by
from benchmarks.rate_tables import put
from benchmarks.wire import served
from tabcontam.asking.run_shards import spans
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import Endings, Passage, Prompt
from tabcontam.models.prices import Price, load_prices
from tabcontam.runs.run import prepare

MEASURED = Path(__file__).with_name("scale.json")
NAMES = ("iris", "wine", "titanic") if "TABCONTAM_DATA" in os.environ else ("iris", "wine")
LOADED = ("iris",)  # planning the tests of log-probabilities takes longer
LLMS = TABLES = 1000
NOBODY = "http://127.0.0.1:9/v1"
GPUS = (8, 64, 512)
EACH_MACHINE = 8  # GPUs
CHARACTERS = 4  # that a token has, about
SIZES = {1: 2, 3: 3, 8: 5, 14: 2, 32: 1}  # billions of parameters, and how common open LLMs of that size are
BYTES = 2  # a parameter
CHUNK = 20  # tables that are simulated as one piece of work
FEW, MANY, FOREIGN = 2, 8, 80  # LLMs of a run
BATCHES = 40  # of the same texts
HOUR, DAY = 3600.0, 86_400.0
Part: TypeAlias = tuple[int, list[float]]
Events: TypeAlias = Generator[simpy.Event, Any, None]


@dataclass(frozen=True)
class Asked:
    """What an LLM is asked about one table: queries, and characters of what is read and of what is written."""

    queries: int
    read: int
    written: int


@dataclass(frozen=True)
class Cost:
    """Seconds of a processor, and MB of memory."""

    seconds: float
    mb: float


@dataclass(frozen=True)
class Check:
    """A real run against a loopback server: so many queries, under these conditions, took so many seconds."""

    queries: int
    connections: int
    latency: float
    rate: float  # requests a second, 0 for no limit
    seconds: float


@dataclass(frozen=True)
class Measured:
    """What was measured here; seconds are those of a processor, and a pair is an LLM and a table.

    `service` and `open` are what is asked of an LLM behind an API, and of one that is loaded here, about each table.
    `table` is what writing the queries of a new table takes. The driving process pays `foreign` for each pair of the
    plan that is another machine's, `planned` for one of its own until it is asked, `asked` for all of one. `opened` are
    seconds for a GB of weights; `uneven` the durations of equal batches, as multiples of their median.
    """

    service: tuple[Asked, ...]
    open: tuple[Asked, ...]
    table: float
    foreign: Cost
    planned: Cost
    asked: Cost
    opened: float
    uneven: tuple[float, ...]
    checks: tuple[Check, ...]

    @classmethod
    def read(cls) -> "Measured":
        """Those of the last `--measure`."""
        found = json.loads(MEASURED.read_text("utf-8"))
        for name, kind in (("service", Asked), ("open", Asked), ("checks", Check)):
            found[name] = tuple(kind(**each) for each in found[name])
        found |= {name: Cost(**found[name]) for name in ("foreign", "planned", "asked")}
        return cls(**found | {"uneven": tuple(found["uneven"])})


@dataclass(frozen=True)
class Assumed:
    """What was not measured: GPUs with a model of 8 billion parameters, and services."""

    reads: float = 10_000  # tokens of prompts a second
    writes: float = 1_500  # tokens of answers a second
    gpu_price: float = 2.5  # dollars an hour
    services: int = 200  # of the LLMs are asked through APIs
    requests: float = 5_000  # a minute, that a service takes for each of them
    latency: float = 1.0  # seconds, the median of an answer
    connections: int = 64  # to each of them
    slow: float = 0.02  # the share of replicas, and of a service's answers, that are stragglers
    slowness: float = 3.0  # times as long as the others
    processors: int = 16  # of a machine, that write the queries of tables


@dataclass(frozen=True)
class Grid:
    """The seconds of one GPU that each open LLM takes for each piece of work, its GB of weights, and how many pieces
    each service's LLM has, with the seconds of one."""

    work: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    services: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Way:
    """How the work is spread: over how many `machines`, each with its driving process and `gpus` GPUs, how many
    replicas an LLM has there, and whether each machine plans the `whole` (as with `--shard`) or its own LLMs alone."""

    name: str
    machines: int
    gpus: int
    replicas: int = 1
    whole: bool = True


@dataclass(frozen=True)
class Outcome:
    """Seconds until all is answered, those of them before anything is asked, those that GPUs computed, and the share
    of the time that the busiest driving process computed."""

    seconds: float
    before: float
    computed: float
    driver: float


# --- measuring


def measured() -> Measured:
    """Measure anew."""
    with served(*(f"--model=model-{number}" for number in range(FOREIGN))) as url:
        foreign = _of_a_pair(url, FOREIGN, lambda llms: ("--dry-run", "--shard", f"1/{llms * len(NAMES)}"))
        planned = _of_a_pair(url, MANY, lambda llms: ("--dry-run",))
        asked = _of_a_pair(url, MANY, lambda llms: ())
    checks = _check(32, 0.3, 0.0), _check(32, 0.1, 100.0)
    service = _asked_of(f"openai:model@{NOBODY}", NAMES)
    with tempfile.TemporaryDirectory() as folder:
        opened, uneven = _of_a_model(Path(folder))
        with patch.dict(os.environ, XDG_CACHE_HOME=folder):  # where nothing is known of these tables
            before = _processors()
            loaded = _asked_of(f"hf:{folder}", LOADED)
            table = (_processors() - before) / len(LOADED)
    return Measured(service, loaded, table, foreign, planned, asked, opened, uneven, checks)


def _processors() -> float:
    """Seconds that this process and those that it started have computed."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in both)


def _of_a_pair(url: str, many: int, how: Callable[[int], Sequence[str]]) -> Cost:
    """What each pair more costs, from a run of few LLMs and one of many."""
    few, most = (_command(url, llms, how(llms)) for llms in (FEW, many))
    pairs = (many - FEW) * len(NAMES)
    return Cost(max(0.0, most.seconds - few.seconds) / pairs, max(0.0, most.mb - few.mb) / pairs)


def _asked_of(llm: str, names: Sequence[str]) -> tuple[Asked, ...]:
    """What a run without further options asks this LLM about each table."""
    cells = prepare(RunConfig(llm=(llm,), dataset=tuple(names), controls=False), asks=False).plan
    found = []
    for name in names:
        queries = [query for cell in cells if cell.table.name == name for query in cell.queries]
        found.append(Asked(len(queries), sum(map(_read, queries)), sum(map(_written, queries))))
    return tuple(found)


def _read(query: Query) -> int:
    match query.question:
        case Prompt() as prompt:
            return sum(len(message.content) for message in prompt.chat)
        case Passage() as passage:
            return len(passage.text)
        case Endings() as endings:
            return len(endings.beginning) + sum(map(len, endings.endings))
    return 0


def _written(query: Query) -> int:
    """The characters of the longest answer that is allowed, where text is written at all."""
    return CHARACTERS * query.max_tokens if isinstance(query.question, Prompt) else 0


def _command(url: str, llms: int, more: Sequence[str]) -> Cost:
    """What a run of so many LLMs costs."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word for number in range(llms) for word in ("--llm", f"m{number}=openai:model-{number}@{url}")]
        words += [word for name in NAMES for word in ("--dataset", name)]
        words += ["--no-controls", "--no-cache", "-q", "--out", folder + "/run", *more]
        command = [sys.executable, "-m", "tabcontam", "run", *words]
        used = used_by(command, silent=True)
    return Cost(used.processors, used.mb)


def _check(connections: int, latency: float, rate: float) -> Check:
    """A real run of one LLM, in the seconds from its first request to its last answer."""
    limits = ("--rate", rate, "--burst", 10, "--retry-after", 1) if rate else ()
    with served("--latency", str(latency), *map(str, limits)) as url, tempfile.TemporaryDirectory() as folder:
        order = RunConfig(llm=(f"openai:model@{url}",), dataset=NAMES, controls=False)
        session = made(prepare(order, asks=False).plan, Path(folder), connections)
        seconds = asked(session)
        return Check(answered(session), connections, latency, rate, seconds)


def _of_a_model(folder: Path) -> tuple[float, tuple[float, ...]]:
    """Save a model there. Seconds to read a GB of its weights; equal batches, as multiples of their median."""
    import torch
    from transformers import AutoModelForCausalLM

    from tests.models.hf import tiny

    made = tiny.causal(hidden_size=768, num_hidden_layers=8, intermediate_size=3072)
    tiny.saved(made, tiny.tokenizer(["a few words, and numbers: 1.5, 27"]), folder)
    size = sum(file.stat().st_size for file in folder.glob("*.safetensors")) / 1e9
    start = perf_counter()
    model = AutoModelForCausalLM.from_pretrained(folder, dtype="auto").eval()
    opened = (perf_counter() - start) / size
    batch, took = torch.randint(4, 600, (4, 24)), []
    with torch.inference_mode():
        for _ in range(BATCHES + 2):
            start = perf_counter()
            model(batch)
            took.append(perf_counter() - start)
    usual = median(took[2:])
    return opened, tuple(round(one / usual, 3) for one in took[2:])


# --- simulating


def of_service(queries: int, connections: int, latency: Callable[[], float], rate: float = 0.0) -> float:
    """Seconds until a service has answered, request by request: it takes `rate` of them a second, if that is above 0,
    and as many at a time as there are connections."""
    environment = simpy.Environment()
    slots, line = simpy.Resource(environment, connections), simpy.Resource(environment, 1)

    def request() -> Events:
        with slots.request() as slot:
            yield slot
            if rate:
                with line.request() as turn:  # which the limiter spaces evenly
                    yield turn
                    yield environment.timeout(1 / rate)
            yield environment.timeout(latency())

    for _ in range(queries):
        environment.process(request())
    environment.run()
    return float(environment.now)


def drawn_latency(assumed: Assumed, rng: Random) -> float:
    """Of a service's answer: around the median, and now and then a straggler's."""
    usual = assumed.latency * rng.lognormvariate(0, 0.5)
    return usual * (assumed.slowness if rng.random() < assumed.slow else 1.0)


def needed(table: Asked, size: float, assumed: Assumed) -> float:
    """The seconds of one GPU for a table: its tokens over the throughput of an LLM of this size."""
    return (table.read / CHARACTERS / assumed.reads + table.written / CHARACTERS / assumed.writes) * size / 8


def drawn(known: Measured, assumed: Assumed, rng: Random) -> tuple[Grid, tuple[Price, ...]]:
    """Tables like those that were measured, open LLMs of all sizes, services at the shipped prices."""
    places = rng.choices(range(len(known.open)), k=TABLES)
    sizes = rng.choices(list(SIZES), list(SIZES.values()), k=LLMS - assumed.services)
    chunks = [places[first : first + CHUNK] for first in range(0, TABLES, CHUNK)]
    sample = sum(known.service[place].queries for place in places[: CHUNK // 2])
    each = of_service(sample, assumed.connections, partial(drawn_latency, assumed, rng), assumed.requests / 60) / sample
    of_one = tuple(each * sum(known.service[place].queries for place in chunk) for chunk in chunks)
    work = {
        size: tuple(sum(needed(known.open[place], size, assumed) for place in chunk) for chunk in chunks)
        for size in SIZES
    }
    grid = Grid(
        tuple(work[size] for size in sizes), tuple(float(size * BYTES) for size in sizes), (of_one,) * assumed.services
    )
    return grid, tuple(rng.choices(list(load_prices().values()), k=assumed.services))


def limit(grid: Grid, gpus: int, known: Measured, assumed: Assumed) -> float:
    """The least seconds in which all could be answered: tokens over throughput, or requests over the rate allowed."""
    computed = sum(map(sum, grid.work)) / gpus
    queries = mean(table.queries for table in known.service) if known.service else 0.0
    services = CHUNK * len(grid.services[0]) * queries * 60 / assumed.requests if grid.services else 0.0
    return max(computed, services)


def simulated(grid: Grid, way: Way, known: Measured, assumed: Assumed, seed: int) -> Outcome:
    """The whole run. Machines do not wait for each other, so each is simulated by itself.

    The same seed has the same replicas of an LLM be stragglers, whatever the way.
    """
    parts = [
        [(llm, work, True) for llm, work in loaded] + [(llm, work, False) for llm, work in asked]
        for loaded, asked in zip(_cut(grid.work, way.machines), _cut(grid.services, way.machines), strict=True)
    ]
    sharing = Counter(llm for part in parts for llm, _, loaded in part if not loaded)
    parts = [
        [(llm, work if loaded else [sharing[llm] * one for one in work], loaded) for llm, work, loaded in part]
        for part in parts
    ]  # machines that ask the same service divide its limit among them
    every = CHUNK * sum(map(len, (*grid.work, *grid.services)))
    found = [_machine(part, grid, way, every, known, assumed, seed) for part in parts if part or way.machines == 1]
    return Outcome(
        max(one.seconds for one in found),
        max(one.before for one in found),
        sum(one.computed for one in found),
        max(one.driver for one in found),
    )


def _cut(work: Sequence[Sequence[float]], parts: int) -> list[list[Part]]:
    """LLMs in parts of equally many pieces of work, neighbours together; each with its number and its pieces."""
    pieces = [(llm, piece) for llm, own in enumerate(work) for piece in own]
    cuts = spans([1] * len(pieces), min(parts, len(pieces))) if pieces else []
    found = [
        [(llm, [piece for _, piece in own]) for llm, own in groupby(pieces[first:last], key=itemgetter(0))]
        for first, last in cuts
    ]
    return found + [[] for _ in range(parts - len(found))]


def _machine(
    part: Sequence[tuple[int, Sequence[float], bool]],
    grid: Grid,
    way: Way,
    every: int,
    known: Measured,
    assumed: Assumed,
    seed: int,
) -> Outcome:
    """One machine: it plans, loads each open LLM once to know what it is, and then asks all that it has."""
    environment, computed, driven = simpy.Environment(), [0.0], [0.0]
    gpus, driver = simpy.Resource(environment, way.gpus), simpy.Resource(environment, 1)
    pairs = CHUNK * sum(len(work) for _, work, _ in part)
    load = {llm: known.opened * grid.weights[llm] for llm, _, loaded in part if loaded}
    tables = known.table * CHUNK * max((len(work) for work in (*grid.work, *grid.services)), default=0)
    others = every - pairs if way.whole else 0
    before = tables / assumed.processors + known.planned.seconds * pairs + known.foreign.seconds * others
    each = CHUNK * (known.asked.seconds - known.planned.seconds)
    all_fit = len(load) * way.replicas <= way.gpus

    def recorded() -> Events:
        with driver.request() as turn:
            yield turn
            yield environment.timeout(each)
            driven[0] += each

    def held(seconds: float) -> Events:
        with gpus.request() as place:
            yield place
            yield environment.timeout(seconds)

    def replica(llm: int, number: int, left: list[float]) -> Events:
        rng = Random(f"{seed} {llm} {number}")
        speed = assumed.slowness if rng.random() < assumed.slow else 1.0
        with gpus.request() as place:
            yield place
            if left:
                yield environment.timeout(load[llm] * (not all_fit))
            last: simpy.Event | None = None
            while left:
                takes = left.pop() * speed * mean(rng.choices(known.uneven, k=CHUNK))
                computed[0] += takes
                yield environment.timeout(takes)
                if last is not None:
                    yield last  # answers wait until those before them are written down
                last = environment.process(recorded())

    def service(work: Sequence[float]) -> Events:
        last: simpy.Event | None = None
        for piece in work:
            yield environment.timeout(piece)
            if last is not None:
                yield last
            last = environment.process(recorded())

    def whole() -> Events:
        yield environment.timeout(before)
        driven[0] += before
        yield simpy.AllOf(environment, [environment.process(held(seconds)) for seconds in load.values()])
        for llm, work, loaded in part:
            if not loaded:
                environment.process(service(work))
                continue
            left = list(work)
            for number in range(way.replicas):
                environment.process(replica(llm, number, left))

    environment.process(whole())
    environment.run()
    seconds = float(environment.now)
    return Outcome(seconds, before, computed[0], driven[0] / seconds if seconds else 0.0)


def ways(gpus: int) -> list[Way]:
    """The ways to spread a run over so many GPUs."""
    machines = gpus // EACH_MACHINE
    found = [Way("one process drives all", 1, gpus), Way("one process drives all, 8 replicas an LLM", 1, gpus, 8)]
    if machines > 1:
        found += [
            Way(f"{machines} parts (`--shard`)", machines, EACH_MACHINE),
            Way(f"{machines} parts, 8 replicas an LLM", machines, EACH_MACHINE, 8),
            Way(f"{machines} runs of their own LLMs, 8 replicas an LLM", machines, EACH_MACHINE, 8, whole=False),
        ]
    return found


# --- telling


def lines(known: Measured, assumed: Assumed, seed: int) -> list[str]:
    """The tables, in Markdown."""
    rng = Random(seed)
    grid, prices = drawn(known, assumed, rng)
    per = {
        name: [mean(getattr(one, side) for one in getattr(known, name)) for side in asdict(known.open[0])]
        for name in ("service", "open")
    }
    dollars = sum(price.cost(*(int(TABLES * one / CHARACTERS) for one in per["service"][1:])) for price in prices)
    said = [
        "| measured here | |",
        "|---|---:|",
        f"| an LLM behind an API, a table: queries; tokens read, written at most | {_three(per['service'])} |",
        f"| an LLM that is loaded, a table: queries; tokens read, written at most | {_three(per['open'])} |",
        f"| processor time to write the queries of a table that is new | {known.table:.1f} s |",
        f"| what the driving process computes, and holds, for a pair of an LLM and a table | {_cost(known.asked)} |",
        f"| … of these until it is asked | {_cost(known.planned)} |",
        f"| … for a pair of the same plan that is asked by another machine (`--shard`) | {_cost(known.foreign)} |",
        f"| time to read a GB of weights | {known.opened:.1f} s |",
        f"| the slowest of {len(known.uneven)} equal batches, in multiples of their median | {max(known.uneven):.2f} |",
        "",
        "| real run | measured | simulated |",
        "|---|---:|---:|",
        *map(_checked, known.checks),
        "",
        "| GPUs | way | time | limit | time / limit | before asking | GPUs busy | driver busy | memory | cost |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for gpus in GPUS:
        least = limit(grid, gpus, known, assumed)
        for way in ways(gpus):
            came = simulated(grid, way, known, assumed, seed)
            own = LLMS * TABLES / way.machines
            others = LLMS * TABLES - own if way.whole else 0.0
            memory = (known.asked.mb * own + known.foreign.mb * others) / 1000
            said.append(
                f"| {gpus} | {way.name} | {_time(came.seconds)} | {_time(least)} | {came.seconds / least:.2f} | "
                f"{_time(came.before)} | {came.computed / came.seconds / gpus:.0%} | {came.driver:.0%} | "
                f"{memory:,.1f} GB | ${came.seconds * gpus * assumed.gpu_price / HOUR:,.0f} |"
            )
    slowest = max(map(sum, grid.services), default=0.0)
    said += [
        "",
        f"Services alone would take {_time(slowest)}, and cost at most ${dollars:,.0f} for {assumed.services} LLMs.",
    ]
    return said


def _three(numbers: Sequence[float]) -> str:
    queries, read, written = numbers
    return f"{queries:,.0f}; {read / CHARACTERS:,.0f}, {written / CHARACTERS:,.0f}"


def _cost(cost: Cost) -> str:
    return f"{1000 * cost.seconds:,.1f} ms, {cost.mb:.2f} MB"


def _checked(check: Check) -> str:
    limited = f", {check.rate:.0f} a second allowed" if check.rate else ""
    seconds = of_service(check.queries, check.connections, lambda: check.latency, check.rate)
    return (
        f"| {check.queries:,} queries, {check.connections} connections, {check.latency} s an answer{limited} | "
        f"{check.seconds:.1f} s | {seconds:.1f} s |"
    )


def _time(seconds: float) -> str:
    return f"{seconds / DAY:,.1f} days" if seconds >= 2 * DAY else f"{seconds / HOUR:,.1f} h"


def main() -> None:
    """Measure, or read what was measured; simulate; print."""
    parser = argparse.ArgumentParser(description="Simulate 1,000 LLMs on 1,000 tables.")
    parser.add_argument("--measure", action="store_true", help="measure this machine anew, in some two minutes")
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/scale.md")
    parser.add_argument("--seed", type=int, default=0)
    for name, value in asdict(Assumed()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    given = vars(parser.parse_args())
    measure, docs, seed = (given.pop(name) for name in ("measure", "docs", "seed"))
    if measure:
        MEASURED.write_text(json.dumps(asdict(measured()), indent=1) + "\n", "utf-8")
    said = "\n".join(lines(Measured.read(), Assumed(**given), seed))
    print(said)
    if docs:
        put([said], "simulated")


if __name__ == "__main__":
    main()
