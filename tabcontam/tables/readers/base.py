"""The interface of the readers: they turn the bytes of a file, and the user's options, into columns and rows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabcontam.errors import UsageError, near, option_name
from tabcontam.tables.table_contents import Contents

LARGEST = 512 * 1024 * 1024  # bytes of a file that is read whole or fetched, or of the content of a packed one
MOST_CELLS = 50_000_000  # cells that are held in memory
STREAMED = "its kind is read into memory; save it as Parquet or CSV, which may have any size, or give a part of it"
NO_DELIMITERS = '"\\\r\n\0'
NAMED = 8  # number of parts that an error names


@dataclass(frozen=True)
class TextFormat:
    """The user's options for reading a table in a text; an option that is None is detected from the text.

    `delimiter` is one character; a space means any run of blanks. `encoding` is a name that Python knows. `header` is
    whether the first record names the columns. `header_line` is the line number, from 1, of the header; lines above it
    are not read.
    """

    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    header_line: int | None = None

    def __post_init__(self) -> None:
        """Check the options. Raises `UsageError` for options that no text can fit."""
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in NO_DELIMITERS):
            problem = f"{option_name('delimiter')} is {self.delimiter!r}"
            raise UsageError(f"{problem}; give one character, such as ';' (the word tab for a tab, a space for blanks)")
        try:
            "".encode(self.encoding or "utf-8")
        except (LookupError, ValueError):
            problem = f"{option_name('encoding')} is {self.encoding!r}, which is no encoding"
            raise UsageError(f"{problem}; give one such as utf-8, cp1252, latin-1 or utf-16") from None
        if self.header_line is not None and (type(self.header_line) is not int or self.header_line < 1):
            given = option_name("header_line")
            raise UsageError(f"{given} is {self.header_line!r}; give the number of a line, counted from 1")
        if self.header_line is not None and self.header is False:
            problem = f"{option_name('header_line')} names a header, and another option denies it"
            raise UsageError(f"{problem}; leave one out")

    def __str__(self) -> str:
        """Return the given options in words; "" if none is given."""
        header = {None: "", True: "with a header", False: "without a header"}[self.header]
        delimiter = "" if self.delimiter is None else f"delimiter {self.delimiter!r}"
        line = "" if self.header_line is None else f"header in line {self.header_line}"
        return ", ".join(filter(None, (delimiter, self.encoding and f"encoding {self.encoding}", header, line)))

    @property
    def given(self) -> dict[str, str]:
        """The given options: each field's name, and the option as the user writes it."""
        return {field: option_name(field) for field, value in vars(self).items() if value is not None}


def text_format(
    delimiter: str | None, encoding: str | None, header: bool | None, header_line: int | None = None
) -> TextFormat:
    """Return the format for options as typed; `tab` and `\\t` mean a tab. Raises `UsageError`."""
    return TextFormat("\t" if delimiter in ("tab", "\\t") else delimiter, encoding, header, header_line)


FOUND_OUT = TextFormat()


@dataclass(frozen=True)
class File:
    """The bytes of a file. Messages show its `name`; the ending of the name suggests the kind of file.

    `part` is the text after `#`: a table, a sheet or a member. `path` is the file's path on disk, if it has one.
    `packed` names the archive that contained it, such as `gzip`.
    """

    content: bytes
    name: str
    part: str | None = None
    form: TextFormat = FOUND_OUT
    path: Path | None = None
    packed: str = ""

    def read_as(self, kind: str, *details: str) -> str:
        """Return, in words, how the file was read: `CSV (gzip): ',', UTF-8`."""
        return read_as(kind, self.packed, *details)


def read_as(kind: str, packed: str, *details: str) -> str:
    """Return, in words, how a file was read."""
    packing = f" ({packed})" if packed else ""
    return f"{kind}{packing}{': ' if details else ''}{', '.join(details)}"


@dataclass(frozen=True)
class FileKind:
    """A kind of file: its title, its endings and first bytes, and its reader.

    `holds` is the word for the parts of such a file, such as sheets, which a user names after `#`; "" if a file is one
    table. `takes` are the fields of `TextFormat` that apply to such a file.
    """

    title: str
    endings: tuple[str, ...]
    known: Callable[[bytes], bool]
    read: Callable[[File], Contents]
    holds: str = ""
    takes: frozenset[str] = frozenset()


def choose_part(file: File, kind: str, names: Sequence[str]) -> str:
    """Return the named part, or the only one. Raises `UsageError`, which lists the existing parts."""
    if file.part is not None:
        if file.part in names:
            return file.part
        like = near(file.part, names)
        known = f"did you mean {' or '.join(map(repr, like))}?" if like else f"it has {listed(names)}"
        raise UsageError(f"{file.name} has no {kind} {file.part!r}; {known}")
    if not names:
        raise UsageError(f"{file.name} has no {kind}; give a file with a table in it")
    if len(names) > 1:
        raise UsageError(f"{file.name} has {len(names)} {kind}s: {listed(names)}; {to_name(file, names)}")
    return names[0]


def to_name(file: File, names: Iterable[str]) -> str:
    """Return advice on how to name one of several parts, with an example that is easy to type."""
    plain = next((name for name in names if name.isprintable()), "NAME")
    return f"name one after a #, as in {file.name}#{plain}"


def listed(names: Iterable[str]) -> str:
    """Return some names in one line, each in quotes, since a name may contain any character."""
    every = [repr(name) for name in names]
    more = [f"and {len(every) - NAMED} more"] if len(every) > NAMED else []
    return ", ".join([*every[:NAMED], *more])


def too_many_cells(name: str) -> UsageError:
    """Return the error for a table that does not fit into memory."""
    return UsageError(f"{name} has more than {MOST_CELLS:,} cells, and {STREAMED}")


def sql_name(name: str) -> str:
    """Return a name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def check_cells(count: int, name: str) -> None:
    """Check that `count` cells fit into memory. Raises `UsageError` if not."""
    if count > MOST_CELLS:
        raise too_many_cells(name)


def check_size(path: Path) -> None:
    """Check that a file that is read whole fits into memory. Raises `UsageError` if not."""
    size = path.stat().st_size if path.is_file() else 0
    if size > LARGEST:
        raise UsageError(f"{path.name} has {size // 1024**2:,} MiB, and {STREAMED}")


def missing_extra(name: str, kind: str, package: str, extra: str) -> UsageError:
    """Return the error for a kind of file whose reader package is not installed."""
    return UsageError(f'{name} is {kind}, which needs {package}; type: pip install "tabcontam[{extra}]"')
