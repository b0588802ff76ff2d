"""No query asks about a row that the LLM may know, and whoever guesses knows these rows, too."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tabcontam.baseline.table_predictions import predict_rows
from tabcontam.evidence.base import Query
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.thresholds import SHOWN_EXAMPLES
from tabcontam.tables.known_rows import known_rows, with_known
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tests.made_tables import ships

IS = load_serializers()["is"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder without what other tests made."""
    (tmp_path / "tabcontam").mkdir()
    (tmp_path / "tabcontam" / "facts").symlink_to(tmp_path, target_is_directory=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def tickets(rows: int, seed: int = 0) -> Table:
    """Passengers of whom two or three travel on one ticket, which alone tells the fare."""
    rng = Random(seed)
    fares = {f"T{number}": str(rng.randint(1000, 9999)) for number in range(rows // 2)}
    cells = [(f"P{number}", rng.choice(list(fares))) for number in range(rows)]
    return replace(
        ships(2),
        name="tickets",
        title="tickets",
        columns=("passenger", "ticket", "fare"),
        rows=tuple((passenger, ticket, fares[ticket]) for passenger, ticket in cells),
        target=None,
        question=None,
    )


def parted(table: Table, known: Sequence[int]) -> tuple[Table, Table]:
    """The table without some rows, and these by themselves."""
    own = tuple(row for place, row in enumerate(table.rows) if place not in known)
    return replace(table, rows=own), replace(table, name="known.csv", rows=tuple(table.rows[place] for place in known))


def asked_rows(query: Query) -> set[int]:
    """The row that a query asks about, by its place: tests 7 and 9 show it last, and test 8 asks the one behind."""
    return {query.rows[-1] + 1} if query.id.startswith("full") else {query.rows[-1]}


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize("test", ["incomplete_completion", "full_completion", "feature_completion"])
def test_no_row_test_asks_about_a_known_row(test: str) -> None:
    whole = ships(300)
    _, file = parted(whole, range(0, 300, 3))
    (table,) = with_known([whole], [file])
    queries = by_id()[test].planned(table, IS, Random(1))
    asked = {row for query in queries for row in asked_rows(query)}
    assert len(asked) >= 20
    assert not asked & known_rows(table)


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
def test_no_row_is_asked_that_stands_before_a_known_one_in_the_file() -> None:
    whole = ships(300)
    _, file = parted(whole, [SHOWN_EXAMPLES + 1, *range(100, 300, 2)])
    (table,) = with_known([whole], [file])
    queries = by_id()["full_completion"].planned(table, IS, Random(1))
    asked = {row for query in queries for row in asked_rows(query)}
    assert asked
    assert not {row + 1 for row in asked} & known_rows(table)
    assert not any(query.paper for query in queries)  # whose row stands before one that is known


@pytest.mark.slow
def test_no_row_that_is_shown_to_be_told_from_a_copy_is_known() -> None:
    whole = ships(900)
    _, file = parted(whole, range(0, 900, 3))
    (table,) = with_known([whole], [file])
    for test in ("matched_membership", "membership"):
        queries = by_id()[test].planned(table, IS, Random(1))
        assert queries
        assert not {query.rows[-1] for query in queries} & known_rows(table)


@pytest.mark.slow
def test_the_blind_classifier_knows_rows_that_the_table_lacks() -> None:
    own, file = parted(ships(900), range(0, 900, 2))
    (table,) = with_known([own], [file])
    queries = by_id()["matched_membership"].planned(table, IS, Random(1))
    assert {row for query in queries for row in query.rows} <= set(range(len(own.rows)))
    alone = by_id()["matched_membership"].planned(own, IS, Random(1))
    assert [query.chance for query in queries] != [query.chance for query in alone]


@pytest.mark.slow
def test_known_rows_teach_the_guesser_what_they_have_in_common_with_an_asked_one() -> None:
    own, file = parted(tickets(300), range(200))
    (table,) = with_known([own], [file])
    fare_of = {row[1]: row[2] for row in file.rows}
    rows = [place for place, row in enumerate(own.rows) if row[1] in fare_of]
    rows = [place for place in rows if sum(row[1] == own.rows[place][1] for row in own.rows) == 1]
    assert len(rows) >= 20
    taught, untaught = (predict_rows(one, ["fare"], ["passenger", "ticket"], rows) for one in (table, own))
    chances = [
        [guess[row].cells["fare"].chance_of(own.rows[row][2] or "") for row in rows] for guess in (taught, untaught)
    ]
    assert min(chances[0]) > 0.5  # each of them, in whichever fold the asked row is
    assert max(chances[1]) < 0.1


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
def test_of_thousands_of_known_rows_none_is_asked() -> None:
    own, file = parted(tickets(2_800), range(100, 2_800))
    (table,) = with_known([replace(own, rows=(*own.rows, *file.rows[:100]))], [file])
    assert len(known_rows(table)) == 100
    queries = by_id()["full_completion"].planned(table, IS, Random(1))
    assert queries
    assert not {row for query in queries for row in asked_rows(query)} & known_rows(table)


@pytest.mark.slow
def test_what_is_kept_of_a_table_without_known_rows_is_not_taken_for_one_with_them() -> None:
    own, file = parted(tickets(300), range(200))
    before = predict_rows(own, ["fare"], ["ticket"], range(50))
    (table,) = with_known([replace(own)], [file])
    after = predict_rows(table, ["fare"], ["ticket"], range(50))
    again = predict_rows(with_known([replace(own)], [file])[0], ["fare"], ["ticket"], range(50))
    assert before != after
    assert after == again
    assert predict_rows(replace(own), ["fare"], ["ticket"], range(50)) == before


@pytest.mark.slow
def test_a_table_of_a_few_rows_that_are_not_known_has_a_guess_of_each() -> None:
    own, file = parted(tickets(300), range(297))
    (table,) = with_known([own], [file])
    found = predict_rows(table, ["fare"], ["ticket"], [0, 1, 2])
    assert list(found) == [0, 1, 2]
    assert all(0 < one.cells["fare"].surest <= 1 for one in found.values())


def test_classification_asks_about_no_known_row() -> None:
    whole = ships(300)
    _, file = parted(whole, range(0, 300, 2))
    (table,) = with_known([whole], [file])
    queries = by_id()["classification_0shot"].planned(table, IS, Random(1))
    assert queries
    assert not {query.rows[-1] for query in queries} & known_rows(table)


@pytest.mark.slow
def test_thousands_of_known_rows_all_teach_the_guesser() -> None:
    own, file = parted(tickets(2_800), range(100, 2_800))
    (table,) = with_known([own], [file])
    fare_of = {row[1]: row[2] for row in file.rows}
    rows = [place for place, row in enumerate(own.rows) if row[1] in fare_of]
    found = predict_rows(table, ["fare"], ["passenger", "ticket"], rows)
    assert min(found[row].cells["fare"].chance_of(own.rows[row][2] or "") for row in rows) > 0.5
