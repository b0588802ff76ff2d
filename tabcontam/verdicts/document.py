"""Reading, checking and writing results.json, and its JSON Schema. All use the types of the results."""

import ast
import inspect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import fields, replace
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from tabcontam.errors import UsageError, option
from tabcontam.garbage_collection import disable_garbage_collector
from tabcontam.paths import ESCAPED, check_own_files, replace_files_together
from tabcontam.statistics.number_types import EXPLAINED, RIGHT
from tabcontam.verdicts.columns import record_columns, values_of
from tabcontam.verdicts.json_text import end, pieces, some_pieces
from tabcontam.verdicts.large_document import LARGE, LayoutError, read_large
from tabcontam.verdicts.parquet_results import FILES, ParquetResults, ParquetResultsWriter, Stamp, has_parquet
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import SCHEMA, RunResults
from tabcontam.verdicts.wording import shorten, visible

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

RESULTS = "results.json"
LONGEST = 100  # characters of a foreign value in a message
FIRST = ("schema", "run", "results")  # fields of results.json, in their order
LATER = tuple(name.name for name in fields(RunResults))[len(FIRST) :]
PARTS = {"evidence": "Evidence", "decision": "Decision"}  # parts of a result without a key in the file
LINES = {"results": "result", "tables": "table"}  # the names of one item of a list


def read_results(folder: Path) -> RunResults:
    """Return the checked `results.json` of a run's folder. Raises `UsageError`."""
    check_own_files(folder)
    path = folder / RESULTS
    with suppress(LayoutError, OSError):
        if path.stat().st_size >= LARGE:
            return _of_known_tests(read_large(path, _adapter()))
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"{folder} is no run folder: it has no results.json; type the {option('out')} of a run"
        ) from None
    except NotADirectoryError:
        raise UsageError(f"{folder} is a file; type the folder of a run") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UsageError(
            f"{path} is not readable JSON; delete that file and run the same command with "
            f"{option('out', str(folder))} again: "
            "the answers are in trials.jsonl"
        ) from None
    try:
        return parse_results(document)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def parse_results(document: object) -> RunResults:
    """Return the results in a JSON document. Raises `UsageError` with one line on the first invalid value."""
    from pydantic import ValidationError

    if not isinstance(document, Mapping) or "schema" not in document:
        raise UsageError("this is not a result of tabcontam: it names no schema")
    if document["schema"] != SCHEMA or document["schema"] is True:
        wanted = f"this version reads schema {SCHEMA}, not {document['schema']!r}"
        raise UsageError(f"{wanted}; use the version of tabcontam that wrote it")
    try:
        results = _adapter().validate_python(document)
    except ValidationError as error:
        raise UsageError(_fault(error)) from None
    return _of_known_tests(results)


def _of_known_tests(results: RunResults) -> RunResults:
    """Return the results. Raises `UsageError` for a result of a test that `run.tests` does not describe."""
    unknown = {part.test for part in (*results.results, *results.comparisons)} - results.facts.keys()
    if unknown:
        raise UsageError(f"run.tests does not describe the test {_shown(min(unknown))}, which has results")
    return results


@cache
def _adapter() -> "TypeAdapter[RunResults]":
    from pydantic import TypeAdapter

    return TypeAdapter(RunResults)


def _fault(error: "ValidationError") -> str:
    """Return the first fault and its place: `result 3: p_value: Input should be a valid number, not 'small'`."""
    first = next(one for one in error.errors(include_url=False) if RIGHT not in one["loc"])
    part, *rest = (str(name) for name in first["loc"] if name not in (EXPLAINED, *PARTS))
    if rest and rest[0].isdigit():
        part = f"{LINES.get(part, part)} {int(rest.pop(0)) + 1}"
    where = ": ".join(filter(None, (part, ".".join(rest))))
    if first["type"] == "missing":
        return f"{where} is missing"
    if first["type"] == "value_error":
        return shorten(visible(f"{where}: {first['ctx']['error']}", line=True), LONGEST)
    return f"{where}: {first['msg']}, but it is {_shown(first['input'])}"


def _shown(value: object) -> str:
    return shorten(visible(repr(value), line=True), LONGEST)


def as_json(document: object) -> str:
    """Return a document as the text of a JSON file; for results, the text of results.json."""
    return "".join(pieces(document))


