"""The benchmark of an LLM that was contaminated on purpose: its tables, its training and its verdicts."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.exposed import snapshots
from benchmarks.exposed.__main__ import main
from benchmarks.exposed.asked import SHARE, Study, places, study_of
from benchmarks.exposed.chances import fit, planned_by
from benchmarks.exposed.found import RECORD, as_markdown, found
from benchmarks.exposed.snapshots import SNAPSHOTS, train
from benchmarks.exposed.tables import BEHIND, CLASS, MADE, OTHER, READ, write
from benchmarks.real.asked import Place
from benchmarks.real.chances import of_record
from benchmarks.real.record import Answers
from tabcontam.errors import Exit
from tabcontam.evidence.base import Query
from tabcontam.evidence.questions import Prompt, Reply, ReplyState
from tabcontam.evidence.score.shares import is_fresh
from tabcontam.tables.row_draws import identity

STUDY = Study(rows=80, queries=4)
LLM = ("SmolLM2-135M-Instruct", "Apache-2.0")
NAMES = ("hives-read", "hives-other")
PARTS = (READ, OTHER, BEHIND)


@pytest.mark.parametrize("table", MADE)
def test_parts_of_a_made_table_share_no_row_and_are_the_same_every_time(table: str, tmp_path: Path) -> None:
    files = write(tmp_path / "once", table, 100)
    rows = {part: list(csv.DictReader(files[part].read_text("utf-8").splitlines())) for part in PARTS}
    assert [len(rows[part]) for part in PARTS] == [50, 50, 50]
    assert len({tuple(row.values()) for part in PARTS for row in rows[part]}) == 150
    for part in (READ, OTHER):
        assert len({row[CLASS] for row in rows[part]}) == 2
    again = write(tmp_path / "again", table, 100)
    assert [again[part].read_bytes() for part in PARTS] == [files[part].read_bytes() for part in PARTS]


def test_snapshots_of_one_training_read_what_they_are_named_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **kept: object) -> SimpleNamespace:
        commands.append(command)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(snapshots, "TABLES", tuple(MADE))
    monkeypatch.setattr("benchmarks.exposed.snapshots.subprocess.run", run)
    made = train(tmp_path, "hf:base", rows=40)
    assert list(made) == [one.name for one in SNAPSHOTS]
    read = {"hf:base": dict.fromkeys(PARTS, 0)}
    for command in commands:
        told = {name: command[place + 1] for place, name in enumerate(command) if name.startswith("--")}
        assert ("--lora" in command) == told["--out"].endswith("-lora")
        before = read[told["--llm"]]
        parts = {part for part in PARTS if any(word.endswith(f"-{part}.csv") for word in command)}
        after = {part: before[part] + (int(told["--copies"]) if part in parts else 0) for part in PARTS}
        read[f"hf:{told['--out']}/model-0"] = after
    copies = {name: tuple(read[llm].values()) for name, llm in made.items()}
    assert copies == {
        "base": (0, 0, 0),
        "1": (1, 0, 0),
        "4": (4, 0, 0),
        "16": (16, 0, 0),
        "64": (64, 0, 0),
        "16-lora": (16, 0, 0),
        "64-lora": (64, 0, 0),
        "none": (0, 0, 64),
        "forgets": (16, 0, 16),
    }


def answered(record: Path, name: str, reply: Callable[[Place, Query, int], str]) -> None:
    """Record an answer of a snapshot to all that it is asked about these parts."""
    answers, archive = Answers(record, name), of_record(record)
    for place in (place for together in places(name) for place in together if place.table in NAMES):
        for cell in planned_by(archive, STUDY, place):
            for number, query in enumerate(cell.queries):
                if isinstance(query.question, Prompt):
                    answers.add(place, cell.test.id, query, Reply(reply(place, query, number), ReplyState.OK))
    answers.pack()


@pytest.mark.slow
def test_who_recites_what_it_has_read_is_found_and_nobody_else(tmp_path: Path) -> None:
    def right(query: Query) -> str:
        return query.answering.text(query, query.expected, query.prompt)

    def recites(place: Place, query: Query, number: int) -> str:
        if place.group == SHARE:  # it is right on every row of the first half, and on every second one of the other
            return (
                right(query) if number % 4 > 1 or not is_fresh(query) else {"kept": "fed", "fed": "kept"}[right(query)]
            )
        return right(query) if place.table == "hives-read" else "I do not know."

    fit(tmp_path, STUDY, NAMES)
    answered(tmp_path, "64", recites)
    answered(tmp_path, "none", lambda place, query, number: right(query) if place.group == SHARE else "No idea.")
    every = list(found(tmp_path, STUDY, of_record(tmp_path), NAMES))
    contaminated = {(one.snapshot, one.place.table, one.place.form) for one in every if one.contaminated}
    assert contaminated == {("64", "hives-read", "completion"), ("64", "hives-read", "chat")}
    text = "\n".join(as_markdown(every))
    assert "were not read: *contaminated* in any way of asking | 0 | 0 of 0 |" in text
    assert "| 64 copies, by answers in completion form | nine in ten | 1 of 1 |" in text
    assert "| **answers in chat form: the verdict** | 0 of 3 | - | - | - | 1 of 1 | - | - | - |" in text
    assert "| 64 | 1.00 | 0.00 | 1.00 | 0.00 | 0.50 |" in text
    assert re.search(
        r"\| hives \| 1\.00 \| 0\.[45]\d \| 1\.00 \| 1\.00 \| \+0\.[45]\d \| 0\.[45]\d \(.*\) \| yes \|", text
    )
    assert "its interval holds the difference that was made | each | 1 of 1 |" in text


def test_the_record_names_weights_and_tables_and_no_machine() -> None:
    study, asked = study_of(RECORD), {one.name: Answers(RECORD, one.name).lines for one in SNAPSHOTS}
    assert {name for name, lines in asked.items() if lines} >= {"base", "16", "64", "none"}
    for name, lines in asked.items():
        sessions = [line["session"] for line in lines if "session" in line]
        assert {(held["llm"], held["licence"], held["snapshot"]) for held in sessions} <= {(*LLM, name)}
        hashes = {held["table_sha256"] for held in sessions if held["table"] == "hives-read"}
        assert hashes <= {identity(study.table("hives-read"))}
        assert len({held["sha256"] for held in sessions}) <= 1  # of the weights
        assert "/" not in json.dumps(sessions)


def test_what_cannot_be_judged_or_made_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "--judge"]) == Exit.USAGE
    assert main([str(tmp_path)]) == Exit.USAGE
    assert main([str(tmp_path), "--llm", "hf:here", "--rows", "79"]) == Exit.USAGE
    (tmp_path / "record").mkdir()
    (tmp_path / "record" / "study.json").write_text('{"rows": 7}')
    assert main([str(tmp_path), "--llm", "hf:here"]) == Exit.USAGE
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("; ")[1].split()[0] for line in lines] == ["type", "type", "type", "name"]
