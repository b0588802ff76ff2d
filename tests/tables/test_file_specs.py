"""FILEs without a card: encoding, delimiter, quoting, header, missing marks; every cell the file's own string."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabcontam.errors import Exit, UsageError
from tabcontam.tables.readers.base import File, TextFormat, text_format
from tabcontam.tables.readers.file_kinds import read_split
from tabcontam.tables.table import load_table
from tabcontam.tables.table_contents import Contents, column_names
from tests.commands import tabcontam

DATA = Path(os.environ.get("TABCONTAM_DATA") or "/nonexistent")
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="TABCONTAM_DATA names no folder of dataset files")

HEADERLESS = {
    "adult.data",
    "cal_housing.data",
    "iris.data",
    "bezdekIris.data",
    "wine.data",
    "pima-indians-diabetes.data.csv",
    "car.data",
    "wdbc.data",
    "ag_news_test.csv",
    "processed.cleveland.data",
    "breast-cancer-wisconsin.data",
    "german.data",
    "german.data-numeric",
}
DELIMITERS = {"bank": ";", "bank-full": ";", "bank-additional": ";", "bank-additional-full": ";", "MathE": ";"}
PUBLISHED = sorted(DATA.glob("*/*")) if DATA.is_dir() else []
TABLES = [path for path in PUBLISHED if path.suffix != ".jsonl" and path.name != "adult.test"]


def written(tmp_path: Path, content: bytes | str, name: str = "my.csv") -> str:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def cells(content: str) -> Contents:
    return read_split(File(content.encode(), "my.csv"))[0]


# Published files


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_a_published_file_is_read_as_pandas_reads_it_with_all_options_set(path: Path) -> None:
    import pandas

    frame = pandas.read_csv(
        path,
        sep={".tsv": "\t"}.get(path.suffix, " " if "german.data" in path.name else DELIMITERS.get(path.stem, ",")),
        header=None if path.name in HEADERLESS else 0,
        quoting=csv.QUOTE_NONE if path.suffix == ".tsv" else csv.QUOTE_MINIMAL,
        skipinitialspace=path.name in ("adult.data", "german.data-numeric"),
        dtype=str,
        keep_default_na=False,
    )
    if path.name == "german.data-numeric":
        frame = frame.iloc[:, :24].assign(last=frame[24])
    table = load_table(str(path))
    expected = [tuple(cell or None for cell in row) for row in frame.itertuples(index=False, name=None)]
    assert list(table.rows) == expected
    if path.name in HEADERLESS:
        assert table.columns == tuple(f"column {i}" for i in range(1, frame.shape[1] + 1))
    else:
        named = [name for name in frame.columns if not name.startswith("Unnamed: ")]
        assert [name for name in table.columns if not name.startswith("column ")] == named


@needs_data
def test_a_comment_above_the_table_is_named_by_its_line() -> None:
    with pytest.raises(UsageError, match=r"adult.test, line 1 has 1 cell, and the table has 15 columns"):
        load_table(str(DATA / "adult" / "adult.test"))


@needs_data
def test_a_known_file_given_by_its_path_stays_a_file() -> None:
    table = load_table(str(DATA / "titanic" / "train.csv"), target="Survived")
    assert table.private
    assert table.name == "train.csv"
    assert table.edition == table.sha256[:12] == "7d118fef8b6c"


# Round trips

TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t,;|\"'\\ "), max_size=12)


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=2, max_size=12),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_csv_writes_comes_back(
    rows: list[tuple[str, str, str]], delimiter: str, quoting: int, line_end: str
) -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=line_end)  # type: ignore[arg-type]
    writer.writerow(["number", "alpha", "beta", "gamma"])
    writer.writerows((index, *row) for index, row in enumerate(rows))
    columns, read = cells(file.getvalue())
    assert columns == ("number", "alpha", "beta", "gamma")
    assert read == tuple((str(index), *(cell or None for cell in row)) for index, row in enumerate(rows))


@settings(deadline=None)
@given(width=st.integers(2, 150), height=st.integers(2, 5), delimiter=st.sampled_from([",", ";", "\t", "|"]))
def test_wide_files_keep_their_columns(width: int, height: int, delimiter: str) -> None:
    header = [f"feature {index}" for index in range(width)]
    body = [[f"{row}.{column}" for column in range(width)] for row in range(height)]
    text = "".join(delimiter.join(line) + "\n" for line in [header, *body])
    assert cells(text) == (tuple(header), tuple(map(tuple, body)))


# Cells


def test_cells_are_the_strings_of_the_file(tmp_path: Path) -> None:
    table = load_table(written(tmp_path, "code,price,note\n007,1.50,NA\n010,2.00,\n"))
    assert table.rows == (("007", "1.50", "NA"), ("010", "2.00", None))


def test_quotes_keep_delimiters_line_ends_and_blanks() -> None:
    _, rows = cells('id,text\n1,"a, ""b""\nc"\n2," d "\n')
    assert rows == (("1", 'a, "b"\nc'), ("2", " d "))


def test_a_blank_after_the_delimiter_is_part_of_it() -> None:
    assert cells('id, text\n1, "a, b"\n2, c\n') == (("id", "text"), (("1", "a, b"), ("2", "c")))


def test_quotes_that_are_text_stay() -> None:
    _, rows = cells('id\ttext\n1\t"Yes" he said\n2\t5" pipe\n')
    assert rows == (("1", '"Yes" he said'), ("2", '5" pipe'))


def test_quotes_may_be_escaped_by_a_backslash() -> None:
    _, rows = cells('id,text\n1,"say \\"a, b\\""\n2,"c"\n')
    assert rows == (("1", 'say "a, b"'), ("2", "c"))


def test_commas_inside_numbers_are_no_delimiter() -> None:
    assert cells("1,5;2,5;3,5\n4,5;5,5;6,5\n")[1] == (("1,5", "2,5", "3,5"), ("4,5", "5,5", "6,5"))


def test_runs_of_blanks_divide_where_nothing_else_does() -> None:
    _, rows = cells('  1   2.5  "a b" \n 10  3.5\t"c" \n')
    assert rows == (("1", "2.5", "a b"), ("10", "3.5", "c"))


def test_blank_lines_are_skipped_and_old_line_ends_read() -> None:
    assert cells("a,b\r\n\r\n1,2\r\n  \r\n3,4\r\n\r\n")[1] == (("1", "2"), ("3", "4"))
    assert cells("a,b\r1,2\r3,4\r")[1] == (("1", "2"), ("3", "4"))


# Headers


@pytest.mark.parametrize(
    "text",
    [
        "5.1,3.5,setosa\n4.9,3.0,setosa\n",
        "red,small,yes\nblue,small,no\nred,large,yes\n",
        "?,2,x\n3,4,y\n5,6,z\n",
        "2024-01-05,a,b\n2024-02-06,c,d\n",
        "A11,x,y\nA12,z,w\n",
        "1,2,3\n4,5,6\n",
    ],
)
def test_a_first_row_like_the_others_is_data(text: str) -> None:
    columns, rows = cells(text)
    assert columns == ("column 1", "column 2", "column 3")
    assert len(rows) == text.count("\n")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("age,job\n30,clerk\n31,cook\n", ("age", "job")),
        ("question,answer\nwhat?,this\nwho?,you\n", ("question", "answer")),
        ("country,2001,2002,2003\nA,5,6,7\nB,8,9,10\n", ("country", "2001", "2002", "2003")),
        (",0,1,2\nx,5,6,7\ny,8,9,10\n", ("column 1", "0", "1", "2")),
        ("day,who,1XBH\n2024-01-05,a,1.5\n2024-02-06,b,\n", ("day", "who", "1XBH")),
    ],
)
def test_a_first_row_unlike_the_others_is_the_header(text: str, names: tuple[str, ...]) -> None:
    assert cells(text)[0] == names


def test_empty_and_repeated_names_are_made_unlike() -> None:
    assert column_names(["", "a", " a ", "b", "", "a (2)"]) == ("column 1", "a", "a (3)", "b", "column 5", "a (2)")
    assert column_names(["column 2", ""]) == ("column 2", "column 2 (2)")


# Encodings

GERMAN = "Straße,Größe,Maß\nKöln,12,schön\nMünchen,14,über\nZürich,15,größer\n"
FRENCH = "élève,âge,été\nHélène,12,très bien\nFrançois,14,ça va\nNoël,15,déçu\n"
POLISH = "id,miasto,kraj\n1,Łódź,Polska\n2,Gdańsk,Polska\n3,Żywiec,Polska\n4,Świdnica,Polska\n"
JAPANESE = "id,名前,所\n1,山田太郎,東京都新宿区\n2,鈴木花子,大阪市\n"
RUSSIAN = "имя,возраст,город\nИван,12,Москва\nМария,14,Санкт-Петербург\nОльга,15,Новосибирск\n"  # noqa: RUF001


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (text, encoding)
        for text in (GERMAN, FRENCH, RUSSIAN)
        for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
        if not (text == RUSSIAN and encoding in ("utf-16-le", "utf-16-be"))
    ]
    + [(GERMAN, "cp1252"), (FRENCH, "cp1252"), (RUSSIAN, "cp1251"), (RUSSIAN, "koi8-r"), (POLISH, "cp1250")]
    + [("id,name,note\n1,à la,25°C\n2,“b” €5,l’œil\n", "cp1252"), (JAPANESE, "shift_jis")],  # noqa: RUF001
)
def test_a_file_is_read_in_its_encoding(text: str, encoding: str) -> None:
    columns, rows = read_split(File(text.encode(encoding), "my.csv"))[0]
    assert ",".join(columns) == text.splitlines()[0]
    assert [",".join(map(str, row)) for row in rows] == text.splitlines()[1:]


def test_one_foreign_letter_in_a_long_table_is_enough() -> None:
    lines = [f"{index},plain" for index in range(5000)]
    content = ("id,name\n" + "\n".join([*lines, "5000,Müller\n"])).encode("cp1252")
    assert read_split(File(content, "my.csv"))[0][1][-1] == ("5000", "Müller")


# What a FILE's table says of itself


def test_a_file_is_private_and_named_after_itself(tmp_path: Path) -> None:
    table = load_table(written(tmp_path, "a,b\n1,x\n2,y\n", "my.table.csv"))
    assert (table.name, table.title, table.names) == ("my.table.csv", "my.table", ("my.table",))
    assert table.private
    assert table.target is None
    assert table.question is None
    assert load_table(str(tmp_path / "my.table.csv"), name="My Table").title == "My Table"


def test_a_target_of_few_values_has_a_question(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,c\n1,yes,p\n2,no,p\n3,NA,p\n")
    question = load_table(path, target="b").question
    assert question is not None
    assert "b" in question.text
    assert question.answers == {"no": "no", "yes": "yes"}
    assert load_table(path, target="c").question is None


def test_the_usual_missing_marks_count_where_they_occur(tmp_path: Path) -> None:
    table = load_table(written(tmp_path, "a,b,c\n1,?,x-y\n-,NA,-\n3,u, \n"))
    assert table.missing == {"?", "NA", "-", " "}
    assert load_table(written(tmp_path, "a,b\n1,-\n2,x\n3,y\n")).missing == frozenset()


# Parquet


def test_parquet_values_become_text(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "my.parquet")
    table = pyarrow.table(
        {
            "text": ["007", "", None],
            "whole": [1, None, 3],
            "float": [0.1, 2.0, None],
            "single": pyarrow.array([0.1, None, 2.5], pyarrow.float32()),
            "flag": [True, False, None],
            "day": [date(2024, 1, 5), None, date(2024, 1, 6)],
            "moment": [datetime(2024, 1, 5, 6, 7), None, None],
            "money": [Decimal("1.50"), None, None],
            "category": pyarrow.array(["a", "b", "a"]).dictionary_encode(),
        }
    )
    parquet.write_table(table, path)
    read = load_table(path, target="category")
    assert read.rows == (
        ("007", "1", "0.1", "0.1", "True", "2024-01-05", "2024-01-05T06:07:00", "1.50", "a"),
        ("", None, "2.0", None, "False", None, None, None, "b"),
        (None, "3", None, "2.5", None, "2024-01-06", None, None, "a"),
    )
    assert read.question is not None


def test_without_pyarrow_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=re.escape('pip install "tabcontam[parquet]"')):
        load_table(written(tmp_path, b"PAR1 and so on", "my.parquet"))


# Bad input


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"a\n1\n2\n", "has one column"),
        (b"a,b\n1,2\n", "has one row"),
        (b"a,b\n", "has no row"),
        (b"a,b\n1,2\n3,4,5\n6,7\n", "my.csv, line 3: 3 fields where other lines have 2"),
        (b'a,b\n1,"x\ny"\n3,4,5\n6,7\n', "my.csv, line 4: 3 fields"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", "is a binary file"),
        (bytes(range(256)) * 20, "is a binary file"),
        (b'{"a": 1, "b": 2}\n', "holds JSON that is no table"),
        (b"<!DOCTYPE html>\n<html></html>\n", "is a web page"),
    ],
)
def test_what_is_no_table_is_one_line(content: bytes, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)) as raised:
        load_table(written(tmp_path, content))
    assert "\n" not in str(raised.value)


def test_a_broken_parquet_file_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(UsageError, match="is not a readable Parquet file") as raised:
        load_table(written(tmp_path, b"a,b\n1,2\n", "my.parquet"))
    assert "\n" not in str(raised.value)


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        load_table(str(tmp_path))


def test_a_file_that_may_not_be_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, opened = written(tmp_path, "a,b\n1,2\n3,4\n"), Path.open

    def denied(self: Path, *given: Any, **named: Any) -> Any:
        if str(self) != path:  # a module that is imported only now
            return opened(self, *given, **named)
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(UsageError, match="cannot be read: Permission denied"):
        load_table(path)


def test_a_target_that_is_no_column_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown target column of my.csv 'incme'; did you mean income"):
        load_table(written(tmp_path, "age,income\n1,2\n3,4\n"), target="incme")


def test_a_file_named_like_a_dataset_is_read_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "a,b\n1,2\n3,4\n", "iris")
    written(tmp_path, "a,b\n1,2\n3,4\n", "iris@home.csv")
    monkeypatch.chdir(tmp_path)
    assert not load_table("iris").private
    assert load_table("./iris").private
    assert load_table("iris@home.csv").private


@pytest.mark.parametrize(
    ("target", "values", "fair"),
    [
        ("target", "0 1 2", False),
        ("Class", "class_0 class_1", False),
        ("class_label", "1.0 2.0", False),
        ("y", "-1 +1", False),
        ("target 2", "group-3 group 4", False),
        ("Survived", "0 1", True),
        ("class", "ham spam", True),
        ("label", "yes no", True),
        ("target", "1 rare", True),
        ("класс", "0 1", True),
        ("2", "0 1", True),
    ],
)
def test_a_target_whose_name_and_values_say_nothing_asks_no_fair_question(
    tmp_path: Path, target: str, values: str, fair: bool
) -> None:
    labels = values.replace("group 4", "group_4").split()
    lines = [f"{number},{label}" for number, label in enumerate(labels * 5)]
    table = load_table(written(tmp_path, "\n".join([f"size,{target}", *lines]) + "\n"), target=target)
    assert table.question is not None
    assert table.question.fair is fair


# What the user says of a text


@pytest.mark.parametrize(
    ("text", "form", "columns", "first"),
    [
        ("a;b,c\n1;2,3\n4;5,6\n", TextFormat(delimiter=","), ("a;b", "c"), ("1;2", "3")),
        ("a;b,c\n1;2,3\n4;5,6\n", TextFormat(delimiter=";"), ("a", "b,c"), ("1", "2,3")),
        ("a:b\n1:2\n3:4\n", TextFormat(delimiter=":"), ("a", "b"), ("1", "2")),
        ("1,5;2,5\n3,5;4,5\n", TextFormat(delimiter=",", header=False), ("column 1", "column 2", "column 3"), None),
        ("a  b\n1 2\n3  4\n", TextFormat(delimiter=" "), ("a", "b"), ("1", "2")),
        ('a:b\n1:"x:y"\n3:4\n', TextFormat(delimiter=":"), ("a", "b"), ("1", "x:y")),
        ("x,y\nu,v\nw,z\n", TextFormat(header=False), ("column 1", "column 2"), ("x", "y")),
        ("1,2\n3,4\n5,6\n", TextFormat(header=True), ("1", "2"), ("3", "4")),
        ("a,b\né,2\nü,4\n", TextFormat(encoding="utf-8"), ("a", "b"), ("é", "2")),
        ("a,b\né,2\nü,4\n", TextFormat(encoding="latin-1"), ("a", "b"), ("Ã©", "2")),
    ],
)
def test_what_the_user_says_of_a_text_is_taken_over_what_is_found(
    tmp_path: Path, text: str, form: TextFormat, columns: tuple[str, ...], first: tuple[str, ...] | None
) -> None:
    table = load_table(written(tmp_path, text), form=form)
    assert table.columns == columns
    assert first is None or table.rows[0] == first
    assert table.read.options == str(form) != ""
    assert table.read.header is (form.header is not False)


@pytest.mark.parametrize(
    ("form", "complaint"),
    [
        (
            TextFormat(delimiter=";"),
            "my.csv has one column where ';' is the delimiter; give another --delimiter, or none",
        ),
        (TextFormat(encoding="ascii"), "my.csv is not written in ascii: byte 5 cannot be read; try another --encoding"),
        (TextFormat(encoding="utf-16"), "my.csv "),
        (TextFormat(encoding="utf-32"), "my.csv is not written in utf-32"),
    ],
)
def test_what_does_not_fit_the_text_is_one_line(tmp_path: Path, form: TextFormat, complaint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)) as raised:
        load_table(written(tmp_path, "a,b\né,2\nü,4\n"), form=form)
    assert "\n" not in str(raised.value)


def test_what_a_file_is_called_cannot_drive_the_terminal() -> None:
    said = tabcontam("run", "--dataset", "nowhere/\x1b[2J\u202e.csv").stderr
    assert "no such file: nowhere/␛[2J\\u202e.csv" in said
    assert "\x1b" not in said


def test_what_means_nothing_for_a_kind_is_refused_by_the_option_as_it_was_typed(tmp_path: Path) -> None:
    path = written(tmp_path, '[{"a": 1, "b": 2}, {"a": 3, "b": 4}]', "my.json")
    ran = tabcontam("run", "--dataset", path, "--delimiter", ";")
    assert ran.returncode == Exit.USAGE
    assert "my.json is JSON, for which --delimiter means nothing; leave it out" in ran.stderr
    assert "--no-header applies to files alone" in tabcontam("run", "--dataset", "iris", "--no-header").stderr
    assert "--delimiter is ''; give one character" in tabcontam("power", "--dataset", path, "--delimiter", "").stderr
    for delimiter in ("tab", r"\t", "\t"):
        assert text_format(delimiter, None, None).delimiter == "\t"


@pytest.mark.slow
def test_a_run_that_reads_otherwise_does_not_continue_one(tmp_path: Path) -> None:
    rows = "".join(f"{number};{number * 7 % 31},{number % 3}\n" for number in range(40))
    path, out = written(tmp_path, f"a;b,c\n{rows}"), str(tmp_path / "out")
    asked = [
        "run",
        "--llm",
        "simulated:guesser",
        "--no-controls",
        "-k",
        "full_completion",
        "--dataset",
        path,
        "--out",
        out,
    ]
    assert tabcontam(*asked, "--delimiter", ",").returncode == Exit.DONE
    assert (
        json.loads((tmp_path / "out" / "results.json").read_text())["run"]["datasets"][0]["reading"] == "delimiter ','"
    )
    said = tabcontam(*asked, "--delimiter", ";").stderr
    assert "holds a run on my.csv read delimiter ','; choose another folder with --out" in said
    assert tabcontam(*asked, "--delimiter", ",").returncode == Exit.DONE


def test_of_a_folder_of_parts_one_file_is_made_by_the_line_that_is_named(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    folder = tmp_path / "it's parts"
    folder.mkdir()
    for part in (1, 2):
        (folder / f"{part}.csv").write_text(f"a,b\n{part},1\n{part},2\n")
    with pytest.raises(UsageError, match=r"is a folder; name .* in it, or join its parts") as found:
        load_table(str(folder))
    line = str(found.value).partition("parts: ")[2].removesuffix(" (this needs the package duckdb)")
    subprocess.run([sys.executable, *shlex.split(line)[1:]], cwd=tmp_path, check=True)
    assert load_table(str(tmp_path / "it's parts.csv")).rows == (("1", "1"), ("1", "2"), ("2", "1"), ("2", "2"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_told_before_it_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(UsageError, match=r"a\.csv is a pipe or a device, which can be read only once"):
        load_table(str(tmp_path / "a.csv"))
    with pytest.raises(UsageError, match="not read from standard input"):
        load_table("-")
