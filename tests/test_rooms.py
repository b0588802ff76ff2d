"""The rooms of the package: a room imports only rooms that stand above it in the table of docs/rooms.md."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.installed import EXTENSIONS as NAMES
from tests.installed import LACKING

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tabcontam"
EXTENSIONS, EXTENSION_TESTS = PACKAGE / "extensions", ROOT / "tests" / "extensions"
FACE = {"__init__", "__main__"}
IMPORT = re.compile(
    r"^ *(?:from tabcontam(?:\.(\w+)[\w.]*)? import (\([^)]*\)|.*)|import (tabcontam\..*))", re.MULTILINE
)


def rooms() -> list[str]:
    """The rooms in the order of the table."""
    table = (ROOT / "docs" / "rooms.md").read_text("utf-8")
    return re.findall(r"^\| `(\w+)(?:\.py|/)` \|", table, re.MULTILINE)


def imports(file: Path) -> Iterator[str]:
    """The rooms that a module imports, wherever in the file: each import begins a line, as the formatter leaves it."""
    for room, names, wholes in IMPORT.findall(file.read_text("utf-8")):
        yield from [room] if room else re.findall(r"(\w+)(?: as \w+)?(?:,|\)|$)", names)
        yield from re.findall(r"\btabcontam\.(\w+)", wholes)


def modules() -> list[Path]:
    """Every module of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def room_of(file: Path) -> str:
    """The room that a module belongs to."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_the_table_has_every_room_and_no_other() -> None:
    there = {room_of(file) for file in modules()} - FACE
    assert set(rooms()) == there
    assert len(rooms()) == len(set(rooms()))


def test_a_room_imports_only_rooms_above_it() -> None:
    order = {room: place for place, room in enumerate(rooms())}
    found: dict[str, set[str]] = {}
    for file in modules():
        if (room := room_of(file)) not in FACE:
            below = {name for name in imports(file) if name not in (room, "extensions") and order[name] > order[room]}
            if below:
                found[str(file.relative_to(ROOT))] = below
    assert found == {}, "each of these files imports rooms that stand below its own"


def extensions_of(file: Path) -> set[str]:
    """The extensions that a module imports or names, and those whose tests it imports."""
    return set(re.findall(r"\b(?:tabcontam|tests)\.extensions\.(\w+)", file.read_text("utf-8")))


def test_the_core_imports_no_extension() -> None:
    found = {}
    for file in modules():
        if room_of(file) not in ("extensions", *FACE) and (named := extensions_of(file)):
            found[str(file.relative_to(PACKAGE))] = named
    assert found == {}


def test_the_tests_of_the_core_import_no_extension() -> None:
    own = [file for file in sorted((ROOT / "tests").rglob("*.py")) if EXTENSION_TESTS not in file.parents]
    found = {str(file.relative_to(ROOT)): extensions_of(file) for file in own}
    assert {file: names for file, names in found.items() if names} == {}


def test_every_extension_is_in_the_list_of_those_that_can_be_deleted() -> None:
    assert {path.name for path in EXTENSIONS.iterdir() if (path / "__init__.py").exists()} == {*NAMES} - {*LACKING}


def test_an_extension_imports_no_other_extension() -> None:
    found = {}
    for folder in sorted(path for path in EXTENSIONS.iterdir() if path.is_dir()):
        for file in sorted(folder.rglob("*.py")):
            if others := extensions_of(file) - {folder.name}:
                found[str(file.relative_to(EXTENSIONS))] = others
    assert found == {}
