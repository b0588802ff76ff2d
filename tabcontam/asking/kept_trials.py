"""The trials of a run's cells, read from disk a cell at a time: a run may have more of them than memory holds.

What is held is where each trial stands in its file, in a few numbers. Lines that are appended meanwhile are not seen,
and a file that takes the place of this one changes nothing here.
"""

import os
import re
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tabcontam.asking.trials import NUMBER, Line, line_key, line_of
from tabcontam.verdicts.cells import CellName

if TYPE_CHECKING:
    import numpy as np

TEXT = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
NAMES = ("llm", "dataset", "edition", "serializer", "test", "prompts", "split")  # as a line is written
HEAD = b", ".join(b'"%s": %s' % (name.encode(), TEXT) for name in NAMES)
BEGINNING = re.compile(rb'(\{%s), "query": (%s), "' % (HEAD, TEXT))
ENDS = (b'"cached": true}\n', b'"cached": false}\n')  # of a line that no crash cut off
OTHERS = 2**32 - 1  # the place of a cell that nobody asked for
Asked = Mapping[CellName, int | None]  # cells, and how many queries of each are its own; None: all that are there


class Place(NamedTuple):
    """Where a line stands in its file: its first byte, its length, and its number from 1."""

    offset: int
    length: int
    number: int


def lines_at(file: BinaryIO, places: Iterable[Place]) -> list[Line]:
    """The trials that stand at these places of a file, as `KeptTrials` has them."""
    return _numbered((_at(file, place), place.number) for place in places)


def _at(file: BinaryIO, place: Place) -> bytes:
    file.seek(place.offset)
    return file.read(place.length)


def _numbered(texts: Iterable[tuple[bytes, int]]) -> list[Line]:
    """The trials of these lines, each given with its number; what is none is passed over."""
    lines = []
    for text, number in texts:
        line = line_of(text)
        if line is not None:
            line[NUMBER] = number
            lines.append(line)
    return lines


