"""Which rows tests 7 to 9 ask: the ones that a guesser is least sure of, whatever the order of rows and columns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.table_predictions import RowPrediction
from tabcontam.errors import Skip
from tabcontam.evidence.base import Prompt, Query
from tabcontam.evidence.checks import alone_rows
from tabcontam.evidence.rows import completion_tests
from tabcontam.evidence.rows.completion_tests import FeatureCompletion, FullCompletion, IncompleteCompletion
from tabcontam.evidence.rows.hidden_cells import HiddenCells, rule_out
from tabcontam.tables import row_draws
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tests.evidence.test_queries import SMALL
from tests.made_tables import ships

IS = load_serializers()["is"]
ROW_TESTS = (IncompleteCompletion(), FullCompletion(), FeatureCompletion())
IDS = [test.id for test in ROW_TESTS]
RowTests = IncompleteCompletion | FullCompletion | FeatureCompletion


def queries(test: RowTests, table: Table, seed: int = 0) -> Sequence[Query]:
    try:
        return test.queries(table, IS, row_draws.seeded(table, seed, test.id))
    except Skip:
        return ()


def asked_row(query: Query) -> int:
    return query.rows[-1] + (1 if query.id.startswith("full") else 0)


def columned(table: Table, columns: Sequence[Sequence[str | None]]) -> Table:
    rows = tuple(zip(*columns, strict=True))
    return replace(table, columns=tuple(f"feat{place}" for place in range(len(columns))), rows=rows, target=None)


def sure(table: Table, asked: Sequence[str], shown: Sequence[str], rows: Sequence[int], before: bool = False) -> object:
    """A guesser that is sure of the cells of every odd row of ships."""
    return {row: RowPrediction({name: CellPrediction({}, 0.01) for name in asked}, float(row % 2 == 0)) for row in rows}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guesser that is fitted to nothing, where only the drawing matters."""
    monkeypatch.setattr(completion_tests, "predict_rows", sure)
    monkeypatch.setattr(completion_tests, "least_sure", lambda table, columns, count, before=False: columns[:count])


@pytest.mark.slow
@pytest.mark.parametrize(("test", "papers", "all_of_them"), list(zip(ROW_TESTS, (5, 1, 5), (35, 40, 45), strict=True)))
def test_the_papers_queries_come_first_and_the_budget_is_used(test: RowTests, papers: int, all_of_them: int) -> None:
    asked = queries(test, ships())
    assert [query.paper for query in asked] == [True] * papers + [False] * (all_of_them - papers)
    assert [query.id for query in asked] == [f"{test.id}-{number}" for number in range(all_of_them)]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("test", ROW_TESTS, ids=IDS)
def test_no_row_is_asked_twice(test: RowTests) -> None:
    for seed in range(5):
        rows = [asked_row(query) for query in queries(test, ships(), seed)]
        assert len(set(rows)) == len(rows) > 0


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("rows", "number"), [(150, 30), (300, 60), (900, 60)])
def test_no_row_of_the_file_stands_in_two_prompts_of_test_8(rows: int, number: int) -> None:
    for seed in range(5):
        asked = queries(FullCompletion(), ships(rows), seed)
        seen = [row for query in asked for row in (*query.rows, asked_row(query))]
        assert len(asked) == number
        assert len(set(seen)) == len(seen)
        assert all(list(query.rows) == list(range(query.rows[0], query.rows[0] + 4)) for query in asked)


@pytest.mark.usefixtures("quick")
def test_seeds_ask_for_other_rows() -> None:
    for test in ROW_TESTS:
        first, second = ({asked_row(query) for query in queries(test, ships(2000), seed)} for seed in (0, 1))
        assert len(first & second) < len(first) / 2


@pytest.mark.usefixtures("quick")
def test_the_three_tests_ask_about_different_rows_of_a_large_table() -> None:
    asked = [{asked_row(query) for query in queries(test, ships(2000)) if not query.paper} for test in ROW_TESTS]
    assert sum(map(len, asked)) == len(set().union(*asked)) == 40 + 29 + 60


@pytest.mark.slow
@pytest.mark.parametrize("test", ROW_TESTS, ids=IDS)
@pytest.mark.usefixtures("cheaply")
def test_every_counted_cell_has_a_guess(test: RowTests) -> None:
    for query in queries(test, ships()):
        assert set(query.chance) <= set(query.asked)
        assert len(query.chance) == {"incomplete_completion": 3, "full_completion": 7, "feature_completion": 1}[test.id]


