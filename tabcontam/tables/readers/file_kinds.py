"""The choice of a file's reader: by its first bytes, then by its name's ending; the default is delimited text."""

import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from tabcontam.errors import UsageError
from tabcontam.tables.readers import arff_files, arrow_files, databases, excel, json_files
from tabcontam.tables.readers.archives import ZIP, unpack, without_packing
from tabcontam.tables.readers.base import LARGEST, STREAMED, File, FileKind
from tabcontam.tables.readers.delimited_text import decoded, read_delimited
from tabcontam.tables.table_contents import Contents

START = 4096  # bytes that distinguish kinds of text
TEXTUAL = frozenset({"delimiter", "encoding", "header", "header_line"})
POINTERS = (b"version https://git-lfs.", b"version https://hawser.")  # content of a Git LFS file before it is fetched

_TAG = re.compile(r"<(?:[!?]|[a-z][\w:-]*[\s/>])", re.IGNORECASE)
_RULE = re.compile(r"[|+](?:[ ]?:?[-=]+:?[ ]?[|+])+|:?[-=]{2,}:?(?:[|+ \t]+:?[-=]{2,}:?)+")  # between header and rows


def _arrow(title: str, endings: tuple[str, ...], known: Callable[[bytes], bool], name: str) -> FileKind:
    """Return a kind of file that pyarrow reads."""
    return FileKind(title, endings, known, partial(arrow_files.read_arrow, kind=title, title=name))


PARQUET = _arrow(
    "a Parquet file", (".parquet", ".pq"),
    lambda content: content.startswith(arrow_files.PARQUET), arrow_files.OF_PARQUET,
)  # fmt: skip
FEATHER = _arrow(
    "a Feather file", (".feather", ".arrow", ".arrows", ".ipc"),
    lambda content: content.startswith((*arrow_files.FEATHER, arrow_files.STREAM)), arrow_files.OF_FEATHER,
)  # fmt: skip
ORC = _arrow("an ORC file", (".orc",), arrow_files.is_orc, arrow_files.OF_ORC)
SQLITE = FileKind(
    "an SQLite database",
    (".sqlite", ".sqlite3", ".db3"),
    lambda content: content.startswith(databases.SQLITE),
    databases.read_sqlite,
    holds="table",
)
DUCKDB = FileKind("a DuckDB database", (".duckdb", ".ddb"), databases.is_duckdb, databases.read_duckdb, holds="table")
WORKBOOK = FileKind(
    "a workbook",
    (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    excel.is_workbook,
    excel.read_workbook,
    holds="sheet",
    takes=frozenset({"header", "header_line"}),
)
BINARY = (PARQUET, FEATHER, ORC, SQLITE, DUCKDB, WORKBOOK)
JSON = FileKind(
    "JSON", (".json", ".jsonl", ".ndjson"), lambda content: False, json_files.read_json, holds="table",
    takes=frozenset({"encoding"}),
)  # fmt: skip
ARFF = FileKind("an ARFF file", (".arff",), lambda content: False, arff_files.read_arff, takes=frozenset({"encoding"}))
TEXT = FileKind("text", (), lambda content: True, read_delimited, takes=TEXTUAL)
ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".data", ".db",
           *(ending for kind in (*BINARY, JSON, ARFF) for ending in kind.endings))  # fmt: skip

PICKLE = "a pickle may run any program as you open it: open none that you do not trust"


def _python(code: str) -> Callable[[str, str], str]:
    """Return a function that writes a command to run `code` in Python; file names may have any characters."""
    return lambda name, stem: f"python -c {shlex.quote(code.format(name=repr(name), csv=repr(f'{stem}.csv')))}"


def _shell(command: str) -> Callable[[str, str], str]:
    return lambda name, stem: command.format(name=shlex.quote(name), stem=shlex.quote(stem))


def _r(code: str) -> Callable[[str, str], str]:
    def line(name: str, stem: str) -> str:
        quoted = [text.replace("\\", "\\\\").replace('"', '\\"') for text in (name, f"{stem}.csv")]
        return f"Rscript -e {shlex.quote(code.format(name=quoted[0], csv=quoted[1]))}"

    return line


