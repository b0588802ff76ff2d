"""The extensions of other packages: the entry points of a group, listed without importing any extension."""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata

from tabcontam.config import CORE, FURTHER, Setting
from tabcontam.errors import UsageError

NAME = re.compile(r"[a-z][a-z0-9_.-]*")


def find_entry_points(
    group: str, what: str, built_in: Collection[str]
) -> tuple[dict[str, metadata.EntryPoint], list[str]]:
    """Return the entry points of a group by name, and a line for each unusable one; `what` is their kind, in words."""
    found: dict[str, metadata.EntryPoint] = {}
    left_out: list[str] = []
    try:
        points = sorted(metadata.entry_points(group=group), key=lambda point: (point.name, package(point)))
    except Exception as error:  # damaged metadata of another package
        return {}, [f"{what}s of other packages cannot be listed: {_reason(error)}"]
    for point in points:
        if not NAME.fullmatch(point.name):
            why = f"a {what}'s name is made of a-z, 0-9, '.', '_' and '-'"
        elif point.name in built_in:
            why = f"tabcontam has a {what} of that name"
        elif point.name in found:
            why = f"the package {package(found[point.name])} has one of that name"
        else:
            found[point.name] = point
            continue
        left_out.append(f"{describe_entry_point(point, what)} is left out: {why}")
    return found, left_out


@cache
def load_settings() -> None:
    """Add the settings of extensions to those of the core. Raises `UsageError` for settings that cannot be added."""
    for point in find_entry_points("tabcontam.settings", "group of settings", ())[0].values():
        with raise_as_usage_error(point, "group of settings"):
            for setting in point.load():
                if not isinstance(setting, Setting) or setting.name in (*CORE, *FURTHER):
                    raise TypeError(f"{setting!r} is no setting, or its name is taken")
                FURTHER[setting.name] = setting


@contextmanager
def raise_as_usage_error(
    point: metadata.EntryPoint, what: str, failed: str = "cannot be loaded", passing: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Turn errors of another package's code into a `UsageError` of one line. Errors of types in `passing` are
    unchanged.
    """
    try:
        yield
    except passing:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(f"{describe_entry_point(point, what)} {failed}: {_reason(error)}") from error


def describe_entry_point(point: metadata.EntryPoint, what: str) -> str:
    """Return the words that name an entry point in a message."""
    return f"{what} {point.name!r} of the package {package(point)}"


def package(point: metadata.EntryPoint) -> str:
    """Return the name of the package that offers an entry point."""
    stated = point.dist.metadata["Name"] if point.dist is not None else None
    return stated or point.value.partition(":")[0].partition(".")[0]


def _reason(error: BaseException) -> str:
    """Return an exception in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
