"""How a file was read is stated in a line; what is no table, or has no clear header, is refused in one."""

import gzip
import io
import json
import os
import zipfile
from pathlib import Path

import pytest

from tabcontam.errors import Exit, UsageError
from tabcontam.tables.large import large_files, large_table_reading
from tabcontam.tables.readers.base import FOUND_OUT, File, TextFormat
from tabcontam.tables.readers.file_kinds import read_split
from tabcontam.tables.table import Table, load_table
from tests.commands import tabcontam

FILES = Path(__file__).parent / "files"
NAMES = ("ship", "kind", "len", "crew", "port")
ROWS = tuple(
    (f"{1000 + 3 * n}", ("tug", "barge", "ferry")[n % 3], f"{n * 7 % 90 + n / 10:.1f}", str(10 + n * 13 % 50), "Brin")
    for n in range(40)
)
BODY = "".join(",".join(row) + "\n" for row in (NAMES, *ROWS))
UNCLEAR = "so that this may be a title or a part of the header; name the header's line with --header-line N"


def read(text: str, form: TextFormat = FOUND_OUT, name: str = "my.csv") -> tuple[tuple[str, ...], int, str]:
    """The columns, how many rows there are, and as what they were read."""
    found = read_split(File(text.encode(), name, form=form))[0]
    return found[0], len(found[1]), found.how.kind


def refused(text: str, form: TextFormat = FOUND_OUT, name: str = "my.csv") -> str:
    with pytest.raises(UsageError) as error:
        read_split(File(text.encode(), name, form=form))
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "columns", "line"),
    [
        ("preamble.csv", NAMES, "read as CSV: ',', UTF-8, header in line 4, 40 rows x 5 columns"),
        ("sepline.csv", NAMES, "read as CSV: ';', UTF-8, header in line 2, 40 rows x 5 columns"),
        ("title.csv", ("Personalnr", "Eintritt", "Abteilung", "Gehalt", "Alter", "Bewertung", "column 7"),
         "read as CSV: ';', UTF-8, header in line 3, 121 rows x 7 columns; columns renamed: one without a name to "
         "'column 7'"),
        ("merged.xlsx", NAMES, "read as Excel: sheet 'data', header in row 2, 40 rows x 5 columns"),
        ("index.json", NAMES, "read as JSON: by index, 40 rows x 5 columns"),
        ("hfrows.json", NAMES, "read as JSON: table 'rows', by records, 40 rows x 5 columns"),
        ("autompg.data", tuple(f"column {n}" for n in range(1, 7)),
         "read as CSV: blanks, UTF-8, no header, 40 rows x 6 columns"),
        ("one_comma.txt", tuple(f"column {n}" for n in range(1, 6)),
         "read as CSV: blanks, UTF-8, no header, 40 rows x 5 columns"),
    ],
)  # fmt: skip
def test_a_file_is_read_below_what_stands_above_its_table(name: str, columns: tuple[str, ...], line: str) -> None:
    table = load_table(str(FILES / name))
    assert (table.columns, table.read.how) == (columns, line.replace(" x ", " \N{MULTIPLICATION SIGN} "))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("lfs.csv", "run git lfs pull"),
        ("lfs.xlsx", "run git lfs pull"),
        ("lfsinside.zip", "big.csv in the archive is a pointer of Git LFS, not the file itself; run git lfs pull"),
        ("formula.xlsx", "stores no values for 40 formulas, the first in cell F2; open it in a spreadsheet program"),
        ("formula_half.xlsx", "stores no values for 20 formulas, the first in cell F2"),
        ("md.md", "line 2: '|---|---|---|---|---|' is a line drawn between cells, as in Markdown"),
        ("jsonerr.csv", "holds JSON that is no table"),
    ],
)
def test_what_is_no_table_is_refused_with_the_reason(name: str, reason: str) -> None:
    ran = tabcontam("run", "--dataset", str(FILES / name), "--dry-run")
    assert ran.returncode == Exit.USAGE
    assert reason in ran.stderr.splitlines()[-1]


