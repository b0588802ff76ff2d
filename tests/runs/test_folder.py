"""Runs that are recorded and merged: what is compared is in the file, and what cannot be is refused or said."""

import gc
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tabcontam.asking.run_progress import Progress
from tabcontam.asking.trial_file import NUMBER, TRIALS, as_lines
from tabcontam.config import FAMILY_OVER, RunConfig
from tabcontam.errors import UsageError
from tabcontam.paths import shipped
from tabcontam.runs.folder import load, merge
from tabcontam.runs.rescoring import rescore
from tabcontam.runs.run import execute, prepare
from tabcontam.runs.stored_trials import last_lines
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.gate import judge
from tabcontam.verdicts.notes import NoteKind
from tabcontam.verdicts.results import RunResults
from tests.report.synthetic import cell, document, trial

CELL = cell("gpt-4o", "iris", "full_completion", "contaminated")


def ran(out: Path, llm: str = "simulated:memoriser:0.5", seed: int = 0, **changes: object) -> RunResults:
    """A small run without the store."""
    known = {"dataset": ("iris",), "controls": False, "cache": False, "tests": "full or 0shot"}
    order = RunConfig(llm=(llm,), seed=seed, out=out, **(known | changes))
    return execute(prepare(order), Progress()).results


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two runs of a memoriser that differ in their seed."""
    folders = [tmp_path_factory.mktemp(f"seed{seed}") for seed in (0, 1)]
    for seed, folder in enumerate(folders):
        ran(folder, seed=seed)
    return folders


@cache
def on_disk(folder: Path) -> RunResults:
    return parse_results(json.loads((folder / "results.json").read_text()))


@pytest.mark.slow
def test_serializers_of_a_run_are_compared_and_returned_as_written(tmp_path: Path) -> None:
    document = ran(tmp_path, serializer=("is", "colon"))
    assert document == on_disk(tmp_path)
    assert [(line.first, line.second, line.test, line.queries) for line in document.comparisons] == [
        ("is", "colon", "full_completion", 30),
        ("is", "colon", "classification_0shot", 100),
    ]
    assert {line.p_value for line in document.comparisons} == {1.0}  # it remembers rows, however they are written


@pytest.mark.slow
def test_prompt_sets_of_a_run_are_compared_by_the_same_queries(tmp_path: Path) -> None:
    document = ran(tmp_path, prompts=("default", "paper"))
    assert document == on_disk(tmp_path)
    assert [
        (line.kind, line.first, line.second, line.test, line.queries, line.prompts) for line in document.comparisons
    ] == [
        ("prompts", "default", "paper", "full_completion", 30, ""),
        ("prompts", "default", "paper", "classification_0shot", 100, ""),
    ]
    assert {line.p_value for line in document.comparisons} == {1.0}  # it remembers rows, however it is asked
    assert [part.name for part in document.run.prompts] == ["default", "paper"]
    assert [document.label(table) for table in document.tables] == ["iris default", "iris paper"]
    assert rescore(tmp_path, None).results == document.results
    judged = judge(document, datasets=("iris paper",))
    assert [finding.dataset for finding in judged.findings] == ["iris paper"]


@pytest.mark.slow
def test_runs_in_two_prompt_sets_are_merged_and_compared(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("default", "paper")]
    for folder in folders:
        ran(folder, prompts=(folder.name,))
    merged = merge(folders, tmp_path / "both")
    assert [cell.prompts for cell in merged.results] == ["default", "default", "paper", "paper"]
    assert {(line.kind, line.queries) for line in merged.comparisons} == {("prompts", 30), ("prompts", 100)}
    assert [part.name for part in merged.run.prompts] == ["default", "paper"]


@pytest.mark.slow
def test_the_sets_and_serializers_of_a_run_are_compared_each_with_the_other_held(tmp_path: Path) -> None:
    document = ran(tmp_path, serializer=("is", "colon"), prompts=("default", "paper"), tests="full")
    found = [(line.kind, line.first, line.second, line.serializer, line.prompts) for line in document.comparisons]
    assert found == [
        ("serializers", "is", "colon", "", "default"),
        ("serializers", "is", "colon", "", "paper"),
        ("prompts", "default", "paper", "is", ""),
        ("prompts", "default", "paper", "colon", ""),
    ]


def test_two_sets_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        text = (shipped("prompts") / "default.toml").read_text("utf-8")
        text = text.replace('name = "default"', 'name = "mine"').replace("List", name.title())
        (tmp_path / f"{name}.toml").write_text(text, "utf-8")
    with pytest.raises(UsageError, match="two prompt sets of one run are both named mine"):
        ran(tmp_path / "run", prompts=(str(tmp_path / "one.toml"), str(tmp_path / "two.toml")))


@pytest.mark.slow
def test_runs_with_two_prompt_sets_are_merged_and_compared(tmp_path: Path) -> None:
    ran(tmp_path / "one")
    ran(tmp_path / "other", prompts=("paper",))
    merged = merge([tmp_path / "one", tmp_path / "other"], tmp_path / "both")
    assert [cell.prompts for cell in merged.results] == ["default", "default", "paper", "paper"]
    assert {line.queries for line in merged.comparisons if line.kind == "prompts"} == {30, 100}


@pytest.mark.slow
def test_runs_of_two_seeds_are_compared_by_other_queries_and_that_is_said(seeds: list[Path], tmp_path: Path) -> None:
    merged = merge(seeds, tmp_path)
    assert merged == on_disk(tmp_path)
    by_test = {line.test: line for line in merged.comparisons}
    assert by_test["full_completion"].queries == 0
    assert (by_test["full_completion"].first, by_test["full_completion"].second) == tuple(map(str, seeds))
    shares = [on_disk(folder).results[0].evidence.score for folder in seeds]
    assert [by_test["full_completion"].first_share, by_test["full_completion"].second_share] == shares
    assert [part.seed for part in merged.run.runs] == [0, 1]
    assert any(note.kind is NoteKind.SEEDS for note in merged.run.notes)


def test_a_run_beside_itself_has_the_same_queries_and_no_difference(seeds: list[Path], tmp_path: Path) -> None:
    merged = merge([seeds[0], seeds[0]], tmp_path)
    assert [line.queries for line in merged.comparisons] == [30, 100]
    assert {(line.p_value, line.change) for line in merged.comparisons} == {(1.0, "same")}
    assert merged.run.notes == ()


@pytest.mark.slow
def test_an_llm_that_was_worse_in_the_later_run_is_told_from_chance(tmp_path: Path) -> None:
    """The same queries, asked of a model that has lost its memory in between."""
    folders = [tmp_path / "before", tmp_path / "after"]
    ran(folders[0], "simulated:oracle")
    ran(folders[1], "simulated:decliner")
    for name in ("results.json", "trials.jsonl"):
        path = folders[1] / name
        path.write_text(path.read_text().replace("simulated:decliner", "simulated:oracle"))
    merged = merge(folders, tmp_path / "both")
    line = merged.comparisons[0]
    assert (line.first_verdict, line.second_verdict, line.change) == ("contaminated", "no answer", "unknown")
    assert (line.first_share, line.second_share, line.queries) == (1.0, 0.0, 30)
    assert line.beyond_chance


@pytest.mark.slow
def test_different_tables_of_one_name_are_not_compared_and_that_is_said(tmp_path: Path) -> None:
    for number in range(2):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        rows = "".join(f"{row * 7 % 11},{row + number},x{row}\n" for row in range(40))
        (folder / "mine.csv").write_text(f"a,b,c\n{rows}")
        ran(folder / "run", dataset=(str(folder / "mine.csv"),))
    merged = merge([tmp_path / "0" / "run", tmp_path / "1" / "run"], tmp_path / "both")
    assert merged.comparisons == ()
    (note,) = merged.run.notes
    assert note.text.startswith("the runs have different editions of mine.csv (")


def test_merging_again_keeps_what_was_merged(seeds: list[Path], tmp_path: Path) -> None:
    merge(seeds, tmp_path / "once")
    again = merge([tmp_path / "once", seeds[0]], tmp_path / "twice")
    assert [part.seed for part in again.run.runs] == [0, 1, 0]
    assert any(note.kind is NoteKind.SEEDS for note in again.run.notes)


def test_the_same_merge_writes_the_same_bytes(seeds: list[Path], tmp_path: Path) -> None:
    one, other = (merge(seeds, tmp_path / name) for name in ("one", "other"))
    assert one == other
    assert (tmp_path / "one" / "results.json").read_bytes() == (tmp_path / "other" / "results.json").read_bytes()


def test_rescoring_says_the_same_by_column_and_writes_the_same_recalled_rows(seeds: list[Path]) -> None:
    before, rows = load(seeds[0]), (seeds[0] / "recalled.csv").read_bytes()
    assert any(cell.evidence.without for cell in before.results)
    assert rows.count(b"\r\n") > 1
    again = rescore(seeds[0], None)
    assert (again.results, again.tables) == (before.results, before.tables)
    assert (seeds[0] / "recalled.csv").read_bytes() == rows


@pytest.mark.slow
def test_rescoring_compares_again(tmp_path: Path) -> None:
    document = ran(tmp_path, serializer=("is", "colon"))
    assert rescore(tmp_path, None).comparisons == document.comparisons


def test_the_newest_trial_of_a_query_names_its_line(tmp_path: Path) -> None:
    first, again, other = trial(CELL, "q-0"), trial(CELL, "q-0", reply="again"), trial(CELL, "q-1")
    (tmp_path / TRIALS).write_text(as_lines([first, other]) + '{"llm": "cut o\n' + as_lines([again]))
    found = last_lines(tmp_path, parse_results(document([CELL])).results)
    assert [(line["query"], line["reply"], line[NUMBER]) for line in found] == [
        ("q-0", "again", 4), ("q-1", other["reply"], 2),
    ]  # fmt: skip


def test_queries_that_only_an_earlier_run_asked_are_none_of_the_cell(tmp_path: Path) -> None:
    (tmp_path / TRIALS).write_text(as_lines(trial(CELL, f"full_completion-{number}") for number in (10, 2, 1)))
    found = last_lines(tmp_path, parse_results(document([CELL | {"queries": 2}])).results)
    assert [line["query"] for line in found] == ["full_completion-1", "full_completion-2"]


def test_a_merged_run_has_its_trials_cell_by_cell_in_whole_lines(tmp_path: Path) -> None:
    run, out, other = tmp_path / "run", tmp_path / "out", CELL | {"dataset": "wine"}
    run.mkdir()
    (run / "results.json").write_text(json.dumps(document([other, CELL], level=0.001, serializer=[])))
    lines = [trial(cell, f"q-{number}") for number in range(3) for cell in (CELL, other)]
    (run / TRIALS).write_text(as_lines(lines).removesuffix("\n"))
    merged = merge([run], out)
    assert (out / TRIALS).read_text() == as_lines([*lines[1::2], *lines[::2]])
    found = [(line["dataset"], line["query"], line[NUMBER]) for line in last_lines(out, merged.results)]
    assert found == [(name, f"q-{n}", 3 * at + n + 1) for at, name in enumerate(("wine", "iris")) for n in range(3)]
    assert gc.isenabled()


def test_a_merged_run_has_numbers_of_its_own_and_writes_none(tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    run.mkdir()
    (run / "results.json").write_text(json.dumps(document([CELL], level=0.001, serializer=[])))
    (run / TRIALS).write_text("no trial\n" + as_lines([trial(CELL, "q-0")]))
    merged = merge([run], out)
    written = [json.loads(line) for line in (out / TRIALS).read_text().splitlines()]
    assert [NUMBER in line for line in written] == [False]
    assert [line[NUMBER] for line in last_lines(out, merged.results)] == [1]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.slow
def test_a_control_that_one_of_the_runs_named_is_under_test_in_all(tmp_path: Path, order: int) -> None:
    """Else its cells would fail in junit.xml, and the gate would pass over them."""
    known: dict[str, Any] = {"dataset": ("iris",), "cache": False, "tests": "full_completion"}
    for name, llms in (("named", ("control:exposed",)), ("joined", ("simulated:guesser",))):
        execute(prepare(RunConfig(llm=llms, out=tmp_path / name, **known)), Progress())
    document = merge([tmp_path / "named", tmp_path / "joined"][::order], tmp_path / "both")
    assert {cell.llm: cell.control for cell in document.results} == {
        "control:exposed": False, "control:unexposed": True, "simulated:guesser": False
    }  # fmt: skip
    assert {fact.spec: fact.control for fact in document.run.llms}["control:exposed"] is False
    assert judge(document).conclusion == "contaminated"


def test_runs_whose_llms_share_their_budgets_differently_need_a_word(seeds: list[Path], tmp_path: Path) -> None:
    whole = json.loads((seeds[0] / "results.json").read_text())
    whole["run"]["family_over"] = "all"
    shutil.copytree(seeds[0], tmp_path / "all")
    (tmp_path / "all" / "results.json").write_text(json.dumps(whole))
    with pytest.raises(UsageError, match="--family-over llm or --family-over all"):
        merge([tmp_path / "all", seeds[1]], tmp_path / "both")
    assert not (tmp_path / "both").exists()
    for over in FAMILY_OVER:
        assert merge([tmp_path / "all", seeds[1]], tmp_path / f"over-{over}", over).run.family_over == over
    assert "over all models" in " ".join(note.text for note in load(tmp_path / "over-all").notes)
    assert "each model and family" in " ".join(note.text for note in load(tmp_path / "over-llm").notes)


def test_a_report_replaces_an_older_one_of_the_same_runs_and_no_answers_of_others(
    seeds: list[Path], tmp_path: Path
) -> None:
    """Also where the runs were judged again in between, and where what had failed was asked again."""
    runs = [Path(shutil.copytree(folder, tmp_path / name)) for folder, name in zip(seeds, "ab", strict=True)]
    both, failed = tmp_path / "both", tmp_path / "failed"
    merge(runs, both)
    failed.mkdir()
    first, *_ = lines = (both / TRIALS).read_text().splitlines()
    (failed / TRIALS).write_text(as_lines([json.loads(first) | {"state": "failed", "reply": ""}]))
    (both / TRIALS).write_text("\n".join([as_lines([json.loads(lines[0]) | {"hit": None}])[:-1], *lines[1:], "{cut"]))
    assert merge(runs, both) == merge(runs, failed)
    for out, given, line in (
        (
            runs[0],
            runs,
            "a is one of these runs, and the report of all of them would replace it; choose another folder",
        ),
        (runs[0], runs[:1], "a is the run itself: rescore .*a writes its report again; or choose another folder"),
        (both, runs[:1], "both holds answers of another run, which this report would replace; choose another folder"),
        (runs[1], runs[:1], "b holds answers of another run"),
    ):
        before = (out / TRIALS).read_bytes()
        with pytest.raises(UsageError, match=line):
            merge(given, out)
        assert (out / TRIALS).read_bytes() == before
