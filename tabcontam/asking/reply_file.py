"""The store's file on disk: private to its owner, locked against other runs, known by its device and inode."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

BUSY_SECONDS = 5.0  # seconds to wait while another run has the file locked
SIDE_FILES = ("-wal", "-shm")


def make_private(path: Path) -> None:
    """Make the file if it does not exist, readable only by its owner. SQLite gives its side files the same mode.

    An existing file is never opened: closing it would drop the locks that SQLite has on it in this process.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    for file in with_side_files(path):
        with suppress(OSError):  # the file belongs to another user, or does not exist
            mode = file.stat().st_mode
            if stat.S_ISREG(mode) and mode & 0o077:
                file.chmod(0o600)


@contextmanager
def lock_store_folder(folder: Path) -> Iterator[None]:
    """Lock a folder against other runs. Raises OSError if another run keeps its lock for over `BUSY_SECONDS`."""
    try:
        import fcntl
    except ImportError:  # Windows: there no user can rename a file that another run has open
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        end = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise TimeoutError(None, "another run holds it") from None
                time.sleep(0.01)
            except OSError:
                break  # the file system has no such locks
        yield
    finally:
        os.close(descriptor)


def with_side_files(path: Path) -> list[Path]:
    """Return the file and the files that SQLite writes next to it."""
    return [path, *(path.with_name(path.name + side) for side in SIDE_FILES)]


def free_name(path: Path, moment: datetime) -> Path:
    """Return an unused name in the file's folder, for a damaged file."""
    stem = f"{path.stem}.damaged-{moment:%Y-%m-%dT%H-%M-%S}"
    names = (path.with_name(f"{stem}{'' if number == 1 else f'-{number}'}{path.suffix}") for number in range(1, 10**6))
    return next(name for name in names if not any(file.exists() for file in with_side_files(name)))


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file, which a new file of that name does not share; None without a file."""
    with suppress(OSError):
        status = path.stat()
        return status.st_dev, status.st_ino
    return None


def size_of(path: Path) -> int:
    """Return the size of a file in bytes; 0 if there is no file."""
    with suppress(OSError):
        return path.stat().st_size
    return 0
