"""The trials of a run's results, read from disk one result at a time: memory may not hold all of them.

Memory holds only where each trial stands in its file, in a few numbers. Lines that are appended meanwhile are not seen,
and a file that takes the place of this one changes nothing here.
"""

import os
import re
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tabcontam.asking.trial_file import NUMBER, Line, line_key, line_of
from tabcontam.verdicts.result_types import ResultKey

if TYPE_CHECKING:
    import numpy as np

TEXT = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
NAMES = ("llm", "dataset", "edition", "serializer", "test", "prompts", "split")  # as a line is written
HEAD = b", ".join(b'"%s": %s' % (name.encode(), TEXT) for name in NAMES)
BEGINNING = re.compile(rb'(\{%s), "query": (%s), "' % (HEAD, TEXT))
ENDS = (b'"cached": true}\n', b'"cached": false}\n')  # of a line that no crash cut off
Asked = Mapping[ResultKey, int | None]  # results, each with the number of its own queries; None: all that the file has


class Stretch(NamedTuple):
    """Neighbouring lines of a file: their first byte, the number of the first from 1, and their lengths."""

    offset: int
    number: int
    lengths: Sequence[int]


def identity(file: int) -> list[int]:
    """Return the device and inode of an open file, which another file in its place does not share."""
    found = os.fstat(file)
    return [found.st_dev, found.st_ino]


def lines_at(file: BinaryIO, stretches: Iterable[Stretch]) -> list[Line]:
    """Return the trials at these stretches of a file, as `StoredTrialIndex` has them."""

    def read(offset: int, size: int) -> bytes:
        file.seek(offset)
        return file.read(size)

    return _numbered(_texts(stretches, read))


