"""New tables of a plan are prepared on other machines, whatever becomes of these."""

import asyncio
import json
import os
import signal
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tabcontam.asking import preparing
from tabcontam.asking.preparation_jobs import job_of
from tabcontam.asking.preparing import prepare_in_background
from tabcontam.asking.query_plan import sheet_of
from tabcontam.asking.work_division import PreparationQueue, StoredFactRegistry
from tabcontam.baseline.stored_facts import folder_of
from tabcontam.config import RunConfig
from tabcontam.evidence.registry import by_id
from tabcontam.extensions.cluster import ray_library, remote_preparation
from tabcontam.extensions.cluster.cluster import Cluster
from tabcontam.extensions.cluster.machines import ClusterMachines, LostWorkError
from tabcontam.extensions.cluster.ray_setting import RayOptions
from tabcontam.extensions.cluster.remote_preparation import prepare_remotely, stored_facts
from tabcontam.runs.run import prepare
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tests import made_tables as tables

IS = load_serializers()["is"]
TESTS = [by_id()[name] for name in ("full_completion", "feature_completion")]
NAME = f"{0:032x}.json"
STORED_FACT = f"{0:016x}/{NAME}"  # with a table's folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder without what other tests made, on a machine with one processor."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setattr(preparing, "processors", lambda: 1)
    return tmp_path


def ships(seed: int, rows: int = 40) -> Table:
    """A table of its own, of which nothing is known yet."""
    return tables.ships.__wrapped__(rows, seed=seed)


def kept_of(table: Table) -> dict[str, str]:
    """What is kept of a table: the text of each file, by its name."""
    folder = folder_of(table)
    assert folder is not None
    return {path.name: path.read_text("utf-8") for path in folder.glob("*")}


