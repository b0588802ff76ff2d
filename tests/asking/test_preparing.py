"""New tables of a plan are prepared by other processors, in processes that a run can do without."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tabcontam.asking import preparing
from tabcontam.asking.preparation_jobs import job_of, table_from
from tabcontam.asking.preparing import prepare_in_background
from tabcontam.asking.query_plan import sheet_of
from tabcontam.asking.work_division import StoredFactRegistry
from tabcontam.baseline import chains
from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.stored_facts import folder_of
from tabcontam.config import RunConfig
from tabcontam.evidence import base
from tabcontam.evidence.registry import by_id
from tabcontam.processes import send, start_process
from tabcontam.tables.dataset_cards import ClassificationQuestion
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table, load_table
from tabcontam.tables.text_tasks import TextForm, TextTask
from tests import made_tables as tables

IS = load_serializers()["is"]
TEST = by_id()["feature_completion"]
SCRIPT = """
import tabcontam
print("once")
results = tabcontam.run("simulated:oracle", ["a.csv", "b.csv"], tests="feature_completion", out="made", queries=3)
print(results)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder without what other tests made, on a machine with two processors."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    monkeypatch.setattr(preparing, "processors", lambda: 2)
    return tmp_path / "cache"


def ships(seed: int = 0) -> Table:
    """A table of its own, of which nothing is known yet."""
    return narrow(tables.ships.__wrapped__(40, seed=seed))


def narrow(table: Table) -> Table:
    """Four of its columns: each takes its time."""
    places = [table.columns.index(name) for name in ("shipKind", "length_m", "homePort", "tolldue")]
    rows = tuple(tuple(row[place] for place in places) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in places), rows=rows)


class FastProcessors(ThreadPoolExecutor):
    """What it is given is done before anything else goes on."""

    def submit(self, *given: Any, **named: Any) -> "Future[Any]":
        """Begin it, and wait for its end."""
        future = super().submit(*given, **named)
        wait([future])
        return future


def prepared(tables: Sequence[Table], tests: Sequence[base.Test] = (TEST,)) -> list[str]:
    """The tests that processes are given to prepare, where they are fast enough to take all of them."""
    jobs: list[bytes] = []

    def noted(process: "subprocess.Popen[bytes]", job: bytes) -> None:
        if job.startswith(b"{"):
            jobs.append(job)
        send(process, job)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preparing, "ThreadPoolExecutor", FastProcessors)
        patch.setattr(preparing, "send", noted)
        with prepare_in_background(tables, IS, tests, RunConfig(seed=3)) as ready:
            for table in tables:
                for test in tests:
                    ready(test, table)
    return [test for job in jobs for test in json.loads(job)["tests"]]


def facts(table: Table) -> list[tuple[object, ...]]:
    """What makes the queries of a table the same as another's."""
    queries = sheet_of(TEST, table, IS, RunConfig(seed=3)).written
    return [(query.id, query.prompt, query.expected, query.chance) for query in queries]


def no_process(*given: object, **named: object) -> None:
    """Stand in for `Popen` where no process may be started."""
    raise AssertionError("a process was started")


@pytest.mark.slow
def test_what_the_processes_find_is_there_for_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [ships(0), ships(1)]
    assert prepared(both) == [TEST.id, TEST.id]
    chain = chains.FeatureChain
    monkeypatch.setattr(chains, "FeatureChain", None)
    planned = [facts(table) for table in both]
    monkeypatch.setattr(chains, "FeatureChain", chain)
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    assert planned == [facts(ships(0)), facts(ships(1))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "start", ["raise SystemExit(3)", "import os, sys; sys.stdin.readline(); os.abort()", "print('none of ours')"]
)
def test_a_process_that_dies_leaves_the_work_to_the_run(start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "START", start)
    table = ships(0)
    assert len(prepared([table, ships(1)])) == 1
    assert len(facts(table)) > 10


