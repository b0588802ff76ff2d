"""Where the shipped TOML files are, how a file is written in one step, and whether its last line is whole."""

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

ESCAPED = "backslashreplace"  # a name may hold half a surrogate pair, no file can
PACKAGE = Path(__file__).parent


def shipped(folder: str) -> Path:
    """The folder of shipped TOML files named `folder`: inside the package in a wheel, beside it in a checkout."""
    inside = PACKAGE / "_shipped" / folder
    return inside if inside.is_dir() else PACKAGE.parent / folder


def check_own_files(folder: Path) -> None:
    """Raises `UsageError` where a folder holds what is no file of its own: a pipe, a device, a link that leads out.

    Strangers' folders are read: a pipe would hang, and a link would show, or write, another file of the user's.
    """
    try:
        entries, home = list(os.scandir(folder)), folder.resolve()
    except OSError:  # the next to read or write there reports it
        return
    for entry in entries:
        path, mode = Path(entry.path), entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISREG(mode) or (stat.S_ISDIR(mode) and path.suffix not in (".json", ".jsonl")):
            continue
        if stat.S_ISLNK(mode) and path.is_file() and path.resolve().is_relative_to(home):
            continue
        if entry.name.startswith(".#"):  # an editor's mark, which nothing here reads
            continue
        what = "a link that leads out of the folder" if stat.S_ISLNK(mode) else "no regular file"
        raise UsageError(
            f"{ascii(entry.path)[1:-1]} is {what}; remove it, or give a copy of the folder that holds files alone"
        )


def cut_off(path: Path) -> bool:
    """Whether the last line of a file has no end: a crash, or a full disk, cut it off."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def temporary_name(path: Path) -> Path:
    """Return a new name in the folder of a file or folder, for what is to take its place."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}")


def read_regular(path: Path) -> bytes:
    """Return the bytes of a regular file. Raises OSError for others: a pipe or a device may have no end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(EINVAL, "it is a pipe or a device, and no regular file", str(path))
    return path.read_bytes()


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a whole file in one step: a reader sees the old one or the new, never half of one.

    It has the mode that the user's umask gives to new files.
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
def replaced_together(folder: Path) -> Iterator[Path]:
    """A new folder whose files take the places of those in `folder` once all are written; where that fails, none do.

    A reader sees whole files, and old ones beside new ones for no longer than it takes to rename them.
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
    """Write a new file that its owner alone can read. Nothing is left of it where that fails.

    Raises `FileExistsError` where there is a file already, which stays as it is, and `OSError`.
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
