"""Demonstrations of other tables: what a chat model is shown before a question, and of which tables."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.evidence import shots
from tabcontam.evidence.base import Query
from tabcontam.evidence.knowledge.feature_lists import FeatureListUninformed
from tabcontam.evidence.rows.completion_tests import FeatureCompletion
from tabcontam.evidence.shots import other_tables, with_shots
from tabcontam.runs.option_checks import check_options
from tabcontam.tables import row_draws
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table, load_table
from tests.made_tables import ships

IS = load_serializers()["is"]
TEST = FeatureCompletion()
IRIS, WINE = load_table("iris"), load_table("wine")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tables whose guesses are part of the package."""
    monkeypatch.setattr(shots, "_carried", lambda: (IRIS, WINE))


def asked(table: Table, count: int, seed: int = 0) -> Sequence[Query]:
    queries = TEST.planned(table, IS, row_draws.seeded(table, 0, TEST.id))[:3]
    return with_shots(TEST, queries, table, IS, seed, count)


def test_each_question_stands_behind_as_many_pairs_of_a_question_and_its_answer() -> None:
    plain, shown = asked(ships(), 0), asked(ships(), 3)
    for before, after in zip(plain, shown, strict=True):
        system, *pairs, own = after.prompt.chat
        assert (system, own) == (before.prompt.chat[0], before.prompt.chat[-1])
        assert [message.role for message in pairs] == ["user", "assistant"] * 3
        assert [next(one.title for one in (IRIS, WINE) if one.title in said.content) for said in pairs[::2]] == [
            IRIS.title,
            WINE.title,
            IRIS.title,
        ]
        assert after.prompt.completion == before.prompt.completion
        assert after.chance == before.chance


def test_the_answers_are_those_of_the_other_tables() -> None:
    system, question, answer, *_ = asked(ships(), 1)[0].prompt.chat
    assert system.role == "system"
    shown = {cell for row in IRIS.rows for cell in row}
    assert answer.content in shown
    assert "Which value of" in question.content


def test_a_seed_fixes_them() -> None:
    first, again, other = (asked(ships(), 2, seed)[0].prompt.chat for seed in (0, 0, 1))
    assert first == again != other


def test_neither_the_table_itself_nor_a_copy_of_it_is_shown() -> None:
    assert other_tables(IRIS) == [WINE]
    assert other_tables(replace(IRIS, edition="other")) == [WINE]
    order = [3, 1, 0, 2]
    rows = [(f"flower {number}", *(row[place] for place in order)) for number, row in enumerate(IRIS.rows)]
    Random(0).shuffle(rows)
    copied = replace(IRIS, name="flowers", columns=("id", "a", "b", "c", "d"), rows=tuple(rows), target=None)
    assert other_tables(copied) == [WINE]
    assert other_tables(ships()) == [IRIS, WINE]


def test_what_asks_for_no_cells_is_left_as_it_is() -> None:
    words = FeatureListUninformed()
    queries = words.planned(ships(), IS, Random(0))
    assert with_shots(words, queries, ships(), IS, 0, 3) == tuple(queries)
    assert [query.prompt for query in with_shots(words, queries, ships(), IS, 0, 3)] == [
        query.prompt for query in queries
    ]


def test_too_many_are_refused() -> None:
    check_options(RunConfig(shots=16))
    with pytest.raises(UsageError, match=r"shots.* is 17; show at most 16"):
        check_options(RunConfig(shots=17))
