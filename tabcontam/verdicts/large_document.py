"""A large results.json read part by part: its cells become results a few thousand at a time.

It is found by how the file is written (`json_text`): a part of a list begins and ends at a line of its own, and no text
holds an end of a line. What is written otherwise is read as a whole.
"""

import gc
from collections.abc import Iterator
from dataclasses import replace
from os import SEEK_CUR
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tabcontam.verdicts.cells import Result
from tabcontam.verdicts.comparison import Comparison
from tabcontam.verdicts.results import SCHEMA, RunResults
from tabcontam.verdicts.schema_1 import with_splits

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LARGE = 32 * 2**20  # bytes from which on a file is read so
STEP = 8 * 2**20
MANY = {"cells": Result, "comparisons": Comparison}  # the lists that grow with the grid
END = b"\n ]"  # of a list
LASTS = (b"  },\n", b"  }\n")  # the last line of a part, and of the last one


class WrittenOtherwise(Exception):
    """The file is not as it is written here."""


def read_large(path: Path, adapter: "TypeAdapter[RunResults]") -> RunResults:
    """The results in a large file. Raises `WrittenOtherwise` for what is to be read, or complained of, as a whole."""
    gc.disable()  # all that is made here stays: to look for what is free would take longer than to read
    try:
        return _read_large(path, adapter)
    finally:
        gc.enable()


def _read_large(path: Path, adapter: "TypeAdapter[RunResults]") -> RunResults:
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import from_json

    found: dict[str, list[Any]] = {name: [] for name in MANY}
    kinds = {name: TypeAdapter(list[kind]) for name, kind in MANY.items()}  # type: ignore[valid-type]
    rest: list[bytes] = []
    try:
        with path.open("rb") as file:
            for name, text in _parts(file):
                if name:
                    part = with_splits({name: from_json(b"[%s]" % text)})[name]
                    found[name] += kinds[name].validate_python(part)
                else:
                    rest.append(text)
        document = from_json(b"".join(rest))
        if document["schema"] != SCHEMA or not all("checks" in llm for llm in document["run"]["llms"]):
            raise WrittenOtherwise
        results = adapter.validate_python(with_splits(document))
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise WrittenOtherwise from error
    return replace(results, cells=tuple(found["cells"]), comparisons=tuple(found["comparisons"]))


def _parts(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """The file in pieces: parts of one of the `MANY` lists with its name, or what stands around, without one."""
    begins = {b' "%s": [\n' % name.encode(): name for name in MANY}
    while line := file.readline():
        yield "", line
        if line in begins:
            ended = False
            while not ended:
                text = file.read(STEP)
                if not text:
                    raise WrittenOtherwise
                ended = (end := text.find(END)) >= 0
                if ended:
                    file.seek(end - len(text), SEEK_CUR)
                    text = text[:end]
                else:
                    text, ended = _to_next(file, text)
                yield begins[line], text.rstrip().removesuffix(b",")


def _to_next(file: BinaryIO, text: bytes) -> tuple[bytes, bool]:
    """The same up to the end of the part that it broke off in, and whether the list ends there."""
    more = [text, file.readline()]  # which may be the end of a line
    while line := file.readline():
        if line.startswith(END[1:]):
            file.seek(-len(line), SEEK_CUR)
            return b"".join(more), True
        more.append(line)
        if line in LASTS:
            return b"".join(more), line == LASTS[1]
    raise WrittenOtherwise
