"""Results as the text of a JSON file, in pieces: the whole text of a large run is never in memory.

The text equals that of `json.dumps(…, ensure_ascii=False, indent=1, default=values_of)`, except for very small and very
large numbers of a dataclass (1e-9 for 1e-09). It is much faster: `json.dumps` encodes indented text in Python, and
first copies each result.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from json.encoder import encode_basestring  # implemented in C
from math import isfinite
from typing import Any

from tabcontam.verdicts.columns import values_of


def pieces(document: object) -> Iterator[str]:
    """Yield the text of a JSON file. A dataclass is yielded field by field, and its lists item by item."""
    if not is_dataclass(document) or isinstance(document, type):
        yield f"{_text(document, chr(10))}\n"
        return
    names = [one.name for one in fields(document)]
    yield from some_pieces(document, names)
    yield end(names)


def some_pieces(document: Any, names: Collection[str]) -> Iterator[str]:
    """Yield the text of the fields `names` of a dataclass. The text of all fields before them is already written.

    The text of `end` must follow the last field.
    """
    for place, (name, written) in enumerate(_fields(document.__class__)):
        if name not in names:
            continue
        value = getattr(document, name)
        yield f"{',' if place else '{'}\n {written}"
        if isinstance(value, list | tuple) and value:
            first = "["
            for part in value:
                yield f"{first}\n  {_written(values_of(part), chr(10) + '  ')}"
                first = ","
            yield "\n ]"
        else:
            yield _written(value, "\n ")


def end(names: Collection[str]) -> str:
    """Return the text that closes a dataclass's JSON object, after the fields `names`."""
    return "\n}\n" if names else "{}\n"


def compact(value: object) -> str:
    """Return a value as JSON on one line. Raises `UnicodeError` for a text that UTF-8 cannot encode."""
    encode, not_encoded = _fast_encoder()
    try:
        return encode(value, inf_nan_mode="constants").decode()
    except not_encoded as error:
        raise UnicodeError(str(error)) from error


def _written(value: object, pad: str) -> str:
    """Return the JSON text of a value: the text that `_text` returns, but faster."""
    encode, not_encoded = _fast_encoder()
    try:
        return encode(value, indent=1, inf_nan_mode="constants").decode().replace("\n", pad)
    except not_encoded:  # a text that UTF-8 cannot encode
        return _text(value, pad)


@cache
def _fast_encoder() -> tuple[Callable[..., bytes], type[ValueError]]:
    """Return Pydantic's encoder, and its error."""
    from pydantic_core import PydanticSerializationError, to_json

    return to_json, PydanticSerializationError


def _text(value: Any, pad: str) -> str:
    """Return the text of a value; `pad` is the indentation of the value that contains it."""
    kind: Any = type(value)
    if kind is str:
        return str(encode_basestring(value))
    if value is None:
        return "null"
    if kind is float and isfinite(value):
        return float.__repr__(value)
    if kind is int:
        return int.__repr__(value)
    if kind is bool:
        return "true" if value else "false"
    if isinstance(value, str):
        return str(encode_basestring(value))
    if not value and kind in (dict, list, tuple):
        return "{}" if kind is dict else "[]"
    inner = f"{pad} "
    if (kind is dict or isinstance(value, Mapping)) and all(type(name) is str for name in value):
        parts = [f"{encode_basestring(name)}: {_text(one, inner)}" for name, one in value.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{pad}}}" if parts else "{}"
    if isinstance(value, list | tuple):
        parts = [_text(one, inner) for one in value]
        return f"[{inner}{f',{inner}'.join(parts)}{pad}]" if parts else "[]"
    if is_dataclass(value) and not isinstance(value, type):
        return _text(values_of(value), pad)
    return json.dumps(value, ensure_ascii=False, indent=1).replace("\n", pad)


@cache
def _fields(kind: Any) -> tuple[tuple[str, str], ...]:
    """Return the names of a dataclass's fields, each as it is and as JSON with a colon."""
    return tuple((one.name, f"{encode_basestring(one.name)}: ") for one in fields(kind))
