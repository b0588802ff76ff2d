"""The key of a corpus's content, made of its files' SHA-256, which are computed again only for changed files."""

import hashlib
import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.extensions.corpora.search.corpus_files import CorpusFiles
from tabcontam.extensions.corpora.search.file_opening import open_file
from tabcontam.paths import replace_file
from tabcontam.tables.editions import cache_folder


# reader: a version, raised when the reader makes other documents from the same files
def digest(files: CorpusFiles, *, reader: int = 1) -> str:
    """Return the key of a corpus: a digest of its files' contents and names, in order, and of the fields that are read.

    A file with the same size and modification time as before is not read again; its SHA-256 comes from the cache
    folder. Raises `UsageError` if a file cannot be read.
    """
    entries = _read_entries()
    before = dict(entries)
    key = hashlib.sha256(f"{reader}\0{'+'.join(files.fields)}".encode())
    for path in files.files:
        key.update(f"\0{path.name}\0{_of_file(path, entries)}".encode("utf-8", "surrogateescape"))
    if entries != before:
        with suppress(OSError):  # the next run then reads the files again
            corpora_folder().mkdir(parents=True, exist_ok=True)
            replace_file(corpora_folder() / "digests.json", json.dumps(entries, ensure_ascii=True, indent=0))
    return key.hexdigest()


def corpora_folder() -> Path:
    """Return the folder where facts about corpora are cached."""
    return cache_folder().parent / "corpora"


# young: nanoseconds; a file changed more recently may change again without a new modification time
def _of_file(path: Path, entries: dict[str, Any], *, young: int = 2 * 10**9) -> str:
    block_bytes = 1 << 20
    name = str(path)
    try:
        with open_file(path) as file:
            facts = path.stat()
            mark = [facts.st_size, facts.st_mtime_ns]
            if (found := entries.get(name)) and found[:2] == mark:
                return str(found[2])
            hashed = hashlib.sha256()
            while block := file.read(block_bytes):
                hashed.update(block)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({one_line(error)}); check its permissions, or leave it out") from None
    if abs(time.time_ns() - facts.st_mtime_ns) > young:
        entries[name] = [*mark, hashed.hexdigest()]
    return hashed.hexdigest()


def _read_entries() -> dict[str, Any]:
    """Return the cached facts by path: the size, the modification time and the SHA-256 of the file."""
    try:
        content = json.loads((corpora_folder() / "digests.json").read_bytes())
    except (OSError, ValueError):
        return {}
    marks = content.items() if isinstance(content, dict) else ()
    return {name: own for name, own in marks if isinstance(own, list) and [*map(type, own)] == [int, int, str]}
