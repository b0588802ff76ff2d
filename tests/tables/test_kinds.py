"""FILEs of every kind: how each is known, that cells stay the source's own strings, and what is said of bad ones."""

import bz2
import gzip
import io
import json
import lzma
import shlex
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import date, datetime, time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.tables.readers import archives, base, databases, excel
from tabcontam.tables.readers.base import File
from tabcontam.tables.readers.file_kinds import read_split, stem
from tabcontam.tables.table import Table, load_table

ROWS = (("007", "1.50", "a, b"), ("010", "1e3", "=1+1"), ("011", "-0", "\u202eé"))
CSV = 'code,price,note\n007,1.50,"a, b"\n010,1e3,=1+1\n011,-0,\u202eé\n'.encode()
OBJECTS = (
    b'[{"code": "007", "price": 1.50, "note": "a, b"}, {"code": "010", "price": 1e3, "note": "=1+1"},'
    b' {"code": "011", "price": -0, "note": "\\u202e\\u00e9"}]'
)
LINES = OBJECTS[1:-1].replace(b"}, ", b"}\n").replace(b"},", b"}\n")
ARFF = """% a comment
@RELATION ships
@attribute code string
@attribute 'price' NUMERIC
@ATTRIBUTE "note" {'a, b', '=1+1'}
@DATA
007,1.50,'a, b'
% another
010, 1e3 ,"=1+1"
011\t-0\t'\u202eé'
""".encode()


def zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def sqlite(script: str, *arguments: tuple[str, list[tuple[Any, ...]]]) -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script)
        for statement, rows in arguments:
            connection.executemany(statement, rows)
        connection.commit()
        return connection.serialize()


def workbook(**sheets: list[list[Any]]) -> bytes:
    import xlsxwriter

    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True, "strings_to_formulas": False}) as made:
        for name, rows in sheets.items():
            sheet = made.add_worksheet(name)
            for place, row in enumerate(rows):
                sheet.write_row(place, 0, row)
    return file.getvalue()


SHIPS = "CREATE TABLE ships (code TEXT, price, note TEXT)"
INSERT = "INSERT INTO ships VALUES (?, ?, ?)"
DATABASE = sqlite(SHIPS, (INSERT, list(ROWS)))
SHEET = [["code", "price", "note"], *map(list, ROWS)]


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str, bytes], str]:
    def write(name: str, content: bytes) -> str:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    return write


Put = Callable[[str, bytes], str]


def failure(spec: str, **options: Any) -> str:
    with pytest.raises(UsageError) as caught:
        load_table(spec, **options)
    said = str(caught.value)
    assert "\n" not in said
    return said


def feather() -> bytes:
    import pyarrow
    from pyarrow import feather

    file = io.BytesIO()
    names = ["code", "price", "note"]
    feather.write_feather(pyarrow.table(dict(zip(names, map(list, zip(*ROWS, strict=True)), strict=True))), file)
    return file.getvalue()


def arrow_stream() -> bytes:
    import pyarrow
    from pyarrow import feather as reader

    table = reader.read_table(io.BytesIO(feather()))
    file = io.BytesIO()
    with pyarrow.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


def duckdb_bytes(*statements: str) -> bytes:
    import tempfile

    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.duckdb"
        with duckdb.connect(str(path)) as connection:
            for statement in statements:
                connection.execute(statement)
        return path.read_bytes()


def duckdb_ships() -> bytes:
    values = ", ".join("(" + ", ".join(f"'{cell}'" for cell in row) + ")" for row in ROWS)
    return duckdb_bytes(
        "CREATE TABLE ships (code VARCHAR, price VARCHAR, note VARCHAR)", f"INSERT INTO ships VALUES {values}"
    )


# Every kind holds the same table

