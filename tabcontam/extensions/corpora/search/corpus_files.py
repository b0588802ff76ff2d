"""The files of a corpus, which the path after `corpus:` names.

Only files of the named paths are opened. Links inside a named folder are not followed, and only regular files are read,
no pipes, devices or sockets.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from tabcontam.errors import UsageError

HISTORY = frozenset({".git", ".hg", ".svn"})  # folders of version control: compressed copies, no text
MAGIC = frozenset("*?[")


class SkippedPath(NamedTuple):
    """A named path, or a part of a named folder, that is not read, and the reason."""

    name: str
    reason: str


class NamedFile(NamedTuple):
    """The path of a file that is read, and its name as the user would write it."""

    path: Path
    name: str


@dataclass(frozen=True)
class CorpusFiles:
    """The files of a corpus.

    `typed` is the user's text; `files` are the paths, sorted; `names` are the same paths as the user would write them
    (relative to the folder as typed); `fields` are the fields of records that are read, empty if all are; `skipped`
    lists the named paths that are not read.
    """

    typed: str
    files: tuple[Path, ...]
    names: tuple[str, ...]
    fields: tuple[str, ...] = ()
    skipped: tuple[SkippedPath, ...] = ()

    @property
    def size(self) -> int:
        """The number of bytes on disk of the files that still exist."""
        return sum(path.stat().st_size for path in self.files if path.is_file())


def corpus_files(typed: str) -> CorpusFiles:
    """Return the files that the text after `corpus:` names. A path is a file, a folder (all files in it, however deep)
    or a glob pattern (`dumps/**/*.jsonl.gz`); several paths are separated as in PATH (`:`, on Windows `;`). After the
    last path, `#FIELD` or `#FIELD+FIELD` names the fields of records (JSON, Parquet, CSV) that are read. A dot names a
    field inside a field: `#messages.content`. Without `#` every value of a record is read. A path that exists is not
    read as a pattern, even if its name has special characters.

    Raises `UsageError` if a path does not exist, cannot be listed, or contains nothing to read.
    """
    paths, fields = _apart(typed)
    found: dict[Path, NamedFile] = {}
    skipped: list[SkippedPath] = []
    for path in paths:
        for named in _below(path, skipped):
            found.setdefault(named.path, named)
    ordered = sorted(found.values(), key=lambda named: (str(named.path), named.name))
    if not ordered:
        why = f": {skipped[0].name} is {skipped[0].reason}" if skipped else ""
        more = f", and {len(skipped) - 1} more" if len(skipped) > 1 else ""
        raise UsageError(f"corpus:{typed} holds no readable file{why}{more}; name a file or a folder with files")
    return CorpusFiles(typed, tuple(f.path for f in ordered), tuple(f.name for f in ordered), fields, tuple(skipped))


def _apart(typed: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the paths and the fields that the typed text names."""
    if not typed.strip():
        raise UsageError("corpus: names no file; write corpus:PATH, a file, a folder or a pattern such as 'dumps/*.gz'")
    if os.path.lexists(os.path.expanduser(typed)):
        return [typed], ()
    paths, sharp, names = typed.rpartition("#") if "#" in typed else (typed, "", "")
    fields = tuple(name.strip() for name in names.split("+")) if sharp else ()
    if sharp and not all(fields):
        raise UsageError(f"corpus:{typed} names no field after #; write corpus:PATH#FIELD or corpus:PATH#FIELD+FIELD")
    if os.path.lexists(os.path.expanduser(paths)):
        return [paths], fields
    return [path for path in paths.split(os.pathsep) if path], fields


def _below(typed: str, skipped: list[SkippedPath]) -> Iterator[NamedFile]:
    written = os.path.expanduser(typed)
    if os.path.lexists(written):
        yield from _of_named(Path(written), typed, skipped)
        return
    if not MAGIC & set(typed):
        raise UsageError(f"there is no file or folder {typed}; check the path of the corpus")
    begin = list(takewhile(lambda part: not MAGIC & set(part), Path(written).parts))
    root, parts = Path(*begin), Path(written).parts[len(begin) :]
    before = len(skipped)
    found = list(_matching(root.resolve(), os.path.join(*begin) if begin else "", parts, root.resolve(), skipped))
    if not found and len(skipped) == before:
        raise UsageError(f"no file matches {typed}; check the pattern, or name the folder")
    yield from found


