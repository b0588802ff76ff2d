"""A large results.json read part by part: its cells become results a few thousand at a time.

It is found by how the file is written (`json_text`): a part of a list begins and ends at a line of its own, and no text
holds an end of a line. What is written otherwise is read as a whole.
"""

from collections.abc import Iterator
from dataclasses import replace
from os import SEEK_CUR
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tabcontam.garbage import none_looked_for
from tabcontam.verdicts.cells import Result
from tabcontam.verdicts.comparison import Comparison
from tabcontam.verdicts.facts import Duration
from tabcontam.verdicts.results import RunResults

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LARGE = 32 * 2**20  # bytes from which on a file is read so
STEP = 2**18


class Listed(NamedTuple):
    """A list of parts that stands in an object, and how that is written."""

    name: str
    kind: type
    pad: bytes
    """The spaces before its name."""

    @property
    def begin(self) -> bytes:
        """The line with its name."""
        return b'%s"%s": [\n' % (self.pad, self.name.encode())

    @property
    def end(self) -> bytes:
        """What stands behind its last part."""
        return b"\n%s]" % self.pad

    @property
    def lasts(self) -> tuple[bytes, bytes]:
        """The last line of a part, and of the last one."""
        return b"%s },\n" % self.pad, b"%s }\n" % self.pad


CELLS, COMPARISONS = Listed("cells", Result, b" "), Listed("comparisons", Comparison, b" ")
DURATIONS = Listed("durations", Duration, b"  ")  # of the run
MANY = (CELLS, COMPARISONS, DURATIONS)  # the lists that grow with the grid


class WrittenOtherwise(Exception):
    """The file is not as it is written here."""


def read_large(path: Path, adapter: "TypeAdapter[RunResults]") -> RunResults:
    """The results in a large file. Raises `WrittenOtherwise` for what is to be read, or complained of, as a whole."""
    with none_looked_for():
        return _read_large(path, adapter)


def _read_large(path: Path, adapter: "TypeAdapter[RunResults]") -> RunResults:
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import from_json

    found: dict[Listed, list[Any]] = {one: [] for one in MANY}
    kinds = {one: TypeAdapter(list[one.kind]) for one in MANY}  # type: ignore[name-defined] # known when it runs
    rest: list[bytes] = []
    try:
        with path.open("rb") as file:
            for of, text in _parts(file):
                if of is None:
                    rest.append(text)
                else:
                    found[of] += kinds[of].validate_python(from_json(b"[%s]" % text))
        document = from_json(b"".join(rest))
        results = adapter.validate_python(document)
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise WrittenOtherwise from error
    run = replace(results.run, durations=tuple(found[DURATIONS]))
    return replace(results, run=run, cells=tuple(found[CELLS]), comparisons=tuple(found[COMPARISONS]))


def _parts(file: BinaryIO) -> Iterator[tuple[Listed | None, bytes]]:
    """The file in pieces: parts of one of the `MANY` lists, or what stands around, of none."""
    begins = {one.begin: one for one in MANY}
    while line := file.readline():
        yield None, line
        if of := begins.get(line):
            ended = False
            while not ended:
                text = file.read(STEP)
                if not text:
                    raise WrittenOtherwise
                ended = (end := text.find(of.end)) >= 0
                if ended:
                    file.seek(end - len(text), SEEK_CUR)
                    text = text[:end]
                else:
                    text, ended = _to_next(file, text, of)
                yield of, text.rstrip().removesuffix(b",")


def _to_next(file: BinaryIO, text: bytes, of: Listed) -> tuple[bytes, bool]:
    """The same up to the end of the part that it broke off in, and whether the list ends there."""
    more = [text, file.readline()]  # which may be the end of a line
    while line := file.readline():
        if line.startswith(of.end[1:]):
            file.seek(-len(line), SEEK_CUR)
            return b"".join(more), True
        more.append(line)
        if line in of.lasts:
            return b"".join(more), line == of.lasts[1]
    raise WrittenOtherwise
