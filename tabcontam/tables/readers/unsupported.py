"""Kinds of files that are not supported, each with its title and a command that converts it to a supported kind."""

import shlex
from collections.abc import Callable

from tabcontam.errors import UsageError
from tabcontam.tables.readers.base import File

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
# Title, endings, first bytes, the command that converts it, and advice.
KINDS: tuple[tuple[str, tuple[str, ...], tuple[bytes, ...], Callable[[str, str], str], str], ...] = (
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


def check_supported(file: File) -> None:
    """Raise `UsageError`, with a command that converts the file, if the file's kind is not supported."""
    for title, endings, magics, line, advice in KINDS:
        tar = title == "a TAR archive" and file.content[257:262] == b"ustar"
        if tar or file.content.startswith(magics or (b"\0 no magic",)) or file.name.lower().endswith(endings):
            name = file.name if file.path is None else str(file.path)
            stem = name.rpartition(".")[0] or name
            note = f" ({advice})" if advice else ""
            raise UsageError(f"{file.name} is {title}, which is not read; convert it: {line(name, stem)}{note}")