@pytest.mark.slow
def test_plan_report_page_and_results_say_how_a_file_was_read(tmp_path: Path) -> None:
    path = tmp_path / "my.csv"
    path.write_text("Harbour register\n" + BODY.replace("port", "kind", 1))
    line = "read as CSV: ',', UTF-8, header in line 2, 40 rows \N{MULTIPLICATION SIGN} 5 columns; columns renamed: "
    line += "'kind' to 'kind (2)'"
    asked = ("run", "--dataset", str(path), "-k", "header")
    assert line in tabcontam(*asked, "--dry-run").stdout
    assert json.loads(tabcontam(*asked, "--dry-run", "--json").stdout)["datasets"][0]["read"] == line
    ran = tabcontam(*asked, "--out", str(tmp_path / "out"))
    assert line in " ".join(ran.stdout.split())
    assert json.loads((tmp_path / "out" / "results.json").read_text())["run"]["datasets"][0]["read"] == line
    assert line.partition(";")[0].replace("'", "&#39;") in (tmp_path / "out" / "index.html").read_text()


# Titles, comments and other lines above the header


@pytest.mark.parametrize(
    ("above", "line"),
    [
        ("Harbour register\n", 2),
        ("Harbour register,,,,\n", 2),
        ("Harbour register,,,,\n,,,,\n", 3),
        ("Harbour register\nExported: 2 January\n\n\n", 5),
        ("Harbour register, 2026\n", 2),
        ("# made by a program, version 2\n# on Monday\n", 3),
        ("# ships, kinds, lengths, crews, ports\n", 2),
        ('"Harbour register, 2026"\n', 2),
        ("sep=,\n", 2),
        ("sep=,\nHarbour register\n", 3),
        ("Data of,harbours,,,\nupdated,2026,,,\n\n", 4),
        ("", 1),
    ],
)
def test_lines_above_the_header_are_left_out(above: str, line: int) -> None:
    assert read(above + BODY) == (NAMES, 40, f"CSV: ',', UTF-8, header in line {line}")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("ship,,,,\n" + BODY.partition("\n")[2], "1 cell, and the table has 5 columns"),  # one column has a name
        ("kind,len,crew,port\n" + BODY.partition("\n")[2], "4 cells, and the table has 5 columns"),  # row names
        ("Harbour register\n" + BODY.partition("\n")[2], "1 cell, and the table has 5 columns"),  # no header
        ("Town\n" + "Ann,Brin\nBob,Corvik\nCid,Aldmoor\n", "1 cell, and the table has 2 columns"),
    ],
)
def test_neither_a_title_nor_a_header_is_taken_where_it_is_not_clear(text: str, columns: str) -> None:
    said = refused(text)
    assert f"my.csv, line 1 has {columns}, {UNCLEAR}" in said


@pytest.mark.parametrize(
    ("text", "columns", "rows"),
    [
        ("#,Name\n1,tug\n2,barge\n3,ferry\n", ("#", "Name"), 3),
        ("#id,name\nP1,Ann\nP2,Bob\nP3,Cid\n", ("#id", "name"), 3),
        (",value\n0,5.1\n1,5.3\n2,7.3\n", ("column 1", "value"), 3),
        ("name,\nAnn,red\nBob,blue\nCid,blue\nDan,blue\nEve,blue\n", ("name", "column 2"), 5),
        ("1,,,,\n2,3,4,5,6\n3,4,5,6,7\n4,5,6,7,8\n", tuple(f"column {n}" for n in range(1, 6)), 4),
        (",size,size,crew,crew\nport,mean,std,mean,std\nBrin,1,2,3,4\nOst,2,2,3,4\nWest,5,2,3,4\n", None, 0),
    ],
)
def test_a_header_or_a_row_with_few_cells_is_never_dropped(
    text: str, columns: tuple[str, ...] | None, rows: int
) -> None:
    if columns is None:
        assert "if it holds units or a second header" in refused(text)
    else:
        assert read(text)[:2] == (columns, rows)


def test_units_below_the_header_are_refused_unless_the_header_is_named() -> None:
    text = BODY.replace("\n", "\n,,m,men,\n", 1)
    assert "line 1: the line below the header has 'm' and 'men' where all later rows have numbers" in refused(text)
    assert read(text, TextFormat(header_line=1))[:2] == (NAMES, 41)


def test_years_are_names_below_a_title() -> None:
    rows = "".join(f"Land {n % 7},L{n},{n * 17 % 31},{n * 5 % 37},{n * 3 % 41}\n" for n in range(30))
    text = '"Data Source","Indicators",\n\n"Updated","2024-06-28",\n\nCountry,Code,2001,2002,2003\n' + rows
    assert read(text) == (("Country", "Code", "2001", "2002", "2003"), 30, "CSV: ',', UTF-8, header in line 5")


# --header-line


