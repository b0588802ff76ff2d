"""The lines of a stream, each with its position. Lines above a limit come in pieces."""

import sys
from collections.abc import Iterator
from enum import Enum
from typing import BinaryIO

BLOCK = 1 << 22  # bytes that are read and split at a time


class LinePiece(Enum):
    """The kind of a line: a whole line, a piece of a long line that more pieces follow, or its last piece."""

    WHOLE = 0
    MORE = 1
    LAST = 2


# The byte at which a line, or this piece of it, begins; the line without its line feed; and its kind. It is a plain
# tuple, because there are millions of lines.
Line = tuple[int, bytes, LinePiece]


def lines(stream: BinaryIO, at: int, largest: int, end: int = sys.maxsize) -> Iterator[Line]:
    """Yield the lines of a stream whose position is `at`. A line of more than `largest` bytes comes in pieces. Nothing
    is read after byte `end`.
    """
    whole = LinePiece.WHOLE
    rest, in_pieces, size = b"", False, min(BLOCK, max(largest, 1))
    left = end - at
    while block := stream.read(min(size, left)):
        left -= len(block)
        if in_pieces:
            head, newline, block = block.partition(b"\n")
            yield at, head, LinePiece.LAST if newline else LinePiece.MORE
            at += len(head) + len(newline)
            in_pieces = not newline
            if in_pieces:
                continue
        block = rest + block
        *complete, rest = block.split(b"\n")
        for line in complete:
            length = len(line)
            yield at, line, whole if length <= largest else LinePiece.LAST
            at += length + 1
        if len(rest) > largest:
            yield at, rest, LinePiece.MORE
            at, rest, in_pieces = at + len(rest), b"", True
    if rest:
        yield at, rest, whole
    elif in_pieces:
        yield at, b"", LinePiece.LAST


def lines_from(stream: BinaryIO, begin: int, end: int, largest: int) -> Iterator[Line]:
    """Return the lines of a seekable stream that begin at byte `begin` or later. Return none if an earlier line
    continues up to byte `end`.
    """
    stream.seek(max(begin - 1, 0))
    found = lines(stream, max(begin - 1, 0), largest)
    if begin:  # skip the rest of a line that began earlier
        while (line := next(found, None)) is not None and line[2] is LinePiece.MORE:
            if line[0] >= end:
                return iter(())
    return found
