"""A reply that was ended since it went on without end is read as the whole one would be."""

from collections.abc import Mapping

import pytest

from tabcontam.asking.query_plan import sheet_of
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Query, Reply, ReplyState, Test, Trial
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.trial_reading import complete_reply, read_trial
from tabcontam.models.base import WENT_ON
from tabcontam.reading.endless_answers import goes_on
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import load_table

IS = load_serializers()["is"]
COMPLETION = by_id()["incomplete_completion"]
QUERY = sheet_of(COMPLETION, load_table("iris"), IS, RunConfig(seed=0)).written[0]
BEGUN = "The sepal length (cm) is 5.0, The sepal width (cm) is 3.5, "
ROW = "The petal length (cm) is 1.3, The petal width (cm) is 0.2, The target is 0"
LACKING = "The petal length (cm) is 1.3, The petal width (cm) is 0.2"
FURTHER = "".join(f", The petal length (cm) is {n}.9, The petal width (cm) is {n}.5" for n in range(1, 25))
CELLS = {"petal length (cm)": "1.3", "petal width (cm)": "0.2", "target": "0"}


def read(text: str, detail: str, test: Test = COMPLETION, query: Query = QUERY) -> tuple[ReplyState, bool, object]:
    """What becomes of a reply that was cut: its state, whether it is read, and as what."""
    trial = complete_reply(test, Trial(query, Reply(text, ReplyState.TRUNCATED, detail)), IS)
    reading = read_trial(test, trial, IS).reading
    assert reading is not None
    return trial.reply.state, reading.readable, reading.parsed if reading.readable else None


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        (f"{ROW}\n" * 12, CELLS),
        (f"{ROW}, {ROW}" + FURTHER, CELLS),
        (f"Here is the row:\n{BEGUN}{ROW}\n" + f"{BEGUN}{ROW}\n" * 9, CELLS),
        (f"{BEGUN}{LACKING}{FURTHER}", None),  # it says two lengths and no target
        (f"{BEGUN}" + f"{LACKING}, " * 20, None),
        ("1.3, 0.2, 38" + ", 38" * 60, None),
    ],
)
def test_it_is_read_as_the_whole_would_be(text: str, cells: Mapping[str, str] | None) -> None:
    shown = QUERY.prompt.completion
    end = next(end for end in range(len(text)) if goes_on(text[:end], QUERY.asked, shown))
    assert end < 0.7 * len(text)
    expected = (ReplyState.TRUNCATED, False, None) if cells is None else (ReplyState.OK, True, cells)
    assert read(text, "token limit") == expected
    for later in range(end, end + 40, 5):
        assert read(text[:later], WENT_ON) == expected


def test_the_prompts_of_row_tests_alone_ask_for_values() -> None:
    for test in ("incomplete_completion", "full_completion", "feature_completion", "membership"):
        query = sheet_of(by_id()[test], load_table("iris"), IS, RunConfig(seed=0)).written[0]
        assert query.prompt.values == (() if test == "membership" else query.asked)


def test_a_completion_is_over_where_the_row_goes_on_or_begins_again() -> None:
    iris = load_table("iris")

    def stops(test: str, form: str) -> set[tuple[str, ...]]:
        written = sheet_of(by_id()[test], iris, load_serializers()[form], RunConfig(seed=0)).written
        return {query.prompt.stop for query in written}

    first, width = ", The sepal length (cm) is", ", The petal width (cm) is"
    assert stops("full_completion", "is") == {("\n", first)}
    assert stops("incomplete_completion", "is") == {("\n", ", The petal length (cm) is")}
    assert ("\n", ", The petal length (cm) is", width) in stops("feature_completion", "is")
    assert ("\n", ", petal length (cm):", ", petal width (cm):") in stops("feature_completion", "colon")
    for form in ("csv", "json", "markdown"):  # where a value could look like what follows
        assert stops("feature_completion", form) == {("\n",)}
    assert stops("membership", "is") == {("\n",)}