@pytest.mark.slow
def test_the_line_of_the_header_is_named_by_the_user(tmp_path: Path) -> None:
    text = "a,b,c\nx\n" + BODY
    assert read(text, TextFormat(header_line=3)) == (NAMES, 40, "CSV: ',', UTF-8, header in line 3")
    for number in (44, 500):
        assert f"--header-line {number} names a blank line, or one below the last" in refused(
            text + "\n", TextFormat(header_line=number)
        )
    assert "my.csv, line 5: 2 fields where other lines have 5" in refused(
        text.replace(",".join(ROWS[1]), "1,2"), TextFormat(header_line=3)
    )
    path = tmp_path / "my.csv"
    path.write_text(text)
    ran = tabcontam("run", "--dataset", str(path), "--header-line", "3", "-k", "header", "--dry-run")
    assert "header in line 3" in ran.stdout
    for wrong, said in (
        (("--header-line", "0"), "--header-line is 0; give the number of a line, counted from 1"),
        (("--header-line", "3", "--no-header"), "--header-line names a header, and another option denies it"),
    ):
        ran = tabcontam("run", "--dataset", str(path), *wrong, "--dry-run")
        assert (ran.returncode, said in ran.stderr) == (Exit.USAGE, True)
    ran = tabcontam("run", "--dataset", "iris", "--header-line", "3", "--dry-run")
    assert "--header-line applies to files alone" in ran.stderr
    ran = tabcontam("run", "--dataset", str(FILES / "index.json"), "--header-line", "3", "--dry-run")
    assert "is JSON, for which --header-line means nothing" in ran.stderr


def test_the_row_of_the_header_of_a_sheet_is_named_by_the_user() -> None:
    path = FILES / "merged.xlsx"
    file = File(path.read_bytes(), path.name, form=TextFormat(header_line=3))
    assert read_split(file)[0][0][0] == "1000"
    with pytest.raises(UsageError, match="--header-line 99 names a row without a cell"):
        read_split(File(path.read_bytes(), path.name, form=TextFormat(header_line=99)))


def test_cells_that_are_merged_downwards_all_have_the_value() -> None:
    assert "" not in [row[4] or "" for row in load_table(str(FILES / "merged.xlsx")).rows]


# Columns of blanks


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("Ann Lee\t1980\nBob Ray\t1981\nCid Fox\t1975\n", 2),  # two words are no two columns
        ("1 000\t5\n12 500\t6\n13 700\t7\n", 2),  # nor are thousands
        ("1 2 3 x\tA\n4 5 6 y\tB\n7 8 9 z\tC\n", 5),
        ("a , b , c\n1 , 2 , 3\n4 , 5 , 6\n", 3),
    ],
)
def test_columns_of_blanks_are_told_from_words(text: str, columns: int) -> None:
    assert len(read(text)[0]) == columns


# JSON

RECORDS = [dict(zip(NAMES, row, strict=True)) | {"len": 1.5 * n} for n, row in enumerate(ROWS[:6])]


@pytest.mark.parametrize(
    ("value", "how"),
    [
        (RECORDS, "by records"),
        ({name: [row[name] for row in RECORDS] for name in NAMES}, "by columns"),
        ({name: {str(n): row[name] for n, row in enumerate(RECORDS)} for name in NAMES}, "by columns"),
        ({str(n * 5): row for n, row in enumerate(RECORDS)}, "by index"),
        ({"columns": list(NAMES), "index": [*range(6)], "data": [[*row.values()] for row in RECORDS]},
         "columns and data apart"),
        ({"schema": {"fields": []}, "data": RECORDS}, "table 'data', by records"),
        ({"rows": [{"row_idx": n, "row": row, "truncated_cells": []} for n, row in enumerate(RECORDS)],
          "num_rows_total": 600}, "table 'rows', by records, a page of a dataset of 600 rows"),
    ],
)  # fmt: skip
def test_json_is_never_transposed(value: object, how: str) -> None:
    found = read_split(File(json.dumps(value).encode(), "my.json"))[0]
    assert (found[0], found[1][1][2], found.how.kind) == (NAMES, "1.5", f"JSON: {how}")


def test_json_whose_index_is_a_column_keeps_it() -> None:
    by_name = {f"P{n} Ann": {"age": n, "town": "Brin"} for n in range(5)}
    found = read_split(File(json.dumps(by_name).encode(), "my.json"))[0]
    assert (found[0], found[1][0]) == (("index", "age", "town"), ("P0 Ann", "0", "Brin"))
    by_column = {name: {key: row[name] for key, row in by_name.items()} for name in ("age", "town")}
    assert read_split(File(json.dumps(by_column).encode(), "my.json"))[0] == found


