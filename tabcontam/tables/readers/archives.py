"""Packed files: gzip, bzip2, xz and ZIP. They are unpacked in memory, up to a limit, and never on disk."""

import bz2
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TypeAlias

from tabcontam.errors import UsageError, one_line
from tabcontam.tables.readers.base import LARGEST, NAMED, File, choose_part, listed, to_name

ZIP = b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"
PACKED = {b"\x1f\x8b": ("gzip", ".gz"), b"BZh": ("bzip2", ".bz2"), b"\xfd7zXZ\x00": ("xz", ".xz")}
OPENERS: dict[str, Callable[[Path | IO[bytes]], IO[bytes]]] = {
    ".gz": gzip.open,  # type: ignore[dict-item]
    ".bz2": bz2.open,  # type: ignore[dict-item]
    ".xz": lzma.open,
}
# Errors of these modules for bytes that are no archive, are cut off or were changed.
BROKEN = (
    zipfile.BadZipFile, OSError, EOFError, ValueError, LookupError, NotImplementedError, RuntimeError, zlib.error,
    lzma.LZMAError,
)  # fmt: skip
# Endings of packed files and of their content: one ending may state both.
WITHOUT = {".gz": "", ".bz2": "", ".xz": "", ".tgz": ".tar", ".tbz": ".tar", ".txz": ".tar"}
OFFICE = ("[content_types].xml", "mimetype")  # the first member of workbooks and similar files
TEXTS = (".md", ".names", ".pdf", ".txt", ".html")  # endings of files that describe tables
OF_A_SYSTEM = re.compile(r"^__MACOSX/|(^|/)\.[^/]*$")  # members that an operating system added
ABOUT = ("readme", "license", "licence", "index")


def unpack(file: File) -> File | None:
    """Return the one file in a packed file; None for a file that is not packed. Raises `UsageError`."""
    if file.content.startswith((ZIP, EMPTY_ZIP)):
        return _of_zip(file)
    kind, ending = packed_as(file.content)
    if not kind:
        return None
    try:
        with OPENERS[ending](io.BytesIO(file.content)) as opened:
            content = read_limited(opened, file.name)
    except BROKEN as error:
        raise UsageError(f"{file.name} is not a whole {kind} file: {one_line(error)}") from None
    name = without_packing(file.name)
    path = file.path if name == file.name else None
    return replace(file, content=content, name=name, path=path, packed=_within(file, kind))


def packed_as(start: bytes) -> tuple[str, str]:
    """Return the packing that a file's first bytes show, in a word, and its usual ending; both "" if not packed."""
    return next((how for magic, how in PACKED.items() if start.startswith(magic)), ("", ""))


@dataclass(frozen=True)
class ArchiveMember:
    """A file in a ZIP archive, by its full name in the archive, and its unpacked size in bytes."""

    archive: Path
    filename: str
    size: int

    @property
    def name(self) -> str:
        return self.filename.rpartition("/")[2]


Stored: TypeAlias = Path | ArchiveMember  # a file on disk, packed or not, or in an archive


def opened(path: Stored) -> IO[bytes]:
    """Return an open file whose content is unpacked during reading."""
    if isinstance(path, ArchiveMember):
        with zipfile.ZipFile(path.archive) as archive:
            return archive.open(path.filename)
    _, ending = _packed(path)
    return OPENERS[ending](path) if ending else path.open("rb")


def packing(path: Stored) -> str:
    """Return the kind of packing of a file, in a word; "" if it is not packed."""
    return f"ZIP, {path.filename!r}" if isinstance(path, ArchiveMember) else _packed(path)[0]


def member_of(path: Path, part: str | None) -> tuple[ArchiveMember, str | None] | None:
    """Return the named or only file in a ZIP archive, and the part of it after a second `#`.

    Return None if the file is no archive, if it is a workbook, or if it is locked. Raises `UsageError` if the archive
    is empty, or if it has several files and `part` names none of them.
    """
    with path.open("rb") as file:
        if file.read(len(ZIP)) != ZIP:
            return None
    with zipfile.ZipFile(path) as archive:
        if any(name.lower() in OFFICE for name in archive.namelist()):
            return None
        info, rest = _member(File(b"", path.name, part, path=path), archive)
    return None if info.flag_bits & 1 else (ArchiveMember(path, info.filename, info.file_size), rest)


def _packed(path: Path) -> tuple[str, str]:
    with path.open("rb") as file:
        return packed_as(file.read(max(map(len, PACKED))))


def without_packing(name: str) -> str:
    """Return the file name without the ending of its packing: `my.csv` for `my.csv.gz`."""
    for ending, inner in WITHOUT.items():
        if name.lower().endswith(ending):
            return name[: -len(ending)] + inner
    return name


def read_limited(file: IO[bytes], name: str) -> bytes:
    """Return the content of a packed file. Raises `UsageError` at the size limit: content may be endless."""
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise UsageError(f"{name} unpacks to more than {LARGEST // 1024**2} MiB; unpack it, and give the file in it")
    return content


def _within(file: File, kind: str) -> str:
    """Return the kinds of packing around a file, such as `gzip`, the outermost first."""
    return ", ".join(filter(None, (file.packed, kind)))


def _of_zip(file: File) -> File | None:
    try:
        with zipfile.ZipFile(io.BytesIO(file.content)) as archive:
            if any(name.lower() in OFFICE for name in archive.namelist()):
                return None
            member, part = _member(file, archive)
            if member.flag_bits & 1:
                raise UsageError(f"{file.name} is locked with a password; unpack it, and give the file in it")
            with archive.open(member) as opened:
                content = read_limited(opened, f"{file.name}#{member.filename}")
    except BROKEN as error:
        raise UsageError(f"{file.name} is not a whole ZIP archive: {one_line(error)}") from None
    except MemoryError:
        raise UsageError(f"{file.name} unpacks to more than fits into memory; give a part of it") from None
    name, packed = member.filename.rpartition("/")[2], _within(file, f"ZIP, {member.filename!r}")
    return replace(file, content=content, name=name, part=part, path=None, packed=packed)


def _member(file: File, archive: zipfile.ZipFile) -> tuple[zipfile.ZipInfo, str | None]:
    """Return the named or only member of an archive, and the part of it after a second `#`."""
    members = {
        info.filename: info
        for info in archive.infolist()
        if info.filename.strip("/") and not info.is_dir() and not OF_A_SYSTEM.search(info.filename)
    }
    if file.part is not None:
        ends = [place for place, sign in enumerate(file.part) if sign == "#"] + [len(file.part)]
        for end in reversed(ends):
            if file.part[:end] in members:
                return members[file.part[:end]], file.part[end + 1 :] or None
        if len(members) > 1:
            choose_part(file, "file", list(members))
    plain = {name: name.rpartition("/")[2].lower() for name in members}
    about = {name for name, own in plain.items() if own.endswith(TEXTS) or own.partition(".")[0] in ABOUT}
    tables = [name for name in members if name not in about] or list(members)
    if len(tables) > 1:
        shown = listed(sorted(tables)[:NAMED] if len(tables) > NAMED else tables)
        raise UsageError(f"{file.name} holds {len(tables)} files: {shown}; {to_name(file, tables)}")
    if not tables:
        raise UsageError(f"{file.name} holds no file; give a ZIP archive with a table in it")
    return members[tables[0]], file.part
