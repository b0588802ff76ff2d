"""TOML files: dataset cards and serializers of the user's own, and the fields of any such file, checked."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from tabcontam.errors import UsageError, one_line

VARIABLE = "TABCONTAM_PATH"
SUFFIX = ".toml"
TEXTS = (tuple[str, ...], tuple[str, ...] | None)
# What a file holds that lies in such a folder itself, and in no folder of a kind: the keys of one kind.
KEYS = {
    "datasets": frozenset({"editions", "released"}),
    "serializers": frozenset({"value_separator", "feature_separator"}),
}
OPTIONS = {"datasets": "--dataset", "serializers": "--serializer"}


def own_files(kind: str) -> list[Path]:
    """The user's own files of a kind ("datasets" or "serializers") in the folders that TABCONTAM_PATH names.

    They lie in a subfolder of that name or in the folder itself. Raises `UsageError` for a folder that is not there.
    """
    found: list[Path] = []
    for folder in _folders():
        loose = [path for path in sorted(folder.glob(f"*{SUFFIX}")) if kind_of(read_toml(path, "file")) == kind]
        found += [*loose, *sorted((folder / kind).glob(f"*{SUFFIX}"))]
    return found


def _folders() -> list[Path]:
    """Each folder once, in the order of the variable."""
    named = filter(None, os.environ.get("TABCONTAM_PATH", "").split(os.pathsep))
    folders = {Path(os.path.expanduser(part)).resolve(): part for part in named}
    for folder, part in folders.items():
        if not folder.is_dir():
            raise UsageError(f"{VARIABLE} names no folder: {part}; correct it, or unset it")
    return list(folders)


def kind_of(raw: Mapping[str, object]) -> str | None:
    """The kind of a file, by its keys; None for any other file."""
    return next((kind for kind, keys in KEYS.items() if keys & raw.keys()), None)


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """The keys of a file that should be `what` ("dataset card", …). Raises `UsageError` where it is no TOML."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {what} {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError and a UnicodeDecodeError are ValueErrors
        raise UsageError(f"cannot read {what} {path}: {one_line(error)}") from error


def other_kind(raw: Mapping[str, object], kind: str) -> str | None:
    """The option that takes this file, where it is of another kind than this."""
    found = kind_of(raw)
    return OPTIONS[found] if found not in (None, kind) else None


def checked(
    kind: type, raw: Mapping[str, Any], where: str, given: Sequence[str] = (), *, blank: bool = False
) -> dict[str, Any]:
    """The keys of a file as the fields of the dataclass `kind`, but for those `given` by the reader itself.

    Raises ValueError, which names `where` and the field, for a key that is unknown, lacking, or of the wrong type. With
    `blank` a text may be empty.
    """
    known = {item.name: item for item in fields(kind) if item.name not in given}
    if wrong := [key for key in raw if key not in known]:
        raise ValueError(f"{where} has the unknown key {wrong[0]!r}; known: {', '.join(known)}")
    needed = [key for key, item in known.items() if item.default is MISSING and item.default_factory is MISSING]
    if lacking := [key for key in needed if key not in raw]:
        raise ValueError(f"{where} lacks {' and '.join(lacking)}")
    hints = _hints(kind)
    return {key: _value(f"{where} {key}", value, hints[key], blank) for key, value in raw.items()}


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(where: str, value: Any, hint: Any, blank: bool) -> Any:
    """A TOML value as the type of its field. TOML writes 8.0 as 8 and has no tuples."""
    if hint in TEXTS:
        return texts(where, value, blank=blank)
    if hint == float | None and type(value) is int:
        value = float(value)
    # To Python a true is an int and a time is a date; an empty text says nothing.
    subtype = isinstance(value, datetime) or (isinstance(value, bool) and hint is not bool)
    if not isinstance(value, hint) or subtype or (value == "" and not blank):
        raise ValueError(f"{where} cannot be {value!r}")
    return value


def texts(where: str, value: object, *, blank: bool) -> tuple[str, ...]:
    """A list of texts. Raises ValueError for anything else."""
    if (
        isinstance(value, list)
        and all(isinstance(item, str) and (item or blank) for item in value)
        and (value or blank)
    ):
        return tuple(value)
    raise ValueError(f"{where} is no list of texts")
