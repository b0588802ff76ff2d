"""The trials of a run's results, read from disk one result at a time, as memory may not suffice for all.

Only the position of each trial in its file is in memory, as a few numbers. By hand, because an SQLite database of these
numbers needs twice the time. Lines that are appended meanwhile are not seen. If another file replaces this one, the
open file is still read.
"""

import os
import re
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tabcontam.asking.trial_file import NUMBER, Line, line_key, line_of
from tabcontam.verdicts.result_types import ResultKey

if TYPE_CHECKING:
    import numpy as np

NAMES = ("llm", "dataset", "edition", "serializer", "test", "prompts", "split", "query")  # in the order of a line
BEGINNING = re.compile(rb"\{%s, " % b", ".join(rb'"%s": "([^"\\]*)"' % name.encode() for name in NAMES))
ENDS = (b'"cached": true}\n', b'"cached": false}\n')  # the ends of a line that no crash cut off
Asked = Mapping[ResultKey, int | None]  # the number of queries of each result; None: as many as the file has


class Stretch(NamedTuple):
    """Neighbouring lines of a file: their first byte, the number of the first line from 1, and their lengths."""

    offset: int
    number: int
    lengths: Sequence[int]


def identity(file: int) -> list[int]:
    """Return the device and inode of an open file, which a new file of the same name does not have."""
    found = os.fstat(file)
    return [found.st_dev, found.st_ino]


def lines_at(file: BinaryIO, stretches: Iterable[Stretch]) -> list[Line]:
    """Return the trials at these stretches of a file. `StoredTrialIndex.stretches` returns such stretches."""

    def read(offset: int, size: int) -> bytes:
        file.seek(offset)
        return file.read(size)

    return _numbered(_texts(stretches, read))