def shuffled(table: Table, seed: int = 1) -> Table:
    rows = list(table.rows)
    Random(seed).shuffle(rows)
    return replace(table, rows=tuple(rows))


@pytest.mark.parametrize("test", [IncompleteCompletion(), FeatureCompletion()], ids=["7", "9"])
@pytest.mark.usefixtures("cheaply")
def test_the_order_of_the_rows_changes_no_question(test: RowTests) -> None:
    asked, again = (queries(test, table) for table in (ships(), shuffled(ships())))
    assert [query.prompt for query in asked] == [query.prompt for query in again]
    assert [query.expected for query in asked] == [query.expected for query in again]
    assert [query.chance for query in asked] == [query.chance for query in again]


@pytest.mark.usefixtures("cheaply")
def test_the_order_of_the_columns_changes_no_row_that_test_8_asks() -> None:
    def turned(table: Table) -> Table:
        return replace(table, columns=table.columns[::-1], rows=tuple(row[::-1] for row in table.rows))

    asked, again = (queries(FullCompletion(), table) for table in (ships(), turned(ships())))
    assert [query.rows for query in asked] == [query.rows for query in again]
    assert [dict(query.chance) for query in asked] == [dict(query.chance) for query in again]


@pytest.mark.usefixtures("cheaply")
def test_the_order_of_the_columns_before_changes_no_row_that_test_7_asks() -> None:
    def turned(table: Table) -> Table:
        order = (3, 1, 0, 2, 4, 5, 6)
        columns = tuple(table.columns[place] for place in order)
        return replace(table, columns=columns, rows=tuple(tuple(row[place] for place in order) for row in table.rows))

    asked, again = (queries(IncompleteCompletion(), table) for table in (ships(), turned(ships())))
    assert [query.rows for query in asked] == [query.rows for query in again]


@pytest.mark.parametrize("test", [IncompleteCompletion(), FeatureCompletion()], ids=["7", "9"])
@given(table=SMALL)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=50)
def test_which_rows_can_count_hangs_on_shown_cells_alone(test: RowTests, table: Table) -> None:
    """A row that shares its beginning with one of the same answer would be guessed from that one."""
    for query in queries(test, table):
        first = table.columns.index(query.asked[0])
        alike = [row for row in table.rows if row[:first] == table.rows[query.rows[-1]][:first]]
        assert not query.chance or len(alike) == 1


def test_rows_that_are_alone_up_to_a_column() -> None:
    table = columned(ships(4), (("1", "1", "1", "2"), ("x", "y", "x", "x"), ("a", "b", "c", "d")))
    assert [alone_rows(table, place) for place in range(3)] == [[], [3], [1, 3]]


@pytest.mark.parametrize("test", [IncompleteCompletion(), FeatureCompletion()], ids=["7", "9"])
@pytest.mark.usefixtures("quick")
def test_rows_that_the_guesser_knows_are_not_asked(test: RowTests) -> None:
    asked = [query for query in queries(test, ships(1000)) if not query.paper]
    assert {asked_row(query) % 2 for query in asked} == {0}


def test_the_hidden_cells_decide_on_no_row_that_is_asked() -> None:
    """Rows are drawn by what their prompts show: with other hidden cells the same rows would be candidates."""
    table = ships(400)
    hidden = [row[4:] for row in table.rows]
    other = replace(table, rows=tuple((*row[:4], *cells) for row, cells in zip(table.rows, hidden[::-1], strict=True)))
    assert alone_rows(table, 4) == alone_rows(other, 4)


def chances(guess: CellPrediction, shown: Sequence[str], truth: str = "e") -> Mapping[str, CellPrediction]:
    """What is left of a guess about the last of two columns beside examples that show these values."""
    table = columned(ships(), [[str(row) for row in range(len(shown) + 1)], [*shown, truth]])
    ask = HiddenCells(table, [1], unwritten, 9, {len(shown): RowPrediction({"feat1": guess}, 1)})
    return ask._chance(len(shown), range(len(shown)))


def unwritten(row: int, examples: Sequence[int]) -> Prompt:
    raise AssertionError("no prompt is written to plan a query")


def test_a_value_that_the_examples_rule_out_makes_the_others_likelier() -> None:
    """Four of five values shown, as test 9 shows them, leave one: naming it is no memory."""
    fifth = CellPrediction(dict.fromkeys("abcde", 0.2), 0.01)
    assert chances(fifth, "abcd")["feat1"].chance_of("e") == pytest.approx(1)
    assert chances(fifth, "ab")["feat1"].chance_of("e") == pytest.approx(1 / 3)
    assert chances(fifth, "zz")["feat1"].chance_of("e") == pytest.approx(0.2)