class Written:
    """Where the trials of cells stand in a file that was just written, cell by cell."""

    def __init__(self) -> None:
        self.cells: dict[CellName, tuple[int, int]] = {}
        self.offsets, self.lengths = array("Q"), array("I")
        self._end = 0

    def lines(self, name: CellName, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The lines of a cell, which are noted as they are written."""
        start = len(self.offsets)
        for line in lines:
            self.offsets.append(self._end)
            self.lengths.append(len(line))
            self._end += len(line)
            yield line
        self.cells.setdefault(name, (start, len(self.offsets)))


class KeptTrials:
    """The newest trial of every query of some cells, in the order of the cells.

    Each line has its number in the file, from 1, under "line". Of a cell that has so many queries, what an earlier run
    in the folder asked beyond them is left out. `shown` makes of a cell's trials what a report shows of them.
    """

    def __init__(
        self,
        path: Path,
        asked: Asked,
        shown: Callable[[CellName, list[Line]], list[Line]] | None = None,
        written: Written | None = None,
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
            return
        ranges = [written.cells.get(name, (0, 0)) for name in asked]
        self._starts, self._ends = [start for start, _ in ranges], [end for _, end in ranges]
        self._offsets, self._lengths = written.offsets, written.lengths
        self._numbers = range(1, len(written.offsets) + 1)

    def __iter__(self) -> Iterator[Line]:
        for name in self._asked:
            yield from self.of(name)

    def __len__(self) -> int:
        return sum(len(self._of(name)) for name in self._asked)

    @property
    def names(self) -> list[CellName]:
        """The cells of which there are trials."""
        return [name for name in self._asked if self._of(name)]

    def of(self, name: CellName) -> list[Line]:
        """The trials of a cell, in the order of its queries; none of a cell that is not there."""
        places = self._of(name)
        lines = _numbered(zip(self._texts(places), (self._numbers[place] for place in places), strict=True))
        return self.shown(name, lines) if self.shown else lines

    def places(self, name: CellName) -> list[Place]:
        """Where the trials of a cell stand in the file."""
        return [Place(self._offsets[place], self._lengths[place], self._numbers[place]) for place in self._of(name)]

    def raw(self, name: CellName) -> Iterator[bytes]:
        """The same as they stand in the file, each a whole line."""
        return (text if text.endswith(b"\n") else text + b"\n" for text in self._texts(self._of(name)))

    def _texts(self, places: range) -> Iterator[bytes]:
        """The lines at these places; such as follow one another in the file are read at once."""
        offsets, lengths, start = self._offsets, self._lengths, 0
        for end in range(1, len(places) + 1):
            last = places[end - 1]
            if end < len(places) and offsets[last] + lengths[last] == offsets[places[end]]:
                continue
            first = offsets[places[start]]
            text = self._at(first, offsets[last] + lengths[last] - first)
            for place in places[start:end]:
                yield text[offsets[place] - first : offsets[place] - first + lengths[place]]
            start = end

    def _at(self, offset: int, size: int) -> bytes:
        assert self._file is not None  # noqa: S101 - there is no place without a file
        os.lseek(self._file, offset, os.SEEK_SET)
        parts, left = list[bytes](), size
        while left and (part := os.read(self._file, left)):  # at most 2 GiB come at once
            parts.append(part)
            left -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _of(self, name: CellName) -> range:
        """The places of a cell's trials in the index."""
        cell = self._places.get(name)
        if cell is None or self._file is None:
            return range(0)
        start, end = self._starts[cell], self._ends[cell]
        most = self._asked[name]
        return range(start, end if most is None else min(end, start + most))

    def _index(self, path: Path) -> None:
        """Where the newest trial of each query stands, cell by cell."""
        import numpy as np

        found, queries = self._found(path)
        cell, query, offset, length, number = found
        order = np.lexsort((query, cell))  # stable: the oldest first
        new = np.ones(len(order) + 1, dtype=bool)
        new[1:-1] = (np.diff(cell[order]) != 0) | (np.diff(query[order]) != 0)
        first, last = order[new[:-1]], order[new[1:]]
        numbered = sorted({_number(name) for name in queries})
        rank = {number: place for place, number in enumerate(numbered)}
        ranks = np.array([rank[_number(name)] for name in queries] or [0])
        placed = np.lexsort((first, ranks[query[last]], cell[last]))
        last = last[placed]
        columns = [array(code) for code in "QII"]
        for column, values in zip(columns, (offset, length, number), strict=True):
            column.frombytes(values[last].astype(column.typecode).tobytes())
        self._offsets, self._lengths, self._numbers = columns
        bounds = np.searchsorted(cell[last], np.arange(len(self._asked) + 1)).tolist()
        self._starts, self._ends = bounds[:-1], bounds[1:]

    def _found(self, path: Path) -> "tuple[list[np.ndarray[Any, Any]], Sequence[str]]":
        """Of each trial of these cells its cell, its query, and where its line stands; and the names of queries."""
        import numpy as np

        found = array("Q")
        cells, queries, offset = _Cells(self._places), _Queries(), 0
        if self._file is not None:
            with path.open("rb") as file:
                for number, text in enumerate(file, start=1):
                    begins = BEGINNING.match(text) if text.endswith(ENDS) else None
                    if begins:
                        cell, query = cells.written(begins[1]), queries.written(begins[2])
                    else:
                        line = line_of(text)
                        cell = OTHERS if line is None else cells.named(CellName(*line_key(line)[:-1]))
                        query = 0 if line is None else queries.named(line["query"])
                    if cell != OTHERS:
                        found.extend((cell, query, offset, len(text), number))
                    offset += len(text)
        return list(np.array(found, dtype="Q").reshape(-1, 5).T), list(queries.places)


class _Cells:
    """The places of cells, by their names and by how a line begins that is of theirs."""

    def __init__(self, places: Mapping[CellName, int]) -> None:
        self.places = places
        self._written: dict[bytes, int] = {}

    def named(self, name: CellName) -> int:
        return self.places.get(name, OTHERS)

    def written(self, begins: bytes) -> int:
        """By the beginning of a line, up to its query."""
        place = self._written.get(begins)
        if place is None:
            line = line_of(begins + b"}", whole=False)
            place = OTHERS if line is None else self.named(CellName(*line_key(line)[:-1]))
            self._written[begins] = place
        return place


class _Queries:
    """The places of queries' names, in the order of their first appearance."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self._written: dict[bytes, int] = {}

    def named(self, name: str) -> int:
        return self.places.setdefault(name, len(self.places))

    def written(self, text: bytes) -> int:
        """By the name as it stands in a line."""
        place = self._written.get(text)
        if place is None:
            line = line_of(b'{"query": ' + text + b"}", whole=False) or {}
            self._written[text] = place = self.named(str(line.get("query")))
        return place


def _number(query: str) -> tuple[int, ...]:
    """The place of a query in its cell: `-0` before its `-0-decoy-1`, and that before `-1`."""
    return tuple(int(digits) for digits in re.findall(r"-(\d+)", query))
