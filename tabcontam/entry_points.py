"""The parts that extensions add: the entry points of a group, listed without importing any extension.

The extensions of this package use the same groups as those of other packages. The files of the installed packages are
read directly: importing `importlib.metadata` would take longer than all other imports of `--help`.
"""

import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, reduce
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from tabcontam.errors import UsageError

OWN = "tabcontam"
T = TypeVar("T")
NAME = re.compile(r"[a-z][a-z0-9_.-]*")


class EntryPoint(NamedTuple):
    """A line of an installed package's `entry_points.txt`: `name` = `value`, where `value` is MODULE:OBJECT."""

    name: str
    value: str
    package: str

    def load(self) -> Any:
        """Return the object. Raises any error of its module's import."""
        return load_object(self.value)


def load_object(place: str) -> Any:
    """Return the object that MODULE:OBJECT names."""
    module, _, path = place.partition(":")
    return reduce(getattr, path.split("."), import_module(module))


@cache
def listed(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group in all installed packages, sorted by name."""
    points = []
    for package, text in _packages():
        heading = ""
        for line in map(str.strip, text.splitlines()):
            name, sign, value = line.partition("=")
            if line.startswith("["):
                heading = line.strip("[] ")
            elif sign and heading == group:
                points.append(EntryPoint(name.strip(), value.partition("[")[0].strip(), package))
    return tuple(sorted(points, key=lambda point: (point.name, point.package)))


@cache
def _packages() -> tuple[tuple[str, str], ...]:
    """Return the name and the `entry_points.txt` of each installed package that has a group of ours."""
    found: dict[str, tuple[str, str] | None] = {}
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in sorted(names):
            package = name.partition("-")[0].lower()
            if name.endswith((".dist-info", ".egg-info")) and package not in found:
                found[package] = _package(os.path.join(folder, name))
    return tuple(each for each in found.values() if each)


def _package(folder: str) -> tuple[str, str] | None:
    text = _text(folder, "entry_points.txt")
    if f"[{OWN}." not in text:
        return None
    stated = re.search(r"^Name: *(\S+)", _text(folder, "METADATA") or _text(folder, "PKG-INFO"), re.MULTILINE)
    return stated[1] if stated else os.path.basename(folder).partition("-")[0], text


def _text(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def own(group: str) -> list[Any]:
    """Return the objects that this package's extensions add to a group, sorted by their entry points' names."""
    return [point.load() for point in listed(group) if point.package == OWN]


@cache
def offered(group: str, what: str, kind: type[T]) -> Mapping[str, T]:
    """Return the objects of a group by name: those of this package's extensions, then those of other packages.

    `what` is their kind, in words. An object of another package that cannot be loaded, or that is no `kind`, is
    reported in a line on standard error.
    """
    own_ones = {point.name: point.load() for point in listed(group) if point.package == OWN}

    def load(point: EntryPoint) -> T:
        with raise_as_usage_error(point, what):
            loaded = point.load()
        if not isinstance(loaded, kind):
            raise UsageError(f"{describe_entry_point(point, what)} is left out: {point.value} is no {kind.__name__}")
        return loaded

    return own_ones | load_others(group, what, load, own_ones)


def load_others(group: str, what: str, load: Callable[[EntryPoint], T], built_in: Collection[str]) -> dict[str, T]:
    """Return the objects of other packages by name, as `load` returns them.

    An entry point for which `load` raises `UsageError` is reported in a line on standard error.
    """
    points, complaints = find_entry_points(group, what, built_in)
    found = {}
    for name, point in points.items():
        try:
            found[name] = load(point)
        except UsageError as error:
            complaints.append(str(error))
    for complaint in complaints:
        print(f"tabcontam: {complaint}", file=sys.stderr)
    return found


def find_entry_points(group: str, what: str, built_in: Collection[str]) -> tuple[dict[str, EntryPoint], list[str]]:
    """Return the entry points of other packages by name, and a line for each unusable one.

    `what` is their kind, in words. `built_in` are the names that they cannot have.
    """
    found: dict[str, EntryPoint] = {}
    left_out: list[str] = []
    for point in listed(group):
        if point.package == OWN:
            continue
        if not NAME.fullmatch(point.name):
            why = f"a {what}'s name is made of a-z, 0-9, '.', '_' and '-'"
        elif point.name in built_in:
            why = f"tabcontam has a {what} of that name"
        elif point.name in found:
            why = f"the package {found[point.name].package} has one of that name"
        else:
            found[point.name] = point
            continue
        left_out.append(f"{describe_entry_point(point, what)} is left out: {why}")
    return found, left_out


def names_of(group: str, what: str, built_in: Collection[str]) -> tuple[str, ...]:
    """Return the names that a group adds to the `built_in` ones, without importing any extension."""
    own = [point.name for point in listed(group) if point.package == OWN]
    return (*own, *find_entry_points(group, what, {*built_in, *own})[0])


@cache
def load_settings() -> None:
    """Add the settings of extensions to those of the core. Raises `UsageError` for one whose name is taken."""
    from tabcontam.config import CORE, FURTHER, Setting

    for name, group in offered("tabcontam.settings", "group of settings", tuple).items():
        for setting in group:
            if not isinstance(setting, Setting) or {**CORE, **FURTHER}.get(setting.name, setting) is not setting:
                raise UsageError(f"the group of settings {name!r} has one that is no Setting, or whose name is taken")
            FURTHER[setting.name] = setting


@contextmanager
def raise_as_usage_error(
    point: EntryPoint, what: str, failed: str = "cannot be loaded", passing: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Turn errors of another package's code into a `UsageError` of one line, except those of types in `passing`."""
    try:
        yield
    except passing:
        raise
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
        raise UsageError(f"{describe_entry_point(point, what)} {failed}: {reason}") from error


def describe_entry_point(point: EntryPoint, what: str) -> str:
    """Return the words that name an entry point in a message."""
    return f"{what} {point.name!r} of the package {point.package}"