PANDAS = "import pandas; pandas.{}({{name}}).to_csv({{csv}}, index=False)"
# Kinds of files that are not supported: title, endings, first bytes, the command that converts it, and advice.
UNSUPPORTED: tuple[tuple[str, tuple[str, ...], tuple[bytes, ...], Callable[[str, str], str], str], ...] = (
    ("a file of Stata", (".dta",), (b"<stata_dta>",), _python(PANDAS.format("read_stata")), ""),
    ("a file of SPSS", (".sav", ".zsav"), (b"$FL2", b"$FL3"), _python(PANDAS.format("read_spss")),
     "it needs the package pyreadstat"),
    ("a file of SAS", (".sas7bdat", ".xpt"), (b"HEADER RECORD*******LIB",),
     _python("import pandas; pandas.read_sas({name}, encoding='latin-1').to_csv({csv}, index=False)"), ""),
    ("a file of R", (".rds",), (b"X\n\0\0\0", b"A\n3\n"),
     _r('write.csv(readRDS("{name}"), "{csv}", row.names = FALSE)'), ""),
    ("a workspace of R", (".rda", ".rdata"), (b"RDX", b"RDA"),
     _r('write.csv(get(load("{name}")[1]), "{csv}", row.names = FALSE)'), ""),
    ("an Avro file", (".avro",), (b"Obj\x01",),
     _python("import polars; polars.read_avro({name}).write_csv({csv})"), "it needs the package polars"),
    ("a pickle", (".pkl", ".pickle"), (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
     _python(PANDAS.format("read_pickle")), PICKLE),
    ("an HDF5 file", (".h5", ".hdf5", ".hdf"), (b"\x89HDF",), _python(PANDAS.format("read_hdf")),
     f"it needs the package tables, and {PICKLE.replace('a pickle', 'it')}"),
    ("a file of MATLAB", (".mat",), (b"MATLAB 5.0",),
     _python("import pandas, scipy.io; found = scipy.io.loadmat({name}); key = [k for k in found if k[0] != '_'][0]; "
             "pandas.DataFrame(found[key]).to_csv({csv}, index=False)"), ""),
    ("an array of NumPy", (".npy",), (b"\x93NUMPY",),
     _python("import numpy, pandas; pandas.DataFrame(numpy.load({name})).to_csv({csv}, index=False)"), ""),
    ("a TAR archive", (".tar",), (), _shell("tar -xf {name}"), ""),
    ("a Zstandard file", (".zst",), (b"\x28\xb5\x2f\xfd",), _shell("zstd -d {name}"), ""),
    ("a 7-Zip archive", (".7z",), (b"7z\xbc\xaf\x27\x1c",), _shell("7z x {name}"), ""),
    ("a RAR archive", (".rar",), (b"Rar!",), _shell("unrar x {name}"), ""),
    ("a PDF document", (".pdf",), (b"%PDF-",), _shell("pdftotext -layout {name} {stem}.txt"),
     "mend the columns by hand"),
)  # fmt: skip


def _check_supported(file: File) -> None:
    """Raise `UsageError`, with a command that converts the file, if the file's kind is not supported."""
    for title, endings, magics, line, advice in UNSUPPORTED:
        tar = title == "a TAR archive" and file.content[257:262] == b"ustar"
        if tar or file.content.startswith(magics or (b"\0 no magic",)) or file.name.lower().endswith(endings):
            name = file.name if file.path is None else str(file.path)
            stem = name.rpartition(".")[0] or name
            note = f" ({advice})" if advice else ""
            raise UsageError(f"{file.name} is {title}, which is not read; convert it: {line(name, stem)}{note}")


# drawn: number of first lines that are checked for a drawn table
def _check_is_table(text: str, name: str, *, drawn: int = 20) -> None:
    """Check that a text does not begin as a web page or as a table drawn in characters. Raises `UsageError` if so."""
    start = text.lstrip("\ufeff \t\r\n")
    if _TAG.match(start) and (start[:1000].lower().startswith(("<!doctype", "<?xml")) or "</" in start):
        raise UsageError(f"{name} is a web page or XML, not a table; download the file itself as CSV")
    for number, line in enumerate(text.splitlines()[:drawn], 1):
        if _RULE.fullmatch(line.strip()):
            problem = f"{name}, line {number}: {line.strip()[:40]!r} is a line drawn between cells, as in Markdown"
            raise UsageError(f"{problem}; save the table as CSV, without such lines")


def _read(kind: FileKind, file: File) -> Contents:
    try:
        found = kind.read(file)
        if kind in BINARY and sum(len(cell) for row in found[1] for cell in row if cell) > LARGEST:
            raise MemoryError  # a text that is stored once may be in every row
        return found
    except MemoryError:
        raise UsageError(f"{file.name} does not fit into memory: {STREAMED}") from None


def read_split(file: File) -> tuple[Contents, str]:
    """Return column names and rows, and the split named after the last `#`; "" if none is named.

    In a file with several tables the first `#` names the table, and a second `#` names the split. Raises `UsageError`,
    in one line, for a file that is not a table.
    """
    file, kind = _opened(file)
    if file.part is None:
        return _read(kind, file), ""
    if not kind.holds:
        return _read(kind, replace(file, part=None)), split_name(file.part)
    part, sign, split = file.part.rpartition("#")
    try:
        return _read(kind, file), ""
    except UsageError:
        if not sign and kind is not JSON:
            raise
        try:
            return _read(kind, replace(file, part=part or None)), split_name(split)
        except UsageError:
            if sign:
                raise
    return _read(kind, file), ""  # raises the error about the named part


def split_name(name: str) -> str:
    """Return the name of a split as written after `#`. Raises `UsageError` for an impossible name."""
    if name != name.strip() or not name.isprintable() or "#" in name:
        raise UsageError(f"a split cannot be called {name!r}; write a name such as train or test after one #")
    return name


# layers: most packings inside each other
def _opened(file: File, *, layers: int = 3) -> tuple[File, FileKind]:
    """Return the unpacked file and its kind."""
    for _ in range(layers):
        if file.name.lower().endswith(WORKBOOK.endings) or (inner := unpack(file)) is None:
            break
        file = inner
        if not file.content:
            raise UsageError(f"{file.name} is empty; give a table with a header line and rows")
    kind = kind_of(file)
    for field, option in file.form.given.items():
        if field not in kind.takes:
            raise UsageError(f"{file.name} is {kind.title}, for which {option} means nothing; leave it out")
    return file, kind


def stem(name: str) -> str:
    """Return the file name without its endings: `my` for `my.csv.gz`, `my.table` for `my.table.csv`."""
    bare = without_packing(name)
    plain, dot, _ = bare.rpartition(".")
    return plain if dot and plain else bare


def kind_of(file: File) -> FileKind:
    """Return the kind of an unpacked file. Raises `UsageError` for a kind that no reader reads."""
    if file.content.startswith(POINTERS):
        where = f"{file.name} in the archive" if file.packed else file.name
        raise UsageError(f"{where} is a pointer of Git LFS, not the file itself; run git lfs pull, and try again")
    for kind in BINARY:
        if kind.known(file.content):
            return kind
    name = file.name.lower()
    for kind in BINARY:
        # many programs write text with the ending of a workbook
        text = kind is WORKBOOK and b"\0" not in file.content[:START] and not file.content.startswith(ZIP)
        if name.endswith(kind.endings) and not text:
            return kind
    _check_supported(file)
    start = decoded(file.content, file.name, file.form.encoding)[:START]
    if name.endswith(ARFF.endings) or arff_files.begins_arff(start):
        return ARFF
    if name.endswith(JSON.endings) or json_files.begins_json(start):
        return JSON
    _check_is_table(start, file.name)
    return TEXT