def test_a_value_that_an_example_shows_is_likelier_where_the_mode_is_ruled_out() -> None:
    """`unknown, 0` is shown, so it is not asked: `failure`, which another example goes on with, is not as rare here."""
    tails = [("unknown", "0")] * 80 + [("failure", str(count)) for count in range(20)]
    table = columned(ships(), [[str(row) for row in range(100)], *map(list, zip(*tails, strict=True))])
    guesses = {
        "feat1": CellPrediction({"unknown": 0.8, "failure": 0.12}, 0.01),
        "feat2": CellPrediction({"0": 0.1, "1": 0.1}, 0.01),
    }
    ask = HiddenCells(table, [1, 2], unwritten, 9, {99: RowPrediction(guesses, 1)})
    found = ask._chance(99, [0, 80])
    assert found["feat1"].chance_of("failure") == pytest.approx(0.12 / (1 - 0.8))
    share = 1 / 20 + sqrt(1 / 20 * 19 / 20 / 20)  # estimated from 20 rows
    assert found["feat1"].chance_of("unknown") == pytest.approx(0.8 / (1 - 0.12 * share))
    assert (
        found["feat2"].chance_of("0") == 0.1
    )  # the example that goes on with it is the only one that begins as the row


def test_a_value_that_mostly_goes_on_in_another_way_is_not_ruled_out_by_one_example() -> None:
    """Its whole probability was: what was left for the rarer values got chance 1, and no bits for naming them."""
    tails = [("f", str(row % 30)) for row in range(90)] + [("t", "0")] * 10
    table = columned(ships(), [[str(row) for row in range(100)], *map(list, zip(*tails, strict=True))])
    guesses = {"feat1": CellPrediction({"f": 0.9, "t": 0.1}, 0.01), "feat2": CellPrediction({"0": 0.2}, 0.01)}
    ask = HiddenCells(table, [1, 2], unwritten, 9, {99: RowPrediction(guesses, 1)})
    chance = ask._chance(99, [0, 1])["feat1"].chance_of("t")
    assert 0.1 / (1 - 0.9 * 2 / 30) < chance < 0.12


def test_the_chances_of_what_is_left_are_those_of_drawing_rows_until_one_is_no_examples() -> None:
    """Bayes' rule, counted: of all rows whose two hidden cells are not an example's, how often is each first cell."""
    rng = Random(4)
    tails = [(rng.choice("aaabc"), rng.choice("xxy")) for _ in range(600)]
    table = columned(ships(), [[str(row) for row in range(600)], *map(list, zip(*tails, strict=True))])
    shown = [tails.index(("a", "x")), tails.index(("b", "y"))]
    left = [first for first, second in tails if (first, second) not in (("a", "x"), ("b", "y"))]
    guesses = {
        "feat1": CellPrediction({value: [first for first, _ in tails].count(value) / 600 for value in "abc"}, 0.001)
    }
    guesses["feat2"] = CellPrediction({"x": 0.6, "y": 0.4}, 0.001)
    row = tails.index(("c", "x"))
    found = HiddenCells(table, [1, 2], unwritten, 9, {row: RowPrediction(guesses, 1)})._chance(row, shown)["feat1"]
    assert left.count("c") / len(left) <= found.chance_of("c") < 1.1 * left.count("c") / len(left)
    assert all(left.count(value) / len(left) <= found.chance_of(value) for value in "ab")


def test_a_missing_cell_of_an_example_rules_out_its_share_only() -> None:
    tails: list[tuple[str | None, str]] = [(None, str(row % 30)) for row in range(90)] + [("t", "0")] * 10
    table = columned(ships(), [[str(row) for row in range(100)], *map(list, zip(*tails, strict=True))])
    guesses = {"feat1": CellPrediction({"t": 0.1}, 0.01, missing=0.9), "feat2": CellPrediction({"0": 0.2}, 0.01)}
    ask = HiddenCells(table, [1, 2], unwritten, 9, {99: RowPrediction(guesses, 1)})
    assert 0.1 / (1 - 0.9 / 30) <= ask._chance(99, [0])["feat1"].chance_of("t") < 0.11


