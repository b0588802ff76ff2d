"""The index of a corpus, which finds exact strings of bytes without reading the corpus again.

It is stored in the cache folder under the key of the corpus's content (`digest`). It consists of shards, which are
built one after the other, each in less than 1 GB of memory. Only complete shards appear in the folder. After an
interruption, the build continues with the first missing shard.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.extensions.corpora.search.corpus_files import CorpusFiles
from tabcontam.extensions.corpora.search.digest import corpora_folder, digest
from tabcontam.extensions.corpora.search.exact_places import everywhere
from tabcontam.extensions.corpora.search.index_shards import MARKS, IndexShard, ShardBuilder, header_of
from tabcontam.extensions.corpora.search.portions import portions, read
from tabcontam.extensions.corpora.search.tally import Tally
from tabcontam.paths import replace_file

VERSION = 2
HEADER = "index.json"

# Called with the bytes of files that were read, the bytes of all files, and the bytes of text in the shards so far.
ReportProgress = Callable[[int, int, int], None]


@dataclass(frozen=True)
class CorpusIndex:
    """An open index on disk. `tally` counts the parts that were skipped or changed while the corpus was read."""

    files: CorpusFiles
    folder: Path
    shards: tuple[IndexShard, ...]
    tally: Tally

    @classmethod
    def open(cls, files: CorpusFiles, report: Callable[[str], None] = lambda line: None) -> "CorpusIndex | None":
        """Return the index of these files; None if it does not exist or is incomplete. `report` is called with a line
        of text if the index is damaged. Raises `UsageError` if a file of the corpus cannot be read.
        """
        folder = index_folder(files)
        try:
            facts = json.loads((folder / HEADER).read_bytes())
            headers = [header_of(_shard(folder, number)) for number in range(facts["shards"])]
            tally = Tally.from_dict(facts["tally"])
            if facts["version"] != VERSION or facts["files"] != len(files.files) or None in headers:
                raise ValueError("its files have changed since they were written")
            shards = [IndexShard(_shard(folder, place), header) for place, header in enumerate(headers) if header]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            report(f"the index in {folder} is damaged ({one_line(error)}); it is built again")
            (folder / HEADER).unlink(missing_ok=True)
            return None
        return cls(files, folder, tuple(shards), tally)

    @classmethod
    def build(
        cls, files: CorpusFiles, progress: ReportProgress = lambda read, of, text: None, shard: int = 128 << 20
    ) -> "CorpusIndex":
        """Return the index of these files; build it first if missing, in parts (shards) of `shard` bytes. After an
        interruption, the next call continues with the next shard. Raises `UsageError` if the disk is full or another
        process builds the index.
        """
        if (found := cls.open(files)) is not None:
            return found
        folder = index_folder(files)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder} cannot be created ({one_line(error)}); set XDG_CACHE_HOME to another") from None
        with _alone(folder):
            tally, number = _built(files, folder, progress, shard)
            facts = {"version": VERSION, "files": len(files.files), "shards": number, "tally": tally.as_dict()}
            replace_file(folder / HEADER, json.dumps(facts))
        made = cls.open(files)
        if made is None:
            raise UsageError(f"{files.typed} changed while its index was built; run the same command again")
        return made

    @property
    def on_disk(self) -> int:
        """The number of bytes of the index's files."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def count(self, texts: Iterable[bytes]) -> dict[bytes, int]:
        """Return how often each text occurs. Occurrences may overlap; each is within one document."""
        return {text: sum(_own_places(shard, text) for shard in self.shards) for text in texts}

    def document(self, shard: IndexShard, position: int) -> tuple[str, int, int, int]:
        """Return the name of the document at this position of a shard, the positions at which its text in the shard
        begins and ends, and that beginning's offset in the document.
        """
        begin, end, (code, number, offset) = shard.piece_at(position)
        file, mark = divmod(code, len(MARKS))
        ending = f"{MARKS[mark]}{number}" if mark else ""
        return f"{self.files.names[file]}{ending}", begin, end, offset


def index_folder(files: CorpusFiles) -> Path:
    """Return the folder for the index of these files. Raises `UsageError` if a file cannot be read."""
    return corpora_folder() / f"index-{VERSION}" / digest(files)[:32]


def _shard(folder: Path, number: int) -> Path:
    return folder / f"shard-{number:05}"


def _own_places(shard: IndexShard, text: bytes) -> int:
    """Return how often a text occurs in a shard, without its places in the shard before."""
    return len(shard.places(text)) - sum(1 for _ in everywhere(shard.text[: shard.shared], text))


def _built(files: CorpusFiles, folder: Path, progress: ReportProgress, largest: int) -> tuple[Tally, int]:
    """Build the missing shards. Return the tally of all that was read, and the number of shards."""
    number, facts = _whole(folder)
    tally = Tally.from_dict(facts["tally"]) if facts else Tally()
    begin, passed = facts["next"] if facts else (0, 0)
    gathered = ShardBuilder(last=tuple(facts["last"]) if facts else (-1, 0, 0))
    work, text = portions(files), facts["text"] if facts else 0
    total, done = sum(portion.weight for portion in work), sum(portion.weight for portion in work[:begin])
    places = {path: place for place, path in enumerate(files.files)}
    progress(done, total, text)

    def close(following: tuple[int, int], before: dict[str, object]) -> None:
        nonlocal number, gathered, text
        text += len(gathered.text)
        gathered.write(_shard(folder, number), {"next": following, "tally": before, "text": text})
        number, gathered = number + 1, ShardBuilder(last=gathered.last)
        progress(done, total, text)

    for at in range(begin, len(work)):
        portion, before = work[at], tally.as_dict()
        for place, part in enumerate(read(portion, tally=tally)):
            if at == begin and place < passed:
                continue
            if gathered.text and len(gathered.text) + len(part.text) >= largest:
                close((at, place), before)
            gathered.add(places[portion.path], portion.name, part)
        done += portion.weight
    if gathered.text:
        close((len(work), 0), tally.as_dict())
    return tally, number


def _whole(folder: Path) -> tuple[int, dict[str, Any]]:
    """Return the number of complete shards and the header of the last one. Delete everything after them."""
    number, facts = 0, dict[str, Any]()
    while (header := header_of(_shard(folder, number))) is not None:
        number, facts = number + 1, header
    for path in folder.iterdir():
        after = path.name.startswith("shard-") and path.name >= _shard(folder, number).name
        if after or path.name.startswith(".shard-"):
            shutil.rmtree(path, ignore_errors=True)
    return number, facts


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock the folder within the context, because only one process may build an index."""
    try:
        import fcntl
    except ImportError:  # Windows has no such lock: a second process repeats the work
        yield
        return
    with (folder / "lock").open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"another process is building the index in {folder}; wait until it is done") from None
        yield
