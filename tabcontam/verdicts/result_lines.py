"""The lines of results.json: each result is one line, so a large file is read a part at a time, or a part alone.

Each field of the results and of their run begins a line, and each item of a list in them is a line.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import is_dataclass, replace
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabcontam.garbage_collection import disable_garbage_collector
from tabcontam.paths import ESCAPED
from tabcontam.verdicts.columns import values_of
from tabcontam.verdicts.comparison import Comparison
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import Duration

if TYPE_CHECKING:
    from pydantic import TypeAdapter

MANY = {b' "results": [\n': Result, b' "comparisons": [\n': Comparison, b'  "durations": [\n': Duration}


def pieces(record: Any, pad: str = "\n ") -> Iterator[str]:
    """Yield the JSON text of the results of a run: a line for each field, and for each item of a list."""
    write = json.JSONEncoder(ensure_ascii=False, default=values_of).encode
    before = "{"
    for name, value in values_of(record).items():
        yield f'{before}{pad}"{name}": '
        before = ","
        if is_dataclass(value):
            yield from pieces(value, f"{pad} ")
        elif isinstance(value, list | tuple) and value:
            yield from (f"{',' if place else '['}{pad} {write(item)}" for place, item in enumerate(value))
            yield f"{pad}]"
        else:
            yield write(value)
    yield f"{pad[:-1]}}}"


@disable_garbage_collector()
def read_lines(
    path: Path, adapter: "TypeAdapter[RunResults]", kinds: Collection[type] = tuple(MANY.values())
) -> RunResults:
    """Return the results in a file, with only those items of the lists in `MANY` that are of these kinds.

    A file without these lines, from another program, is read as a whole. Raises `OSError` and `ValueError`.
    """
    from pydantic_core import from_json

    found: dict[type | None, list[Any]] = {kind: [] for kind in MANY.values()}
    rest: list[bytes] = []
    for kind, group in groupby(_lines(path), itemgetter(0)):
        lines = (line for _, line in group)
        if kind is None:
            rest += lines
        elif kind in kinds:
            found[kind] += _parsed(kind, lines)
    results = adapter.validate_python(from_json(b"".join(rest)))
    return replace(
        results,
        run=replace(results.run, durations=(*results.run.durations, *found[Duration])),
        results=(*results.results, *found[Result]),
        comparisons=(*results.comparisons, *found[Comparison]),
    )


@disable_garbage_collector()
def select_lines(path: Path, wanted: Mapping[str, Collection[str]]) -> tuple[Result, ...]:
    """Return the results of tests that have one of the `wanted` texts in each of these fields.

    Only lines that may be of such a result are parsed: lines with these texts, and lines with a backslash, which may
    write a text in another way. Raises `OSError` and `ValueError`.
    """
    encode = json.JSONEncoder(ensure_ascii=False).encode
    texts = [[encode(word).encode("utf-8", ESCAPED) for word in words] for words in wanted.values()]

    def may_match(line: bytes) -> bool:  # loops, which are faster here than `all` and `any`
        for own in texts:
            for text in own:
                if text in line:
                    break
            else:
                return b"\\" in line
        return True

    lines = (line for kind, line in _lines(path) if kind is Result and may_match(line))
    found = _parsed(Result, lines)
    return tuple(one for one in found if all(getattr(one, name) in words for name, words in wanted.items()))


def count_results(path: Path) -> int:
    """Return the number of results of tests in a file. Raises `OSError` and `ValueError`."""
    return sum(kind is Result for kind, _ in _lines(path))


def _lines(path: Path) -> Iterator[tuple[type | None, bytes]]:
    """Yield each line of a file, with the type of the item in it; None for a line outside the lists in `MANY`."""
    with path.open("rb", buffering=2**20) as file:
        for line in file:
            yield None, line
            if kind := MANY.get(line):
                for item in file:
                    if item.lstrip().startswith(b"]"):
                        yield None, item
                        break
                    if not item.strip().startswith(b"{") or not item.rstrip(b",\n").endswith(b"}"):
                        raise ValueError("an item of a list is not one line")
                    yield kind, item


def _parsed(kind: type, lines: Iterator[bytes], *, at_once: int = 1_000) -> list[Any]:
    """Return the items of a list, each of which is a line. Raises `ValueError`."""
    from pydantic import TypeAdapter
    from pydantic_core import from_json

    adapter, found = TypeAdapter(list[kind]), list[Any]()  # type: ignore[valid-type] # known when it runs
    while text := b"".join(islice(lines, at_once)):
        found += adapter.validate_python(from_json(b"[%s]" % text.rstrip(b",\n")))
    return found
