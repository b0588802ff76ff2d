"""Parts of a run, made apart and joined: nobody is accused or cleared who would not be by the one run that they are.

The adversaries: machines with other numbers of processors and libraries, a part that was killed and continued, a table
whose LLMs lie in several parts, an LLM that fails in one part, a budget that ends in one, folders of different runs.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tabcontam
from tabcontam.asking.run_progress import Progress
from tabcontam.asking.run_shards import spans
from tabcontam.asking.trial_file import TRIALS
from tabcontam.cli.commands import main
from tabcontam.config import RunConfig, RunShard
from tabcontam.errors import UsageError
from tabcontam.runs.folder import load, merge
from tabcontam.runs.rescoring import rescore
from tabcontam.runs.run import execute, prepare
from tabcontam.verdicts.gate import Conclusion, judge
from tabcontam.verdicts.notes import NoteKind
from tabcontam.verdicts.results import RunResults
from tests.loopback import LoopbackServer

LLMS = ("simulated:oracle", "simulated:memoriser:0.3", "simulated:schema-expert")
SMALL = {"llm": LLMS[:2], "dataset": ("iris",), "controls": False, "tests": "full"}
OF_TIME = ("started", "seconds", "durations", "command")


def ran(out: Path, shard: str | None = None, **changes: Any) -> RunResults:
    """A run of few queries, or a part of it, without the store."""
    known = {"cache": False, "queries": 12, **SMALL, **changes}
    part = None if shard is None else RunShard.read(shard)
    return execute(prepare(RunConfig(out=out, shard=part, **known)), Progress()).results


def parts(folder: Path, of: int, **changes: Any) -> list[Path]:
    """The folders of all parts of a run."""
    made = [folder / f"{number}-of-{of}" for number in range(1, of + 1)]
    for number, out in enumerate(made, start=1):
        ran(out, f"{number}/{of}", **changes)
    return made


def document(folder: Path) -> dict[str, Any]:
    """What results.json holds, but for what tells when it was made, and by which command."""
    held: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return held | {"run": {name: value for name, value in held["run"].items() if name not in OF_TIME}}


def edited(folder: Path, out: Path, **run: Any) -> Path:
    """A copy of a run's folder, with other facts of the run."""
    shutil.copytree(folder, out)
    held = json.loads((out / "results.json").read_text())
    (out / "results.json").write_text(json.dumps(held | {"run": held["run"] | run}))
    return out


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    ran(folder)
    return folder


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Both parts of the same run: its one table lies in both, an LLM in each."""
    return parts(tmp_path_factory.mktemp("two"), 2)


@pytest.mark.slow
def test_parts_of_a_grid_with_controls_joined_are_the_run_field_by_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three parts in any order, one made with other processors: two serializers, a correction over tables."""
    grid: dict[str, Any] = {"llm": LLMS, "dataset": ("iris", "wine"), "controls": True, "serializer": ("is", "json")}
    grid["tests"] = "full or names or 0shot"
    ran(tmp_path / "whole", **grid)
    made = [tmp_path / str(number) for number in (1, 2, 3)]
    ran(made[0], "1/3", **grid)
    monkeypatch.setattr("tabcontam.asking.preparing.processors", lambda: 1)
    ran(made[1], "2/3", **grid)
    monkeypatch.setattr("tabcontam.asking.preparing.processors", lambda: 64)
    ran(made[2], "3/3", **grid)
    assert sum(len(load(folder).results) for folder in made) == len(load(tmp_path / "whole").results)
    assert any(len({cell.dataset for cell in load(folder).results}) > 1 for folder in made)
    merge([made[2], made[0], made[1]], tmp_path / "joined")
    assert document(tmp_path / "joined") == document(tmp_path / "whole")
    assert rescore(tmp_path / "joined", None).results == load(tmp_path / "whole").results