class Here(ClusterMachines):
    """Machines whose work is done in this process: `say` tells what comes of a table after it has begun."""

    def __init__(self, say: Callable[[str], bytes], processors: int = 1) -> None:
        super().__init__(Cluster(RayOptions("auto")))
        self.say, self.processors, self.asked = say, processors, list[str]()

    def places(self) -> int:
        """As many as there are said to be."""
        return self.processors

    async def visited(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it."""
        await work

    async def doing(self, work: object, given: bytes) -> AsyncGenerator[bytes]:
        """What is said of the table."""
        digest = json.loads(given)["table"]["sha256"]
        self.asked.append(digest)
        yield b""
        yield self.say(digest)


def said(text: str, table: Table) -> bytes:
    """What a machine sends that has made one stored fact about a table."""
    folder = folder_of(table)
    assert folder is not None
    return json.dumps({f"{folder.name}/{NAME}": text}).encode()


def sent(machines: ClusterMachines, left: PreparationQueue, found: StoredFactRegistry) -> None:
    """Have these machines prepare what is left."""
    asyncio.run(prepare_remotely(machines, left, found, lambda table: job_of(table, IS, TESTS, 0)))


def test_what_machines_find_is_kept_and_read_by_the_run() -> None:
    both, found = [ships(0), ships(1)], StoredFactRegistry()
    known = {table.sha256: table for table in both}
    machines, left = Here(lambda digest: said(f'"{digest}"', known[digest]), 2), PreparationQueue(both, TESTS)
    sent(machines, left, found)
    assert machines.asked == [table.sha256 for table in reversed(both)]
    assert not left
    for table in both:
        assert kept_of(table) == {NAME: f'"{table.sha256}"'}
        assert not found.begin(str(folder_of(table)) + os.sep + NAME)
        assert found.begin(str(folder_of(table)) + os.sep + f"{1:032x}.json")  # which the machine did not make


@pytest.mark.parametrize(
    "wrong",
    [
        json.dumps({"../" + STORED_FACT: "1"}),
        json.dumps({STORED_FACT: "1", "/tmp/" + STORED_FACT: "1"}),
        json.dumps({STORED_FACT + "\n": "1"}),
        json.dumps({"known.json": "1"}),
        json.dumps({NAME: "1"}),
        json.dumps({STORED_FACT: "no JSON"}),
        json.dumps({STORED_FACT: 1}),
        json.dumps([STORED_FACT]),
        "no JSON",
    ],
)
def test_what_is_no_finding_is_written_nowhere(wrong: str, cache: Path) -> None:
    table = ships(0)
    machines, left = Here(lambda digest: wrong.encode()), PreparationQueue([table], TESTS)
    sent(machines, left, StoredFactRegistry())
    assert len(machines.asked) == 2
    assert left.take() == (table, TESTS[1])
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_a_table_that_is_lost_is_offered_once_more_and_then_left_to_others() -> None:
    def lost(digest: str) -> bytes:
        raise LostWorkError(digest)

    both, machines = [ships(0), ships(1)], Here(lost)
    left, found = PreparationQueue(both, TESTS), StoredFactRegistry()
    sent(machines, left, found)
    assert sorted(machines.asked) == sorted([both[0].sha256, both[1].sha256] * 2)
    assert len(left) == 4
    assert found.begin(str(folder_of(both[1])) + os.sep + NAME)  # nobody waits for it


def test_a_machine_with_other_versions_prepares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(Here):
        async def doing(self, work: Any, given: bytes) -> AsyncGenerator[bytes]:
            monkeypatch.setattr(remote_preparation, "made_with", lambda: {"tabcontam": "0", "numpy": "0"})
            for one in work(given):
                yield one

    machines, left = Other(lambda digest: b""), PreparationQueue([ships(0)], TESTS)
    sent(machines, left, StoredFactRegistry())
    (line,) = machines.lines
    assert line.startswith("a machine has tabcontam 0, numpy 0, and this one tabcontam ")
    assert len(left) == 2


def test_a_table_that_has_to_wait_for_a_machine_may_be_begun_here() -> None:
    table, other = ships(0), ships(1)

    class Crowded(Here):
        async def doing(self, work: object, given: bytes) -> AsyncGenerator[bytes]:
            if json.loads(given)["table"]["sha256"] == table.sha256:
                left.write(TESTS[0], table)
            async for one in super().doing(work, given):
                yield one

    left = PreparationQueue([table, other], TESTS)
    sent(Crowded(lambda digest: said("1", other)), left, StoredFactRegistry())
    assert [kept_of(one) for one in (table, other)] == [{}, {NAME: "1"}]
    assert left.take() == (table, TESTS[1])


def test_processes_take_what_is_offered_to_no_machine_as_long_as_there_is_some() -> None:
    both = [ships(0), ships(1)]
    left = PreparationQueue(both, TESTS)
    assert left.offer() is both[1]
    taken = [left.take() for _ in range(5)]
    assert taken == [(both[0], TESTS[1]), (both[0], TESTS[0]), (both[1], TESTS[1]), (both[1], TESTS[0]), None]
    assert not left.claim(both[1])


def test_what_the_run_has_written_is_not_left_again() -> None:
    table = ships(0)
    left = PreparationQueue([table], TESTS)
    assert left.offer() is table
    assert left.claim(table)
    left.write(TESTS[0], table)
    left.write(TESTS[1], table)
    left.give_back(table)
    assert [left.take(), left.take()] == [(table, TESTS[1]), None]


def test_the_run_waits_for_a_table_that_a_machine_is_at() -> None:
    folder, found, waiting = Path("tables") / "one", StoredFactRegistry(), list[bool]()
    found.prepare(folder)
    thread = threading.Thread(target=lambda: waiting.append(found.begin(str(folder / NAME))))
    thread.start()
    time.sleep(0.1)
    assert waiting == []
    found.prepared(folder, [str(folder / NAME)])
    thread.join()
    assert waiting == [False]


def test_ctrl_c_ends_what_machines_do() -> None:
    ended: list[str] = []

    class Slow(Here):
        async def doing(self, work: object, given: bytes) -> AsyncGenerator[bytes]:
            yield b""
            threading.Timer(0.1, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT]).start()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("cancelled")

    def planned() -> None:
        both = [ships(0), ships(1)]
        with prepare_in_background(
            both, IS, TESTS, RunConfig(), elsewhere=[partial(prepare_remotely, Slow(lambda digest: b""))]
        ) as ready:
            ready(TESTS[0], both[0])
            time.sleep(30)

    with pytest.raises(KeyboardInterrupt):
        planned()
    assert ended == ["cancelled"]


def test_without_a_head_the_run_goes_on_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    async def lost(self: Cluster) -> None:
        self.lost = "gone"

    monkeypatch.setattr(Cluster, "_headless", lost)
    cluster = Cluster(RayOptions("auto"))
    asyncio.run(asyncio.wait_for(cluster.visited(asyncio.Event().wait()), 20))  # type: ignore[arg-type] # to no end
    assert cluster.lost == "gone"


@pytest.mark.slow
def test_another_machine_finds_what_this_one_does(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_preparation, "PIECE", 1000)
    table = ships(0)
    begun, *pieces = stored_facts(job_of(table, IS, TESTS, 3))
    assert begun == b""
    assert list(cache.iterdir()) == []
    for test in TESTS:
        sheet_of(test, table, IS, RunConfig(seed=3))
    kept = {f"{path.parent.name}/{path.name}": path.read_text("utf-8") for path in cache.rglob("facts/*/*.json")}
    assert json.loads(b"".join(pieces)) == kept != {}
    assert {len(piece) for piece in pieces[:-1]} == {1000}


# --- on a cluster


@pytest.mark.slow
def test_a_node_that_is_killed_while_it_prepares_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A machine without a core plans; one of two others is killed as soon as both prepare a table."""
    pytest.importorskip("ray")
    os.environ.update(ray_library.USUAL)
    from ray.cluster_utils import Cluster as Nodes

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "alone"))
    alone, kept = planned(None), stored(tmp_path / "alone")
    assert kept
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cluster"))
    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    asked, begun, done = list[str](), set[str](), set[str]()
    doing = ClusterMachines.doing

    async def disturbed(self: ClusterMachines, work: Any, given: bytes) -> AsyncGenerator[bytes]:
        digest = json.loads(given)["table"]["sha256"]
        asked.append(digest)
        async for one in doing(self, work, given):
            begun.add(digest)
            if len(begun) == len(nodes.worker_nodes) == 2:
                nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)
            done.update([digest] if one else [])
            yield one

    monkeypatch.setattr(ClusterMachines, "doing", disturbed)
    try:
        for _ in range(2):
            nodes.add_node(num_cpus=1)
        together = planned(nodes.address)
    finally:
        nodes.shutdown()  # type: ignore[no-untyped-call]
    assert together == alone
    assert stored(tmp_path / "cluster") == kept
    assert set(asked[:2]) == {ships(1).sha256, ships(2).sha256}
    assert 1 <= len(done) < len(asked)  # one was lost, and the other machine prepared another


def stored(cache: Path) -> dict[str, str]:
    """The guesses that a cache holds, by the name of the file."""
    return {path.name: path.read_text() for path in cache.rglob("facts/*/*.json")}


def planned(address: str | None) -> Sequence[object]:
    """What is planned for three new tables, with the chance of each query."""
    own = tuple(replace(ships(seed), edition=f"made-up-{seed}") for seed in range(3))
    order = RunConfig(
        llm=("simulated:guesser",),
        dataset=own,
        own_tests=tuple(TESTS),
        controls=False,
        ray=RayOptions(address) if address else None,
    )
    return [
        (cell.name, [(query.id, query.prompt, query.expected, query.chance) for query in cell.queries])
        for cell in prepare(order).plan
    ]
