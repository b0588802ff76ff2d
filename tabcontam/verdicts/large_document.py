"""A reader of a large results.json in parts: it reads a few thousand items at a time.

The parts are found by the file's layout (`json_text`): an item of a list begins and ends on separate lines, and no text
contains a line break. A file with another layout is read as a whole.
"""

from collections.abc import Iterator
from dataclasses import replace
from os import SEEK_CUR
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tabcontam.garbage_collection import disable_garbage_collector
from tabcontam.verdicts.comparison import Comparison
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import Duration

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LARGE = 32 * 2**20  # bytes of the smallest file that is read in parts
STEP = 2**18


class ListLayout(NamedTuple):
    """The layout in the file of a list of items."""

    name: str
    kind: type
    pad: bytes
    """The spaces before its name."""

    @property
    def begin(self) -> bytes:
        """The line that contains the list's name."""
        return b'%s"%s": [\n' % (self.pad, self.name.encode())

    @property
    def end(self) -> bytes:
        """The text after the list's last item."""
        return b"\n%s]" % self.pad

    @property
    def lasts(self) -> tuple[bytes, bytes]:
        """Two lines: the end of any item but the last, and the end of the last item."""
        return b"%s },\n" % self.pad, b"%s }\n" % self.pad


RESULTS, COMPARISONS = ListLayout("results", Result, b" "), ListLayout("comparisons", Comparison, b" ")
DURATIONS = ListLayout("durations", Duration, b"  ")  # in the facts of the run
MANY = (RESULTS, COMPARISONS, DURATIONS)  # the lists that grow with the grid


class LayoutError(Exception):
    """A file without the layout that `json_text` writes."""


@disable_garbage_collector()
def read_large(path: Path, adapter: "TypeAdapter[RunResults]") -> RunResults:
    """Return the results in a large file. Raises `LayoutError` for a file that has to be read as a whole."""
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import from_json

    found: dict[ListLayout, list[Any]] = {one: [] for one in MANY}
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
        raise LayoutError from error
    run = replace(results.run, durations=tuple(found[DURATIONS]))
    return replace(results, run=run, results=tuple(found[RESULTS]), comparisons=tuple(found[COMPARISONS]))


def _parts(file: BinaryIO) -> Iterator[tuple[ListLayout | None, bytes]]:
    """Yield the file in pieces: (list of `MANY`, text of some items) or (None, text around the lists)."""
    begins = {one.begin: one for one in MANY}
    while line := file.readline():
        yield None, line
        if of := begins.get(line):
            ended = False
            while not ended:
                text = file.read(STEP)
                if not text:
                    raise LayoutError
                ended = (end := text.find(of.end)) >= 0
                if ended:
                    file.seek(end - len(text), SEEK_CUR)
                    text = text[:end]
                else:
                    text, ended = _to_next(file, text, of)
                yield of, text.rstrip().removesuffix(b",")


def _to_next(file: BinaryIO, text: bytes, layout: ListLayout) -> tuple[bytes, bool]:
    """Return `text`, continued from `file` to the end of its last item, and whether the list ends there."""
    more = [text, file.readline()]  # `text` may stop in the middle of a line, so this may be the rest of it
    while line := file.readline():
        if line.startswith(layout.end[1:]):
            file.seek(-len(line), SEEK_CUR)
            return b"".join(more), True
        more.append(line)
        if line in layout.lasts:
            return b"".join(more), line == layout.lasts[1]
    raise LayoutError