KINDS: list[tuple[str, bytes | Callable[[], bytes]]] = [
    ("my.csv.gz", gzip.compress(CSV)),
    ("my.csv.bz2", bz2.compress(CSV)),
    ("my.csv.xz", lzma.compress(CSV)),
    ("my.csv.GZ", gzip.compress(CSV.decode().replace("\n", "\r\n").encode("utf-16"))),
    ("my.zip", zipped({"data/ships.csv": CSV})),
    ("two.zip", zipped({"ships.csv": CSV, "README.txt": b"about", "__MACOSX/._ships.csv": b"\0"})),
    ("nested.zip", zipped({"ships.csv.gz": gzip.compress(CSV)})),
    ("my.json", OBJECTS),
    ("my.jsonl", LINES),
    ("my.json.gz", gzip.compress(LINES)),
    ("my.ndjson", b"\xef\xbb\xbf" + LINES.replace(b"\n", b"\r\n") + b"\r\n\r\n"),
    ("no-ending", LINES),
    ("my.arff", ARFF),
    ("my.sqlite", DATABASE),
    ("my.db", DATABASE),
    ("my.zip", zipped({"ships.db": DATABASE})),
    ("my.feather", feather),
    ("my.arrow", arrow_stream),
    ("my.duckdb", duckdb_ships),
    ("my.xlsx", lambda: workbook(Ships=SHEET)),
    ("renamed.csv", lambda: workbook(Ships=SHEET)),
    ("table.xls", CSV),
]


@pytest.mark.parametrize(("name", "content"), KINDS, ids=[name for name, _ in KINDS])
def test_each_kind_gives_the_same_cells(put: Put, name: str, content: bytes | Callable[[], bytes]) -> None:
    content = content if isinstance(content, bytes) else content()
    path = put(name, content)
    table = load_table(path, target="code")
    assert (table.columns, table.rows) == (("code", "price", "note"), ROWS)
    assert (table.name, table.title, table.private) == (name, name.partition(".")[0], True)
    assert Path(path).read_bytes() == content
    assert [file.name for file in Path(path).parent.iterdir()] == [name]


@pytest.mark.parametrize(("name", "content"), KINDS, ids=[name for name, _ in KINDS])
@pytest.mark.parametrize("share", [0.05, 0.6])
def test_a_file_that_is_cut_off_is_one_line_or_what_is_whole_of_it(
    put: Put, name: str, content: bytes | Callable[[], bytes], share: float
) -> None:
    content = content if isinstance(content, bytes) else content()
    path = put(name, content[: int(len(content) * share)])
    is_text = content.isascii() or name.endswith((".arff", ".ndjson", ".xls"))  # a shorter text may be a shorter table
    if not is_text or share < 0.5:
        assert name in failure(path)
    else:
        with suppress(UsageError):
            assert len(load_table(path).rows) < len(ROWS)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.zip", "a.json", "a.jsonl", "a.xlsx", "a.db", "a.duckdb", "a.arff"])
def test_an_empty_file_of_each_kind_is_one_line(put: Put, name: str) -> None:
    assert "is empty" in failure(put(name, b""))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv.gz", gzip.compress(b"", mtime=0)),
        ("a.zip", zipped({"a.csv": b""})),
        ("a.json", b" \n"),
        ("a.json", b"[]"),
        ("a.json", b"{}"),
        ("a.zip", zipped({})),
        ("a.db", sqlite("CREATE TABLE a (b, c)")),
        ("a.db", sqlite("CREATE TABLE a (b, c); DROP TABLE a")),
        ("a.arff", b"@relation a\n@attribute b string\n@attribute c string\n@data\n"),
    ],
)
def test_a_file_that_holds_nothing_is_one_line(put: Put, name: str, content: bytes) -> None:
    assert "a." in failure(put(name, content))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("my.csv.gz", "my"),
        ("my.table.csv", "my.table"),
        ("my", "my"),
        (".csv", ".csv"),
        ("a.tar.xz", "a"),
        ("x.gz", "x"),
    ],
)
def test_what_a_file_is_called_without_its_endings(name: str, said: str) -> None:
    assert stem(name) == said


