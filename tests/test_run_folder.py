"""A run's folder read back: the newest trial of each query, by the line that the report names."""

import json
from pathlib import Path

from tabcontam.run_folder import last_lines, merge
from tabcontam.store import NUMBER, TRIALS, as_lines
from tests.report.synthetic import cell, document, trial

CELL = cell("gpt-4o", "iris", "full_completion", "contaminated")


def test_the_newest_trial_of_a_query_names_its_line(tmp_path: Path) -> None:
    first, again, other = trial(CELL, "q-0"), trial(CELL, "q-0", reply="again"), trial(CELL, "q-1")
    (tmp_path / TRIALS).write_text(as_lines([first, other]) + '{"llm": "cut o\n' + as_lines([again]))
    found = last_lines(tmp_path, document([CELL]))
    assert [(line["query"], line["reply"], line[NUMBER]) for line in found] == [
        ("q-0", "again", 4), ("q-1", other["reply"], 2),
    ]  # fmt: skip


def test_queries_that_only_an_earlier_run_asked_are_none_of_the_cell(tmp_path: Path) -> None:
    (tmp_path / TRIALS).write_text(as_lines(trial(CELL, f"full_completion-{number}") for number in (10, 2, 1)))
    found = last_lines(tmp_path, document([CELL | {"queries": 2}]))
    assert [line["query"] for line in found] == ["full_completion-1", "full_completion-2"]


def test_a_merged_run_has_numbers_of_its_own_and_writes_none(tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    run.mkdir()
    (run / "results.json").write_text(json.dumps(document([CELL], level=0.001, serializers=[])))
    (run / TRIALS).write_text("no trial\n" + as_lines([trial(CELL, "q-0")]))
    merged = merge([run], out)
    written = [json.loads(line) for line in (out / TRIALS).read_text().splitlines()]
    assert [NUMBER in line for line in written] == [False]
    assert [line[NUMBER] for line in last_lines(out, merged)] == [1]
