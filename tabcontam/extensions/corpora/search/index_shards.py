"""A shard of the index: consecutive documents joined into one text, its suffix array, and the position of each
document.

The suffix array and its search are those of Manber and Myers (1993), "Suffix arrays: a new method for on-line string
searches" (SIAM Journal on Computing 22). The library libdivsufsort makes the array. All sought texts are compared at
once, in words of eight bytes. Words with which both ends of a range are known to begin are not compared again.
"""

import json
import os
import shutil
import tempfile
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from errno import ENOSPC
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabcontam.errors import UsageError
from tabcontam.extensions.corpora.search.documents import DocumentStretch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Words = NDArray[np.uint64]

BETWEEN = b"\xff"  # separates documents; no UTF-8 text contains it
WORD = 8  # bytes that are compared at a time
MARKS = ("", "@", "#")  # between the file's name and the document's number
FILES = ("text", "suffixes", "pairs", "pieces")
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

    # padding: zeros after the text, so that eight bytes can be read at every position
    def _write_into(self, made: Path, facts: Mapping[str, object], *, padding: int = 16) -> None:
        import numpy as np
        from pydivsufsort import divsufsort

        size = len(self.text)
        room = shutil.disk_usage(made).free
        if room < 6 * size + (1 << 20):
            raise OSError(ENOSPC, f"{room >> 20} MB of disk are left, and an index part needs {6 * size >> 20} MB")
        _write(made / "pieces", *self.pieces)
        self.pieces = ()
        text = np.frombuffer(self.text, np.uint8)
        _write(made / "text", text, bytes(padding))
        _write(made / "pairs", _pairs(text))
        _write(made / "suffixes", divsufsort(text) if size else b"")
        sizes = {name: (made / name).stat().st_size for name in FILES}
        header = {**facts, "bytes": size, "shared": self.shared, "last": list(self.last), "sizes": sizes}
        _write(made / HEADER, json.dumps(header).encode())


def _write(path: Path, *contents: Any) -> None:
    with path.open("wb") as file:
        for content in contents:
            file.write(memoryview(content).cast("B") if len(content) else b"")
        file.flush()
        os.fsync(file.fileno())


# counted: bytes whose pairs are counted in one step
def _pairs(text: "NDArray[np.uint8]", *, pairs: int = 1 << 16, counted: int = 1 << 24) -> "Numbers":
    """Return, for each pair of bytes in order, how many suffixes are smaller than all that begin with this pair."""
    import numpy as np

    counts = np.zeros(pairs + 1, np.int64)
    for begin in range(0, len(text), counted):
        block = np.append(text[begin : begin + counted + 1], np.uint8(0)).astype(np.uint16)
        first, second = block[:-1], block[1:]
        number = min(counted, len(text) - begin)
        counts[1:] += np.bincount((first << 8 | second)[:number], minlength=pairs)
    return np.cumsum(counts)