def as_document(results: RunResults) -> dict[str, Any]:
    """Return the results as plain lists and dicts, as a reader of results.json gets them."""
    document: dict[str, Any] = json.loads(json.dumps(results, default=values_of))
    return document


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of results.json. The docstrings of the types describe its fields."""
    from pydantic.json_schema import GenerateJsonSchema

    class Described(GenerateJsonSchema):
        def dataclass_schema(self, schema: Any) -> dict[str, Any]:
            part = super().dataclass_schema(schema)
            _describe(part, schema["cls"])
            return part

    schema: dict[str, Any] = _adapter().json_schema(schema_generator=Described)
    result, properties = schema["$defs"]["Result"], dict[str, Any]()
    for part in (result, *(schema["$defs"].pop(kind) for kind in PARTS.values())):
        properties |= part["properties"]
    result["properties"] = {one.name: properties[one.name] for one in record_columns(Result)}
    result["required"] = list(result["properties"])
    for part in (schema, *schema["$defs"].values()):
        part.pop("title", None)
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:tabcontam:results:{SCHEMA}"}
    return about | {"title": "results.json of tabcontam"} | schema


def _describe(schema: dict[str, Any], kind: type) -> None:
    """Forbid unknown properties in a part of the schema, and describe each field by the docstring below the field."""
    words = {
        field.target.id: text.value.value
        for part in kind.__mro__[:-1]
        for node in ast.parse(inspect.getsource(part)).body
        if isinstance(node, ast.ClassDef)
        for field, text in pairwise(node.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }
    for name, field in schema["properties"].items():
        field.pop("title", None)
        field.pop("default", None)
        field["description"] = words[name]
    schema |= {"description": inspect.getdoc(kind), "additionalProperties": False}
    schema["required"] = list(schema["properties"])


def write_results(folder: Path, results: RunResults) -> None:
    """Write results.json into a folder in one step; write large results as Parquet, too, if pyarrow is installed.

    Raises `OSError`.
    """
    with results_file(folder) as file:
        file.begin(results)
        file.end(results)


@contextmanager
def results_file(folder: Path) -> Iterator["ResultsFile"]:
    """Yield a results.json that is written in two parts: `begin`, then `end` once the comparisons are known.

    At the end the new files replace the old files. Raises `OSError`.
    """
    with replace_files_together(folder) as new:
        with closing(ResultsFile(new)) as file:
            yield file
        has_columns = file.has_columns
    for name, _ in FILES.values() if not has_columns else ():
        (folder / name).unlink(missing_ok=True)  # belongs to an earlier results.json


class ResultsFile:
    """A results.json that is being written: `begin` writes the run and its results, `end` the later fields."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, (folder / RESULTS).open("wb")
        self._size = self._crc = 0
        self._columns: ParquetResultsWriter | None = None
        self.has_columns = False

    def begin(self, results: RunResults) -> None:
        """Write the run and its results; pass them to `end`, too. Raises `OSError`."""
        self._write(some_pieces(results, FIRST))
        if self._size >= LARGE and has_parquet():
            self._columns = ParquetResultsWriter(self._folder, results.results)

    def end(self, results: RunResults) -> None:
        """Write all other fields. Raises `OSError`."""
        self._write((*some_pieces(results, LATER), end(LATER)))
        if self._columns is None and self._size >= LARGE and has_parquet():
            self._columns = ParquetResultsWriter(self._folder, results.results)
        self.has_columns = self._columns is not None and self._columns.end(results, Stamp(self._size, self._crc))

    def close(self) -> None:
        """Close the open files."""
        self._file.close()
        if self._columns:
            self._columns.close()

    def _write(self, pieces: Iterable[str]) -> None:
        for piece in pieces:
            text = piece.encode("utf-8", ESCAPED)
            self._size, self._crc = self._size + len(text), crc32(text, self._crc)
            self._file.write(text)


def columns_of(folder: Path) -> ParquetResults | None:
    """Return the Parquet files that belong to the results.json of a folder; None if there are none."""
    check_own_files(folder)
    return ParquetResults.in_folder(folder, folder / RESULTS)


def rest_of(columns: ParquetResults) -> RunResults:
    """Return all results in Parquet files except results of tests, comparisons and durations. Raises `UsageError`."""
    tables = list(columns.read("tables"))
    results = parse_results({**columns.rest(), "tables": tables})
    joined = {row["llm"] for row in columns.read("results", ("llm", "control")) if row["control"]}
    vars(results)["joined"] = frozenset(joined)
    return results


def results_of(columns: ParquetResults, **wanted: Sequence[str]) -> tuple[Result, ...]:
    """Return the results in Parquet files that have a wanted value in each of these fields. Raises `UsageError`."""
    at_once = 1_000  # rows of Parquet in memory at once, without the results that are made of the rows
    from pydantic import TypeAdapter, ValidationError

    rows, kind, found = columns.read("results", **wanted), TypeAdapter(list[Result]), list[Result]()
    try:
        with disable_garbage_collector():
            while some := list(islice(rows, at_once)):
                found += kind.validate_python(some)
    except ValidationError as error:
        raise UsageError(
            f"{FILES['results'][0]}: {_fault(error)}; delete that file: results.json has the same"
        ) from None
    return tuple(found)


def whole_of(columns: ParquetResults) -> RunResults:
    """Return the complete results in Parquet files, as in results.json. Raises `UsageError`."""
    document, lists = columns.rest(), {name: list(columns.read(name)) for name in FILES if name != "results"}
    run = {**document["run"], "durations": lists.pop("durations")}
    return replace(parse_results({**document, "run": run, **lists}), results=results_of(columns))
