"""Functions on paths: the folders of shipped TOML files, writing in one step, and a check for a last line cut off."""

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EINVAL
from pathlib import Path

from tabcontam.errors import UsageError

ESCAPED = "backslashreplace"  # a name may hold half a surrogate pair, a file cannot
PACKAGE = Path(__file__).parent


def shipped(folder: str) -> Path:
    """Return the folder of shipped TOML files named `folder`: in the package in a wheel, next to it in a checkout."""
    inside = PACKAGE / "_shipped" / folder
    return inside if inside.is_dir() else PACKAGE.parent / folder


def check_own_files(folder: Path) -> None:
    """Check that a folder holds only files of its own. Raises `UsageError` for pipes, devices and links that lead out.

    Folders of other authors are read: a pipe would hang, and a link would show, or overwrite, another file of the user.
    """
    try:
        entries, home = list(os.scandir(folder)), folder.resolve()
    except OSError:  # the next read or write there reports it
        return
    for entry in entries:
        path, mode = Path(entry.path), entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISREG(mode) or (stat.S_ISDIR(mode) and path.suffix not in (".json", ".jsonl")):
            continue
        if stat.S_ISLNK(mode) and path.is_file() and path.resolve().is_relative_to(home):
            continue
        if entry.name.startswith(".#"):  # an editor's lock file, which nothing here reads
            continue
        what = "a link that leads out of the folder" if stat.S_ISLNK(mode) else "not a regular file"
        raise UsageError(
            f"{ascii(entry.path)[1:-1]} is {what}; remove it, or give a copy of the folder that holds only files"
        )


def last_line_is_cut_off(path: Path) -> bool:
    """Return whether the last line of a file has no end, because a crash or a full disk cut it off."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def temporary_name(path: Path) -> Path:
    """Return a new name in the folder of a file or folder, for a replacement of it."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}")


def read_regular(path: Path) -> bytes:
    """Return the bytes of a regular file. Raises OSError for other files: a pipe or a device may have no end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(EINVAL, "it is a pipe or a device, not a regular file", str(path))
    return path.read_bytes()


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a whole file in one step: a reader sees the old file or the new one, never half of one.

    The file gets the mode that the user's umask gives to new files.
    """
    if isinstance(content, str):
        content = content.encode("utf-8", ESCAPED)
    temporary = temporary_name(path)
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


@contextmanager
def replace_files_together(folder: Path) -> Iterator[Path]:
    """Yield a new folder whose files replace those in `folder` once all are written; if writing fails, none do.

    A reader sees whole files, and old ones next to new ones only for as long as the renaming takes.
    """
    new = Path(tempfile.mkdtemp(dir=folder, prefix=".new-"))
    try:
        yield new
        written = sorted(new.iterdir())
        for path in written:
            with path.open("rb") as file:
                os.fsync(file.fileno())
        for path in written:
            os.replace(path, folder / path.name)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def write_secret(path: Path, content: str) -> None:
    """Write a new file that only its owner can read; nothing is left of it if this fails.

    Raises `FileExistsError` if the file exists already, which stays as it is, and `OSError`.
    """
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(path)
        raise
