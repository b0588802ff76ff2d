"""Lines of trials.jsonl read back: what a p-value is made of has to be probabilities."""

import json
from pathlib import Path

import pytest

from tabcontam.asking.trial_file import (
    NUMBER,
    Journal,
    Line,
    answers,
    as_lines,
    is_trial,
    lock_run_folder,
    trial_line,
    trial_of,
)
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Endings, Likelihoods, Message, Prompt, Query, Reading, Reply, ReplyState, Trial
from tabcontam.models.base import PromptForm

CELL = {"llm": "m", "dataset": "d", "edition": "e", "split": "", "serializer": "is", "prompts": "default"}
CELL |= {"test": "feature_completion"}


def line(chance: object = None) -> Line:
    """A trial of test 9 as it is written, with this chance instead of its own."""
    prompt = Prompt((Message("user", "The age is"),), "The age is", "The age is")
    query = Query("feature_completion-0", lambda: prompt, ("age",), ("39",), 64)
    return trial_line(CELL, PromptForm.CHAT, Trial(query, Reply("39", ReplyState.OK)), paper_rules=False) | {
        "chance": chance
    }


def test_a_guess_is_read_back_as_it_was_written() -> None:
    (guess,) = trial_of(line({"age": {"values": {"39": 0.5}, "rest": 0.01, "missing": 0.25}})).query.chance.values()
    assert (guess.chance_of("39.0"), guess.chance_of("40"), guess.missing) == (0.5, 0.01, 0.25)


@pytest.mark.parametrize(
    "chance",
    [
        None,
        [1],
        "x",
        {"age": 1},
        {"age": {"values": {}, "rest": "x"}},
        {"age": {"values": {}, "rest": 0.0}},
        {"age": {"values": {}, "rest": -1.0}},
        {"age": {"values": {}, "rest": float("nan")}},
        {"age": {"values": ["a"], "rest": 0.1}},
        {"age": {"values": "a", "rest": 0.1}},
        {"age": {"values": {"a": "b"}, "rest": 0.1}},
        {"age": {"values": {"a": 2}, "rest": 0.1}},
        {"age": {"values": {}, "rest": 0.1, "more": 1}},
        {"never asked": {"values": {}, "rest": 0.1}},
    ],
    ids=repr,
)
def test_a_guess_that_is_no_probability_ended_rescore_or_was_weighed(chance: object) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        trial_of(line(chance))


def test_the_values_of_a_feature_that_has_few_are_read_back() -> None:
    assert trial_of(line({}) | {"values": {"age": ["39", "40"]}}).query.features.values == {"age": ("39", "40")}
    assert trial_of({name: held for name, held in line({}).items() if name != "values"}).query.features.values == {}


@pytest.mark.parametrize("held", [1, ["39"], {"age": "39"}, {"age": [39]}], ids=repr)
def test_values_that_are_no_texts_are_refused(held: object) -> None:
    with pytest.raises(ValueError, match="no values in"):
        trial_of(line({}) | {"values": held})


def test_a_row_trial_that_asks_nothing_is_none() -> None:
    with pytest.raises(ValueError, match="no feature is asked"):
        trial_of(line({}) | {"expected": {}})


def test_a_line_that_was_cut_off_is_passed_over_and_no_number_is_ever_written(tmp_path: Path) -> None:
    known = line({})
    (tmp_path / "trials.jsonl").write_text(as_lines([known]) + "cut off by a cr\n\n" + as_lines([known | {NUMBER: 1}]))
    assert list(Journal(tmp_path).lines()) == [known, known]


def test_a_line_says_whether_its_answer_could_be_read() -> None:
    assert line({})["readable"] is None
    query = trial_of(line({})).query
    for reading in (Reading({"age": "39"}, True, True, True), Reading(None, False, True, False)):
        written = trial_line(
            CELL, PromptForm.CHAT, Trial(query, Reply("39", ReplyState.OK), reading), paper_rules=False
        )
        assert (written["hit"], written["readable"]) == (reading.hit, reading.readable)


def test_a_line_of_a_hundred_thousand_brackets_is_passed_over(tmp_path: Path) -> None:
    known = line({})
    (tmp_path / "trials.jsonl").write_text("[" * 100_000 + "\n" + as_lines([known]))
    assert list(Journal(tmp_path).lines()) == [json.loads(as_lines([known])) | {"split": ""}]


def test_endings_and_how_likely_they_are_are_read_back_as_they_were_written() -> None:
    asked = Endings("The age is ", ("39", "40", "39"))
    query = Query("feature_completion-0", lambda: asked, ("age",), ("39",), 1)
    answer = Likelihoods((-1.5, -2.25, -1.5), ReplyState.OK)
    written = json.loads(as_lines([trial_line(CELL, PromptForm.CHAT, Trial(query, answer), paper_rules=False)]))
    assert (written["question"], written["prompt"], written["endings"]) == (
        "endings",
        "The age is ",
        ["39", "40", "39"],
    )
    read = trial_of(written)
    assert (read.query.question, read.reply) == (asked, answer)
    assert answers(written, query)
    other = Endings("The age is ", ("39", "40", "41"))
    assert not answers(written, Query("feature_completion-0", lambda: other, ("age",), ("39",), 1))


def test_a_line_of_an_unknown_state_or_test_is_no_trial() -> None:
    known = line({}) | {"split": ""}
    assert is_trial(known)
    assert not is_trial(known | {"state": "melted"})
    assert not is_trial(known | {"test": "tarot"})


def test_a_folder_is_held_by_one_run_at_a_time(tmp_path: Path) -> None:
    with (
        lock_run_folder(tmp_path),
        pytest.raises(UsageError, match="is in use by another run"),
        lock_run_folder(tmp_path),
    ):
        pass
    with lock_run_folder(tmp_path):
        pass