def test_json_that_may_be_either_way_round_is_refused() -> None:
    said = refused(json.dumps({"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 4}}), name="my.json")
    assert "its objects have names that may be columns or rows" in said
    cut = {"rows": [{"row": {"a": 1, "b": 2}, "truncated_cells": ["a"]}] * 3}
    assert "truncated_cells" in refused(json.dumps(cut), name="my.json")


# What is no table


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<div>\n<table><tr><td>1,2</td></tr></table></div>\n", "is a web page or XML"),
        ("<!-- saved -->\n<html><body>1,2</body></html>\n", "is a web page or XML"),
        ("It was a day.\nIt rained, and it was cold.\nNobody came.\n", "has one column"),
        ("name\nAnn\nBob\n", "has one column"),
        (" a | b\n---+---\n 1 | 2\n 3 | 4\n", "is a line drawn between cells"),
        ("a    b\n---- ----\n1    2\n3    4\n", "is a line drawn between cells"),
        ("+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |\n", "is a line drawn between cells"),
        ("%PDF-1.4\n1 0 obj\n", "is a PDF document"),
    ],
)
def test_text_that_is_no_table_is_refused(text: str, reason: str) -> None:
    assert reason in refused(text)


def test_columns_in_angle_brackets_and_dashes_for_missing_cells_are_no_page() -> None:
    assert read("<TICKER>,<PER>\nAB,5\nCD,7\n")[0] == ("<TICKER>", "<PER>")
    assert read("a,b\n--,--\n1,2\n3,4\n4,4\n")[1] == 4


# Large files are read as small ones


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_table_reading, "MOST_ROWS_READ_WHOLE", 30)
    monkeypatch.setattr("tabcontam.tables.table.MOST_ROWS_READ_WHOLE", 30)
    monkeypatch.setattr(large_files, "SMALL", 0)
    monkeypatch.setattr(large_files, "PACKED_SMALL", 0)


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Harbour register\nExported: 2 January\n\n" + BODY, FOUND_OUT),
        ('"Harbour, 2026"\n' + BODY.replace("Brin", '"Brin, East"'), FOUND_OUT),
        ("Hafenübersicht;;;;\n;;;;\n" + BODY.replace(",", ";"), FOUND_OUT),
        ("sep=,\n" + BODY, FOUND_OUT),
        ("x,y\nü\n" + BODY, TextFormat(header_line=3)),
        ((FILES / "autompg.data").read_text(), FOUND_OUT),
        (BODY, FOUND_OUT),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_large_file_is_read_as_a_small_one(
    tmp_path: Path, text: str, form: TextFormat, encoding: str, end: str
) -> None:
    path = tmp_path / "my.csv"
    path.write_bytes(text.replace("\n", end).encode(encoding))
    large, whole = load_table(str(path), form=form), load_table(str(path), form=form, whole=True)
    assert large.whole is not None

    def same(table: Table) -> object:
        return table.columns, table.rows, table.read.how

    assert same(large) == same(whole)


@pytest.mark.usefixtures("small")
def test_a_packed_large_file_says_in_what_it_was(tmp_path: Path) -> None:
    (tmp_path / "my.csv.gz").write_bytes(gzip.compress(b"Title\n" + BODY.encode()))
    with zipfile.ZipFile(tmp_path / "my.zip", "w") as archive:
        archive.writestr("data/my.csv", b"Title\n" + BODY.encode())
    for name, packed in (("my.csv.gz", "gzip"), ("my.zip", "ZIP, 'data/my.csv'")):
        for whole in (False, True):
            table = load_table(str(tmp_path / name), whole=whole)
            assert table.read.how.startswith(f"read as CSV ({packed}): ',', UTF-8, header in line 2, 40 rows")


@pytest.mark.usefixtures("small")
def test_an_unclear_title_of_a_large_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "my.csv"
    path.write_text("Harbour register\n" + BODY.partition("\n")[2])
    with pytest.raises(UsageError, match="name the header's line with --header-line N"):
        load_table(str(path))


# Workbooks