def _texts(stretches: Iterable[Stretch], read: Callable[[int, int], bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield each line with its number. The lines of a stretch are read at once."""
    for offset, number, lengths in stretches:
        text, start = read(offset, sum(lengths)), 0
        for length in lengths:
            yield text[start : start + length], number
            start += length
            number += 1


def _numbered(texts: Iterable[tuple[bytes, int]]) -> list[Line]:
    """Return the trials of these lines, each with its number. A line that contains no trial is skipped."""
    lines = []
    for text, number in texts:
        line = line_of(text)
        if line is not None:
            line[NUMBER] = number
            lines.append(line)
    return lines


class TrialPlaces:
    """The positions of results' trials in a file that was just written, result by result."""

    def __init__(self) -> None:
        self.keys: dict[ResultKey, tuple[int, int]] = {}
        self.offsets, self.lengths = array("Q"), array("I")
        self._end = 0

    def write(self, file: BinaryIO, names: Sequence[ResultKey], kept: "StoredTrialIndex") -> None:
        """Copy the trials of these results from another file, result by result, and note their new positions."""
        import numpy as np

        offsets, lengths, bounds = kept.stand(names)
        ends = offsets + lengths
        breaks = np.flatnonzero(ends[:-1] != offsets[1:]) + 1  # neighbouring lines are copied at once
        for start, end in zip([0, *breaks.tolist()], [*breaks.tolist(), len(offsets)], strict=True):
            if start < end and not kept.copy_to(file, int(offsets[start]), int(ends[end - 1])):
                file.write(b"\n")  # the other file's last line lacks its line end
                lengths[end - 1] += 1
        first = len(self.offsets)
        self.lengths.frombytes(lengths.astype(self.lengths.typecode).tobytes())
        self.offsets.frombytes((self._end + np.cumsum(lengths) - lengths).astype(self.offsets.typecode).tobytes())
        self._end += int(lengths.sum())
        for name, begin, end in zip(names, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            self.keys.setdefault(name, (first + begin, first + end))


class StoredTrialIndex:
    """The newest trial of every query of some results, in the order of the results.

    Each trial has the number of its line in the file, from 1, under "line". `asked`: if it gives a result's number of
    queries, surplus trials of an earlier run are left out. `shown`: a function that turns a result's trials into the
    trials that a report shows.
    """

    def __init__(
        self,
        path: Path,
        asked: Asked,
        shown: Callable[[ResultKey, list[Line]], list[Line]] | None = None,
        written: TrialPlaces | None = None,
    ) -> None:
        self.path, self.shown = path, shown
        self._asked = asked
        self._places = {name: place for place, name in enumerate(asked)}
        self._file: int | None = None
        self._starts: Sequence[int]
        self._ends: Sequence[int]
        self._offsets: Sequence[int]
        self._lengths: Sequence[int]
        self._numbers: Sequence[int]
        if asked and path.exists():
            self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            weakref.finalize(self, os.close, self._file)
        if written is None:
            self._index(path)
        else:
            ranges = [written.keys.get(name, (0, 0)) for name in asked]
            self._starts, self._ends = [start for start, _ in ranges], [end for _, end in ranges]
            self._offsets, self._lengths = written.offsets, written.lengths
            self._numbers = range(1, len(written.offsets) + 1)
        limits = zip(self._starts, self._ends, asked.values(), strict=True)
        self._ends = [end if most is None else min(end, start + most) for start, end, most in limits]

    @property
    def identity(self) -> list[int]:
        """The device and inode of the file; empty if there is no file."""
        return [] if self._file is None else identity(self._file)

    def __iter__(self) -> Iterator[Line]:
        for name in self._asked:
            yield from self.trials_of(name)

    def __len__(self) -> int:
        return sum(len(self._places_of(name)) for name in self._asked)

    @property
    def names(self) -> list[ResultKey]:
        """The results that have trials."""
        return [name for name in self._asked if self._places_of(name)]

    def trials_of(self, name: ResultKey) -> list[Line]:
        """Return the trials of a result, in the order of its queries; empty for an unknown result."""
        lines = _numbered(_texts(self.stretches(name), self._bytes_at))
        return self.shown(name, lines) if self.shown else lines

    def stretches(self, name: ResultKey) -> list[Stretch]:
        """Return the positions of a result's trials in the file, as stretches of neighbouring lines."""
        places = self._places_of(name)
        offsets, lengths, numbers = (
            column[places.start : places.stop] for column in (self._offsets, self._lengths, self._numbers)
        )
        found, start = list[Stretch](), 0
        for end in range(1, len(places) + 1):
            if end == len(places) or offsets[end - 1] + lengths[end - 1] != offsets[end]:
                found.append(Stretch(offsets[start], numbers[start], lengths[start:end]))
                start = end
        return found

    def stand(
        self, names: Sequence[ResultKey]
    ) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]":
        """Return the offsets and lengths of these results' trials in bytes, and how many trials precede each result."""
        import numpy as np

        ranges = [self._places_of(name) for name in names]
        starts, sizes = (np.array([get(own) for own in ranges], dtype=np.int64) for get in (attrgetter("start"), len))
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        places = np.repeat(starts - bounds[:-1], sizes) + np.arange(bounds[-1])
        offsets, lengths = (np.asarray(column)[places].astype(np.int64) for column in (self._offsets, self._lengths))
        return offsets, lengths, bounds

    # copied: bytes that are copied at once
    def copy_to(self, file: BinaryIO, start: int, end: int, *, copied: int = 2**20) -> bool:
        """Copy the bytes from `start` to `end` to another file. Return whether the last byte is a line break."""
        text = b""
        for place in range(start, end, copied):
            text = self._bytes_at(place, min(copied, end - place))
            file.write(text)
        return text.endswith(b"\n")

    def _bytes_at(self, offset: int, size: int) -> bytes:
        assert self._file is not None  # noqa: S101 - without a file no line is read
        os.lseek(self._file, offset, os.SEEK_SET)
        parts, left = list[bytes](), size
        while left and (part := os.read(self._file, left)):  # the system reads at most 2 GiB at once
            parts.append(part)
            left -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _places_of(self, name: ResultKey) -> range:
        """Return the indices of a result's trials in `_offsets`, `_lengths` and `_numbers`."""
        key = self._places.get(name)
        if key is None or self._file is None:
            return range(0)
        return range(self._starts[key], self._ends[key])

    def _index(self, path: Path) -> None:
        """Index the positions of the newest trial of each query, result by result."""
        import numpy as np

        found, queries = self._scan(path)
        key, query, offset, length, number = found
        order = np.lexsort((query, key))  # stable: the oldest first
        new = np.ones(len(order) + 1, dtype=bool)
        new[1:-1] = (np.diff(key[order]) != 0) | (np.diff(query[order]) != 0)
        first, last = order[new[:-1]], order[new[1:]]
        numbered = sorted({_number(name) for name in queries})
        rank = {number: place for place, number in enumerate(numbered)}
        ranks = np.array([rank[_number(name)] for name in queries] or [0])
        placed = np.lexsort((first, ranks[query[last]], key[last]))
        last = last[placed]
        columns = [array(code) for code in "QII"]
        for column, values in zip(columns, (offset, length, number), strict=True):
            column.frombytes(values[last].astype(column.typecode).tobytes())
        self._offsets, self._lengths, self._numbers = columns
        bounds = np.searchsorted(key[last], np.arange(len(self._asked) + 1)).tolist()
        self._starts, self._ends = bounds[:-1], bounds[1:]

    def _scan(self, path: Path) -> "tuple[list[np.ndarray[Any, Any]], Sequence[bytes]]":
        """Return each trial's result, query, offset, length and line number, and the names of the queries."""
        import numpy as np

        wanted = {_as_bytes(name): place for name, place in self._places.items()}
        queries: dict[bytes, int] = {}  # in the order of their first appearance
        found, offset = array("Q"), 0
        if self._file is not None:
            with path.open("rb") as file:
                for number, text in enumerate(file, start=1):
                    begins = BEGINNING.match(text) if text.endswith(ENDS) else None
                    names = begins.groups() if begins else _as_bytes(line_key(line_of(text) or {}))
                    if (key := wanted.get(names[:-1])) is not None:
                        query = queries.setdefault(names[-1], len(queries))
                        found.extend((key, query, offset, len(text), number))
                    offset += len(text)
        return list(np.array(found, dtype="Q").reshape(-1, 5).T), list(queries)


def _as_bytes(names: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(name.encode("utf-8", "backslashreplace") for name in names)


def _number(query: bytes) -> tuple[int, ...]:
    """Return the numbers in a query's name, by which queries are sorted: `-0`, then `-0-decoy-1`, then `-1`."""
    return tuple(int(digits) for digits in re.findall(rb"-(\d+)", query))
