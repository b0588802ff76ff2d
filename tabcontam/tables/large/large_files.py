"""The files that are read as a stream: large files of text, packed or not, and Parquet, Feather, Arrow or ORC files."""

from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from threading import Event

from tabcontam.errors import UsageError
from tabcontam.tables.file_specs import FileSpec
from tabcontam.tables.large.table_excerpt import TableExcerpt
from tabcontam.tables.readers.archives import BROKEN, PACKED, ZIP, Stored, member_of, opened, packing, without_packing
from tabcontam.tables.readers.arrow_files import OF_FEATHER, OF_ORC, OF_PARQUET
from tabcontam.tables.readers.base import File, FileKind, TextFormat
from tabcontam.tables.readers.file_kinds import FEATHER, ORC, PARQUET, START, TEXT, WORKBOOK, kind_of, split_name

SMALL = 4 * 1024 * 1024  # bytes of a file up to which it is read whole
PACKED_SMALL = 2 * 1024 * 1024  # the limit for packed files, Parquet and similar kinds
ARROW = {PARQUET: OF_PARQUET, FEATHER: OF_FEATHER, ORC: OF_ORC}
COMPRESSED = tuple(ending for kind in ARROW for ending in kind.endings)
OLD = b"FEA1"  # the first version of Feather, which is read whole


def read_large(named: FileSpec, form: TextFormat, target: str | None) -> tuple[TableExcerpt, str, str] | None:
    """Return the excerpt of a large file, its SHA-256, and the split that `named` names. Raises `UsageError`.

    Return None for a small file, and for a kind of file that is read whole.
    """
    source, part = _stored(named)
    kind = None if source is None else _kind(source, form)
    if source is None or kind is None or (kind is not TEXT and form.given):
        return None
    from tabcontam.tables.large.large_table_reading import read_arrow, read_text  # imports numerical code

    split = split_name(part) if part is not None else ""
    state, enough = _state(named.path), Event()
    with ThreadPoolExecutor(1) as thread:
        digest = thread.submit(_digest_of, named.path, enough)
        try:
            if kind is TEXT:
                name = named.name if source is named.path else source.name
                read = read_text(source, name, form, target)
            else:
                read = read_arrow(named.path, ARROW[kind], target)
            if read is None:
                return None
            found = read, digest.result(), split
        except (UsageError, OSError):
            if _state(named.path) == state:
                raise
        finally:
            enough.set()
    if _state(named.path) != state:
        raise UsageError(f"{named.name} changed while it was read; read it again")
    return found


def _state(path: Path) -> tuple[int, ...]:
    """Return values that change when a file is written, such as its size and its modification time in nanoseconds."""
    try:
        found = path.stat()
    except OSError:  # the file no longer exists
        return ()
    return found.st_size, found.st_mtime_ns


def _digest_of(path: Path, enough: Event) -> str:
    """Return the SHA-256 of a file. Reading stops early if another thread sets `enough`."""
    part_bytes = 4 * 1024 * 1024  # bytes that are hashed at a time
    found = sha256()
    with path.open("rb") as file:
        while not enough.is_set() and (part := file.read(part_bytes)):
            found.update(part)
    return found.hexdigest()


def _stored(named: FileSpec) -> tuple[Stored | None, str | None]:
    """Return the path or archive member of a large file, and its part after `#`; None for small files and workbooks."""
    path = named.path
    try:
        size = path.stat().st_size
        if size < PACKED_SMALL or path.name.lower().endswith(WORKBOOK.endings):
            return None, None
        found = member_of(path, named.part)
        if found is not None:
            return found if found[0].size >= SMALL else (None, None)
        if size < SMALL and not packing(path) and not path.name.lower().endswith(COMPRESSED):
            return None, None
    except BROKEN:
        return None, None  # the reader of whole files reports what is wrong
    return path, named.part


def _kind(path: Stored, form: TextFormat) -> FileKind | None:
    """Return the kind of a large file if it is delimited text, Parquet, Feather, Arrow or ORC; else None."""
    try:
        packed = packing(path)
        with opened(path) as file:
            start = file.read(16 * START)
    except BROKEN:
        return None
    name = without_packing(path.name) if packed and isinstance(path, Path) else path.name
    if start.startswith((ZIP, *PACKED)):
        return None  # packed twice
    kind = kind_of(File(start, name, None, form))
    if kind is FEATHER and start.startswith(OLD):
        return None
    return kind if kind is TEXT or (kind in ARROW and not packed) else None
