"""Answers in many ways of writing: what a person reads at once is read, what declines is not, no value is mistaken.

`ways/answers.jsonl` has one answer in each way of a larger file, which TABCONTAM_ANSWERS may name; `ways/own.jsonl` has
ways that were written without a look at the reader. `ways/queries.jsonl` has queries such as they answer.
"""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import answers
from benchmarks.answers import ALLOWED, RIGHT, WRONG, judged, load
from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import FeatureFacts, Message, Prompt, Query

HERE = Path(__file__).parent / "ways"
FILES = {"answers": os.environ.get("TABCONTAM_ANSWERS"), "own": None}
LEAST = {"answers": 0.99, "own": 0.9}  # of those that must be read
MISTAKEN = {"t_e_only_other"}  # nothing but the sense of the words says that this row is not the one that was asked for


def queries(table: str, test: str) -> Sequence[Query]:
    return [query(held) for held in load(HERE / "queries.jsonl") if (held["table"], held["test"]) == (table, test)]


def query(held: dict[str, Any]) -> Query:
    chat = tuple(Message(role, content) for role, content in held["chat"])
    prompt = Prompt(chat, str(held["completion"]), "")
    chance = {name: CellPrediction.read(guess) for name, guess in held["chance"].items()}
    asked, expected = tuple(held["asked"]), tuple(held["expected"])
    values = {name: tuple(few) for name, few in held["values"].items()}
    return Query(
        str(held["id"]),
        lambda: prompt,
        asked,
        expected,
        256,
        paper=False,
        chance=chance,
        features=FeatureFacts(values=values),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FILES))
def test_answers_are_read_as_a_person_reads_them(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "queries", queries)
    found = judged(load(Path(FILES[name] or HERE / f"{name}.jsonl")))
    failed = [
        (case["style"], what, dict(cells))
        for case, what, cells in found
        if what not in ALLOWED[case["must"]] and (what == WRONG or case["must"] == "unread")
    ]
    assert [one for one in failed if one[0] not in MISTAKEN] == []
    counted = Counter(what for case, what, _ in found if case["must"] == "read")
    assert counted[RIGHT] >= LEAST[name] * counted.total() > 0
