"""A key of what a corpus holds: the SHA-256 of its files' content, computed anew only for a file that changed."""

import hashlib
import json
import time
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.paths import replace_file
from tabcontam.subjects.corpora.files import CorpusFiles
from tabcontam.subjects.corpora.opening import open_file
from tabcontam.tables.editions import cache_folder

READER = 1  # changes when the reader makes other documents of the same files
BLOCK = 1 << 20
YOUNG = 2 * 10**9  # nanoseconds: a file changed so recently may change again without another time of change


def digest(files: CorpusFiles) -> str:
    """The key: the content and the names of all files, in their order, and the fields that are read.

    Where a file's size and time of change are as before, its content is not read again: what was found is kept in the
    cache folder. Raises `UsageError` where a file cannot be read.
    """
    kept = _kept()
    before = dict(kept)
    key = hashlib.sha256(f"{READER}\0{'+'.join(files.fields)}".encode())
    for path in files.files:
        key.update(f"\0{path.name}\0{_of_file(path, kept)}".encode("utf-8", "surrogateescape"))
    if kept != before:
        _keep(kept)
    return key.hexdigest()


def corpora_folder() -> Path:
    """Where what is found out about corpora is kept."""
    return cache_folder().parent / "corpora"


def _of_file(path: Path, kept: dict[str, Any]) -> str:
    """The SHA-256 of a file."""
    name = str(path)
    try:
        with open_file(path) as file:
            facts = path.stat()
            mark = [facts.st_size, facts.st_mtime_ns]
            if (found := kept.get(name)) and found[:2] == mark:
                return str(found[2])
            hashed = hashlib.sha256()
            while block := file.read(BLOCK):
                hashed.update(block)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({one_line(error)}); check its rights, or leave it out") from None
    if abs(time.time_ns() - facts.st_mtime_ns) > YOUNG:
        kept[name] = [*mark, hashed.hexdigest()]
    return hashed.hexdigest()


def _kept() -> dict[str, Any]:
    """What was found before: for each path its size, its time of change and its SHA-256."""
    try:
        content = json.loads((corpora_folder() / "digests.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return {name: found for name, found in content.items() if _is_mark(found)} if isinstance(content, dict) else {}


def _is_mark(found: object) -> bool:
    return isinstance(found, list) and [type(item) for item in found] == [int, int, str]


def _keep(kept: dict[str, Any]) -> None:
    """Write it down; a folder that cannot be written costs the next run the reading."""
    try:
        corpora_folder().mkdir(parents=True, exist_ok=True)
        replace_file(corpora_folder() / "digests.json", json.dumps(kept, ensure_ascii=True, indent=0))
    except OSError:
        return
