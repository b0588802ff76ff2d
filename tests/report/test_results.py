"""The reading view: what it accepts, what it refuses in one line, how it orders and counts."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.report.results import (
    asked,
    count,
    evidence,
    listed,
    question,
    read_results,
    shorten,
    typed,
    visible,
)
from tests.report.synthetic import HOSTILE, KINDS, cell, document, results, trial


def test_a_written_run_is_read_back(tmp_path: Path) -> None:
    written = results(["gpt-4o"], ["iris"])
    (tmp_path / "results.json").write_text(json.dumps(written), encoding="utf-8")
    assert read_results(tmp_path) == written


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no results.json"),
        ("{", "not readable JSON"),
        ("[" * 100_000, "not readable JSON"),
        ("[]", "names no schema"),
        ('{"schema": 2}', "schema 2 is not 1"),
        ('{"schema": 1}', "needs `run`"),
        ('{"schema": 1, "run": {}, "cells": [3]}', "cell 1 needs"),
        ('{"schema": 1, "run": {}, "cells": [{"llm": "a", "dataset": "b", "test": "c", "verdict": "maybe"}]}', "maybe"),
        ('{"schema": 1, "run": {}, "cells": [{"llm": "a", "dataset": "b", "test": "c", "score": "x"}]}', "number"),
        ('{"schema": 1, "run": {}, "cells": [], "ranking": [{"llm": "a", "score": "x"}]}', "ranking"),
    ],
)
def test_a_foreign_folder_is_refused_in_one_line(tmp_path: Path, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / "results.json").write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=says) as caught:
        read_results(tmp_path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_file_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "nowhere"):
        with pytest.raises(UsageError, match=r"folder"):
            read_results(path)


def test_tests_are_in_the_order_of_table_1_and_unknown_ones_last() -> None:
    cells = [cell("m", "iris", test, "not detected") for test in ["invented", *reversed(KINDS)]]
    assert typed(document(cells)).tests == (*KINDS, "invented")


def test_controls_that_joined_come_first_and_do_not_count() -> None:
    view = typed(results(["gpt-4o", "control:exposed"], ["iris"]))
    assert [block.llm for block in view.blocks] == ["control:exposed", "gpt-4o"]
    assert {one.llm for one in view.subjects} == {"gpt-4o"}
    assert [rank.llm for rank in view.ranking] == ["gpt-4o"]


def test_a_control_that_is_the_subject_counts() -> None:
    cells = [cell("control:exposed", "iris", "full_completion", "contaminated", control=False)]
    view = typed(document(cells))
    assert count(view.subjects) == {"contaminated": 1}
    assert [rank.llm for rank in view.ranking] == ["control:exposed"]


def test_outcomes_are_counted_worst_first_and_never_folded() -> None:
    view = typed(results(["gpt-4o"], ["iris", "wine", "adult", "bank", "german"]))
    counts = count(view.subjects)
    assert list(counts) == ["contaminated", "not detected", "uninformative", "no answer", "skipped", "scored"]
    assert sum(counts.values()) == len(view.cells)


def test_a_column_is_named_by_what_tells_it_apart() -> None:
    cells = [
        cell("m", "heart", "full_completion", "not detected", edition="a", serializer="list"),
        cell("m", "heart", "full_completion", "not detected", edition="b", serializer="json"),
        cell("m", "iris", "full_completion", "not detected"),
    ]
    labels = [column.label for column in typed(document(cells)).blocks[0].columns]
    assert labels == ["heart@a list", "heart@b json", "iris list"]


def test_a_cell_that_stands_twice_is_shown_twice() -> None:
    twice = [cell("m", "iris", "full_completion", verdict) for verdict in ("contaminated", "not detected")]
    columns = typed(document(twice)).blocks[0].columns
    assert [column.label for column in columns] == ["iris", "iris #2"]


def test_the_controls_say_where_a_test_has_no_power_and_where_it_measures_plausibility() -> None:
    cells = [
        cell("control:exposed", "iris", "full_completion", "not detected", control=True),
        cell("control:exposed", "wine", "full_completion", "contaminated", control=True),
        cell("control:unexposed", "iris", "feature_completion", "contaminated", control=True),
        cell("control:unexposed", "iris", "membership", "skipped", control=True),
    ]
    notes = typed(document(cells)).controls
    assert notes == [
        "no power: control:exposed, which has the table, was missed by full_completion on iris",
        "plausibility: control:unexposed, which has none of its rows, was flagged by feature_completion on iris",
    ]


def test_the_controls_say_that_both_are_as_expected() -> None:
    cells = [
        cell("control:exposed", "iris", "full_completion", "contaminated", control=True),
        cell("control:unexposed", "iris", "full_completion", "not detected", control=True),
    ]
    found, clean = typed(document(cells)).controls
    assert "found in all 1" in found
    assert "flagged in none of 1" in clean


def _told(of: dict[str, Any], lines: list[dict[str, Any]]) -> list[str]:
    (found,) = evidence(typed(document([of])).cells, lines).values()
    return [str(line["query"]) for line in found]


def test_evidence_is_the_hits_the_papers_own_first() -> None:
    of = cell("m", "iris", "full_completion", "contaminated")
    lines = [trial(of, "1", hit=False), trial(of, "2", paper=False), trial(of, "3")]
    assert _told(of, lines) == ["3", "2"]
    assert _told(of, lines[:1]) == ["1"]
    assert _told(of, [trial(of | {"llm": "other"}, "1")]) == []


def test_a_query_asked_again_counts_once_with_its_last_reply() -> None:
    of = cell("m", "iris", "full_completion", "contaminated")
    assert _told(of, [trial(of, "1"), trial(of, "2"), trial(of, "1", hit=False)]) == ["2"]


@pytest.mark.parametrize("code", [0x00, 0x08, 0x0B, 0x0D, 0x1B, 0x7F, 0x85, 0x9B, 0x202E, 0x2028, 0xD800, 0xFFFE])
def test_control_characters_are_shown_not_obeyed(code: int) -> None:
    assert chr(code) not in visible(chr(code))
    assert visible(chr(code))


def test_visible_keeps_text_and_can_keep_one_line() -> None:
    assert visible("汉字\tx\r\ny") == "汉字\tx\ny"
    assert "\n" not in visible("x\ny", line=True)
    visible(HOSTILE).encode()


def test_shortened_text_says_how_much_is_left_out() -> None:
    assert shorten("x" * 10, 10) == "x" * 10
    assert shorten("x" * 11, 10) == "x" * 10 + "… (+1 characters)"
    assert shorten("abc", 1, tail=True) == "(+2 characters) …c"


@pytest.mark.parametrize(
    ("value", "lines"),
    [(None, "(missing)"), ("a", "a"), (["a", None], "a\n(missing)"), ({"f": "1"}, "f = 1"), ([], "")],
)
def test_values_are_listed_one_a_line(value: object, lines: str) -> None:
    assert listed(value) == lines


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ({"prompt": "text"}, "text"),
        ({"prompt": [{"role": "user", "content": "x"}]}, "x"),
        ({"prompt": [{"role": "system", "content": "s"}, {"role": "user", "content": "x"}]}, "system: s\n\nuser: x"),
        ({}, ""),
    ],
)
def test_a_prompt_is_shown_as_one_text(line: Mapping[str, Any], shown: str) -> None:
    assert asked(line) == shown


def test_the_question_is_the_last_message() -> None:
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "x"}]
    assert question({"prompt": messages}) == "x"
    assert question({"prompt": "text"}) == "text"
    assert question({"prompt": []}) == question({}) == ""