def test_a_cell_that_is_surely_missing_but_for_the_examples_is_no_memory() -> None:
    table = columned(ships(), [[str(row) for row in range(5)], [None, "b", "c", "d", "e"]])
    ask = HiddenCells(
        table, [1], unwritten, 9, {4: RowPrediction({"feat1": CellPrediction({"e": 0.1}, 0.01, missing=0.9)}, 1)}
    )
    assert ask._chance(4, [0])["feat1"].chance_of("e") == pytest.approx(1)


@pytest.mark.slow
def test_a_row_whose_tail_the_examples_show_is_not_asked_beside_them() -> None:
    """To look for examples without the mode would say that the mode is asked."""
    mode = [["m"] * 380 + ["n", "o", "p", "q"] * 5] * 3
    table = columned(ships(), [[str(row) for row in range(400)], *mode])
    asked = queries(IncompleteCompletion(), table)
    further = [query for query in asked if not query.paper]
    assert sum(query.expected == ("m", "m", "m") for query in further) <= len(further) / 4
    assert not [query for query in asked if query.paper and query.chance and query.expected == ("m", "m", "m")]


def test_a_guess_that_is_raised_stays_a_probability() -> None:
    guess = rule_out(CellPrediction({"a": 0.8, "b": 0.1}, 0.01), 0.5)
    assert guess == CellPrediction({"a": 1.0, "b": 0.2}, 0.02)


@pytest.mark.parametrize(("known", "asked"), [(0, {"f1", "f2"}), (3, {"f4", "f5"}), (4, {"f5", "f6"}), (7, {"f8"})])
def test_where_the_guesser_knows_the_first_features_the_next_are_asked(
    monkeypatch: pytest.MonkeyPatch, known: int, asked: set[str]
) -> None:
    """Features that follow from others filled the three places, and whoever remembered the rows was not found."""
    rng = Random(1)
    cells = columned(ships(), [[str(rng.randrange(10**6)) for _ in range(300)] for _ in range(9)])
    table = replace(cells, columns=tuple(f"f{place}" for place in range(9)), sha256=str(known) * 64)
    fitted: set[str] = set()

    def known_first(
        table: Table, asked: Sequence[str], shown: Sequence[str], rows: Sequence[int], before: bool = False
    ) -> object:
        fitted.update(asked)
        lacking = 0.01 if int(asked[0][1:]) <= known else 9 - int(asked[0][1:]) / 10
        return {row: RowPrediction({name: CellPrediction({}, 0.01) for name in asked}, lacking) for row in rows}

    monkeypatch.setattr(completion_tests, "predict_rows", known_first)
    monkeypatch.setattr(completion_tests, "least_sure", lambda table, columns, count, before=False: columns[:count])
    further = [query for query in queries(FeatureCompletion(), table) if not query.paper]
    assert {query.asked[0] for query in further} == asked
    assert known or len(fitted) == 3


NUMBERS = [str(row) for row in range(60)]


@pytest.mark.parametrize(
    "columns",
    [
        [["k"] * 60] * 5,
        [[f"{place}-{row}" for row in range(60)] for place in range(5)],
        [NUMBERS, *[["k"] * 59 + ["x"]] * 4],
        [[None] * 60] * 5,
        [NUMBERS, NUMBERS[::-1], NUMBERS, [None] * 60],
        [NUMBERS, NUMBERS[::-1], NUMBERS, ["NaN", "1"] * 30],
    ],
    ids=["constant", "all unique", "one informative row", "missing", "missing target", "NaN targets"],
)
@pytest.mark.parametrize("test", ROW_TESTS, ids=IDS)
@pytest.mark.slow
def test_an_odd_table_is_asked_or_skipped_with_a_reason(test: RowTests, columns: list[list[str | None]]) -> None:
    check_odd(test, columns)


@pytest.mark.slow
def test_a_table_of_40_columns_is_asked() -> None:
    """The other two tests are asked of a wide table in test_invariance.py."""
    check_odd(IncompleteCompletion(), [[f"{row % (place + 2)}" for row in range(60)] for place in range(40)])


def check_odd(test: RowTests, columns: list[list[str | None]]) -> None:
    table = columned(ships(), columns)
    if all(len(set(column)) == 1 for column in columns):
        with pytest.raises(Skip):
            test.queries(table, IS, row_draws.seeded(table, 0, test.id))
        return
    asked = queries(test, table)
    assert all(0 < guess.chance_of("1") <= 1 for query in asked for guess in query.chance.values())
    assert asked or test.number == 9
    assert not asked or isinstance(test.uninformative(asked, 0.001), str | None)
