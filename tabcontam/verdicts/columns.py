"""The columns of a record, which every format shares: the fields of its type, and the fields of its parts among them.

A result consists of its evidence, its decision and its own fields. Files and frames have all of them on one level.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

Record = TypeVar("Record", bound=Any)
PART = {"part": True}  # the metadata of a field that is a part: the fields of the part take its place


class RecordColumn(NamedTuple):
    """A column with its name, the path of attributes to its value, and its type without None."""

    name: str
    path: str
    hint: Any


@cache
def record_columns(kind: type) -> tuple[RecordColumn, ...]:
    """Return the columns of a dataclass."""
    found = list[RecordColumn]()
    for one in fields(kind):
        hint = get_type_hints(kind)[one.name]
        known = [type_ for type_ in get_args(hint) if type_ is not NoneType]
        hint = known[0] if len(known) == 1 and NoneType in get_args(hint) else hint
        own = record_columns(hint) if one.metadata == PART else ()
        found += [RecordColumn(name, f"{one.name}.{path}", inner) for name, path, inner in own]
        found += [] if own else [RecordColumn(one.name, one.name, hint)]
    return tuple(found)


def values_of(record: Any) -> dict[str, Any]:
    """Return the values of a record by column; nested dataclasses are not converted."""
    names, values = _reader(record.__class__)
    return dict(zip(names, values(record), strict=False))


@cache
def _reader(kind: type) -> tuple[list[str], Callable[[Any], Sequence[Any]]]:
    columns = record_columns(kind)
    return [one.name for one in columns], attrgetter(*(one.path for one in columns), "__class__")  # always a tuple


def record_of(kind: type[Record], /, **values: Any) -> Record:
    """Return a record with these values, by column."""
    own, parts = _by_part(kind, values)
    hints = get_type_hints(kind)
    record: Record = kind(**own, **{part: hints[part](**inner) for part, inner in parts.items()})
    return record


def changed(record: Record, /, **values: Any) -> Record:
    """Return a copy of a record with other values in these columns, whichever part has them."""
    own, parts = _by_part(record.__class__, values)
    new = {part: replace(getattr(record, part), **inner) for part, inner in parts.items()}
    copy: Record = replace(record, **own, **new)
    return copy


def _by_part(kind: type, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the values of a record's own fields, and those of each of its parts."""
    own, parts, paths = dict[str, Any](), dict[str, dict[str, Any]](), _paths(kind)
    for name, value in values.items():
        part, _, inner = paths.get(name, name).rpartition(".")
        (parts.setdefault(part, {}) if part else own)[inner] = value
    return own, parts


@cache
def _paths(kind: type) -> dict[str, str]:
    return {one.name: one.path for one in record_columns(kind)}