# Several tables in one file


def test_a_part_is_named_behind_a_number_sign_wherever_such_signs_stand(put: Put) -> None:
    two = sqlite(
        f"{SHIPS}; CREATE TABLE crew (a, b); CREATE VIEW seen AS SELECT note, code FROM ships", (INSERT, list(ROWS))
    )
    path = put("deep#er/a#b.db", two)
    said = failure(path)
    assert "a#b.db has 3 tables: 'ships', 'crew', 'seen'; name one after a #, as in a#b.db#ships" in said
    table = load_table(f"{path}#ships")
    assert (table.name, table.title, table.rows) == ("a#b.db#ships", "ships", ROWS)
    assert load_table(f"{path}#seen").columns == ("note", "code")
    assert "has no table 'ship'; did you mean 'ships'" in failure(f"{path}#ship")
    assert "no row below its header" in failure(f"{path}#crew")
    inner = put("all.zip", zipped({"x/one.db": two, "x/two.csv": CSV}))
    assert load_table(f"{inner}#x/one.db#ships").rows == load_table(f"{inner}#x/two.csv").rows == ROWS
    assert (load_table(f"{inner}#x/two.csv").name, load_table(f"{inner}#x/two.csv").title) == (
        "all.zip#x/two.csv",
        "two",
    )
    assert "holds 2 files: 'x/one.db', 'x/two.csv'; name one after a #" in failure(inner)
    assert "has no file 'x/three.csv'; did you mean" in failure(f"{inner}#x/three.csv")
    alone = put("alone.zip", zipped({"one.db": two}))
    assert load_table(f"{alone}#ships").rows == ROWS


def test_what_is_named_of_a_file_of_one_table_is_its_split(put: Put) -> None:
    for path in (put("my.csv", CSV), put("my.json", OBJECTS)):
        table = load_table(f"{path}#ships")
        assert (table.name, table.split, table.rows) == (Path(path).name, "ships", ROWS)
    assert "a split cannot be called 'a#b'" in failure(put("my.csv", CSV) + "#a#b")
    assert "no such file" in failure("nowhere.db#ships")


def test_tables_stand_under_the_keys_of_a_json_object(put: Put) -> None:
    path = put("all.json", b'{"about": {"by": "x"}, "ships": ' + OBJECTS + b', "crew": [{"a": 1, "b": 2}]}')
    assert "has 2 tables: 'ships', 'crew'" in failure(path)
    assert load_table(f"{path}#ships").rows == ROWS
    assert load_table(put("one.json", b'{"about": "x", "rows": ' + OBJECTS + b"}")).rows == ROWS


# JSON


@pytest.mark.parametrize(
    "text",
    [
        '[["code", "n"], ["007", 1.50], ["8", 1E3], ["9", null]]',
        '{"code": ["007", "8", "9"], "n": [1.50, 1E3, null]}',
        '{"code": {"0": "007", "1": "8", "2": "9"}, "n": {"0": 1.50, "1": 1E3}}',
        '{"columns": ["code", "n"], "index": [0, 1, 2], "data": [["007", 1.50], ["8", 1E3], ["9", null]]}',
        '{"code": "007", "n": 1.50}\n{"n": 1E3, "code": "8"}\n{"code": "9"}\n',
        '["code", "n"]\n["007", 1.50]\n["8", 1E3]\n["9", null]\n',
        '[\n  {"code": "007", "n": 1.50},\n  {"code": "8", "n": 1E3},\n  {"code": "9"}\n]\n',
    ],
)
def test_json_has_many_layouts_of_one_table(put: Put, text: str) -> None:
    table = load_table(put("my.json", text.encode()))
    assert (table.columns, table.rows) == (("code", "n"), (("007", "1.50"), ("8", "1E3"), ("9", None)))


