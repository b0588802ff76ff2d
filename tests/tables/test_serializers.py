"""Serializers write a row on one line and read every value back."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.errors import UsageError
from tabcontam.tables.serializers import Serializer, from_file, load_serializer, load_serializers

SERIALIZERS = list(load_serializers().values())
TRICKY = st.sampled_from(
    [
        None,
        "",
        '"',
        '""',
        ",",
        ", ",
        " is ",
        ", The b is ",
        ", b = ",
        "x, The b is",
        "a\nb",
        "\r",
        " ",
        "\\n",
        "é",
        "\u2028",
    ]
)
CELLS = TRICKY | st.text()
NAMES = st.lists(st.sampled_from(["a", "b", "c", "", "a is", '"q"', "x\ny"]) | st.text(), min_size=1, max_size=5)


def test_the_four_templates_of_the_paper_are_shipped_and_is_is_the_default() -> None:
    assert list(load_serializers()) == ["is", "colon", "equals", "is-equal-to"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("is", "The age is 39, The sex is Male"),
        ("equals", "age = 39, sex = Male"),
        ("colon", "age: 39, sex: Male"),
        ("is-equal-to", "The age is equal to 39, The sex is equal to Male"),
    ],
)
def test_a_row_reads_as_in_section_3_3(name: str, text: str) -> None:
    assert load_serializer(name).row(["age", "sex"], ["39", "Male"]) == text


@pytest.mark.parametrize("serializer", SERIALIZERS, ids=lambda item: item.name)
@given(data=st.data())
def test_every_row_comes_back(serializer: Serializer, data: st.DataObject) -> None:
    columns = data.draw(NAMES)
    cells = data.draw(st.lists(CELLS, min_size=len(columns), max_size=len(columns)))
    text = serializer.row(columns, cells)
    assert len(text.splitlines()) <= 1
    assert serializer.parse(text, columns) == tuple(cells)


def test_commas_in_a_value_need_no_quotes() -> None:
    text = load_serializer("is").row(["Name", "Sex"], ["Braund, Mr. Owen Harris", "male"])
    assert text == "The Name is Braund, Mr. Owen Harris, The Sex is male"


def test_a_value_that_looks_like_the_next_feature_is_quoted() -> None:
    text = load_serializer("equals").row(["a", "b"], ["1, b = 2", "3"])
    assert text == 'a = "1, b = 2", b = 3'


def test_a_prefix_ends_before_the_space_of_the_first_asked_value() -> None:
    assert load_serializer("is").prefix(["a", "b", "c"], ["1", "2", "3"], 1) == "The a is 1, The b is"
    assert load_serializer("colon").prefix(["a", "b"], ["1", "2"], 0) == "a:"


@pytest.mark.parametrize("serializer", SERIALIZERS, ids=lambda item: item.name)
def test_an_answer_is_read_by_feature(serializer: Serializer) -> None:
    columns, cells = ["Name", "Fare", "Cabin"], ["Kelly, Mr. James", "7.25", None]
    text = f"Sure! Here it is:\n{serializer.row(columns, cells)}\nAnything else?"
    assert serializer.read(text, columns) == dict(zip(columns, cells, strict=True))


@pytest.mark.parametrize("serializer", SERIALIZERS, ids=lambda item: item.name)
def test_a_continuation_begins_with_the_first_value(serializer: Serializer) -> None:
    columns, cells = ["x", "Fare", "Embarked"], ["0", "7.25", "S"]
    shown = serializer.prefix(columns, cells, 1)
    continuation = serializer.row(columns, cells)[len(shown) :]
    assert serializer.read_on(continuation, ["Fare", "Embarked"]) == {"Fare": "7.25", "Embarked": "S"}


@pytest.mark.parametrize("separators", [("=", " | "), ("=", "|"), (":", ","), ("->", "; "), (" = ", " / ")])
def test_separators_unlike_the_shipped_ones_are_read_back(separators: tuple[str, str]) -> None:
    tight = Serializer("tight", "", "", *separators)
    columns, cells = ["plan", "income", "note"], ["pro", "1.50", None]
    assert tight.read(tight.row(columns, cells), columns) == dict(zip(columns, cells, strict=True))
    shown = tight.prefix(columns, cells, 1)
    assert tight.read_on(tight.row(columns, cells)[len(shown) :], columns[1:]) == {"income": "1.50", "note": None}
    assert tight.read_on("1.50", ["income"]) == {"income": "1.50"}


@given(text=st.text())
def test_reading_never_fails_on_hostile_text(text: str) -> None:
    read = load_serializer("is").read(text, ["a", "b"])
    assert set(read) <= {"a", "b"}


def test_a_users_own_file(tmp_path: Path) -> None:
    path = tmp_path / "arrow.toml"
    path.write_text('value_separator = " -> "\nfeature_separator = " | "')
    serializer = load_serializer(str(path))
    assert serializer.row(["a", "b"], ["1", "2"]) == "a -> 1 | b -> 2"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("value_separator = ' = '", "lacks feature_separator"),
        ("value_separator = ' = '\nfeature_separator = ' '", "feature_separator must hold more than spaces"),
        ("value_separator = 1\nfeature_separator = 1", "value_separator cannot be 1"),
        ('value_separator = "="\nfeature_separator = "\\n,"', "one line"),
        ("colour = 'red'", "unknown key 'colour'"),
        ("not toml", "serializer .* cannot be read"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=problem):
        from_file(path)


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown serializer 'equal'; did you mean equals"):
        load_serializer("equal")
