"""How fast corpora are read, indexed and searched: `python -m benchmarks.corpora [MB [FOLDER]]`.

A text of so many megabytes (256 unless told) is made in a folder, in each form. Of each the megabytes of text a second
that one process reads, the most memory it took, and the same of the processor's time alone (`cpu`), which other work on
the machine does not change; then the same for the index, its size on disk, and 10,000 strings looked up in it.
"""

import bz2
import gzip
import json
import multiprocessing
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from time import perf_counter, process_time

from tabcontam.extensions.corpora.search.corpus_files import corpus_files
from tabcontam.extensions.corpora.search.corpus_index import CorpusIndex
from tabcontam.extensions.corpora.search.portions import portions, read
from tabcontam.extensions.corpora.search.tally import Tally

STRINGS = 10_000
LONG, SHORT = 3000, 200  # letters of a record
COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 6),
    "bz2": bz2.compress,
    "zst": lambda data: _zstd(data),
}


def _zstd(data: bytes) -> bytes:
    from backports import zstd

    return zstd.compress(data)


def texts(megabytes: int, rng: Random) -> Iterator[str]:
    """Words of no language with the frequencies of one, about a megabyte at a time."""
    words = [
        "".join(rng.choices("etaoinshrdlucmfwypvbgkqjxzéß", range(28, 0, -1), k=rng.randint(1, 9)))
        for _ in range(50_000)
    ]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    for _ in range(megabytes):
        chosen = rng.choices(words, weights, k=200_000)
        yield "".join(word + (",\n" if place % 15 == 14 else " ") for place, word in enumerate(chosen))[: 1 << 20]


def made(folder: Path, megabytes: int) -> list[Path]:
    """The text in each form."""
    plain, long, short, table = (folder / name for name in ("text.txt", "long.jsonl", "short.jsonl", "cells.csv"))
    with plain.open("w") as one, long.open("w") as two, short.open("w") as three, table.open("w") as four:
        for text in texts(megabytes, Random(0)):
            one.write(text)
            for begin in range(0, len(text), LONG):
                record = {"text": text[begin : begin + LONG], "id": begin, "meta": {"source": "made"}}
                two.write(json.dumps(record, ensure_ascii=False) + "\n")
            for begin in range(0, len(text) // 8, SHORT):
                piece = text[begin : begin + SHORT]
                three.write(json.dumps({"instruction": piece[:90], "input": "", "output": piece[90:]}) + "\n")
                four.write(f'{begin},"{piece}",{piece[:20].replace(chr(10), " ")}\n')
    paths = [plain, long, short, table]
    for ending, compress in COMPRESSED.items():
        packed = folder / f"text.txt.{ending}"
        packed.write_bytes(compress(plain.read_bytes()[: 64 << 20]))
        paths.append(packed)
    packed = folder / "long.jsonl.zst"
    packed.write_bytes(_zstd(long.read_bytes()))
    return [*paths, packed, *_parquet(folder, long)]


def _parquet(folder: Path, lines: Path) -> list[Path]:
    import pyarrow
    import pyarrow.parquet

    with lines.open() as file:
        records = [json.loads(line) for line in file]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records), folder / "long.parquet")
    return [folder / "long.parquet"]


def reading(path: Path) -> str:
    """A line about reading a file."""
    tally, began, used = Tally(), perf_counter(), process_time()
    for portion in portions(corpus_files(str(path))):
        for _ in read(portion, tally=tally):
            pass
    return _line(
        path.name, tally.bytes, perf_counter() - began, process_time() - used, f"{tally.documents:,} documents"
    )


def indexing(path: Path) -> str:
    """Lines about the index of a file: built, and asked."""
    began, used = perf_counter(), process_time()
    index = CorpusIndex.build(corpus_files(str(path)))
    built = _line(
        "index",
        index.size,
        perf_counter() - began,
        process_time() - used,
        f"{index.on_disk / index.size:.2f} bytes a byte",
    )
    rng, sought = Random(1), list[bytes]()
    content = path.read_bytes()
    for number in range(STRINGS):  # half of them are there
        begin = rng.randrange(len(content) - 100)
        text = content[begin : begin + rng.randint(20, 80)].decode("utf-8", "ignore").encode()
        sought.append(text if number % 2 else text[:12] + str(number).encode() + text[12:])
    lines = [built]
    for when in ("first", "again"):
        began, used = perf_counter(), process_time()
        found = sum(map(bool, index.count(sought).values()))
        taken = f"{perf_counter() - began:.2f} s, {process_time() - used:.2f} s cpu"
        lines.append(f"{STRINGS:,} strings counted, {when}: {taken}, {found:,} found, {len(index.shards)} shards")
    return "\n".join(lines)


def _line(name: str, size: int, seconds: float, used: float, more: str) -> str:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    pace = f"{size / 1e6 / seconds:6.0f} MB/s {size / 1e6 / used:6.0f} MB/s cpu"
    return f"{name:16} {size / 1e6:6.0f} MB of text {pace}  peak {peak:4} MB  {more}"


def main() -> None:
    """Each measurement in a process of its own, so that its memory is its own."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        fresh = multiprocessing.get_context("spawn")
        with fresh.Pool(1) as pool:
            paths = pool.apply(made, (Path(folder), megabytes))
        for measure, path in [*((reading, path) for path in paths), (indexing, paths[0])]:
            with fresh.Pool(1) as pool:
                print(pool.apply(measure, (path,)), flush=True)


if __name__ == "__main__":
    main()