def test_json_cells_keep_the_text_they_have_there(put: Put) -> None:
    row = '{"a": 0.10, "b": 123456789012345678901, "c": true, "d": NaN, "e": "", "f": {"x": [1.50, "y\\n", null]}}'
    table = load_table(put("my.jsonl", f"{row}\n{row}\n".encode()))
    assert table.rows[0] == (
        "0.10", "123456789012345678901", "true", "NaN", "", '{"x": [1.50, "y\\n", null]}',
    )  # fmt: skip
    assert table.missing == {"NaN", ""}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"a": 1, "b": 2}\n{"a": 1, "b" 2}\n', "my.jsonl, line 2 is not JSON: Expecting ':' delimiter"),
        ('{"a": 1, "b": 2}\n{"a": 1, "a": 2}\n', "line 2: an object has the key 'a' twice"),
        ('[{"a": 1},\n{"b": ]', "line 2 is not JSON"),
        ('[["a", "b"], [1]]', "array 2 has 1 values where the first has 2"),
        ('{"a": [1, 2], "b": [1]}', "columns of different lengths"),
        ("[1, 2, 3]", "JSON that is no table"),
        ('"text"', "JSON that is no table"),
        ("[" * 100_000, "nested too deep|is not JSON"),
    ],
)
def test_json_that_is_no_table_is_one_line(put: Put, text: str, complaint: str) -> None:
    said = failure(put("my.jsonl", text.encode()))
    assert any(part in said for part in complaint.split("|"))


# SQLite


def test_sqlite_cells_are_texts_as_they_are_and_numbers_as_sqlite_writes_them(put: Put) -> None:
    rows = [("007", 1.5, None, b"\xff\x00x"), ("", 2**62, "NULL", b"yes"), ("a'b", 1e20, "x", None)]
    content = sqlite(
        'CREATE TABLE "odd ""name" ("a b", n, "select", blob)', ('INSERT INTO "odd ""name" VALUES (?, ?, ?, ?)', rows)
    )
    table = load_table(put("my.db", content))
    assert table.columns == ("a b", "n", "select", "blob")
    assert table.rows == (
        ("007", "1.5", None, "\\xff\x00x"),
        ("", str(2**62), "NULL", "yes"),
        ("a'b", "1.0e+20", "x", None),
    )


def test_rows_of_sqlite_stand_as_stored_also_where_an_index_holds_them_all(put: Put) -> None:
    rows = [(9 - number, f"c{number}") for number in range(9)]
    content = sqlite("CREATE TABLE t (n, c); CREATE INDEX i ON t (n, c)", ("INSERT INTO t VALUES (?, ?)", rows))
    assert [int(row[0] or 0) for row in load_table(put("my.db", content)).rows] == [n for n, _ in rows]


def test_a_database_in_use_is_read_and_left_as_it_is(put: Put, tmp_path: Path) -> None:
    path = tmp_path / "my.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(SHIPS)
        connection.executemany(INSERT, ROWS)
        assert "has changes that are not in the file yet" in failure(str(path))
    before = path.read_bytes()
    assert load_table(str(path)).rows == ROWS
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["my.db"]


