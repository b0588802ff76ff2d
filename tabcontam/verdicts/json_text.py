"""Results as the text of a JSON file, piece by piece: the text of a large run is never held as a whole.

It is the text of `json.dumps(…, ensure_ascii=False, indent=1, default=asdict)`, many times as fast: that encodes in
Python whatever is indented, and copies each result before.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from json.encoder import encode_basestring  # of C
from math import isfinite
from typing import Any


def pieces(document: object) -> Iterator[str]:
    """The text of a JSON file; of a dataclass field by field, and of its lists part by part."""
    if not is_dataclass(document) or isinstance(document, type):
        yield f"{_text(document, chr(10))}\n"
        return
    between = "{"
    for name, written in _fields(type(document)):
        value = getattr(document, name)
        yield f"{between}\n {written}"
        if isinstance(value, list | tuple) and value:
            first = "["
            for part in value:
                yield f"{first}\n  {_text(part, chr(10) + '  ')}"
                first = ","
            yield "\n ]"
        else:
            yield _text(value, "\n ")
        between = ","
    yield "\n}\n" if between == "," else "{}\n"


def _text(value: Any, pad: str) -> str:
    """The text of a value; `pad` begins a line of what it stands in."""
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
        parts = [f"{written}{_text(getattr(value, name), inner)}" for name, written in _fields(kind)]
        return f"{{{inner}{f',{inner}'.join(parts)}{pad}}}" if parts else "{}"
    return json.dumps(value, ensure_ascii=False, indent=1).replace("\n", pad)


@cache
def _fields(kind: Any) -> tuple[tuple[str, str], ...]:
    """The names of a dataclass's fields, each also as it is written."""
    return tuple((one.name, f"{encode_basestring(one.name)}: ") for one in fields(kind))
