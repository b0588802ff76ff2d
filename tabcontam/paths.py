"""Functions on paths: folders of shipped TOML files, files replaced in one step, and files with a last line cut off."""

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
    """Return the folder of shipped TOML files called `folder`: in the package in a wheel, next to it in a checkout."""
    inside = PACKAGE / "_shipped" / folder
    return inside if inside.is_dir() else PACKAGE.parent / folder


def check_own_files(folder: Path) -> None:
    """Raise `UsageError` if a folder has pipes, devices, or links to a place outside the folder.

    Folders may come from other people. Reading a pipe would hang. A link could show or overwrite another file of the
    user.
    """
    try:
        entries, home = list(os.scandir(folder)), folder.resolve()
    except OSError:  # the next read or write in the folder reports the error
        return
    for entry in entries:
        path, mode = Path(entry.path), entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISREG(mode) or (stat.S_ISDIR(mode) and path.suffix not in (".json", ".jsonl")):
            continue
        if stat.S_ISLNK(mode) and path.is_file() and path.resolve().is_relative_to(home):
            continue
        if entry.name.startswith(".#"):  # an editor's lock file, which tabcontam never reads
            continue
        what = "a link that leads out of the folder" if stat.S_ISLNK(mode) else "not a regular file"
        raise UsageError(
            f"{ascii(entry.path)[1:-1]} is {what}; remove it, or give a copy of the folder that holds only files"
        )


def last_line_is_cut_off(path: Path) -> bool:
    """Return whether the last line of a file has no line break, because a crash or a full disk cut it off."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def temporary_name(path: Path) -> Path:
    """Return a new name in the folder of `path`, for a file or folder that will replace `path`."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}")


def read_regular(path: Path) -> bytes:
    """Return the bytes of a regular file. Raises OSError for other files: a pipe or a device may have no end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(EINVAL, "it is a pipe or a device, not a regular file", str(path))
    return path.read_bytes()


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a whole file in one step: a reader sees the old file or the new one, never half of one.

    The file's mode follows the user's umask, as for any new file.
    """
    temporary = temporary_name(path)
    _create(temporary, content.encode("utf-8", ESCAPED) if isinstance(content, str) else content, 0o666)
    try:
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _create(path: Path, content: bytes, mode: int) -> None:
    """Write a new file. If writing fails, the file is deleted."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(path)
        raise


@contextmanager
def replace_files_together(folder: Path) -> Iterator[Path]:
    """Yield a new folder. At the end its files replace those of the same name in `folder`; after an error, none does.

    A reader sees only whole files. Old and new files are mixed only during the renaming.
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
    """Write a new file that only its owner can read. If writing fails, the file is deleted.

    Raises `FileExistsError` if the file exists, without changing it, and `OSError`.
    """
    _create(path, content.encode(), 0o600)
