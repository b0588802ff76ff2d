"""The text of JSON records: all values in order, one per line, or only the values of named fields."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

# Numbers stay as they are written: 5.10 is not 5.1.
DECODER: Any = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)


def scan(text: str, place: int) -> tuple[object, int]:
    """Return the value at a place, and the place of its end. Raises ValueError, StopIteration or RecursionError."""
    value, end = DECODER.scan_once(text, place)
    return value, end


def text_of(record: object) -> str:
    """Return all values of a record, in order, one per line. A null is an empty line."""
    if type(record) is dict:
        try:
            return "\n".join(record.values())
        except TypeError:
            pass
    return record if type(record) is str else "\n".join(_values(record))


def text_of_fields(record: object, fields: Sequence[Sequence[str]]) -> str | None:
    """Return the values at these paths, or None if the record has no such value."""
    found = [value for path in fields for value in _at(record, path)]
    return "\n".join(map(text_of, found)) if found else None


def paths_of(fields: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return fields as paths: `messages.content` becomes ("messages", "content")."""
    return tuple(tuple(field.split(".")) for field in fields)


def _values(record: Any) -> list[str]:
    """Return the values of a record. It works without recursion, because records may be nested deeply."""
    found: list[str] = []
    open_ = [iter((record,))]
    while open_:
        for value in open_[-1]:
            if isinstance(value, str):
                found.append(value)
            elif isinstance(value, dict):
                open_.append(iter(value.values()))
                break
            elif isinstance(value, list | tuple):
                open_.append(iter(value))
                break
            else:
                found.append(_plain(value))
        else:
            open_.pop()
    return found


def _plain(value: object) -> str:
    """Return a value that is not a text as JSON writes it, but null as an empty text."""
    if value is None:
        return ""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _at(record: object, path: Sequence[str]) -> Iterator[object]:
    """Yield the values at a path. For a list on the path, each item is searched."""
    if isinstance(record, list):
        for item in record:
            yield from _at(item, path)
    elif not path:
        yield record
    elif isinstance(record, dict):
        whole = ".".join(path)
        if whole in record:
            yield from _at(record[whole], ())
        elif path[0] in record:
            yield from _at(record[path[0]], path[1:])
