"""A shard of the index: consecutive documents joined into one text, its suffix array, and the position of each
document.

The suffix array is that of Manber and Myers (1993), "Suffix arrays: a new method for on-line string searches" (SIAM
Journal on Computing 22). The library libdivsufsort makes it.
"""

import json
import os
import shutil
import tempfile
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from errno import ENOSPC
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError
from tabcontam.extensions.corpora.search.documents import DocumentStretch

BETWEEN = b"\xff"  # separates documents; no UTF-8 text contains it
MARKS = ("", "@", "#")  # between the file's name and the document's number
FILES = ("text", "suffixes", "pieces")
HEADER = "shard.json"


@dataclass
class ShardBuilder:
    """The documents of the next shard. `pieces` has four numbers for each piece of a document: its position in the
    text, the file's number combined with the sign (`@` or `#`) in the document's name, the number after that sign, and
    the piece's offset in the document. `shared` is the number of bytes at the beginning that are also in the shard
    before.
    """

    text: bytearray = field(default_factory=bytearray)
    pieces: tuple["array[int]", ...] = field(default_factory=lambda: tuple(array("q") for _ in range(4)))
    shared: int = 0
    last: tuple[int, int, int] = (-1, 0, 0)  # of the last document: file with mark, number, end

    def add(self, file: int, name: str, part: DocumentStretch) -> None:
        """Add a stretch. Bytes that it shares with the stretch before it are stored only once."""
        ending = part.source[len(name) :]
        mark, number = (MARKS.index(ending[0]), int(ending[1:])) if ending else (0, 0)
        code, end = file * len(MARKS) + mark, part.start + len(part.text)
        same = self.last[:2] == (code, number) and part.start <= self.last[2]
        if same and self.text:
            self.text += part.text[self.last[2] - part.start :]
        else:
            if self.text:
                self.text += BETWEEN
            elif same:
                self.shared = self.last[2] - part.start
            for row, value in zip(self.pieces, (len(self.text), code, number, part.start), strict=True):
                row.append(value)
            self.text += part.text
        self.last = (code, number, end)

    def write(self, folder: Path, facts: Mapping[str, object]) -> None:
        """Build the shard and move it to `folder` in one step. `pieces` are released during the build, to save memory.

        Raises `UsageError` if the disk is full or cannot be written.
        """
        made = Path(tempfile.mkdtemp(prefix=".shard-", dir=folder.parent))
        try:
            self._write_into(made, facts)
            os.replace(made, folder)
        except OSError as error:
            raise UsageError(
                f"the index cannot be written to {folder.parent} ({error.strerror}); make room, or set XDG_CACHE_HOME "
                "to a folder on another disk"
            ) from None
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def _write_into(self, made: Path, facts: Mapping[str, object]) -> None:
        import numpy as np
        from pydivsufsort import divsufsort

        size = len(self.text)
        room = shutil.disk_usage(made).free
        if room < 6 * size + (1 << 20):
            raise OSError(ENOSPC, f"{room >> 20} MB of disk are left, and an index part needs {6 * size >> 20} MB")
        _write(made / "pieces", *self.pieces)
        self.pieces = ()
        _write(made / "text", self.text)
        _write(made / "suffixes", divsufsort(np.frombuffer(self.text, np.uint8)))
        sizes = {name: (made / name).stat().st_size for name in FILES}
        header = {**facts, "bytes": size, "shared": self.shared, "last": list(self.last), "sizes": sizes}
        _write(made / HEADER, json.dumps(header).encode())


def _write(path: Path, *contents: Any) -> None:
    with path.open("wb") as file:
        for content in contents:
            file.write(content)
        file.flush()
        os.fsync(file.fileno())


class IndexShard:
    """A shard on disk. Its files are mapped, so only the parts that a search reads are in memory."""

    def __init__(self, folder: Path, header: Mapping[str, Any]) -> None:
        self._folder, self.size, self.shared = folder, int(header["bytes"]), int(header["shared"])
        self.text = _mapped(folder / "text")
        self._suffixes = memoryview(_mapped(folder / "suffixes")).cast("i")
        pieces = memoryview(_mapped(folder / "pieces")).cast("q")
        each = len(pieces) // 4
        self._pieces = [pieces[row * each : (row + 1) * each] for row in range(4)]

    def places(self, text: bytes) -> Sequence[int]:
        """Return all positions of a text, in no particular order. Raises `UsageError` if the shard is damaged."""

        def beginning(position: int) -> bytes:
            if not (found := self.text[position : position + len(text)]):
                folder = self._folder.parent
                raise UsageError(f"the index in {folder} is damaged; delete this folder, and the index is built again")
            return found

        first = bisect_left(self._suffixes, text, key=beginning)
        return self._suffixes[first : bisect_right(self._suffixes, text, first, key=beginning)]

    def piece_at(self, position: int) -> tuple[int, int, tuple[int, ...]]:
        """Return where the piece that contains a position begins and ends, and its other numbers in `ShardBuilder`."""
        begins, *others = self._pieces
        place = bisect_right(begins, position) - 1
        end = begins[place + 1] - len(BETWEEN) if place + 1 < len(begins) else self.size
        return begins[place], end, tuple(row[place] for row in others)


def _mapped(path: Path) -> mmap:
    with path.open("rb") as file:
        return mmap(file.fileno(), 0, access=ACCESS_READ)


def header_of(folder: Path) -> dict[str, Any] | None:
    """Return the header of a shard, or None if the shard does not exist or is incomplete."""
    try:
        header = json.loads((folder / HEADER).read_bytes())
        sizes = {name: (folder / name).stat().st_size for name in FILES}
    except (OSError, ValueError):
        return None
    if not isinstance(header, dict) or header.get("sizes") != sizes:
        return None
    return header if sizes["suffixes"] == 4 * header.get("bytes", -1) else None
