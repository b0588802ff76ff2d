"""Large results as Parquet files next to results.json: single columns and results can be read from them.

`results.parquet` contains the results, one per row. Three more files contain the tables, the comparisons and the
durations. The metadata of `results.parquet` contains the rest of results.json as JSON. Each field is a column. Texts,
numbers and truth values are stored as they are; a value with parts, such as an interval, is stored as JSON text. The
metadata also has the size and CRC-32 of the results.json that the files belong to. If this does not match the
results.json next to the files, they are not read.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import cache
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, get_args
from zlib import crc32

from tabcontam.verdicts.columns import record_columns, values_of
from tabcontam.verdicts.comparison import Comparison
from tabcontam.verdicts.json_text import compact
from tabcontam.verdicts.result_types import Result, TableVerdict
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import Duration

FILES: Mapping[str, tuple[str, type]] = {
    "results": ("results.parquet", Result),
    "tables": ("results-tables.parquet", TableVerdict),
    "comparisons": ("results-comparisons.parquet", Comparison),
    "durations": ("results-durations.parquet", Duration),
}
REST = b"tabcontam.results"
STAMP = b"tabcontam.of"
GROUP = 5_000  # rows that are read at once
PLAIN = {str: "string", bool: "bool_", int: "int64", float: "float64"}  # pyarrow's names


class Stamp(NamedTuple):
    """The identity of a results.json: its size in bytes, and its CRC-32."""

    size: int
    crc: int

    @classmethod
    def of(cls, path: Path) -> "Stamp":
        """Return the stamp of a file. Raises `OSError`."""
        size = crc = 0
        with path.open("rb") as file:
            while text := file.read(2**20):
                size, crc = size + len(text), crc32(text, crc)
        return cls(size, crc)


def has_parquet() -> bool:
    """Return whether pyarrow is installed: it writes and reads Parquet."""
    return find_spec("pyarrow") is not None


class ParquetResultsWriter:
    """A writer of the Parquet files in a folder: first the results of tests, later the rest.

    If a text cannot be written as UTF-8, the files are deleted.
    """

    def __init__(self, folder: Path, results: Sequence[Result]) -> None:
        """Write the results of tests. Raises `OSError`."""
        self._folder, self._whole = folder, True
        self._results = _opened(folder / FILES["results"][0], Result)
        self._try(lambda: _write(self._results, Result, results))

    def end(self, results: RunResults, stamp: Stamp) -> bool:
        """Write the rest, and return whether all Parquet files could be written. Raises `OSError`."""
        rest = replace(results, results=(), tables=(), comparisons=(), run=replace(results.run, durations=()))
        parts = {"tables": results.tables, "comparisons": results.comparisons, "durations": results.run.durations}
        about = {REST: json.dumps(rest, default=values_of).encode(), STAMP: json.dumps(stamp).encode()}

        def write() -> None:
            for name, rows in parts.items():
                file, kind = FILES[name]
                with _opened(self._folder / file, kind) as writer:
                    _write(writer, kind, rows)
            self._results.add_key_value_metadata(about)

        self._try(write)
        self.close()
        for file, _ in () if self._whole else FILES.values():
            (self._folder / file).unlink(missing_ok=True)
        return self._whole

    def close(self) -> None:
        """Close the open file."""
        self._results.close()

    def _try(self, write: Callable[[], None]) -> None:
        from pyarrow import ArrowInvalid

        try:
            if self._whole:
                write()
        except (UnicodeError, OverflowError, ArrowInvalid):
            self._whole = False


def _opened(path: Path, kind: type) -> Any:
    """Return a writer of rows of a dataclass to a Parquet file."""
    from pyarrow import parquet

    texts = [name for name, _, base in _columns(kind) if base is str]
    return parquet.ParquetWriter(path, _schema(kind), compression="zstd", use_dictionary=texts)


def _schema(kind: type) -> Any:
    import pyarrow as pa

    return pa.schema([(name, getattr(pa, PLAIN.get(base or str, "string"))()) for name, _, base in _columns(kind)])


def _write(writer: Any, kind: type, rows: Sequence[object]) -> None:
    import pyarrow as pa

    columns, schema = _columns(kind), _schema(kind)
    for start in range(0, max(len(rows), 1), GROUP):
        some = rows[start : start + GROUP]
        arrays = [
            pa.array(_stored(list(map(attrgetter(path), some)), base), schema.field(name).type)
            for name, path, base in columns
        ]
        writer.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=GROUP)


@cache
def _columns(kind: type) -> list[tuple[str, str, type | None]]:
    """Return the columns of a dataclass, each with its path and plain type; None for a value with parts."""
    return [(name, path, _plain(hint)) for name, path, hint in record_columns(kind)]


def _plain(hint: Any) -> type | None:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return str
    words = get_args(hint)  # the words of a literal type
    is_text = bool(words) and all(type(one) is str for one in words)
    return hint if hint in PLAIN else str if is_text else None


def _stored(values: list[Any], base: type | None) -> list[Any]:
    """Return the values in the form that their column stores."""
    return values if base is not None else [_as_text(value) for value in values]


def _as_text(value: Any) -> str | None:
    """Return a value with parts as JSON text."""
    if value is None:
        return None
    return compact(value) if value else "{}" if isinstance(value, Mapping) else "[]"


class ParquetResults:
    """The results in a folder's Parquet files, read a part at a time."""

    def __init__(self, folder: Path) -> None:
        from pyarrow import parquet

        self._folder = folder
        about = parquet.read_metadata(folder / FILES["results"][0])
        self.count, self._metadata = int(about.num_rows), about.metadata or {}

    @classmethod
    def in_folder(cls, folder: Path, results: Path) -> "ParquetResults | None":
        """Return the files that belong to this results.json; None if there are none, or if pyarrow is not installed."""
        if not has_parquet() or not (folder / FILES["results"][0]).is_file():
            return None
        import pyarrow as pa

        try:
            found = cls(folder)
            stamp = json.loads(found._metadata.get(STAMP, b"null"))
            whole = all((folder / file).is_file() for file, _ in FILES.values())
            return found if whole and stamp == list(Stamp.of(results)) else None
        except (OSError, ValueError, pa.ArrowException):
            return None

    def rest(self) -> dict[str, Any]:
        """Return the content of results.json, without the lists that have separate files."""
        document: dict[str, Any] = json.loads(self._metadata[REST])
        return document

    def read(
        self, part: str, columns: Sequence[str] | None = None, **wanted: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of a part as dicts with the keys `columns`: only rows whose values in the fields of `wanted`
        are among those wanted.

        Row groups without such a row are skipped.
        """
        from pyarrow import compute, dataset
        from pydantic_core import from_json

        name, kind = FILES[part]
        chosen = compute.scalar(True)
        for field, values in wanted.items():
            chosen &= compute.field(field).isin(list(values))
        parts = {name for name, _, base in _columns(kind) if base is None}
        file, names = dataset.dataset(self._folder / name), columns and list(columns)
        for batch in file.to_batches(names, filter=chosen, batch_size=GROUP, batch_readahead=1, use_threads=False):
            for row in batch.to_pylist():
                yield {
                    field: from_json(value) if field in parts and value is not None else value
                    for field, value in row.items()
                }
