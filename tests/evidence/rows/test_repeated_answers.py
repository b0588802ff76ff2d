"""One text for most queries, which is no value of the column, is no answer, whatever language it declines in."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import Message, Prompt, Query, Reply, ReplyState, Trial
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.rows.repeated_answers import without_repeats
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.tables.serializers import load_serializers

COMMENTS = ("Arrived on time", "Box was a bit wet", "Too small for me", "Works as it should")
SHOWN = "\n".join(f"The age is {20 + place}, The comment is {text}" for place, text in enumerate(COMMENTS))
PROMPT = Prompt((Message("user", SHOWN),), SHOWN, "")


def read(texts: Sequence[str], listed: Sequence[str] = (), name: str = "comment") -> list[Trial]:
    test, serializer = by_id()["feature_completion"], load_serializers()["is"]
    chance = {name: CellPrediction(dict.fromkeys(listed, 0.01), 0.001)}
    queries = [
        Query(f"feature_completion-{place}", lambda: PROMPT, (name,), (f"{20 + place}",), 64, chance=chance)
        for place in range(len(texts))
    ]
    trials = [Trial(query, Reply(text, ReplyState.OK)) for query, text in zip(queries, texts, strict=True)]
    return [read_trial(test, trial, serializer) for trial in trials]


def readable(trials: Sequence[Trial]) -> list[bool]:
    return [trial.readable for trial in without_repeats(by_id()["feature_completion"], trials)]


@pytest.mark.parametrize("text", ["Escapes me right now", "Ei ole tietoa tästä", "Ontbreekt in het bestand"])
def test_one_text_for_most_queries_is_no_answer_in_a_language_that_nobody_listed(text: str) -> None:
    trials = read([text] * 12 + ["Late by a week", "Fine so far", "Broke at once"])
    assert all(trial.readable for trial in trials)  # each alone might be a comment
    assert readable(trials) == [False] * 12 + [True] * 3


def test_the_asked_names_in_it_make_it_no_other_text() -> None:
    trials = read(["comment: not in there"] * 2) + read(["age: not in there"] * 2, name="age")
    assert readable(trials) == [False] * 4


def test_a_value_that_the_guesser_lists_is_an_answer_however_often_it_comes() -> None:
    assert readable(read(["Arrived on time"] * 15, listed=["Arrived on time"])) == [True] * 15


def test_it_is_recognised_within_the_first_answers_and_taken_back_where_later_ones_differ() -> None:
    texts = ["Escapes me right now", "Escapes me right now", "Late by a week", "Fine so far", "Broke at once"]
    trials = read(texts)
    assert readable(trials[:1]) == [True]
    assert readable(trials[:2]) == [False, False]
    assert readable(trials[:3]) == [False, False, True]
    assert readable(trials) == [True] * 5


def test_one_number_for_every_query_is_an_answer() -> None:
    assert readable(read(["23"] * 4, name="age")) == [True] * 4


def test_whether_it_is_an_answer_does_not_hang_on_the_hidden_values() -> None:
    trials = read(["Escapes me right now"] * 4)
    hidden = replace(trials[3], query=replace(trials[3].query, expected=("Escapes me right now",)))
    assert readable([*trials[:3], hidden]) == [False] * 4
