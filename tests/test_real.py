"""The record of real answers: kept however it ends, found by what was sent alone, and judged as a run is."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.real.__main__ import main
from benchmarks.real.asked import (
    CSV,
    EVERYWHERE,
    FRESH,
    HALF_KNOWN,
    OLD,
    SENTENCE,
    Place,
    forget,
    llms,
    places,
    planned,
    table_of,
)
from benchmarks.real.chances import RECORD, by_chances, fitted, of_record, planned_by, store
from benchmarks.real.judging import as_markdown, found, recorded, trials_of
from benchmarks.real.record import Answers
from tabcontam.evidence.base import Query, Verdict
from tabcontam.evidence.questions import Reply, ReplyState
from tabcontam.models.base import PromptForm
from tabcontam.tables.row_draws import identity
from tests.golden.chances import Missing
from tests.installed import ROOT, with_every_extension

pytestmark = with_every_extension  # the record has answers to tests of extensions

IRIS = Place("iris", PromptForm.COMPLETION, CSV)
QWEN = llms()["qwen2.5-coder-1.5b-instruct"]


def queries(place: Place = IRIS) -> list[tuple[str, Query]]:
    return [(cell.test.id, query) for cell in planned(place) for query in cell.queries]


def test_a_record_is_kept_however_it_ends(tmp_path: Path) -> None:
    (test, first), (_, second), *_ = queries()
    answers = Answers(tmp_path, QWEN.name)
    answers.begin({"llm": QWEN.name})
    answers.add(IRIS, test, first, Reply("1.4,0.2,0", ReplyState.OK, tokens=9, log_probability=-0.5))
    answers.add(IRIS, test, second, Reply("", ReplyState.FAILED, "the server is gone"))
    with (tmp_path / f"{QWEN.name}.jsonl").open("a") as file:
        file.write('{"key": "cut of')  # as a kill leaves it: nothing was packed
    again = Answers(tmp_path, QWEN.name)
    assert again.of(first, PromptForm.COMPLETION) == Reply("1.4,0.2,0", ReplyState.OK, tokens=9, log_probability=-0.5)
    assert again.of(first, PromptForm.CHAT) is None
    assert again.of(second, PromptForm.COMPLETION) is None  # a failed call is asked again
    again.add(IRIS, test, second, Reply("1.5", ReplyState.TRUNCATED, "token limit", 64))
    again.pack()
    assert [path.name for path in tmp_path.iterdir()] == [f"{QWEN.name}.jsonl.xz"]
    packed = Answers(tmp_path, QWEN.name)
    assert [line.get("row") for line in packed.lines] == [None, first.row, second.row]
    assert packed.of(second, PromptForm.COMPLETION) == Reply("1.5", ReplyState.TRUNCATED, "token limit", 64)


def test_an_answer_to_other_words_is_none(tmp_path: Path) -> None:
    test, query = queries()[0]
    answers = Answers(tmp_path, QWEN.name)
    answers.add(IRIS, test, query, Reply("1.4,0.2,0", ReplyState.OK))
    prompt = query.prompt
    reworded = replace(query, write=lambda: replace(prompt, completion=prompt.completion + " "))
    assert answers.of(reworded, PromptForm.COMPLETION) is None
    assert trials_of(planned(IRIS), IRIS.form, answers) is None  # a place is judged when all of its answers are there


def test_the_record_holds_the_licence_and_the_hash_of_each_table_and_no_prompt() -> None:
    shown = [query.prompt.completion[-60:] for _, query in queries()]
    for llm in llms().values():
        lines = Answers(RECORD, llm.name).lines
        sessions = [line["session"] for line in lines if "session" in line]
        assert {(one["sha256"], one["licence"]) for one in sessions} == {(llm.sha256, llm.licence)}
        hashes = {(one["table"], one["table_sha256"]) for one in sessions}
        assert dict(hashes).keys() >= {line["table"] for line in lines if "table" in line}
        assert ("iris", identity(table_of("iris"))) in hashes
        held = json.dumps(lines)
        assert not [text for text in shown if json.dumps(text)[1:-1] in held]


def test_who_recites_the_file_is_told_from_who_does_not(tmp_path: Path) -> None:
    reciting, silent = (Answers(tmp_path, name) for name in (QWEN.name, "gemma-3-270m"))
    for test, query in queries():
        right = query.answering.text(query, query.expected, query.prompt)
        reciting.add(IRIS, test, query, Reply(right, ReplyState.OK))
        silent.add(IRIS, test, query, Reply("I do not know.", ReplyState.OK))
    reciting.pack()
    silent.pack()
    store(tmp_path, fitted(recorded(tmp_path), "iris"))
    none, whole = by_chances(recorded(tmp_path), ["iris"], of_record(tmp_path))
    assert (whole.verdict, none.verdict) == (Verdict.CONTAMINATED, Verdict.NO_ANSWER)
    assert whole.recited >= 6
    assert not none.recited
    assert not whole.unread
    text = "\n".join(as_markdown([none, whole], {QWEN.name: 1234}))
    assert "| completion form | 1,234 | 0 of 5 | 1 of 11 |" in text
    assert "*contaminated* | nine in ten | 1 of 1" in text
    assert "| iris | 0 of 1 | **1** of 1 |" in text


def test_each_llm_is_asked_about_every_table_once() -> None:
    for llm in llms().values():
        every = list(places(llm))
        assert len(set(every)) == len(every)
        assert {place.table for place in every if place[1:3] == (PromptForm.COMPLETION, CSV)} == {*FRESH, *OLD}
        in_sentences = {place.table for place in every if place[1:3] == (PromptForm.COMPLETION, SENTENCE)}
        assert in_sentences == set(FRESH if llm.small else HALF_KNOWN)
        assert all(place.form in llm.forms for place in every)
    fresh = [place for llm in llms().values() for place in places(llm) if place.table in FRESH]
    assert len(fresh) >= 80
    assert set(OLD).isdisjoint(FRESH)
    assert {test for test, _ in queries()} == set(EVERYWHERE)


def test_the_recorder_plans_by_the_chances_of_the_judge() -> None:
    """Which rows `feature_completion` asks about may rest on the last digits of chances, as of Diabetes."""
    answers, archive = Answers(RECORD, QWEN.name), of_record(RECORD)
    forget()  # another test has planned Iris by the chances of a run
    sent = [query for cell in planned_by(archive, IRIS) for query in cell.queries]
    assert sent
    assert None not in [answers.of(query, IRIS.form) for query in sent]
    forget()
    with pytest.raises(Missing):
        planned_by({key: {} for key in archive}, IRIS)
    forget()


def test_what_is_recorded_of_iris_is_judged(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(RECORD), "--judge", "--only", "iris"]) == 0
    assert "| iris |" in capsys.readouterr().out
    assert list(found(recorded(RECORD), "iris"))


def test_the_readme_says_what_the_page_says() -> None:
    tables = (ROOT / "docs" / "real-llms.md").read_text("utf-8").partition("<!-- end of record -->")[0]
    of_2026, reciting = re.findall(r"\*contaminated\* .*\| (\d+ of \d+) \|$", tables, re.M)
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"| {of_2026} verdicts on tables of 2026" in readme
    assert f"| {reciting} that recite" in readme


def test_without_weights_nothing_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "record"), "--weights", str(tmp_path), "--only", "gemma-3-270m"]) == 4
    assert "--weights FOLDER" in capsys.readouterr().err
    assert not (tmp_path / "record").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--only", "titanik"], "did you mean titanic"), (["--judge"], "holds no record; leave out --judge")],
)
def test_what_names_nothing_is_said(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), *words]) == 4
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_interruption_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.real.__main__.weights", interrupted)
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err == "stopped; the answers that came are kept, and the same command goes on\n"
