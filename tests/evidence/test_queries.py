"""What is asked: nothing that is asked stands in its prompt or follows from it, and a seed fixes every word."""

import json
import os
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabcontam.errors import Skip
from tabcontam.evidence.base import Capability, Prompt, Query, Question
from tabcontam.evidence.checks import given_away, rendered
from tabcontam.evidence.knowledge.feature_values import FeatureValuesInformed
from tabcontam.evidence.mixins import WordedTest
from tabcontam.evidence.prompts import PromptSet, default_prompts, load_prompts
from tabcontam.evidence.registry import all_tests, by_id
from tabcontam.evidence.rows.membership import Membership
from tabcontam.reading.word_decision import pieces
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import Serializer, shipped_templates
from tabcontam.tables.table import Table, load_table
from tests.made_tables import as_needed, ships

# the beginning of a table is asked, or nothing of it is shown, or all rows of so small a table are
UNVARIED = ("header", "list_instances", "task_examples", "header_overlap", "task_overlap", "row_order")
# whose rows, or whether there are twins of them, models decide that other versions of scikit-learn fit otherwise
BY_MODELS = ("memory_share", "classification_shots")
GOLDEN = Path(__file__).parent.parent / "golden" / "prompts.json"
IS = shipped_templates()["is"]
WORD_TESTS = [test.id for test in all_tests() if test.number is not None and test.number <= 6]
ANSWERED = [test.id for test in all_tests() if Capability.GENERATE in test.needs]
SMALL = st.builds(
    lambda columns, rows: Table(
        name="small",
        title="Plonth",
        edition="made-up",
        sha256="0" * 64,
        columns=tuple(f"feat{number}" for number in range(columns)),
        rows=tuple(tuple(row[:columns]) for row in rows),
        names=("Plonth",),
        target="feat0",
    ),
    st.integers(2, 6),
    st.lists(
        st.lists(st.sampled_from(["a", "b", "c", "12", "x, y", None]), min_size=6, max_size=6), min_size=2, max_size=40
    ),
)


def queries(
    test: str, table: Table, serializer: Serializer = IS, seed: str = "0", prompts: PromptSet | None = None
) -> Sequence[Query]:
    found = by_id()[test]
    worded = found.worded_by(prompts or default_prompts()) if isinstance(found, WordedTest) else found
    try:
        return worded.queries(table, serializer, Random(seed))
    except Skip:
        return ()