def test_a_view_that_has_no_end_is_one_line(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    view = "CREATE VIEW v AS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT a, a AS b FROM n"
    path = put("my.db", sqlite(view))
    monkeypatch.setattr(databases, "MOST_CELLS", 1000)
    assert "more than 50,000,000 cells" in failure(path)
    monkeypatch.setattr(databases, "SECONDS", 0.0)
    silent = put("silent.db", sqlite(f"{view} WHERE a < 0"))
    assert "is not a readable SQLite database: interrupted" in failure(silent)


def test_a_view_may_call_nothing_that_does_more_than_compute(put: Put) -> None:
    path = put("my.db", sqlite("CREATE VIEW v AS SELECT load_extension('/tmp/evil') AS a, 1 AS b"))
    assert "is not a readable SQLite database" in failure(path)


# Packed files


def test_what_unpacks_to_more_than_a_limit_is_one_line(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (archives, base, excel):
        monkeypatch.setattr(module, "LARGEST", 1000) if hasattr(module, "LARGEST") else None
    bomb = b"a,b\n" * 10_000
    for name, content in (
        ("my.csv.gz", gzip.compress(bomb)),
        ("my.csv.xz", lzma.compress(bomb)),
        ("my.zip", zipped({"a.csv": bomb})),
        ("my.xlsx", zipped({"[Content_Types].xml": b"", "xl/workbook.xml": bomb})),
    ):
        assert "unpacks to more than" in failure(put(name, content))


def test_names_in_an_archive_lead_nowhere(put: Put, tmp_path: Path) -> None:
    path = put("in/my.zip", zipped({"../../evil.csv": CSV}))
    assert load_table(path).rows == ROWS
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["in", "my.zip"]
    said = failure(put("two.zip", zipped({"a\x1b[2J.csv": CSV, "../b\n.csv": CSV})))
    assert r"'a\x1b[2J.csv', '../b\n.csv'" in said


@pytest.mark.parametrize("name", [name for name, _ in KINDS] + ["my.ods"])
def test_a_file_that_was_changed_is_a_table_or_one_line(name: str) -> None:
    """Bytes here and there are others: nothing but our own error may come of it."""
    rng, content = Random(name), dict(KINDS).get(name) or spreadsheet("<table:table-row/>")
    whole = content if isinstance(content, bytes) else content()
    for _ in range(12):
        changed = bytearray(whole)
        for _ in range(rng.choice([1, 2, 5, 30])):
            changed[rng.randrange(len(changed))] = rng.choice([0, 10, 34, 255, rng.randrange(256)])
        try:
            columns, rows = read_split(File(bytes(changed), name))[0]
        except UsageError as error:
            said = str(error)
        else:
            said = "" if all(len(row) == len(columns) for row in rows) else "rows differ\nin width"
        assert "\n" not in said


def test_a_locked_archive_says_so(put: Put) -> None:
    content = bytearray(zipped({"a.csv": CSV}))
    for place in (6, content.index(b"PK\x01\x02") + 8):
        content[place] |= 1
    assert "my.zip is locked with a password; unpack it" in failure(put("my.zip", bytes(content)))


def test_packing_in_packing_ends_somewhere(put: Put) -> None:
    content = CSV
    for _ in range(5):
        content = gzip.compress(content)
    assert "binary file" in failure(put("my.csv.gz", content))


# Workbooks


def test_cells_of_a_sheet_are_their_values(put: Put) -> None:
    values: list[list[Any]] = [
        ["text", "whole", "float", "sum", "big", "flag", "day", "moment", "clock", "failed"],
        ["007", 1, 1.5, 0.1 + 0.2, 1e20, True, datetime(2024, 1, 5), datetime(2024, 1, 5, 6, 7), time(6, 7), "=1/0"],
        ["", 2, -0.25, 1 / 3, 123456, False, datetime(2024, 1, 6), datetime(2024, 1, 6, 6, 7), time(6, 8), "=1/0"],
        ["1.50", None, 3.0, 1e-7, 5, None, None, None, None, "=1/0"],
    ]
    import xlsxwriter

    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as made:
        day, clock = made.add_format({"num_format": "yyyy-mm-dd"}), made.add_format({"num_format": "hh:mm"})
        sheet = made.add_worksheet("One")
        for place, row in enumerate(values):
            for column, value in enumerate(row):
                if value == "=1/0":
                    sheet.write_formula(place, column, value, value="#DIV/0!" if place else "failed")
                elif isinstance(value, date | time):
                    sheet.write_datetime(place, column, value, clock if isinstance(value, time) else day)
                elif value is not None:
                    sheet.write(place, column, value)
    path = put("my.xlsx", file.getvalue())
    table = load_table(path)
    assert table.columns[:2] == ("text", "whole")
    assert table.rows == (
        ("007", "1", "1.5", "0.3", "1e+20", "TRUE", "2024-01-05", "2024-01-05T06:07:00", "06:07:00", None),
        (
            None,
            "2",
            "-0.25",
            "0.3333333333333333",
            "123456",
            "FALSE",
            "2024-01-06",
            "2024-01-06T06:07:00",
            "06:08:00",
            None,
        ),
        ("1.50", None, "3", "1e-07", "5", None, None, None, None, None),
    )


def test_a_sheet_is_named_where_several_hold_cells(put: Put) -> None:
    one = put("one.xlsx", workbook(Ships=SHEET, Empty=[]))
    assert load_table(one).rows == ROWS
    two = put("two.xlsx", workbook(Ships=SHEET, Crew=[["a", "b"], [1, 2], [3, 4]]))
    assert "two.xlsx has 2 sheets: 'Ships', 'Crew'; name one after a #, as in two.xlsx#Ships" in failure(two)
    assert load_table(f"{two}#Crew").rows == (("1", "2"), ("3", "4"))
    assert "has no sheet 'Shipps'; did you mean 'Ships'?" in failure(f"{two}#Shipps")
    assert "has no cell" in failure(f"{one}#Empty")


def test_a_sheet_whose_cells_stand_too_far_apart_takes_no_memory(put: Put) -> None:
    sheet = b"<row r='1'><c r='A1'><v>1</v></c></row><row r='1048576'><c  r = 'XFD1048576'><v>2</v></c></row>"
    content = zipped({"[Content_Types].xml": b"", "xl/worksheets/sheet1.xml": sheet})
    assert "has more than 50,000,000 cells" in failure(put("my.xlsx", content))


def spreadsheet(*rows: str) -> bytes:
    """A workbook as LibreOffice writes one, with these rows."""
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    opened = f'<office:document-content{names}><office:body><office:spreadsheet><table:table table:name="One">'
    closed = "</table:table></office:spreadsheet></office:body></office:document-content>"
    kind = b"application/vnd.oasis.opendocument.spreadsheet"
    manifest = b'<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    content = f"{opened}{''.join(rows)}{closed}".encode()
    return zipped({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})


def test_a_workbook_of_libreoffice_is_read_unless_its_cells_repeat_without_end(put: Put) -> None:
    def row(*cells: str, times: int = 1, again: int = 1) -> str:
        texts = "".join(
            f'<table:table-cell table:number-columns-repeated="{again}" office:value-type="string">'
            f"<text:p>{cell}</text:p></table:table-cell>"
            for cell in cells
        )
        return f'<table:table-row table:number-rows-repeated="{times}">{texts}</table:table-row>'

    empty = '<table:table-row table:number-rows-repeated="1048570"><table:table-cell/></table:table-row>'
    rows = [row("code", "price"), row("007", "1.50"), row("010", "2", times=2)]
    assert load_table(put("my.ods", spreadsheet(*rows, empty))).rows == (("007", "1.50"), ("010", "2"), ("010", "2"))
    for far in (row("x", "y", times=1_000_000, again=100), empty + row("x", "y", again=100)):
        assert "has more than 50,000,000 cells" in failure(put("my.ods", spreadsheet(*rows, far)))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"PK\x03\x04 and so on", "is not a readable workbook"),
        (excel.OLE + b"\0" * 2000, "is not a readable workbook"),
        (excel.OLE + b"\0" * 2000 + excel.LOCKED, "is locked with a password"),
        (zipped({"[Content_Types].xml": b"", "word/document.xml": b""}), "is not a readable workbook"),
    ],
)
def test_a_workbook_that_cannot_be_read_is_one_line(put: Put, content: bytes, complaint: str) -> None:
    assert complaint in failure(put("my.xlsx", content))


