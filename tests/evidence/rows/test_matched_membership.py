"""Matched membership: nothing but memory tells its false rows, and constant answers earn nothing."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from random import Random

import numpy as np
import pytest

from tabcontam.baseline.altered_copies import AlteredCopies, revealing_column
from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Trial
from tabcontam.evidence.rows.altered_rows import blind_alteration, checked
from tabcontam.evidence.rows.matched_membership import MatchedMembership
from tabcontam.evidence.thresholds import MOST_BLIND_AUC
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tests.made_tables import ships

IS = load_serializers()["is"]
TEST = MatchedMembership()
SHIPS = ships(600)


def weighed(queries: list[Query], answer: Callable[[Query], str]) -> Evidence:
    trials = []
    for query in queries:
        reply = Reply(answer(query), ReplyState.OK)
        trials.append(Trial(query, reply, TEST.read(query, reply, IS)))
    return TEST.weigh(trials, 0.01)


def asked(seed: int = 0, table: Table = SHIPS) -> list[Query]:
    return TEST.queries(table, IS, Random(seed))


def shown(query: Query) -> list[str]:
    return [part.split("\nPart of the dataset:")[0] for part in query.prompt.completion.split("Row: ")[1:]]


@pytest.mark.slow
def test_sixty_different_rows_are_asked_of_which_half_are_altered() -> None:
    queries = asked()
    assert [query.expected for query in queries].count(("No",)) == 30
    assert len({query.rows[-1] for query in queries}) == len(queries) == 60
    assert not any(query.paper for query in queries)


def test_the_labels_are_true_and_the_examples_are_other_rows() -> None:
    known = {IS.row(SHIPS.columns, row) for row in SHIPS.rows}
    for query in asked():
        first, second, row = shown(query)
        assert (row in known) == (query.expected == ("Yes",))
        assert (first in known) != (second in known)
        assert row not in (first, second)
        assert query.rows[0] not in {other.rows[-1] for other in asked()}


def test_a_classifier_is_blind_to_what_is_altered() -> None:
    blind = blind_alteration(SHIPS)
    assert abs(blind.auc - 0.5) < MOST_BLIND_AUC - 0.5
    for swap in blind.swaps:
        assert swap.cells(SHIPS) not in SHIPS.rows


def test_a_classifier_is_as_sure_as_it_was_right() -> None:
    labels = np.tile([1, 0], 200)
    wrong = np.arange(400) % 5 < 2
    chances = np.where((labels == 1) != wrong, 0.52, 0.48)
    found = checked(chances, labels)
    assert ((found > 0.5) == (chances > 0.5)).all()
    assert np.abs(found - 0.5).min() > 0.07
    too_sure = np.where(chances > 0.5, 0.9, 0.1)
    assert np.allclose(checked(too_sure, labels), too_sure)


@pytest.mark.slow
@pytest.mark.parametrize("always", ["Yes", "No"])
def test_a_constant_answer_earns_nothing(always: str) -> None:
    """B8: membership gives 0.75 on a table that nobody can have seen, and 0.5 to one that always says Yes."""
    for seed in range(20):
        evidence = weighed(asked(seed), lambda query: always)
        assert evidence.p_value is not None
        assert evidence.p_value > 0.4
        assert evidence.measured.value == 0.5


def stones(rows: int = 600) -> Table:
    """Cut stones whose height follows from their length, width and relative depth, but for the rounding."""
    rng = Random(5)
    cells = []
    for _ in range(rows):
        length = round(rng.gauss(6, 0.7), 2)
        width, depth = round(length + rng.gauss(0, 0.02), 2), round(rng.gauss(62, 1.2), 1)
        height = f"{depth * (length + width) / 200:.2f}"
        cells.append((f"{length:.2f}", f"{width:.2f}", height, f"{depth:.1f}"))
    columns = ("length", "width", "height", "depth")
    return replace(SHIPS, name="stones", sha256="5" * 64, columns=columns, rows=tuple(cells), target=None)


@pytest.mark.slow
def test_the_classifier_was_blind_to_what_anybody_computes() -> None:
    """Of diamonds x was altered: whoever knows that depth is 200 z / (x + y) told 56 of 60 rows right."""
    with pytest.raises(Skip, match=r"recognizes altered ones: its AUC is 0\.[89]|reveals every alteration"):
        blind_alteration(stones())


@pytest.mark.slow
def test_the_blind_classifiers_own_answer_is_seldom_evidence() -> None:
    p_values = [
        weighed(asked(seed), lambda query: "Yes" if query.chance["Yes"].rest > 0.5 else "No").p_value or 0
        for seed in range(100)
    ]
    assert sum(p <= 0.05 for p in p_values) <= 12


@pytest.mark.slow
def test_one_that_knows_every_row_is_found_and_one_that_knows_half() -> None:
    whole = weighed(asked(), lambda query: str(query.expected[0]))
    assert (whole.hits, whole.measured.value) == (60, 1.0)
    assert whole.p_value is not None
    assert whole.p_value < 1e-12
    assert whole.recalled_bits == pytest.approx(60, abs=15)
    found = 0
    for seed in range(40):
        rng = Random(seed)
        half = weighed(asked(seed), lambda query, rng=rng: str(query.expected[0]) if rng.random() < 0.5 else "Yes")  # type: ignore[misc]
        found += half.p_value is not None and half.p_value <= 0.01
    assert found >= 32


def test_an_unread_answer_is_no_trial() -> None:
    evidence = weighed(asked(), lambda query: "I cannot say.")
    assert (evidence.answered, evidence.p_value, evidence.asked) == (0, 1.0, 60)


def test_too_few_queries_are_uninformative_before_anything_is_asked() -> None:
    assert TEST.uninformative(asked(), 0.01 / 15) is None
    reason = TEST.uninformative(asked()[:10], 0.01 / 15)
    assert reason is not None
    assert "the test would detect a model that remembers half of the rows in only" in reason


def test_rows_and_columns_in_another_order_are_asked_alike() -> None:
    turned = replace(SHIPS, columns=SHIPS.columns[::-1], rows=tuple(row[::-1] for row in SHIPS.rows[::-1]))
    twice = [
        [(query.expected, frozenset(table.rows[query.rows[-1]])) for query in asked(3, table)]
        for table in (SHIPS, turned)
    ]
    assert twice[0] == twice[1]


def table_of(rows: list[tuple[str | None, ...]]) -> Table:
    return Table("t", "Plonth", "made-up", "0" * 64, tuple(f"f{place}" for place in range(len(rows[0]))), tuple(rows))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([(str(i % 20), str(i // 20)) for i in range(400)], "lists every combination of its values"),
        ([(str(i), str(i % 7)) for i in range(40)], "different rows to learn from"),
        ([(str(i), f"x{i}") for i in range(400)], "no feature has values that recur"),
        ([(None, None)] * 400, "different rows to learn from"),
        ([(str(i % 200), str(i % 200 * 3), str(i)) for i in range(1000)], "f0 goes with f1, f1 goes with f0"),
    ],
    ids=["domain", "small", "unique", "missing", "determined"],
)
def test_a_table_that_does_not_allow_it_is_skipped_with_the_reason(
    rows: list[tuple[str | None, ...]], reason: str
) -> None:
    with pytest.raises(Skip, match=reason):
        asked(0, table_of(rows))


def test_a_missing_cell_is_never_the_altered_one() -> None:
    """B7: rows with missing values stayed as they were and were labelled No."""
    blind = blind_alteration(SHIPS)
    for swap in blind.swaps:
        before, after = SHIPS.rows[swap.row][swap.column], SHIPS.rows[swap.donor][swap.column]
        assert before is not None
        assert after is not None
        assert before != after


def test_all_its_evidence_lies_in_the_altered_column() -> None:
    """Who knows which country a city is in tells every altered row, and has seen none."""
    queries = asked()
    assert all(query.row == query.rows[-1] for query in queries)
    evidence = weighed(queries, lambda query: str(query.expected[0]))
    name = SHIPS.columns[blind_alteration(SHIPS).column]
    assert evidence.without == {name: 1.0}
    assert evidence.columns == {name: pytest.approx(evidence.recalled_bits)}


COUNTRIES = ("Wexlow", "Brintle", "Quolt", "Pargen", "Tesk", "Olmery")


def journeys(rows: int = 600, cities: int = 60, days: int = 150, noise: bool = True) -> Table:
    """Journeys: the weekday is that of the date, the country that of the city; with noise, age and luggage are free."""
    rng = Random(8)
    cells = []
    for number in range(rows):
        day, city = date(2019, 1, 1) + timedelta(rng.randrange(days)), rng.randrange(cities)
        place = f"City{city * 7919 % 10007}", COUNTRIES[city * 31 % 6]
        row = (day.isoformat(), day.strftime("%A"), *place, f"t{number}")
        cells.append((*row, str(rng.randrange(20, 60)), str(rng.randrange(30))) if noise else row)
    columns = ("date", "weekday", "city", "country", "ticket", "age", "luggage")[: len(cells[0])]
    return replace(SHIPS, name="journeys", sha256="6" * 64, columns=columns, rows=tuple(cells), target=None)


def worldly(table: Table) -> Callable[[Query], str]:
    """Answers that the row is original iff its weekday is the date's and its country the city's."""
    country = {row[2]: row[3] for row in table.rows}

    def answer(query: Query) -> str:
        cells = {name: shown(query)[-1].split(f"The {name} is ")[1].split(",")[0] for name in table.columns[:4]}
        right = cells["weekday"] == date.fromisoformat(cells["date"]).strftime("%A")
        return "Yes" if right and cells["country"] == country[cells["city"]] else "No"

    return answer


@pytest.mark.parametrize("days", [150, 100000])
@pytest.mark.parametrize("cities", [60, 5000])
@pytest.mark.slow
def test_who_knows_weekdays_and_countries_is_not_accused(days: int, cities: int) -> None:
    """It was in 10 runs of 10: the weekday or the country was altered, which is seen by whoever knows the world."""
    table = journeys(days=days, cities=cities)
    assert table.columns[blind_alteration(table).column] in {"age", "luggage"}
    for seed in range(10):
        evidence = weighed(asked(seed, table), worldly(table))
        assert evidence.p_value is not None
        assert evidence.p_value > 0.01


@pytest.mark.parametrize("days", [150, 100000])
@pytest.mark.parametrize("cities", [60, 5000])
def test_where_all_features_go_with_others_it_is_skipped_with_the_reason(days: int, cities: int) -> None:
    with pytest.raises(Skip, match="arithmetic or general knowledge reveals every alteration") as skip:
        blind_alteration(journeys(days=days, cities=cities, noise=False))
    assert re.search("country goes with city|(city|date) may reveal country", str(skip.value))
    assert re.search("weekday goes with date|(city|date) may reveal weekday", str(skip.value))


def orders(rows: int = 600) -> Table:
    """Orders: the price of a kind of goods is anything, the tax four hundredths, and how it is packed is free."""
    rng = Random(9)
    cells = []
    for _ in range(rows):
        price = rng.randrange(1, 60)
        cells.append((str(price), f"{price * 1.25:.2f}", str(rng.randrange(40)), rng.choice(("box", "bag", "tin"))))
    columns = ("price", "gross", "shelf", "packed")
    return replace(SHIPS, name="orders", sha256="7" * 64, columns=columns, rows=tuple(cells), target=None)


@pytest.mark.slow
def test_a_column_that_follows_by_a_law_is_not_altered_nor_the_one_that_it_follows_from() -> None:
    table = orders()
    assert table.columns[blind_alteration(table).column] in {"shelf", "packed"}
    bare = replace(table, sha256="8" * 64, columns=table.columns[:2], rows=tuple(row[:2] for row in table.rows))
    more = replace(
        bare, columns=(*bare.columns, "note"), rows=tuple((*row, f"n{number}") for number, row in enumerate(bare.rows))
    )
    with pytest.raises(Skip, match=r"reveals every alteration: .*(price|gross) (goes with|follows from)"):
        blind_alteration(more)


@pytest.mark.slow
def test_a_law_that_another_column_follows_by_is_seen_as_well() -> None:
    """`height` is rounded: no length follows from it, but a changed length is seen by who computes the height."""
    rng = Random(3)
    lengths = [rng.randrange(1000, 1999) for _ in range(400)]
    cells = [(str(length // 2 * 2), str(round(length // 2 * 2 * 0.25)), str(rng.randrange(9))) for length in lengths]
    rows, donors = list(range(400)), [(row + 57) % 400 for row in range(400)]
    table = replace(SHIPS, sha256="9" * 64, columns=("length", "height", "lot"), rows=tuple(cells), target=None)
    lengths_of, lots_of = ([table.column(name)[donor] for donor in donors] for name in ("length", "lot"))
    assert revealing_column(AlteredCopies(table, "length", rows, lengths_of)) in {"length", "height"}
    assert revealing_column(AlteredCopies(table, "lot", rows, lots_of)) is None


def receipts(rows: int = 600) -> Table:
    """The subtotal is quantity times price, so that a change of any of the three is seen; the till is free."""
    rng = Random(11)
    cells = []
    for _ in range(rows):
        quantity, price = rng.randrange(1, 25), rng.choice([n * 25 + 99 for n in range(60)])
        cells.append((str(quantity), f"{price / 100:.2f}", f"{quantity * price / 100:.2f}", str(rng.randrange(12))))
    columns = ("quantity", "price", "subtotal", "till")
    return replace(SHIPS, name="receipts", sha256="a" * 64, columns=columns, rows=tuple(cells), target=None)


@pytest.mark.slow
def test_who_multiplies_is_not_accused() -> None:
    table = receipts()
    try:
        altered = table.columns[blind_alteration(table).column]
    except Skip as skip:
        assert re.search("recognizes altered ones|reveals every alteration", str(skip))  # noqa: PT017 - either is right
        return
    assert altered == "till"

    def multiplied(query: Query) -> str:
        quantity, price, subtotal = (float(cell) for cell in re.findall(r"is (\d+(?:\.\d+)?)", shown(query)[-1])[:3])
        return "Yes" if abs(quantity * price - subtotal) < 0.01 else "No"

    for seed in range(10):
        p_value = weighed(asked(seed, table), multiplied).p_value
        assert p_value is not None
        assert p_value > 0.01
