"""TOML files: the user's own cards, serializers and prompt sets; checks of the fields of any TOML file."""

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from datetime import datetime
from functools import cache, partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, get_type_hints

from tabcontam.errors import UsageError, one_line, option, several, unknown
from tabcontam.paths import read_regular, shipped

VARIABLE = "TABCONTAM_PATH"
SUFFIX = ".toml"
TEXTS = (tuple[str, ...], tuple[str, ...] | None)


class TomlKind(NamedTuple):
    """A kind of TOML file: its title, the option that names such a file, and the keys that only this kind has."""

    title: str
    option: str
    keys: frozenset[str]


KINDS = {
    "datasets": TomlKind("dataset card", "dataset", frozenset({"editions", "released"})),
    "serializers": TomlKind("serializer", "serializer", frozenset({"form", "value_separator", "feature_separator"})),
    "prompts": TomlKind("prompt set", "prompts", frozenset({"system", "classification"})),
}


Item = TypeVar("Item")  # a `Card`, a `Serializer` or a `PromptSet`


def shipped_files(kind: str) -> list[Path]:
    """Return the shipped files of a kind ("datasets", "serializers" or "prompts"), sorted by name."""
    return sorted(shipped(kind).glob(f"*{SUFFIX}"))


def with_own(kind: str, known: Mapping[str, Item], load: Callable[[Path], Item]) -> dict[str, Item]:
    """Return the shipped items (`known`) and the items that `load` reads from the user's own files, by name.

    Own files are in the folders that TABCONTAM_PATH names, or in their subfolders with the name of the kind. Raises
    `UsageError` for a folder that does not exist, and for two files that define different items with one name.
    """
    found: dict[str, Any] = dict(known)
    named = filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))
    folders = {Path(os.path.expanduser(part)).resolve(): part for part in named}
    for folder, part in folders.items():
        if not folder.is_dir():
            raise UsageError(f"{VARIABLE} names no folder: {part}; correct it, or unset it")
        loose = [path for path in sorted(folder.glob(f"*{SUFFIX}")) if _kind(_parsed(path, "file")) == kind]
        for path in [*loose, *sorted((folder / kind).glob(f"*{SUFFIX}"))]:
            own: Any = load(path)
            if (other := found.setdefault(own.name, own)) != own:
                title = KINDS[kind].title
                raise UsageError(f"two {title}s are named {own.name!r}: {other.source} and {path}; rename one")
    return found


def load_named(kind: str, spec: str, known: Mapping[str, Item], load: Callable[[Path], Item]) -> Item:
    """Return the item that `spec` names: by a file's path, or by a name in `with_own`. Raises `UsageError`."""
    own = partial(own_or_shipped, kind, known=known, load=load)
    if spec.endswith(SUFFIX) or "/" in spec:
        return own(Path(spec).expanduser())
    found = with_own(kind, known, own)
    if spec not in found:
        raise several(KINDS[kind].option, spec, found.__contains__) or unknown(KINDS[kind].title, spec, found)
    return found[spec]


def own_or_shipped(kind: str, path: Path, known: Mapping[str, Item], load: Callable[[Path], Item]) -> Item:
    """Return the item in a user's file, or the equal shipped item. Raises `UsageError` if only the names are equal."""
    own: Any = load(path)
    other: Any = known.get(own.name)
    if other is not None and replace(other, about=own.about) != own:
        raise name_taken(kind, path, own.name, other.name)
    found: Item = other or replace(own, source=str(path.resolve()))
    return found


def name_taken(kind: str, path: Path, name: str, holder: str) -> UsageError:
    """Return the error for an own file with the same name as the item in the shipped file `holder`."""
    where = shipped(kind) / f"{holder}{SUFFIX}"
    return UsageError(f"{KINDS[kind].title} {path} has the name {name!r}, which the shipped {where} has; rename yours")


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """Return the keys of a file of this kind. Raises `UsageError` if it is not TOML or of another kind."""
    title = KINDS[kind].title
    raw = _parsed(path, title)
    if (found := _kind(raw)) not in (None, kind):
        raise UsageError(f"{path} is no {title}; give it with {option(KINDS[str(found)].option)}")
    return raw


def _kind(raw: Mapping[str, object]) -> str | None:
    """Return the kind of a file, recognised by its keys; None if it is of no known kind."""
    return next((name for name, kind in KINDS.items() if kind.keys & raw.keys()), None)


def _parsed(path: Path, title: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_regular(path).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # ValueError: no TOML or no UTF-8
        reason = (isinstance(error, OSError) and error.strerror) or one_line(error)
        raise UsageError(f"{title} {path} cannot be read: {reason}") from error


def check_fields(
    kind: type,
    raw: Mapping[str, Any],
    where: str,
    given: Sequence[str] = (),
    *,
    blank: bool = False,
    parts: Mapping[str, type] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the keys of a file as fields of the dataclass `kind`, except the fields `given`, which the caller sets.

    The fields of a dataclass in `parts`, each by its name in `kind`, are keys of the file, too. Raises ValueError,
    which names `where` and the field, for a key that is unknown, missing or of the wrong type. Texts may be empty only
    if `blank`.
    """
    items = [one for item in fields(kind) for one in (fields(parts[item.name]) if item.name in parts else (item,))]
    known = {item.name: item for item in items if item.name not in given}
    if wrong := [key for key in raw if key not in known]:
        raise ValueError(f"{where} has the unknown key {wrong[0]!r}; known: {', '.join(known)}")
    needed = [key for key, item in known.items() if item.default is MISSING and item.default_factory is MISSING]
    if lacking := [key for key in needed if key not in raw]:
        raise ValueError(f"{where} lacks {' and '.join(lacking)}")
    hints = dict(chain(*(_hints(each).items() for each in (kind, *parts.values()))))
    found = {key: _value(f"{where} {key}", value, hints[key], blank) for key, value in raw.items()}
    for name, part in parts.items():
        found[name] = part(**{item.name: found.pop(item.name) for item in fields(part) if item.name in found})
    return found


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(where: str, value: Any, hint: Any, blank: bool) -> Any:
    """Return a TOML value converted to its field's type, since TOML writes 8.0 as 8 and has no tuples."""
    if hint in TEXTS:
        return texts(where, value, blank=blank)
    if hint == float | None and type(value) is int:
        value = float(value)
    # In Python True is an int and a datetime is a date; an empty text is no value.
    subtype = isinstance(value, datetime) or (isinstance(value, bool) and hint is not bool)
    if not isinstance(value, hint) or subtype or (value == "" and not blank):
        raise ValueError(f"{where} cannot be {value!r}")
    return value


def plain_name(where: str, name: str) -> None:
    """Check a name. Raises ValueError if it is empty, has a blank at an end, or has characters that cannot be seen."""
    if not name.isprintable() or name != name.strip() or not name:
        raise ValueError(f"{where} cannot be {name!r}: write letters that can be seen, with no blank at its ends")


def texts(where: str, value: object, *, blank: bool) -> tuple[str, ...]:
    """Return a list of texts as a tuple; list and texts may be empty only if `blank`. Raises ValueError if not."""
    if isinstance(value, list) and (value or blank) and all(isinstance(one, str) and (one or blank) for one in value):
        return tuple(value)
    raise ValueError(f"{where} is no list of texts")