# DuckDB and Arrow


def test_duckdb_values_are_as_it_writes_them_and_its_views_reach_no_file(put: Put, tmp_path: Path) -> None:
    outside = put("secret.csv", CSV)
    path = put(
        "my.duckdb",
        duckdb_bytes(
            "CREATE TABLE t (a DOUBLE, b DECIMAL(5, 2), c DATE, d BOOLEAN, e INTEGER[], f FLOAT)",
            "INSERT INTO t VALUES (0.1, 1.50, '2024-01-05', true, [1, 2], 0.1), (2, 2, NULL, NULL, NULL, 2)",
            "CREATE SCHEMA s",
            "CREATE TABLE s.u AS SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 4",
            f"CREATE VIEW v AS SELECT * FROM read_csv('{outside}')",
        ),
    )
    assert "has 3 tables: 't', 's.u', 'v'" in failure(path)
    assert load_table(f"{path}#t").rows == (
        ("0.1", "1.50", "2024-01-05", "true", "[1, 2]", "0.1"),
        ("2.0", "2.00", None, None, None, "2.0"),
    )
    assert sorted(load_table(f"{path}#s.u").rows) == [("1", "2"), ("3", "4")]
    assert "file system operations are disabled" in failure(f"{path}#v")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["my.duckdb", "secret.csv"]
    (tmp_path / "my.duckdb.wal").write_bytes(b"x")
    assert "has changes that are not in the file yet" in failure(f"{path}#t")