def workbook(cells: str, load: str = "") -> bytes:
    """A workbook with these rows in XML."""
    made = io.BytesIO()
    space = "http://schemas.openxmlformats.org"
    with zipfile.ZipFile(made, "w") as archive:
        with zipfile.ZipFile(FILES / "formula.xlsx") as other:
            for name in ("[Content_Types].xml", "_rels/.rels", "xl/styles.xml"):
                archive.writestr(name, other.read(name).replace(b"sheet1.xml", b"other.xml"))
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{space}/spreadsheetml/2006/main" xmlns:r="{space}/officeDocument/2006/relationships">'
            f'<sheets><sheet name="one" sheetId="1" r:id="rId7"/></sheets>{load}</workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{space}/package/2006/relationships">'
            f'<Relationship Id="rId7" '
            f'Type="{space}/officeDocument/2006/relationships/worksheet" Target="worksheets/other.xml"/>'
            "</Relationships>",
        )
        archive.writestr(
            "xl/worksheets/other.xml",
            f'<worksheet xmlns="{space}/spreadsheetml/2006/main"><sheetData>{cells}</sheetData></worksheet>',
        )
    return made.getvalue()


def sheet(formula: str) -> str:
    names = "".join(f'<c r="{place}1" t="inlineStr"><is><t>{place}</t></is></c>' for place in "AB")
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c>{formula.format(n=n)}</row>' for n in range(2, 6))
    return f'<row r="1">{names}</row>{rows}'


def test_formulas_without_values_are_refused_and_those_with_them_read() -> None:
    def rows(formula: str, load: str = "") -> list[str | None]:
        return [row[1] for row in read_split(File(workbook(sheet(formula), load), "my.xlsx"))[0][1]]

    assert rows('<c r="B{n}"><f>A{n}*2</f><v>4</v></c>') == ["4"] * 4
    assert rows('<c r="B{n}" t="str"><f>A{n}&amp;""</f><v></v></c>') == [None] * 4  # an empty text
    assert rows('<c r="B{n}"><f>A{n}*0</f><v>0</v></c>') == ["0"] * 4
    on_load = '<calcPr fullCalcOnLoad="1"/>'
    assert rows('<c r="B{n}"><f>A{n}*2</f><v>4</v></c>', on_load) == ["4"] * 4
    for formula, load in (
        ('<c r="B{n}"><f>A{n}*2</f></c>', ""),
        ('<c r="B{n}"><f>A{n}*2</f><v></v></c>', ""),
        ('<c r="B{n}"><f>A{n}*2</f><v/></c>', ""),
        ('<c r="B{n}"><f>A{n}*2</f><v>0</v></c>', on_load),  # as a program writes that computes nothing
    ):
        with pytest.raises(UsageError, match=r"stores no values for 4 formulas, the first in cell B2"):
            rows(formula, load)


# What is made to fill the memory


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_a_text_that_a_file_holds_once_for_many_rows_is_refused(kind: str) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.feather
    import pyarrow.parquet

    rows = 20_000
    texts = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * rows, pyarrow.int32()), ["x" * 50_000])
    table, made = pyarrow.table({"a": texts, "b": [1] * rows}), io.BytesIO()
    if kind == "parquet":
        pyarrow.parquet.write_table(table.cast(pyarrow.schema([("a", "string"), ("b", "int64")])), made)
    else:
        pyarrow.feather.write_feather(table, made, compression="zstd")
    assert len(made.getvalue()) < 1_000_000
    with pytest.raises(UsageError, match="does not fit into memory"):
        read_split(File(made.getvalue(), f"my.{kind}"))


def test_more_values_of_json_than_are_held_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabcontam.tables.readers.base.MOST_CELLS", 1000)
    assert "has more than 1,000 cells" in refused(json.dumps([{"a": 1}] * 600), name="my.json")
    wide = {f"k{n}": {f"c{n}": 1} for n in range(200)}
    assert "has more than 1,000 cells" in refused(json.dumps(wide), name="my.json")


@pytest.mark.parametrize(
    "text", ['{"a":' * 200_000, "[" * 200_000, '{"a":1,"b":' + "[" * 100_000 + "]" * 100_000 + "}"]
)
def test_json_that_is_nested_deep_is_refused(text: str) -> None:
    assert "is nested too deep for a table" in refused(text, name="my.json")


# Pipes and devices


def test_a_pipe_or_a_device_is_no_table(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    for name in (str(tmp_path / "pipe.csv"), "/dev/zero", "/dev/stdin"):
        ran = tabcontam("run", "--dataset", name, "--dry-run")
        assert ran.returncode == Exit.USAGE
        assert "is a pipe or a device, which can be read only once" in ran.stderr