def _matching(
    folder: Path, name: str, parts: Sequence[str], root: Path, skipped: list[SkippedPath]
) -> Iterator[NamedFile]:
    """Yield the files below a folder that match a pattern, given as its parts. `**` matches any number of folders."""
    part, *rest = parts
    if part == "**" and rest:
        yield from _matching(folder, name, rest, root, skipped)
    try:
        inside = sorted(entry.name for entry in os.scandir(folder))
    except OSError:  # the folder does not exist
        return
    for entry in inside:
        hidden = entry.startswith(".") and not part.startswith(".")
        if hidden or not (part == "**" or fnmatchcase(entry, part)):
            continue
        path, own = folder / entry, os.path.join(name, entry)
        is_folder = path.is_dir() and not path.is_symlink()
        if part == "**" and rest:
            if is_folder and entry not in HISTORY:
                yield from _matching(path, own, parts, root, skipped)
        elif not rest:
            yield from _inside(path, own, root, skipped)
        elif is_folder:
            yield from _matching(path, own, rest, root, skipped)
        elif path.is_symlink():
            skipped.append(SkippedPath(own, _link(path, root)))


def _of_named(path: Path, name: str, skipped: list[SkippedPath]) -> Iterator[NamedFile]:
    """Yield the files of a path that the user wrote without a pattern. If the path is a link, it is followed."""
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
    except (OSError, RuntimeError) as error:
        raise UsageError(f"{name} cannot be read ({_why(error)}); check the path") from None
    if stat.S_ISDIR(mode):
        yield from _walk(real, name, real, skipped, typed=True)
    elif stat.S_ISREG(mode):
        yield NamedFile(real, name)
    else:
        skipped.append(SkippedPath(name, _kind(mode)))


def _inside(path: Path, name: str, root: Path, skipped: list[SkippedPath]) -> Iterator[NamedFile]:
    """Yield the files of a path that matches a pattern, or of an entry of a folder. Links are not followed."""
    try:
        mode = path.lstat().st_mode
    except OSError as error:
        skipped.append(SkippedPath(name, f"unreadable ({_why(error)})"))
        return
    if stat.S_ISLNK(mode):
        skipped.append(SkippedPath(name, _link(path, root)))
    elif stat.S_ISDIR(mode):
        if path.name in HISTORY:
            skipped.append(SkippedPath(name, "a folder of version control"))
        else:
            yield from _walk(path, name, root, skipped)
    elif not stat.S_ISREG(mode):
        skipped.append(SkippedPath(name, _kind(mode)))
    else:
        yield NamedFile(path, name)


def _walk(folder: Path, name: str, root: Path, skipped: list[SkippedPath], typed: bool = False) -> Iterator[NamedFile]:
    try:
        inside = sorted(entry.name for entry in os.scandir(folder))
    except OSError as error:
        if typed:
            raise UsageError(f"the folder {name} cannot be listed ({_why(error)}); check its permissions") from None
        skipped.append(SkippedPath(name, f"unreadable ({_why(error)})"))
        return
    for entry in inside:
        yield from _inside(folder / entry, os.path.join(name, entry), root, skipped)


def _link(path: Path, root: Path) -> str:
    """Return the reason why a link in a named folder is not read."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return "a link that leads nowhere"
    inside = root in (real, *real.parents)
    return "a link to another part of the named folder" if inside else "a link that leads out of the named folder"


def _kind(mode: int) -> str:
    """Return the name of the kind, such as a pipe, of an entry that is no file, folder or link."""
    kinds = {stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket", stat.S_ISCHR: "a device", stat.S_ISBLK: "a device"}
    return next((kind for is_one, kind in kinds.items() if is_one(mode)), "no file")


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
