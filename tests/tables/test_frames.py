"""Tables from data frames: the cells as the frame's own CSV writer has them."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tabcontam
from tabcontam.errors import UsageError
from tabcontam.tables.row_draws import by_content
from tabcontam.tables.table import Table, load_table

ODD = ["plain", "a,b", 'q"u', "line\nbreak", "carriage\rreturn", "both\r\n", "=1+1", "\u202e", "汉字", "  spaced ", "'"]


def test_cells_are_what_the_csv_of_the_frame_has() -> None:
    frame = pd.DataFrame(
        {
            "id": [1, 2, 3],
            "code": ["007", "1.50", None],
            "price": [1.50, float("nan"), 1e-07],
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "there": [True, False, True],
            "day": pd.to_datetime(pd.Series(["2020-01-31", None, "2021-02-01"])),
            "kind": pd.Categorical(["a", "b", "a"]),
            7: ["", "NA", "?"],
        }
    ).set_axis([10, 20, 30])
    table = Table.from_frame(frame, name="Own Table", target="kind")
    assert table.columns == ("id", "code", "price", "whole", "there", "day", "kind", "7")
    assert table.rows == (
        ("1", "007", "1.5", "1", "True", "2020-01-31", "a", None),
        ("2", "1.50", None, None, "False", None, "b", "NA"),
        ("3", None, "1e-07", "3", "True", "2021-02-01", "a", "?"),
    )
    assert (table.name, table.title, table.names) == ("Own Table", "Own Table", ("Own Table",))
    assert table.private
    assert table.missing == {"NA", "?"}
    assert table.question is not None
    assert dict(table.question.answers) == {"a": "a", "b": "b"}


def test_it_is_the_table_of_the_file_that_the_frame_writes(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ODD, "number": range(len(ODD))})
    frame.to_csv(tmp_path / "own.csv", index=False, lineterminator="\n")
    table = Table.from_frame(frame, name="own")
    assert table.sha256 == sha256((tmp_path / "own.csv").read_bytes()).hexdigest()
    assert table.edition == table.sha256[:12]
    assert [row[0] for row in table.rows] == ODD
    quiet = frame[~frame["text"].str.contains("\r|\n")]
    quiet.to_csv(tmp_path / "quiet.csv", index=False, lineterminator="\n")
    from_file, from_frame = load_table(str(tmp_path / "quiet.csv")), Table.from_frame(quiet, name="quiet")
    assert (from_file.rows, from_file.sha256) == (from_frame.rows, from_frame.sha256)


@given(st.lists(st.tuples(st.text(max_size=6), st.floats() | st.none()), min_size=2, max_size=6))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_text_comes_back(rows: list[tuple[str, float | None]]) -> None:
    table = Table.from_frame(pd.DataFrame(rows, columns=["text", "number"]), name="t")
    assert [row[0] or "" for row in table.rows] == [text for text, _ in rows]
    numbers = [row[1] for row in table.rows]
    for cell, (_, number) in zip(numbers, rows, strict=True):
        assert (cell is None) == (number is None or number != number)
        assert cell is None or float(cell) == number


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (pd.DataFrame({"a": [1, 2]}), {}, "one column"),
        (pd.DataFrame({"a": [1], "b": [2]}), {}, "one row"),
        (pd.DataFrame({"a": [], "b": []}), {}, "no row"),
        (pd.DataFrame(), {}, "one column"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), {}, "2 columns named 'a'"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["1", 1]), {}, "2 columns named '1'"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", " "]), {}, "column 2 has no name"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=[float("nan"), "b"]), {}, "column 1 has no name"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=pd.Index([None, "b"])), {}, "column 1 has no name|need texts"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=[("a", "b"), ("a", "c")]), {}, "on one level"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "b"]), {"target": "c"}, "unknown target column of t 'c'"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "b"]), {"name": " "}, "needs a name"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "b"]), {"name": None}, "needs a name"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=[0, 1]), {"target": 1}, "the target is 1; write the name"),
        (pd.DataFrame({"a": ["x" * 200_000, "y"], "b": [1, 2]}), {}, "field larger than"),
        (pd.Series([1, 2]), {}, "Series is no DataFrame"),
        ([[1, 2], [3, 4]], {}, "list is no DataFrame"),
        ("own.csv", {}, "str is no DataFrame"),
    ],
)
def test_what_is_no_table_is_one_line(frame: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        Table.from_frame(frame, **{"name": "t"} | options)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_frame_of_polars() -> None:
    """Integers beside a missing cell stay integers there."""
    polars = pytest.importorskip("polars", reason="pip install polars")
    frame = polars.DataFrame({"text": [*ODD, None], "number": [*range(len(ODD)), None]})
    table = Table.from_frame(frame, name="own")
    assert [row[0] for row in table.rows] == [*ODD, None]
    assert [row[1] for row in table.rows] == [*map(str, range(len(ODD))), None]


def test_a_table_is_shown_without_its_rows() -> None:
    table = Table.from_frame(pd.DataFrame({"a": ["secret", "b"], "c": [1, 2]}), name="t")
    assert "secret" not in repr(table)


def test_the_order_of_rows_by_content_does_not_depend_on_the_files_where_cells_hold_odd_signs() -> None:
    rows = [("q\0", "r"), ("q", "\0r"), ("q\t", "r"), ("q", "r"), ("a\x1f", "z")]

    def sorted_rows(order: list[int]) -> list[tuple[str | None, ...]]:
        table = Table.from_frame(pd.DataFrame([rows[place] for place in order], columns=["a", "b"]), name="odd")
        return [table.rows[place] for place in by_content(table)]

    assert sorted_rows([0, 1, 2, 3, 4]) == sorted_rows([1, 0, 4, 3, 2]) == sorted(rows)


def test_a_query_that_is_yet_to_be_made_is_no_frame() -> None:
    """As DuckDB's relation, which has columns and writes CSV files, and a lazy frame of polars."""

    class Relation:
        columns = ("a", "b")

        def write_csv(self, path: str) -> None: ...

        def df(self) -> None: ...

    with pytest.raises(UsageError, match=r"not tests Relation; give the result of its \.df\(\)"):
        tabcontam.run(dataset=Relation())