def others_that_fit(table: Table, row: int, shown: Sequence[int], asked: Sequence[int]) -> list[int]:
    """The rows with the same shown cells and another answer, found the slow way."""
    truth = table.rows[row]
    return [
        index
        for index, cells in enumerate(table.rows)
        if all(cells[i] == truth[i] for i in shown) and any(cells[i] != truth[i] for i in asked)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("test", ["incomplete_completion", "feature_completion"])
@given(table=SMALL, seed=st.integers(0, 5))
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_a_row_query_has_one_answer_and_does_not_show_it(test: str, table: Table, seed: int) -> None:
    for query in queries(test, table, seed=str(seed)):
        asked = [table.columns.index(name) for name in query.asked]
        *examples, row = query.rows
        tail = IS.row(query.asked, query.expected)
        assert table.rows[row][asked[0] : asked[-1] + 1] == query.expected
        assert not others_that_fit(table, row, range(asked[0]), asked)
        for example in examples:
            assert table.rows[example] != table.rows[row]
            assert tail not in [
                IS.row(table.columns[i:j], table.rows[example][i:j]) for i, j in [(asked[0], asked[-1] + 1)]
            ]


@given(table=SMALL)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@pytest.mark.slow
def test_the_next_row_is_not_among_the_rows_shown(table: Table) -> None:
    for query in queries("full_completion", table):
        assert query.expected not in [table.rows[index] for index in query.rows]
        assert query.paper == (query.rows[0] == 0)


@pytest.mark.slow
@pytest.mark.parametrize("test", WORD_TESTS)
def test_no_expected_word_stands_in_the_prompt(test: str) -> None:
    for seed in range(20):
        asked = queries(test, ships(), seed=str(seed))
        assert asked, seed
        for query in asked:
            text = rendered(query.prompt)
            assert query.expected, seed
            assert not [word for word in query.expected if word and given_away(word, text)], seed


@given(table=SMALL, seed=st.integers(0, 5))
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_a_perturbed_row_is_no_row_of_the_table(table: Table, seed: int) -> None:
    known = {IS.row(table.columns, row) for row in table.rows}
    for query in queries("membership", table, seed=str(seed)):
        asked = query.prompt.completion.split("Row: ")[-1].rsplit("\nPart of the dataset:")[0]
        assert (asked in known) == (query.expected == ("Yes",))


def test_missing_values_do_not_keep_a_row_from_being_perturbed() -> None:
    """B7: in the authors' code rows with missing values stayed as they were and were labelled No."""
    empty = Table(
        "e", "E", "x", "1" * 64, ("a", "b", "c"), tuple((None, str(i), str(-i)) for i in range(40)), names=("E",)
    )
    known = {IS.row(empty.columns, row) for row in empty.rows}
    perturbed = [query for query in Membership().queries(empty, IS, Random("0")) if query.expected == ("No",)]
    assert perturbed
    assert not [query for query in perturbed if query.prompt.completion.split("Row: ")[-1].split("\n")[0] in known]


def test_values_that_are_expected_are_not_those_of_the_rows_shown() -> None:
    """B5: in the authors' code the rows that were shown were not the rows whose values were struck off."""
    for query in FeatureValuesInformed().queries(ships(), IS, Random("0")):
        shown = {ships().rows[index][ships().columns.index(query.asked[0])] for index in query.rows}
        assert not shown & set(query.expected)
        assert len(query.expected) >= 2


def test_the_last_of_two_values_is_not_asked() -> None:
    """B6: with one value of a binary feature shown, the other is no memory."""
    assert "tolldue" not in [query.asked[0] for query in queries("feature_values_informed", ships())]


@pytest.mark.parametrize(
    ("word", "text", "away"),
    [
        ("sepal width", "sepal length, petal width", True),
        ("wine", "od280/od315_of_diluted_wines", True),
        ("PassengerId", "passenger_id", True),
        ("capital-loss", "capital-gain", False),
        ("age", "agent", False),
        ("No", "nothing", False),
        (">50K", "<=50K", False),
        ("C", "columns, separated", False),
        ("Time (months)", "Frequency (times)", True),
        ("ATA", "dataset", False),
    ],
)
def test_what_gives_a_word_away(word: str, text: str, away: bool) -> None:
    assert given_away(word, text) is away


def test_names_fall_into_their_pieces() -> None:
    assert pieces("HxRadio_therapy.2b") == ("hx", "radio", "therapy", "2", "b")
    assert pieces("?") == ()


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
def test_the_same_seed_asks_the_same_and_another_asks_something_else() -> None:
    for test in all_tests():
        table = as_needed(test, shown() if test.only_with else unsorted())
        first = written(test.queries(table, IS, seeded(table, 0, test.id)))
        assert first == written(test.queries(table, IS, seeded(table, 0, test.id)))
        if test.number not in (2, 3, 6, 8) and test.id not in UNVARIED:  # nothing in these is random
            assert first != written(test.queries(table, IS, seeded(table, 1, test.id)))


@cache
def shown() -> Table:
    """The ships for tests that look at questions alone: what is guessed cheaply of them is kept with no other table."""
    return replace(ships(), name="harbour", sha256="a" * 64)


@cache
def unsorted() -> Table:
    """The ships in an order that nothing tells: of rows that are sorted no other order can be asked about."""
    return replace(shown(), rows=tuple(Random("rows").sample(ships().rows, len(ships().rows))))


def written(asked: Sequence[Query]) -> list[tuple[Query, Question]]:
    return [(query, query.question) for query in asked]


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize("test", [test.id for test in all_tests()])
def test_a_query_writes_its_prompt_anew_and_in_any_order(test: str) -> None:
    """A prompt that hung on a variable of the loop that planned it would be the last one's."""
    asked = queries(test, shown())
    first = [query.question for query in asked]
    assert [query.question for query in reversed(asked)] == first[::-1]
    assert len(set(first)) == len(first)
    assert all(query.question is not query.question for query in asked if isinstance(query.question, Prompt))


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize("test", ["membership", "classification_1shot", "incomplete_completion"])
def test_a_planned_query_takes_no_room_for_its_prompt(test: str) -> None:
    long = replace(ships(), rows=tuple((*row[:3], f"{row[3]} " * 1000, *row[4:]) for row in ships().rows))
    queries(test, long)  # what is found out about the table stays with the table
    tracemalloc.start()
    try:
        asked = queries(test, long)
        room = tracemalloc.get_traced_memory()[0] / len(asked)
    finally:
        tracemalloc.stop()
    assert room < len(asked[0].prompt.completion) / 5


def golden() -> dict[str, object]:
    """The first two prompts of every test on iris, in the words of each set and in all three renderings."""
    table = load_table("iris")  # what is found out about it is kept with it
    return {prompts.name: golden_of(prompts, table) for prompts in load_prompts().values()}


def golden_of(prompts: PromptSet, table: Table) -> dict[str, object]:
    return {
        query.id: {
            "chat": [[message.role, message.content] for message in query.prompt.chat],
            "completion": query.prompt.completion,
            "seq2seq": query.prompt.seq2seq,
            "asked": list(query.asked),
            "expected": list(query.expected),
        }
        for test in map(by_id().__getitem__, ANSWERED)
        if test.id not in BY_MODELS
        for query in queries(test.id, table, seed=f"0 {table.sha256} {test.id}", prompts=prompts)[:2]
    }


@pytest.mark.slow
def test_golden_prompts_of_seed_0() -> None:
    """A wording that changes must change this file: `python -m tests.evidence.test_queries` writes it anew."""
    assert golden() == json.loads(GOLDEN.read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize("test", ANSWERED)
def test_a_base_model_is_asked_for_the_natural_continuation(test: str) -> None:
    for query in queries(test, shown())[:3]:
        text = query.prompt.completion
        assert not text.endswith(" ")
        assert "Write" not in text
        if test in ("incomplete_completion", "feature_completion", "guided_completion", "guided_match"):
            assert text.endswith(IS.lead(query.asked[0]))
        elif test in ("full_completion", "list_instances", "sampling", "task_examples"):
            assert text.endswith("\n")
        elif by_id()[test].source == "bordt2024" and by_id()[test].row_test:
            assert not text.endswith(":"), "the text of a file goes on"
        else:
            assert text.endswith(":")


@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize("test", [test.id for test in all_tests()])
def test_a_tiny_table_is_asked_or_skipped_with_a_reason(test: str) -> None:
    for rows in (2, 3, 6):
        try:
            asked = by_id()[test].queries(replace(ships(rows)), IS, Random("0"))
        except Skip as skip:
            reason = str(skip)
        else:
            reason = f"{len(asked)} queries" if asked else ""
        assert reason, rows


if __name__ == "__main__":  # with a cache of its own: an older guesser of this version may have filled the user's
    with TemporaryDirectory() as os.environ["XDG_CACHE_HOME"]:
        GOLDEN.write_text(json.dumps(golden(), ensure_ascii=False, indent=1) + "\n", "utf-8")