def test_processes_begin_with_the_last_test_and_with_none_that_the_run_is_done_with(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    go, begun = tmp_path / "go", tmp_path / "begun"
    script = f"""
import json, pathlib, sys, time
for line in sys.stdin:
    with open({str(begun)!r}, "a") as file:
        print(*json.loads(line)["tests"], file=file)
    while not pathlib.Path({str(go)!r}).exists():
        time.sleep(0.02)
    print(json.dumps(["done", ""]), flush=True)
"""
    monkeypatch.setattr(preparing, "START", script)
    tests = [by_id()[name] for name in ("incomplete_completion", "full_completion", "feature_completion")]
    both = [ships(0), ships(1)]
    places = [(test, table) for table in both for test in tests]
    with prepare_in_background(both, IS, tests, RunConfig()) as ready:
        while not begun.exists():
            time.sleep(0.02)
        for place in places[:-1]:
            ready(*place)
        go.touch()
        while begun.read_text().count("\n") < 2:
            time.sleep(0.02)
    assert begun.read_text().split() == ["feature_completion", "full_completion"]


def test_a_finding_is_made_by_who_begins_and_awaited_by_the_others() -> None:
    found, process = StoredFactRegistry(), object()
    assert found.begin("one", process)
    assert found.begin("two")
    assert found.begin("two")  # its own, once more
    waiting: list[bool] = []
    thread = threading.Thread(target=lambda: waiting.append(found.begin("one")))
    thread.start()
    time.sleep(0.1)
    assert waiting == []
    found.end("one")
    thread.join()
    assert waiting == [False]
    assert not found.begin("one")


def test_nobody_waits_for_a_process_that_died() -> None:
    found, process = StoredFactRegistry(), object()
    assert found.begin("one", process)
    assert found.begin("two")
    found.free(process)
    assert not found.begin("one")
    waiting = threading.Thread(target=found.begin, args=("two", process))
    waiting.start()
    time.sleep(0.1)
    assert waiting.is_alive()  # the run still makes that one
    found.free()
    waiting.join()


@pytest.mark.slow
def test_the_run_and_a_process_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """What both find together is what one would find alone, and the run makes not all of it."""
    made: list[int] = []
    guesses = chains.FeatureChain.predictions

    def counted(chain: chains.FeatureChain, place: int) -> list[CellPrediction]:
        made.append(place)
        return guesses(chain, place)

    monkeypatch.setattr(chains.FeatureChain, "predictions", counted)
    monkeypatch.setattr(preparing, "SMALL", 59)
    tests = [by_id()[name] for name in ("incomplete_completion", "full_completion", "feature_completion")]

    def planned(folder: str, workers: int) -> tuple[object, int]:
        monkeypatch.setenv("XDG_CACHE_HOME", folder)
        monkeypatch.setattr(preparing, "processors", lambda: workers)
        made.clear()
        table = narrow(tables.ships.__wrapped__(60, seed=3))
        with prepare_in_background([table], IS, tests, RunConfig()) as ready:
            while workers > 1 and not list(Path(folder).rglob("*.json")):
                time.sleep(0.02)  # until the process has found something
            sheets = [(ready(test, table), sheet_of(test, table, IS, RunConfig()))[1] for test in tests]
        return [[(query.id, query.chance) for query in sheet.written] for sheet in sheets], len(made)

    cache = os.environ["XDG_CACHE_HOME"]
    (alone, all_of_it), (together, part) = planned(cache + "1", 1), planned(cache + "2", 2)
    assert together == alone
    assert part < all_of_it


@pytest.mark.slow
def test_a_single_table_has_a_process_where_it_is_not_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "SMALL", 39)
    assert prepared([ships(0)]) == [TEST.id]


def test_where_no_process_can_be_started_the_run_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(Path("no") / "python"))
    assert prepared([ships(0), ships(1)]) == []


@pytest.mark.slow
def test_no_process_is_started_where_it_does_not_pay(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(subprocess, "Popen", no_process)
    known = ships(2)
    facts(known)  # which leaves what is found out on disk
    prepared([ships(0)])
    prepared([ships(0), known])
    prepared([ships(0), ships(1)], [by_id()["feature_list_informed"], by_id()["membership"]])
    monkeypatch.setattr(preparing, "processors", lambda: 1)
    prepared([ships(0), ships(1)])
    monkeypatch.setattr(preparing, "processors", lambda: 2)
    with pytest.raises(AssertionError):
        prepared([ships(0), ships(1)])


def test_no_process_is_started_where_nothing_can_be_kept(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    cache.write_text("no folder")
    monkeypatch.setattr(subprocess, "Popen", no_process)
    assert prepared([ships(0), ships(1)]) == []


@pytest.mark.slow
def test_a_table_that_nothing_is_kept_of_is_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [replace(ships(seed), rows=ships(seed).rows[:2], target=None) for seed in (0, 1)]
    assert len(prepared(both, [by_id()["matched_membership"]])) == 2
    monkeypatch.setattr(subprocess, "Popen", no_process)
    assert prepared(both, [by_id()["matched_membership"]]) == []


def test_ctrl_c_ends_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "START", "import time; time.sleep(60)")
    started: list[subprocess.Popen[bytes]] = []

    def noted(code: str) -> "subprocess.Popen[bytes]":
        started.append(start_process(code))
        threading.Timer(0.2, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT]).start()
        return started[-1]

    monkeypatch.setattr(preparing, "start_process", noted)
    with pytest.raises(KeyboardInterrupt):
        prepared([ships(0), ships(1)])
    assert [process.wait(10) == 0 for process in started] == [False]  # raises where it still sleeps


TABLES: Mapping[str, Table] = {
    "card": load_table("iris"),
    "planted": tables.planted(ships(), 20),
    "threshold": replace(
        ships(), question=ClassificationQuestion("Many?", {">=": "Yes", "<": "No"}, 5.0), missing=frozenset("?!")
    ),
    "text": replace(
        tables.ships(40), split="a", elsewhere=None, text=TextTask(TextForm.PAIR, ("name",), "kind", {"1": "one"})
    ),
    "hints": replace(ships(), hints={"feature_values": ("shipKind", "homePort")}, order="by name", not_names=("Zund",)),
    "file": replace(ships(), target=None, question=None, private=True),
    "strange": replace(ships(), title="\ud800\n\u2028", rows=(("", None, "\ud800", "\n", "\0", "7", "yes"),) * 2),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_process_gets_the_whole_table(table: Table) -> None:
    job = job_of(table, IS, [TEST], 0)
    assert b"\n" not in job
    known = table_from(json.loads(job)["table"])
    assert known == table
    assert folder_of(known) == folder_of(table)


@pytest.mark.slow
def test_a_script_that_guards_nothing_runs_once(tmp_path: Path) -> None:
    """A process that `multiprocessing` spawns would run the whole script again."""
    for name, seed in (("a", 0), ("b", 1)):
        table = ships(seed)
        lines = [",".join(f'"{cell or ""}"' for cell in row) for row in (table.columns, *table.rows)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    (tmp_path / "script.py").write_text(SCRIPT)
    path = os.pathsep.join([str(Path(preparing.__file__).parents[2]), *sys.path])
    command = [sys.executable, "script.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    first, results = done.stdout.splitlines()
    assert first == "once"
    assert "3 LLMs, 6 results" in results
    assert done.stderr == ""
