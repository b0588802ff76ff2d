"""Serializers write a row on one line and read every value back."""

import csv
import io
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.errors import UsageError
from tabcontam.tables.serializers import (
    Serializer,
    TemplateRows,
    as_facts,
    from_facts,
    from_file,
    load_passages,
    load_serializer,
    load_serializers,
    load_template,
)
from tabcontam.tables.table import Cell

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
        "|",
        "a\\|b",
        "\\",
        "\\n\n",
        '\\"\\"',
        '"a"',
        " , ",
        "-0",
        "007",
        "1.50",
        "1e5",
        "NaN",
        "null",
        "true",
        "{}",
    ]
)
CELLS = TRICKY | st.text()
NAMES = st.lists(st.sampled_from(["a", "b", "c", "", "a is", '"q"', "x\ny"]) | st.text(), min_size=1, max_size=5)


def test_the_four_templates_of_the_paper_and_the_forms_of_the_web_are_shipped_and_is_is_the_default() -> None:
    assert list(load_serializers()) == ["is", "colon", "equals", "is-equal-to", "csv", "json", "markdown"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("is", "The age is 39, The sex is Male"),
        ("equals", "age = 39, sex = Male"),
        ("colon", "age: 39, sex: Male"),
        ("is-equal-to", "The age is equal to 39, The sex is equal to Male"),
        ("csv", "39,Male"),
        ("json", '{"age": 39, "sex": "Male"}'),
        ("markdown", "| 39 | Male |"),
    ],
)
def test_a_row_reads_as_in_section_3_3(name: str, text: str) -> None:
    assert load_serializer(name).row(["age", "sex"], ["39", "Male"]) == text


@pytest.mark.slow
@pytest.mark.parametrize("serializer", SERIALIZERS, ids=lambda item: item.name)
@given(data=st.data())
def test_every_row_comes_back(serializer: Serializer, data: st.DataObject) -> None:
    columns = data.draw(NAMES)
    cells = data.draw(st.lists(CELLS, min_size=len(columns), max_size=len(columns)))
    text = serializer.row(columns, cells)
    assert len(text.splitlines()) <= 1
    assert serializer.parse(text, columns) == tuple(cells)


@pytest.mark.slow
@pytest.mark.parametrize("serializer", SERIALIZERS, ids=lambda item: item.name)
@given(data=st.data())
def test_between_the_values_of_a_row_stands_what_stands_there_in_every_row(
    serializer: Serializer, data: st.DataObject
) -> None:
    columns = data.draw(NAMES)
    cells = st.lists(CELLS, min_size=len(columns), max_size=len(columns))

    def between(row: list[Cell]) -> list[str]:
        text = serializer.row(columns, row)
        places = serializer.places(columns, row)
        ends = [0, *(end for _, end in places)]
        starts = [*(start for start, _ in places), len(text)]
        return [text[end:start] for end, start in zip(ends, starts, strict=True)]

    assert between(data.draw(cells)) == between(data.draw(cells))


@given(cells=st.lists(CELLS, min_size=2, max_size=5))
def test_a_csv_row_is_that_of_the_csv_module_where_no_cell_has_a_line_break_or_a_backslash(cells: list[Cell]) -> None:
    plain = ["".join((cell or "").replace("\\", "/").splitlines()) or None for cell in cells]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(plain)
    assert load_serializer("csv").row([""] * len(plain), plain) == text.getvalue().removesuffix("\n")


@pytest.mark.parametrize("text", ["39", "-0", "1.50", "1e5", "2.5E-3", "0.0", "12345678901234567890.10"])
def test_a_number_of_json_stands_bare_with_its_own_digits(text: str) -> None:
    assert load_serializer("json").row(["a"], [text]) == f'{{"a": {text}}}'


@pytest.mark.parametrize(
    "text", ["007", "+1", ".5", "1.", "1_000", "NaN", "Infinity", "0x1F", "\u0663", "null", "", "1 "]
)
def test_what_is_no_number_of_json_is_a_text(text: str) -> None:
    assert load_serializer("json").row(["a"], [text]) == f'{{"a": {json.dumps(text, ensure_ascii=False)}}}'


def test_bars_and_line_breaks_are_escaped() -> None:
    markdown = load_serializer("markdown")
    assert markdown.row(["a", "b", "c"], ["x|y", "1\n2", None]) == r"| x\|y | 1\n2 |  |"
    assert load_serializer("csv").row(["a", "b"], ['say "hi", all', "1\n2"]) == r'"say ""hi"", all",1\n2'


def test_forms_that_name_no_features_have_a_header() -> None:
    columns = ["age", "job, now"]
    rows: list[list[Cell]] = [["39", None], ["40", "x"]]
    headed = {name: each.rows(columns, rows) for name, each in load_serializers().items()}
    assert headed["csv"] == ['age,"job, now"\n39,', "40,x"]
    assert headed["markdown"] == ["| age | job, now |\n|---|---|\n| 39 |  |", "| 40 | x |"]
    assert headed["json"] == ['{"age": 39, "job, now": null}', '{"age": 40, "job, now": "x"}']
    assert [name for name, each in load_serializers().items() if each.header(columns)] == ["csv", "markdown"]