def test_an_orc_file_is_read(put: Put) -> None:
    import pyarrow
    from pyarrow import orc

    file = io.BytesIO()
    orc.write_table(pyarrow.table({"a": ["007", None], "b": [1, 2]}), file)
    assert load_table(put("my.orc", file.getvalue())).rows == (("007", "1"), (None, "2"))


@pytest.mark.parametrize(
    ("package", "name", "content", "extra"),
    [
        ("pyarrow", "my.feather", b"ARROW1\0\0", "parquet"),
        ("python_calamine", "my.xlsx", b"PK\x03\x04", "excel"),
        ("duckdb", "my.duckdb", b"\0" * 8 + b"DUCK", "duckdb"),
    ],
)
def test_a_missing_reader_says_what_to_install(
    put: Put, monkeypatch: pytest.MonkeyPatch, package: str, name: str, content: bytes, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert f'pip install "tabcontam[{extra}]"' in failure(put(name, content))


# ARFF


def test_arff_cells_are_as_written(put: Put) -> None:
    text = (
        "@relation 'a b'\n@attribute 'it''s' string\n".replace("''", "\\'")
        + "@attribute b {x,y}\n@attribute c date 'yyyy'\n@data\n"
        + "'it\\'s \\u00e9',x,2024\n?,'?',\"\"\n  a b  ,y,1.50, {5}\n"
    )
    table = load_table(put("my.arff", text.encode()))
    assert table.columns == ("it's", "b", "c")
    assert table.rows == (("it's é", "x", "2024"), (None, "?", ""), ("a b", "y", "1.50"))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("1,2,3", "line 5 has 3 cells, and there are 2 attributes"),
        ("{0 1}", "line 5: a sparse row"),
        ("'a,2", "line 5: a quote opens there that is not closed"),
    ],
)
def test_a_bad_line_of_arff_is_named(put: Put, line: str, complaint: str) -> None:
    text = f"@relation a\n@attribute b string\n@attribute c string\n@data\n{line}\n"
    assert complaint in failure(put("my.arff", text.encode()))


# Quotes left open


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\n1,x\n2,"y\n3,z\n4,w\n', 3),
        ('a;b\n1;"x\ny"\n2;"y\n3;z\n', 4),
        ('a,b\n"1, ""x""",2\n2,"y\n3,"z"\n4,w\n', 3),
        ('a,b\n1,"x, 1"\n2,"y\n3,"z, 2"\n4,"w, 3"\n', 3),
        ('a, b\n1, "x, 1"\n2, "y\n3, z\n', 3),
        ('a,b\r\n1,x\r\n2,"y\r\n3,z\r\n', 3),
        ("a,b\n" + "1,x\n" * 2000 + '2,"y\n' + "3,z\n" * 50_000, 2002),
    ],
)
def test_a_quote_left_open_names_the_line_where_it_opens(put: Put, text: str, line: int) -> None:
    assert f"my.csv, line {line}: in the row that begins there, a quote opens that is not closed" in failure(
        put("my.csv", text.encode())
    )