def _texts(stretches: Iterable[Stretch], read: Callable[[int, int], bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield each line with its number; those of a stretch are read at once."""
    for offset, number, lengths in stretches:
        text, start = read(offset, sum(lengths)), 0
        for length in lengths:
            yield text[start : start + length], number
            start += length
            number += 1


def _numbered(texts: Iterable[tuple[bytes, int]]) -> list[Line]:
    """Return the trials of these lines, each with its number; a line that is no trial is skipped."""
    lines = []
    for text, number in texts:
        line = line_of(text)
        if line is not None:
            line[NUMBER] = number
            lines.append(line)
    return lines


class TrialPlaces:
    """The places of results' trials in a file that was just written, result by result."""

    def __init__(self) -> None:
        self.keys: dict[ResultKey, tuple[int, int]] = {}
        self.offsets, self.lengths = array("Q"), array("I")
        self._end = 0

    def write(self, file: BinaryIO, names: Sequence[ResultKey], kept: "StoredTrialIndex") -> None:
        """Write the trials of these results as they stand in another file, result by result, and note their places."""
        import numpy as np

        offsets, lengths, bounds = kept.stand(names)
        ends = offsets + lengths
        breaks = np.flatnonzero(ends[:-1] != offsets[1:]) + 1  # neighbouring lines are copied at once
        for start, end in zip([0, *breaks.tolist()], [*breaks.tolist(), len(offsets)], strict=True):
            if start < end and not kept.copy_to(file, int(offsets[start]), int(ends[end - 1])):
                file.write(b"\n")  # the last line of a file that lacks its end
                lengths[end - 1] += 1
        first = len(self.offsets)
        self.lengths.frombytes(lengths.astype(self.lengths.typecode).tobytes())
        self.offsets.frombytes((self._end + np.cumsum(lengths) - lengths).astype(self.offsets.typecode).tobytes())
        self._end += int(lengths.sum())
        for name, begin, end in zip(names, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            self.keys.setdefault(name, (first + begin, first + end))


class StoredTrialIndex:
    """The newest trial of every query of some results, in the order of the results.

    Each line has its number in the file, from 1, under "line". If `asked` gives a result's number of queries, trials of
    an earlier run in the folder beyond it are left out. `shown` turns a result's trials into those that a report shows.
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
        """The device and inode of the file; empty if there is none."""
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
        """Return the trials of a result, in the order of its queries; none for an unknown result."""
        lines = _numbered(_texts(self.stretches(name), self._bytes_at))
        return self.shown(name, lines) if self.shown else lines

    def stretches(self, name: ResultKey) -> list[Stretch]:
        """Return the places of a result's trials in the file."""
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
        """Return the places and lengths of the trials of these results, and how many precede each result."""
        import numpy as np

        ranges = [self._places_of(name) for name in names]
        starts, sizes = (np.array([get(own) for own in ranges], dtype=np.int64) for get in (attrgetter("start"), len))
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        places = np.repeat(starts - bounds[:-1], sizes) + np.arange(bounds[-1])
        offsets, lengths = (np.asarray(column)[places].astype(np.int64) for column in (self._offsets, self._lengths))
        return offsets, lengths, bounds

    # copied: bytes at once
    def copy_to(self, file: BinaryIO, start: int, end: int, *, copied: int = 2**20) -> bool:
        """Copy these bytes of the file to another; return whether they end with the end of a line."""
        text = b""
        for place in range(start, end, copied):
            text = self._bytes_at(place, min(copied, end - place))
            file.write(text)
        return text.endswith(b"\n")

    def _bytes_at(self, offset: int, size: int) -> bytes:
        assert self._file is not None  # noqa: S101 - there is no line without a file
        os.lseek(self._file, offset, os.SEEK_SET)
        parts, left = list[bytes](), size
        while left and (part := os.read(self._file, left)):  # at most 2 GiB come at once
            parts.append(part)
            left -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _places_of(self, name: ResultKey) -> range:
        """Return the places of a result's trials in the index."""
        key = self._places.get(name)
        if key is None or self._file is None:
            return range(0)
        return range(self._starts[key], self._ends[key])

    def _index(self, path: Path) -> None:
        """Index the place of the newest trial of each query, result by result."""
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

    def _scan(self, path: Path) -> "tuple[list[np.ndarray[Any, Any]], Sequence[str]]":
        """Return each trial's result, query and place of its line, and the names of queries."""
        import numpy as np

        others = 2**32 - 1  # the place of a result that is not asked for
        found, offset = array("Q"), 0
        queries: dict[str, int] = {}  # in the order of their first appearance

        def numbered(query: str) -> int:
            return queries.setdefault(query, len(queries))

        @cache
        def query_written(text: bytes) -> int:
            line = line_of(b'{"query": ' + text + b"}", whole=False) or {}
            return numbered(str(line.get("query")))

        @cache
        def place_written(begins: bytes) -> int:
            """Return a result's place by the beginning of a line, up to its query."""
            if b"\\" not in begins:
                with suppress(UnicodeDecodeError):  # the names are in the order of a result's
                    return self._places.get(ResultKey(*begins.decode().split('"')[3::4]), others)
            line = line_of(begins + b"}", whole=False)
            return others if line is None else self._places.get(ResultKey(*line_key(line)[:-1]), others)

        if self._file is not None:
            with path.open("rb") as file:
                key, head = others, b""  # of the line before: most lines begin as it does, up to their query
                for number, text in enumerate(file, start=1):
                    whole = text.endswith(ENDS)
                    if whole and head and text.startswith(head) and b"\\" not in (name := _name(text, len(head))):
                        query = query_written(name)
                    elif begins := BEGINNING.match(text) if whole else None:
                        key, query = place_written(begins[1]), query_written(begins[2])
                        head = begins[1] + b', "query": "'
                    else:
                        line = line_of(text)
                        key = others if line is None else self._places.get(ResultKey(*line_key(line)[:-1]), others)
                        query, head = 0 if line is None else numbered(line["query"]), b""
                    if key != others:
                        found.extend((key, query, offset, len(text), number))
                    offset += len(text)
        return list(np.array(found, dtype="Q").reshape(-1, 5).T), list(queries)


def _name(line: bytes, start: int) -> bytes:
    """Return the text in quotes there, with them, up to the next quote."""
    return line[start - 1 : line.find(b'"', start) + 1]


def _number(query: str) -> tuple[int, ...]:
    """Return the place of a query in its result: `-0` before its `-0-decoy-1`, and that before `-1`."""
    return tuple(int(digits) for digits in re.findall(r"-(\d+)", query))