@pytest.mark.parametrize("serializer", SERIALIZERS, ids=lambda item: item.name)
def test_what_a_run_records_of_a_serializer_makes_it_again(serializer: Serializer) -> None:
    assert from_facts(as_facts(serializer)) == serializer


def test_commas_in_a_value_need_no_quotes() -> None:
    text = load_serializer("is").row(["Name", "Sex"], ["Braund, Mr. Owen Harris", "male"])
    assert text == "The Name is Braund, Mr. Owen Harris, The Sex is male"


def test_a_value_that_looks_like_the_next_feature_is_quoted() -> None:
    text = load_serializer("equals").row(["a", "b"], ["1, b = 2", "3"])
    assert text == 'a = "1, b = 2", b = 3'


def test_a_prefix_ends_before_the_space_of_the_first_asked_value() -> None:
    assert load_serializer("is").prefix(["a", "b", "c"], ["1", "2", "3"], 1) == "The a is 1, The b is"
    assert load_serializer("colon").prefix(["a", "b"], ["1", "2"], 0) == "a:"
    assert load_serializer("csv").prefix(["a", "b", "c"], ["1,5", None, "3"], 2) == '"1,5",,'
    assert load_serializer("json").prefix(["a", "b"], ["1", "2"], 1) == '{"a": 1, "b":'
    assert load_serializer("markdown").prefix(["a", "b"], ["1", "2"], 1) == "| 1 |"


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
    tight = TemplateRows("tight", "", "", *separators)
    columns, cells = ["plan", "income", "note"], ["pro", "1.50", None]
    assert tight.read(tight.row(columns, cells), columns) == dict(zip(columns, cells, strict=True))
    shown = tight.prefix(columns, cells, 1)
    assert tight.read_on(tight.row(columns, cells)[len(shown) :], columns[1:]) == {"income": "1.50", "note": None}
    assert tight.read_on("1.50", ["income"]) == {"income": "1.50"}


HOSTILE = st.text() | st.lists(TRICKY.map(str) | st.sampled_from(['"a":', "a", "b"])).map("".join)
LONG = ["|", '"', '"a":', "\\", ",", " ", "{", "[", '",', '"a": [']


@pytest.mark.slow
@pytest.mark.parametrize("serializer", SERIALIZERS, ids=lambda item: item.name)
@given(text=HOSTILE)
def test_reading_never_fails_on_hostile_text(serializer: Serializer, text: str) -> None:
    assert set(serializer.read(text, ["a", "b"])) <= {"a", "b"}
    assert set(serializer.read_on(text, ["a", "b"])) <= {"a", "b"}
    assert set(serializer.read_on(text, ["a"])) == {"a"}
    assert isinstance(serializer.spaced(text), str)
    assert isinstance(serializer.shown_in(text, ["a", "b"]), bool)


@pytest.mark.parametrize("serializer", SERIALIZERS, ids=lambda item: item.name)
@pytest.mark.parametrize("piece", LONG)
def test_long_hostile_text_is_read_in_no_time(serializer: Serializer, piece: str) -> None:
    text, start = piece * 30_000, time.perf_counter()
    serializer.read(text, ["a", "b"])
    serializer.read_on(text, ["a"])
    serializer.shown_in(text, ["a", "b"])
    serializer.spaced(text)
    assert time.perf_counter() - start < 2


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
        ("form = 'xml'", "form cannot be 'xml'; known: template, csv, json, markdown"),
        ("form = 'csv'\nspecifier = 'The '", "unknown key 'specifier'"),
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


@pytest.mark.parametrize("name", ["x\u001b[31mRED", " is", ""])
def test_a_name_that_a_terminal_would_not_show_as_it_is_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(f'name = {json.dumps(name)}\nvalue_separator = " = "\nfeature_separator = "; "\n')
    with pytest.raises(UsageError, match="name cannot be"):
        load_serializer(str(file))


# Passages: rows that are shown and asked about as a whole


def test_the_templates_of_tabllm() -> None:
    columns, cells = ["age", "workclass"], ["39", "Private"]
    assert load_template("text").row(columns, cells) == "The age is 39. The workclass is Private."
    assert load_template("list").row(columns, cells) == "- age: 39\n- workclass: Private"
    assert load_template("is") is load_serializers()["is"]


@pytest.mark.parametrize("passage", load_passages().values(), ids=lambda item: item.name)
@given(cells=st.lists(TRICKY | st.text(max_size=20), min_size=1, max_size=4))
def test_a_passage_can_be_read_back(passage: Serializer, cells: list[Cell]) -> None:
    columns = [f"c{place}" for place in range(len(cells))]
    assert passage.parse(passage.row(columns, cells), columns) == tuple(cells)


def test_nothing_is_completed_in_a_passage() -> None:
    with pytest.raises(UsageError, match="give it to evaluate as a template"):
        load_serializer("list")
    assert not load_passages().keys() & load_serializers().keys()