@pytest.mark.slow
def test_a_table_in_two_parts_is_joined_to_the_run_and_the_gate_tells_of_it(
    whole: Path, two: list[Path], tmp_path: Path
) -> None:
    assert [{cell.llm for cell in load(folder).results} for folder in two] == [{LLMS[0]}, {LLMS[1]}]
    merge(two[::-1], tmp_path)
    assert document(tmp_path) == document(whole)
    assert load(tmp_path).run.shard is None
    assert judge(load(tmp_path)).conclusion is judge(load(whole)).conclusion is Conclusion.CONTAMINATED
    ran(tmp_path)  # the run itself goes on in the folder of its joined parts, and asks nothing anew
    assert document(tmp_path)["results"] == document(whole)["results"]


@pytest.mark.slow
def test_parts_agree_on_the_plan_of_an_llm_that_one_of_them_reached(tmp_path: Path) -> None:
    """That a server scores no given text shows once it is asked: the machine that asks it knows more than the other."""
    with LoopbackServer(lambda body: "42") as server:
        changes: dict[str, Any] = {"llm": (f"openai:model@{server.url}", LLMS[0]), "tests": "perplexity or full"}
        ran(tmp_path / "whole", **changes)
        made = parts(tmp_path, 2, **changes)
    assert [cell.verdict for cell in load(made[0]).results if cell.test == "perplexity"] == ["skipped"]
    merge(made, tmp_path / "joined")
    assert document(tmp_path / "joined") == document(tmp_path / "whole")


@pytest.mark.slow
def test_beside_a_reference_the_llms_of_a_table_stay_together(tmp_path: Path) -> None:
    """What the reference answers counts for nothing, also where tables are asked until they are decided."""
    changes: dict[str, Any] = {"reference": (LLMS[2],), "dataset": ("iris", "wine")}
    changes["until_decided"] = True
    ran(tmp_path / "whole", **changes)
    made = parts(tmp_path, 2, **changes)
    assert [{cell.dataset for cell in load(folder).results} for folder in made] == [{"iris"}, {"wine"}]
    merge(made, tmp_path / "joined")
    assert document(tmp_path / "joined") == document(tmp_path / "whole")


@pytest.mark.slow
def test_a_control_that_waits_for_undecided_llms_stays_with_them(tmp_path: Path) -> None:
    changes: dict[str, Any] = {"controls": True, "dataset": ("iris", "wine"), "tests": "full or row_order"}
    changes["until_decided"] = True
    ran(tmp_path / "whole", **changes)
    made = parts(tmp_path, 2, **changes)
    assert [{cell.dataset for cell in load(folder).results} for folder in made] == [{"iris"}, {"wine"}]
    merge(made, tmp_path / "joined")
    assert document(tmp_path / "joined") == document(tmp_path / "whole")


