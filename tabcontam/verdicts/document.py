"""Reading, checking and writing results.json, and its JSON Schema. All use the types of the results."""

import ast
import inspect
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabcontam.errors import UsageError, option
from tabcontam.paths import ESCAPED, check_own_files, replace_files_together
from tabcontam.statistics.number_types import EXPLAINED, RIGHT
from tabcontam.verdicts.columns import record_columns, values_of
from tabcontam.verdicts.result_lines import pieces, read_lines
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import SCHEMA, RunResults
from tabcontam.verdicts.wording import shorten, visible

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

RESULTS = "results.json"
LARGE = 32 * 2**20  # bytes of the smallest file that is read in parts
LONGEST = 100  # characters of a foreign value in a message
PARTS = {"evidence": "Evidence", "decision": "Decision"}  # parts of a result without a key in the file
LINES = {"results": "result", "tables": "table"}  # the names of one item of a list


def _is_large(folder: Path) -> bool:
    """Return whether the results in a folder are read a part at a time."""
    path = folder / RESULTS
    return path.is_file() and path.stat().st_size >= LARGE


def read_results(folder: Path) -> RunResults:
    """Return the checked `results.json` of a run's folder. Raises `UsageError`."""
    check_own_files(folder)
    path = folder / RESULTS
    with suppress(OSError, ValueError):  # the reader below names the fault
        if _is_large(folder):
            return _of_known_tests(read_lines(path, _adapter()))
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


def read_without_results(folder: Path) -> RunResults | None:
    """Return all of a large results.json except results of tests, comparisons and durations; None for another file.

    Raises `UsageError`.
    """
    check_own_files(folder)
    with suppress(OSError, ValueError):
        if _is_large(folder) and not (found := read_lines(folder / RESULTS, _adapter(), kinds=())).results:
            vars(found)["joined"] = frozenset(llm.spec for llm in found.run.llms if llm.control)
            return found
    return None


def as_json(document: object) -> str:
    """Return a document as the text of a JSON file; for results, the text of results.json."""
    if isinstance(document, RunResults):
        return f"{''.join(pieces(document))}\n"
    return f"{json.dumps(document, ensure_ascii=False, indent=1, default=values_of)}\n"


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
    """Write results.json into a folder in one step. Raises `OSError`."""
    with (
        replace_files_together(folder) as new,
        (new / RESULTS).open("w", encoding="utf-8", errors=ESCAPED, newline="\n") as file,
    ):
        file.writelines(pieces(results))
        file.write("\n")
