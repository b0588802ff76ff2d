"""What a guesser makes of the hidden cells of a row whose prompt is not recorded."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from tabcontam.replay.recorded_null_model import KnownEdition, known_edition
from tabcontam.tables import editions as edition_files
from tabcontam.tables.table import Cell, Table
from tests.made_tables import ships

IRIS = ("sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)", "target")


def known(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> KnownEdition:
    return KnownEdition(
        Table("t", "T", "made-up", "0", tuple(columns), tuple(map(tuple, rows)), missing=frozenset({"?"}))
    )


class TestPlaces:
    def test_a_row_is_found_whatever_way_its_numbers_are_printed(self) -> None:
        table = known(("size", "port"), [("41", "Wexlow"), ("41.50", "?"), (None, "Wexlow")])
        assert table.place({"size": "41.0", "port": "Wexlow"}) == 0
        assert table.place({"size": "41.5", "port": None}) == 1
        assert table.place({"size": None, "port": "Wexlow"}) == 2
        assert table.place({"size": "42", "port": "Wexlow"}) is None

    def test_a_long_value_is_found_by_what_pandas_prints_of_it(self) -> None:
        name = "a register of all that ever sailed from Ostrimouth to Kelvarra"
        table = known(("name", "port"), [(name, "Wexlow")])
        assert table.place({"name": name[:46], "port": "Wexlow"}) == 0
        assert table.row(0)["name"] == name


class TestGuesses:
    def test_a_value_of_the_asked_row_alone_is_not_counted_as_seen(self) -> None:
        table = known(("a", "b"), [(str(number % 2), str(number * 7 % 10)) for number in range(10)])
        assert table.predictions(3, ("b",), False)["b"].chance_of(table.table.rows[3][1] or "") <= 1 / 2
        alone = known(("b",), [(str(number * 7 % 10),) for number in range(10)])
        assert alone.predictions(3, ("b",), False)["b"].chance_of("1") == 1 / 10

    def test_an_answer_is_worth_its_frequency_however_rare(self) -> None:
        # seventy values that are more frequent: none of the others may count as never seen
        rows = [(str(value),) for value in range(70) for _ in range(4)] + [("seldom",)] * 3 + [("once",)]
        guess = known(("a",), rows).predictions(len(rows) - 1, ("a",), False)["a"]
        assert guess.chance_of("seldom") == pytest.approx(3 / len(rows))

    def test_the_most_frequent_values_that_go_together_are_no_coincidence(self) -> None:
        rows = [("0", "unknown")] * 70 + [("1", "known")] * 30
        hidden = known(("previous", "outcome"), rows).predictions(0, ("previous", "outcome"), False)
        assert hidden["previous"].chance_of("0") == pytest.approx(0.69)
        assert hidden["outcome"].chance_of("unknown") > 0.95

    def test_the_rest_of_the_row_tells_what_its_neighbours_hold(self) -> None:
        rows = [(str(number), "low" if number < 30 else "high") for number in range(60)]
        shuffled = Random(0).sample(rows, len(rows))
        table = known(("size", "tide"), shuffled)
        hidden = table.predictions(shuffled.index(("3", "low")), ("tide",), False)
        assert hidden["tide"].chance_of("low") > 0.9
        assert hidden["tide"].chance_of("high") < 0.6

    @pytest.mark.parametrize("ids", [range(1, 21), range(40, 0, -2), [f"{number:04}_01" for number in range(20)]])
    def test_a_feature_that_only_counts_the_rows_is_known(self, ids: Sequence[object]) -> None:
        rows = [(str(each), str(number * 7 % 20)) for number, each in enumerate(ids)]
        hidden = known(("id", "size"), rows).predictions(0, ("id", "size"), False)
        assert ("id" not in hidden) is (ids != range(40, 0, -2))
        assert "size" in hidden

    def test_cells_of_the_rows_before_count_for_the_fifth_row_alone(self) -> None:
        rows = [(port, str(number)) for port in ("Wexlow", "Kelvarra", "Pelquay") for number in range(20)]
        table = known(("port", "size"), rows)
        assert table.predictions(4, ("port", "size"), True)["port"].chance_of("Wexlow") > 0.9
        assert table.predictions(4, ("port", "size"), False)["port"].chance_of("Wexlow") < 0.5
        assert table.predictions(24, ("port", "size"), True)["port"].chance_of("Kelvarra") < 0.5

    def test_the_order_of_rows_and_columns_changes_nothing(self) -> None:
        table = ships(80)
        asked = ("master", "crewCnt", "tolldue")
        rows = Random(1).sample(table.rows, len(table.rows))
        turned = known(table.columns[::-1], [row[::-1] for row in rows])
        before = KnownEdition(table).predictions(7, asked, False)
        after = turned.predictions(rows.index(table.rows[7]), asked, False)
        for name in asked:
            answer = table.column(name)[7]
            assert answer is None or before[name].chance_of(answer) == pytest.approx(after[name].chance_of(answer))

    @pytest.mark.parametrize("cell", ["same", None, "NaN"])
    def test_a_column_of_one_value_or_of_none_is_worth_nothing(self, cell: Cell) -> None:
        hidden = known(("a", "b"), [(cell, str(number)) for number in range(50)]).predictions(0, ("a",), False)["a"]
        assert hidden.chance_of("other") <= 1 / 50
        assert hidden.missing == 1.0 or hidden.surest > 0.95

    def test_a_table_of_one_row(self) -> None:
        assert known(("a", "b"), [("x", "1")]).predictions(0, ("b",), True)["b"].chance_of("1") == 1.0


class TestEditions:
    def test_the_classes_of_iris_are_written_as_words(self) -> None:
        edition = known_edition("iris", IRIS)
        assert isinstance(edition, KnownEdition)
        assert edition.table.edition == "scikit-learn"
        assert edition.table.distinct("target") == ("setosa", "versicolor", "virginica")

    def test_a_dataset_without_a_card(self) -> None:
        assert known_edition("MathE", ("a",)) == "not recorded: no card states the table's content"

    def test_nothing_is_fetched(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("TABCONTAM_DATA", str(tmp_path))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        monkeypatch.setattr(edition_files, "opener", lambda *_, **__: pytest.fail("asked for a file"))
        found = known_edition("german credit", ("Age", "Risk"))
        assert isinstance(found, str)
        assert found.startswith("not recorded: ")