class SearchTexts:
    """The distinct sought texts in order, as words of eight bytes. The last word of each is padded with zeros."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        all_bits = (1 << 64) - 1
        import numpy as np

        self.texts = sorted({text for text in texts if BETWEEN not in text})  # no document contains it
        if self.texts and not self.texts[0]:
            raise ValueError("an empty text stands everywhere")
        self.lengths = np.array([len(text) for text in self.texts], np.int64)
        self.counts = -(-self.lengths // WORD)
        self.begins = np.cumsum(self.counts) - self.counts
        filled = b"".join(text + bytes(-len(text) % WORD) for text in self.texts)
        self.words = np.frombuffer(filled, ">u8").astype(np.uint64)
        masks = [all_bits << 8 * (-length % WORD) & all_bits for length in range(WORD)]
        self.masks = np.array(masks, np.uint64)[self.lengths % WORD]
        self.pairs = np.array([int.from_bytes(text[:2].ljust(2, b"\0"), "big") for text in self.texts], np.int64)
        self.pair_ends = self.pairs + np.where(self.lengths > 1, 1, 256)


class IndexShard:
    """A shard on disk. Its files are mapped, so only the parts that a search reads are in memory."""

    def __init__(self, folder: Path, header: Mapping[str, Any]) -> None:
        import numpy as np

        self.size, self.shared = int(header["bytes"]), int(header["shared"])
        self.text = np.asarray(np.memmap(folder / "text", np.uint8, "r"))
        self.beginning = self.text[: self.shared].tobytes()
        self._words = np.ndarray((self.size + 1,), "<u8", self.text, strides=(1,))
        suffixes = np.memmap(folder / "suffixes", np.int32, "r") if self.size else np.zeros(0, np.int32)
        self._suffixes = np.asarray(suffixes)
        self._pairs = np.fromfile(folder / "pairs", np.int64)
        pieces = np.memmap(folder / "pieces", np.int64, "r") if self.size else np.zeros(0, np.int64)
        self._pieces: list[Numbers] = list(np.asarray(pieces).reshape(4, -1))
        self._view = memoryview(self.text)  # type: ignore[arg-type] # an array is a buffer

    def ranges(self, sought: SearchTexts) -> "tuple[Numbers, Numbers]":
        """Return for each text the range of the suffixes that begin with it; the range is empty if there are none."""
        import numpy as np

        first, last = self._pairs[sought.pairs], self._pairs[sought.pair_ends]
        every = np.arange(len(sought.texts))
        low = self._bound(sought, every, first, last, upper=False)
        present = every[low < last]
        sign, _ = self._compare(sought, present, self._suffixes[low[present]].astype(np.int64), np.zeros_like(present))
        found = present[sign == 0]
        high = low.copy()
        high[found] = self._bound(sought, found, low[found], last[found], upper=True)
        return low, high

    def first(
        self, sought: SearchTexts, places: Sequence[int], low: "Numbers", high: "Numbers", most: int
    ) -> list[tuple[int, int, int]]:
        """Return the first positions of the texts at these `places` in `sought`, in order, at most `most` for each.
        Positions that the shard before also has are left out. Each result is the text's place, the position, and the
        piece there.
        """
        import numpy as np

        runs = [self._suffixes[low[place] : high[place]] for place in places]
        runs = [run if len(run) <= most + self.shared else np.partition(run, most + self.shared) for run in runs]
        runs = [run if len(run) <= most + self.shared else run[: most + self.shared] for run in runs]
        which = np.repeat(np.array(places, np.int64), [len(run) for run in runs])
        positions = np.concatenate(runs).astype(np.int64) if runs else which
        kept = positions > self.shared - sought.lengths[which]
        order = np.lexsort((positions[kept], which[kept]))
        which, positions = which[kept][order], positions[kept][order]
        pieces = np.searchsorted(self._pieces[0], positions, "right") - 1
        return list(zip(which.tolist(), positions.tolist(), pieces.tolist(), strict=True))

    def suffixes(self, first: int, last: int) -> list[int]:
        """Return the positions of the suffixes in a range, in no particular order."""
        return [int(position) for position in self._suffixes[first:last]]

    def piece_at(self, position: int) -> tuple[int, int, int]:
        """Return the piece that contains a position, and the positions at which this piece begins and ends."""
        place = int(self._pieces[0].searchsorted(position, "right")) - 1
        following = self._pieces[0][place + 1 : place + 2]
        end = int(following[0]) - len(BETWEEN) if len(following) else self.size
        return place, int(self._pieces[0][place]), end

    def holds(self, position: int, text: bytes) -> bool:
        """Return whether this text is at this position."""
        return bool(self._view[position : position + len(text)] == text)

    def piece(self, place: int) -> list[int]:
        """Return the four numbers of a piece, as `ShardBuilder` describes them."""
        return [int(row[place]) for row in self._pieces]

    def _bound(self, sought: SearchTexts, which: "Numbers", low: "Numbers", high: "Numbers", upper: bool) -> "Numbers":
        """Return for each text in `which` the first suffix of its range that is not smaller (with `upper`: greater)."""
        import numpy as np

        low, high = low.copy(), high.copy()
        shared_low, shared_high = np.zeros_like(low), np.zeros_like(low)
        active = np.flatnonzero(low < high)
        while active.size:
            middle = (low[active] + high[active]) >> 1
            shared = np.minimum(shared_low[active], shared_high[active])
            sign, shared = self._compare(sought, which[active], self._suffixes[middle].astype(np.int64), shared)
            smaller = sign <= 0 if upper else sign < 0
            right, left = active[smaller], active[~smaller]
            low[right], shared_low[right] = middle[smaller] + 1, shared[smaller]
            high[left], shared_high[left] = middle[~smaller], shared[~smaller]
            active = active[low[active] < high[active]]
        return low

    def _compare(
        self, sought: SearchTexts, which: "Numbers", places: "Numbers", shared: "Numbers"
    ) -> "tuple[Numbers, Numbers]":
        """Return two arrays. The first is -1 where the text at a place is smaller than the sought text, 1 where it is
        greater, and 0 where it begins with the sought text. The second is the number of equal words. The first `shared`
        words are known to be equal.
        """
        import numpy as np

        if len(places) and not 0 <= int(places.min()) <= int(places.max()) < self.size:
            raise IndexError("a suffix that is not in the text")
        sign, equal = np.zeros(len(which), np.int64), shared.copy()
        active = np.arange(len(which))
        while active.size:
            text, word = which[active], equal[active]
            own = self._words[np.minimum(places[active] + WORD * word, self.size)].byteswap()
            is_last = word == sought.counts[text] - 1
            own = np.where(is_last, own & sought.masks[text], own)
            other = sought.words[sought.begins[text] + word]
            sign[active] = np.where(own < other, -1, np.where(own > other, 1, 0))
            active = active[(own == other) & ~is_last]
            equal[active] += 1
        return sign, equal


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