def test_a_part_alone_says_that_it_is_one_and_passes_no_gate(
    two: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    view = load(two[1])
    (note,) = (note.text for note in view.notes if note.kind is NoteKind.SHARD)
    assert note.startswith("these are part 2 of 2 of a run, with 1 of its 2 results")
    assert "these are part 2 of 2 of a run" in (two[1] / "index.html").read_text()
    assert main(["gate", str(two[1])]) == 6
    assert "part 1 can change their verdicts" in capsys.readouterr().out
    clean = edited(two[1], two[1].parent / "clean")
    assert judge(load(clean), fail_on=["undecided"]).exit_code == 1


def test_what_is_missing_twice_or_of_another_run_is_refused_in_a_line(
    whole: Path, two: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    three = [edited(two[0], tmp_path / "a"), edited(two[0], tmp_path / "b")]
    for number, folder in enumerate(three, start=1):
        shard = json.loads((folder / "results.json").read_text())["run"]["shard"]
        edited(folder, tmp_path / f"of3-{number}", shard=shard | {"parts": [number], "total": 3})
    datasets = json.loads((two[1] / "results.json").read_text())["run"]["datasets"]
    shard = json.loads((two[1] / "results.json").read_text())["run"]["shard"]
    for folders, line in {
        (two[0], two[0]): "are both part 1",
        (two[0], whole): "is a whole run",
        (two[0], edited(two[1], tmp_path / "seed", seed=1)): "has seed 0",
        (two[0], edited(two[1], tmp_path / "version", version="0.1")): "has version",
        (two[0], edited(two[1], tmp_path / "plan", shard=shard | {"plan": "0"})): "different queries",
        (two[0], edited(two[1], tmp_path / "table", datasets=[datasets[0] | {"sha256": "0"}])): "different tables",
        (tmp_path / "of3-1", tmp_path / "of3-2"): "part 3 of 3 is missing",
    }.items():
        with pytest.raises(UsageError, match=line):
            merge(folders, tmp_path / "joined")
    assert not (tmp_path / "joined").exists()
    assert main(["report", *map(str, (two[0], two[0])), "--out", str(tmp_path / "joined")]) == 4
    assert capsys.readouterr().err.count("\n") == 1


def test_with_leave_parts_are_joined_without_the_missing_ones(two: list[Path], tmp_path: Path) -> None:
    of_three = []
    for number, folder in enumerate(two, start=1):
        shard = json.loads((folder / "results.json").read_text())["run"]["shard"]
        of_three.append(edited(folder, tmp_path / str(number), shard=shard | {"parts": [number], "total": 3}))
    found = tabcontam.join(of_three, tmp_path / "joined", incomplete=True)
    assert found.run_results.run.shard is not None
    assert found.run_results.run.shard.parts == (1, 2)
    assert not found.run_results.run.finished
    (again,) = (note.text for note in found.run_results.notes if note.kind is NoteKind.NOT_FINISHED)
    assert again.endswith("run the missing parts, continue those that ended, and join all again")
    judged = found.gate()
    assert judged.conclusion is Conclusion.CANNOT_TELL
    assert "part 3 can change" in judged.reason
    with pytest.raises(UsageError, match="incomplete"):
        tabcontam.join(of_three, tmp_path / "other")


def test_a_part_that_was_killed_goes_on_by_the_same_command_and_in_no_other_run(
    whole: Path, two: list[Path], tmp_path: Path
) -> None:
    """The budget of one part ends first; then its file is cut in the middle of a line, as a kill may leave it."""
    cut = tmp_path / "cut"
    short = ran(cut, "1/2", queries=12, max_requests=5)
    assert short.run.limit
    merge([cut, two[1]], tmp_path / "short")
    assert load(tmp_path / "short").run.limit == short.run.limit
    assert [cell.cut_short for cell in load(tmp_path / "short").results] == [True, False]
    trials = (cut / TRIALS).read_bytes()
    (cut / TRIALS).write_bytes(trials[: len(trials) - 40])
    for other in ("2/2", None):
        with pytest.raises(UsageError, match="holds part 1 of 2 of a run"):
            ran(cut, other)
    ran(cut, "1/2")
    merge([cut, two[1]], tmp_path / "joined")
    assert document(tmp_path / "joined")["results"] == document(whole)["results"]


@pytest.mark.slow
def test_an_llm_that_fails_in_one_part_is_not_called_clean_by_the_others(tmp_path: Path) -> None:
    llms = ("simulated:fails", LLMS[2])
    made = parts(tmp_path, 2, llm=llms, dataset=("iris", "wine"))
    merge(made, tmp_path / "joined")
    ran(tmp_path / "whole", llm=llms, dataset=("iris", "wine"))
    assert document(tmp_path / "joined")["results"] == document(tmp_path / "whole")["results"]
    assert {cell.verdict for cell in load(tmp_path / "joined").results if cell.llm == llms[0]} == {"no answer"}


def test_a_part_that_needs_what_the_others_find_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="-x"):
        ran(tmp_path / "none", "1/2", stop_at_first=True)
    with pytest.raises(UsageError, match="at most 2 parts; write --shard 2/2"):
        ran(tmp_path / "none", "3/4")
    with pytest.raises(UsageError, match=r"shard is '4/3'; write a part of a run"):
        tabcontam.run("simulated:oracle", "iris", shard="4/3")
    with pytest.raises(SystemExit, match="4"):
        main(["run", "--shard", "0/2"])
    assert not (tmp_path / "none").exists()


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.data())
def test_spans_cover_every_load_once_and_are_as_even_as_neighbours_can_be(
    loads: list[int], data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, len(loads)))
    found = spans(loads, count)
    assert len(found) == count
    assert [place for first, last in found for place in range(first, last)] == list(range(len(loads)))
    assert all(first < last for first, last in found)
    assert max(sum(loads[first:last]) for first, last in found) <= sum(loads) / count + max(loads)
