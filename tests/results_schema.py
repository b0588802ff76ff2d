"""The JSON Schema of results.json, by which every results.json that a test writes is checked."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator

from tabcontam.verdicts.document import json_schema


@lru_cache(maxsize=1)
def validator() -> Draft202012Validator:
    """The schema, made once."""
    return Draft202012Validator(json_schema())


def faults(document: Mapping[str, Any]) -> list[str]:
    """What of a results.json the schema does not have, each with its place."""
    return [f"{error.json_path}: {error.message}" for error in validator().iter_errors(document)]


def checked(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The document, which the schema has and any JSON reader can read: no NaN, no infinity."""
    assert faults(document) == []
    json.dumps(document, allow_nan=False)
    return document