# What is not read


@pytest.mark.slow
def test_a_kind_that_is_not_read_is_named_with_the_line_that_converts_it(put: Put, tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame({"code": ["007", "8"], "price": [1.5, 2.0]})
    stata = tmp_path / "it's my$(data).dta"
    frame.to_stata(stata, write_index=False)
    said = failure(str(stata))
    assert "is a file of Stata, which is not read; convert it: python -c " in said
    line = said.partition("convert it: ")[2].replace("python ", f"{sys.executable} ", 1)
    subprocess.run(["bash", "-c", line], check=True, timeout=60)
    assert load_table(str(stata.with_suffix(".csv"))).rows == (("007", "1.5"), ("8", "2.0"))


@pytest.mark.slow
def test_the_lines_that_need_polars_numpy_and_scipy_run(tmp_path: Path) -> None:
    import numpy
    import polars
    import scipy.io

    polars.DataFrame({"a": ["007", "8"], "b": [1, 2]}).write_avro(tmp_path / "one.avro")
    numpy.save(tmp_path / "two.npy", numpy.array([[1, 2], [3, 4]]))
    scipy.io.savemat(tmp_path / "three.mat", {"found": numpy.array([[1, 2], [3, 4]])})
    for name, last in (("one.avro", ("8", "2")), ("two.npy", ("3", "4")), ("three.mat", ("3", "4"))):
        code = failure(str(tmp_path / name)).partition("python -c ")[2].rpartition("'")[0]
        exec(shlex.split(code + "'")[0], {})
        assert load_table(str(tmp_path / name.replace(name.partition(".")[2], "csv"))).rows[-1] == last


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.sav", b"$FL2", "a file of SPSS"),
        ("a.rds", gzip.compress(b"X\n\0\0\0\3\0", mtime=0), "a file of R, which is not read; convert it: Rscript -e "),
        ("a.pkl", b"\x80\x04\x95", "a pickle may run any program as you open it: open none that you do not trust"),
        ("a.h5", b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        ("a.tgz", gzip.compress(b"\0" * 257 + b"ustar" + b"\0" * 600, mtime=0), "a TAR archive"),
        ("a.csv.zst", b"\x28\xb5\x2f\xfd", "a Zstandard file, which is not read; convert it: zstd -d "),
        ("a.pdf", b"%PDF-1.7", "a PDF document"),
        ("a.bin", b"\x93NUMPY", "an array of NumPy"),
    ],
)
def test_other_kinds_are_named(put: Put, name: str, content: bytes, complaint: str) -> None:
    assert complaint in failure(put(name, content))


# Odd cells


def test_odd_cells_come_through_every_kind_as_they_are(put: Put) -> None:
    odd = ["=1+1", "@cmd", "\x1b[2J", "a\tb", "line\nend", '"', "\\", "é\u0301", "\U0001f6a2", " x ", "NULL"]
    rows = [(str(number), cell) for number, cell in enumerate(odd)]
    tables: list[Table] = [
        load_table(put("odd.jsonl", "".join(json.dumps({"n": n, "c": c}) + "\n" for n, c in rows).encode())),
        load_table(put("odd.db", sqlite("CREATE TABLE t (n TEXT, c TEXT)", ("INSERT INTO t VALUES (?, ?)", rows)))),
        load_table(put("odd.json", json.dumps({"n": [n for n, _ in rows], "c": odd}, ensure_ascii=False).encode())),
    ]
    assert [table.rows for table in tables] == [tuple(rows)] * 3
    twice = put("twice.xlsx", workbook(One=[["a", "a", ""], [1, 2, 3], [4, 5, 6]]))
    assert load_table(twice).columns == ("a", "a (2)", "column 3")
