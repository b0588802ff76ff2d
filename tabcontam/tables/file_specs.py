"""A FILE as the user names it: a path, and perhaps a `#` and a part of the file, such as a sheet."""

import hashlib
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from itertools import islice
from pathlib import Path

from tabcontam.errors import UsageError

PARTS = (".parquet", ".csv")  # endings of files by which a folder holds the parts of one table
KINDS = "a CSV, JSON, Excel or Parquet file"  # examples of the kinds that are read


@dataclass(frozen=True)
class FileSpec:
    """A file of the user and its named part: a table, a sheet or an archive member; None if none is named."""

    path: Path
    part: str | None = None

    @property
    def spec(self) -> str:
        return str(self.path) if self.part is None else f"{self.path}#{self.part}"

    @property
    def name(self) -> str:
        return self.path.name if self.part is None else f"{self.path.name}#{self.part}"


def without_split(title: str, split: str) -> str:
    """Return a title without the name of its split: `sales` for `sales_train` or `train-sales`.

    A title that consists only of the split's name is returned unchanged.
    """
    if not split:
        return title
    word, between = re.escape(split), r"[\s_.-]+"
    return re.sub(rf"^{word}{between}(?=\S)|(?<=\S){between}{word}$", "", title, flags=re.IGNORECASE)


def named_file(spec: str) -> FileSpec | None:
    """Return the file that `spec` names, if it exists. The path itself may contain a `#`."""
    spec = os.path.expanduser(spec)
    ends = [len(spec), *(place for place in range(len(spec) - 1, 0, -1) if spec[place] == "#")]
    for end in ends:
        if os.path.isfile(spec[:end]):
            return FileSpec(Path(spec[:end]), spec[end + 1 :] or None)
    return None


def check_part_named(spec: str) -> None:
    """Check that `spec` names a split or a table after a `#`. Raises `UsageError` for a bare `#` at the end."""
    if spec.endswith("#") and not os.path.isfile(os.path.expanduser(spec)):
        bare = re.sub(r"\?[^#]*", "?…", spec.rstrip("#"), count=1) if "://" in spec else spec.rstrip("#")
        raise UsageError(f"{bare}# names nothing after the #; leave it out, or name a split or a table there")


def check_stays(path: Path) -> None:
    """Check that a file can be read several times, which tabcontam does. Raises `UsageError` for a pipe or a device."""
    if path.exists() and not path.is_file() and not path.is_dir():
        problem = f"{path} is a pipe or a device, which can be read only once"
        raise UsageError(f"{problem}; write it to a file, and name the file")


def check_file(path: Path) -> bytes:
    """Return the bytes of the file. Raises `UsageError` for a file that does not exist, is empty or is unreadable."""
    with _opened(path) as file:
        content = file.read()
    if not content:
        raise UsageError(f"{path.name} is empty; give a table with a header line and rows")
    return content


def digest_of(path: Path) -> str:
    """Return the SHA-256 of the file, which may be of any size. Raises `UsageError` if it cannot be read."""
    with _opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name {KINDS} in it{_of_parts(path)}")
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise UsageError(f"no such file: {path}; check the path, or see `tabcontam list datasets`") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path} cannot be read: {reason}") from error


def _of_parts(folder: Path) -> str:
    """Return advice, in words, on joining the files of a folder into one table; "" if the folder has none."""
    for ending in PARTS:
        if sum(1 for _ in islice(folder.glob(f"*{ending}"), 2)) == 2:
            parts, whole = (text.replace("'", "''") for text in (f"{folder}/*{ending}", f"{folder.name}{ending}"))
            query = f"COPY (FROM '{parts}') TO '{whole}'"
            line = f"python -c {shlex.quote(f'import duckdb; duckdb.sql({query!r})')}"
            return f", or join its parts: {line} (this needs the package duckdb)"
    return ""
