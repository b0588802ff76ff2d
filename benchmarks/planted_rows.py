"""Are planted rows found, how fast, and in how much memory: `python -m benchmarks.planted_rows [MB [FOLDER]]`.

A corpus of so many megabytes of text (1000 unless told) is made in a folder: English prose and source code that lie at
hand, repeated with other numbers, as JSON lines, plain text, compressed text and tables of numbers. Rows of four tables
are planted in it 0, 1, 3 and 20 times, in five renderings, some with another order of columns or with line breaks
between the values. All of them are looked for, and rows of tables that are not there, each with other values for one
cell. Told are: plants that were not found, documents that were counted wrongly, finds of rows that are not there beside
those of their other values, the time and the memory of one search by two processes, and the time of `grep -F -f` for
the same rows as lines of CSV.
"""

import csv
import gzip
import html
import io
import json
import multiprocessing
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

from tabcontam.evidence.questions import Lookup, LookupMode, Matches
from tabcontam.extensions.corpora.search.corpus_files import corpus_files
from tabcontam.extensions.corpora.search.corpus_pass import CorpusPass
from tabcontam.extensions.corpora.search.portions import portions
from tabcontam.tables.table import load_table

THERE, ABSENT = ("titanic", "adult", "diabetes", "penguins"), ("bank", "heart", "german", "iris")
TIMES = (0, 1, 3, 20)
ROWS = 40  # of each table
OTHERS = 20  # values that compete with a cell
CHUNKS = 150  # different megabytes of prose
RECORD = 3000  # letters of a record of JSON
PART = 32  # megabytes of a compressed file

Cells = Sequence[str]


def as_csv(columns: Cells, cells: Cells) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="").writerow(cells)
    return file.getvalue()


def as_html(columns: Cells, cells: Cells) -> str:
    return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"


RENDERINGS: dict[str, Callable[[Cells, Cells], str]] = {
    "csv": as_csv,
    "tsv": lambda columns, cells: "\t".join(cells),
    "json": lambda columns, cells: json.dumps(dict(zip(columns, cells, strict=True))),
    "markdown": lambda columns, cells: f"| {' | '.join(cells)} |",
    "html": as_html,
}


@dataclass
class Row:
    """A row that is looked for, and where it was planted."""

    table: str
    columns: Cells
    cells: Cells
    lookup: Lookup
    times: int
    planted: list[str] = field(default_factory=list)
    renderings: list[str] = field(default_factory=list)


def rows_of(name: str, rng: Random) -> list[Row]:
    """Rows of a table, each with a cell that competes with others of its column; cells that are missing left out."""
    table, found = load_table(name), list[Row]()
    for number, cells in enumerate(rng.sample(table.rows, min(ROWS, len(table.rows)))):
        own = [(column, cell) for column, cell in zip(table.columns, cells, strict=True) if cell]
        hidden = rng.randrange(len(own))
        column, cell = own[hidden]
        others = {str(row[table.columns.index(column)] or "") for row in table.rows} - {cell, ""}
        texts = (cell, *rng.sample(sorted(others), min(OTHERS, len(others))))
        beside = tuple(cell for place, (_, cell) in enumerate(own) if place != hidden)
        times = TIMES[number % len(TIMES)] if name in THERE else 0
        names, values = [name for name, _ in own], [cell for _, cell in own]
        found.append(Row(name, names, values, Lookup(texts, 10, LookupMode.CELLS, beside), times))
    return found


def plant(row: Row, number: int, rng: Random) -> str:
    """A rendering of a row, each fourth with another order, each fifth with a line break between two values."""
    name = list(RENDERINGS)[number % len(RENDERINGS)]
    order = list(range(len(row.cells)))
    if number % 4 == 3:
        rng.shuffle(order)
        name += ", other order"
    text = RENDERINGS[name.partition(",")[0]]([row.columns[at] for at in order], [row.cells[at] for at in order])
    if number % 5 == 4:
        text = re.sub(r"(</td>|, |\t| \|)", r"\1\n", text, count=2)
        name += ", line breaks"
    row.renderings.append(name)
    return text


def prose(rng: Random) -> list[str]:
    """Megabytes of text at hand, each with other numbers."""
    roots = (Path(os.__file__).parent, Path("docs"), Path("tabcontam"), Path("/usr/share/common-licenses"))
    files = [path for root in roots for ending in ("*.py", "*.md", "*.txt", "GPL*") for path in root.rglob(ending)]
    pieces: list[str] = []
    for path in rng.sample(sorted(files), min(len(files), 1500)):
        pieces += path.read_text("utf-8", "replace").split("\n\n") if path.is_file() else []
    chunks = []
    for _ in range(CHUNKS):
        text = "\n\n".join(rng.choices(pieces, k=4000))[: 1 << 20]
        chunks.append(re.sub(r"\d+", lambda found: str(rng.randrange(10 ** min(5, len(found[0])))), text))
    return chunks


def numbers(rng: Random) -> Iterator[str]:
    """Lines of tables that hold many small numbers and common words, which rows of real tables have, too."""
    words = ("Private", "male", "Male", "female", "White", "Yes", "No", "S", "C", "Adelie", "Biscoe", "United-States")
    while True:
        cells = [str(rng.choice((rng.randrange(100), rng.randrange(2), f"{rng.uniform(0, 60):.1f}"))) for _ in range(8)]
        yield ",".join([*cells, *rng.choices(words, k=3)])


class Corpus:
    """The corpus as it is written."""

    def __init__(self, folder: Path, rows: Sequence[Row], megabytes: int, rng: Random) -> None:
        self.folder, self.rng, self.size = folder, rng, 0
        self.chunks = prose(rng)
        self.lines = [self._records(chunk) for chunk in self.chunks[:50]]
        self.left = [(row, number) for row in rows for number in range(row.times)]
        rng.shuffle(self.left)
        self.every = max(1, megabytes // (len(self.left) + 1)) if megabytes > len(self.left) else 1
        self.each = -(-len(self.left) // megabytes)
        self._write_lines(folder / "records.jsonl", megabytes * 40 // 100)
        self._write_text(folder / "book.txt", megabytes * 35 // 100)
        for part in range(max(1, megabytes * 20 // 100 // PART)):
            self._write_packed(folder / f"part{part}.txt.gz", min(PART, max(1, megabytes * 20 // 100)))
        self._write_numbers(folder / "numbers.txt", max(1, megabytes * 5 // 100))
        self._write_lines(folder / "last.jsonl", 2, rest=True)

    def _records(self, chunk: str) -> str:
        records = (chunk[begin : begin + RECORD] for begin in range(0, len(chunk), RECORD))
        return "".join(json.dumps({"text": record, "id": number}) + "\n" for number, record in enumerate(records))

    def _next(self) -> tuple[Row, str] | None:
        if not self.left:
            return None
        row, number = self.left.pop()
        return row, plant(row, number, self.rng)

    def _write_lines(self, path: Path, megabytes: int, rest: bool = False) -> None:
        with path.open("w", encoding="utf-8") as file:
            for _ in range(megabytes):
                file.write(self.rng.choice(self.lines))
                self.size += 1 << 20
                for _ in range(len(self.left) if rest else self.each):
                    if (planted := self._next()) is not None:
                        row, text = planted
                        row.planted.append(f"{path.name} {file.tell()}")
                        around = self.rng.choice(self.chunks)[:900].rpartition(" ")[0]
                        file.write(json.dumps({"prompt": f"{around}\n{text}\n{around}", "id": 3}) + "\n")

    def _text(self, path: Path, megabytes: int) -> Iterator[str]:
        for _ in range(megabytes):
            chunk = self.rng.choice(self.chunks)
            self.size += len(chunk)
            yield chunk + "\n"
            for _ in range(self.each):
                if (planted := self._next()) is not None:
                    row, text = planted
                    row.planted.append(path.name)
                    yield f"Some words.\n{text}\nOther words.\n"

    def _write_text(self, path: Path, megabytes: int) -> None:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(self._text(path, megabytes))

    def _write_packed(self, path: Path, megabytes: int) -> None:
        with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
            file.writelines(self._text(path, megabytes))

    def _write_numbers(self, path: Path, megabytes: int) -> None:
        lines = numbers(self.rng)
        block = "".join(f"{next(lines)}\n" for _ in range(60_000))
        with path.open("w") as file:
            for _ in range(megabytes):
                begin = self.rng.randrange(len(block) // 2)
                file.write(block[begin : begin + (1 << 20)])
                self.size += min(1 << 20, len(block) - begin)


def searched(folder: Path, rows: Sequence[Row]) -> tuple[list[Matches], str]:
    """The answers, and what they took."""
    found = portions(corpus_files(str(folder)))
    began, used = perf_counter(), process_time()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    reading = CorpusPass([row.lookup for row in rows], found, workers=2)
    reading.run()
    seconds, children = perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = children.ru_utime + children.ru_stime - before.ru_utime - before.ru_stime + process_time() - used
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = reading.tally.bytes / 1e6
    told = (
        f"{len(rows)} rows searched in {size:,.0f} MB of text, {reading.tally.documents:,} documents: {seconds:.1f} s, "
        f"{size / seconds:.0f} MB/s by two processes; {cpu:.1f} s of processor time, {size / cpu:.0f} MB/s each; "
        f"memory at most {own >> 10} MB + 2 x {children.ru_maxrss >> 10} MB"
    )
    return [counted.matches(row.lookup) for counted, row in zip(reading.matches, rows, strict=True)], told


def grepped(folder: Path, rows: Sequence[Row]) -> str:
    """What grep takes for the same rows as lines of CSV, in the same text."""
    patterns = folder.parent / "patterns.txt"
    patterns.write_text("\n".join(sorted({as_csv(row.columns, row.cells) for row in rows})) + "\n")
    plain = [str(path) for path in sorted(folder.iterdir()) if path.suffix != ".gz"]
    packed = [str(path) for path in sorted(folder.iterdir()) if path.suffix == ".gz"]
    search = f"grep -c -F -f {patterns}"
    command = f"{search} {' '.join(plain)} >&2; zcat {' '.join(packed)} | {search} >&2; true"
    began, before = perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["/bin/sh", "-c", command], check=True, capture_output=True, env={**os.environ, "LC_ALL": "C"})
    seconds, after = perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"grep -F -f of the same rows as lines of CSV: {seconds:.1f} s, {cpu:.1f} s of processor time"


def judged(rows: Sequence[Row], answers: Sequence[Matches]) -> Iterator[str]:
    """What was found of what is there, and of what is not."""
    missed = [(row, answer) for row, answer in zip(rows, answers, strict=True) if row.times and not answer.counts[0]]
    wrong = [(r, a) for r, a in zip(rows, answers, strict=True) if r.times and a.counts[0] != len(set(r.planted))]
    plants = sum(row.times for row in rows)
    yield f"{plants} plants of {sum(bool(row.times) for row in rows)} rows: {len(missed)} rows not found"
    for row, answer in wrong[:5]:
        yield f"  counted {answer.counts[0]} documents, not {len(set(row.planted))}: {row.cells} {row.renderings}"
    for row, _ in missed[:5]:
        yield f"  not found: {row.cells} {row.lookup.texts[0]} {row.renderings}"
    for name in (*THERE, *ABSENT):
        own = [(row, answer) for row, answer in zip(rows, answers, strict=True) if row.table == name]
        without = [(row, answer) for row, answer in own if not row.times]
        found = sum(bool(answer.counts[0]) for _, answer in without)
        others = sum(sum(map(bool, answer.counts[1:])) for _, answer in without)
        asked = sum(len(row.lookup.texts) - 1 for row, _ in without)
        beside = sum(sum(map(bool, answer.counts[1:])) for row, answer in own if row.times)
        yield (
            f"{name}: {found} of {len(without)} rows that are not there found, {others} of {asked} of their other "
            f"values; {beside} other values of rows that are there"
        )
        for row, answer in without:
            for match in answer.places[:1]:
                quote = match.quote[match.begin : match.end]
                yield f"    {row.lookup.texts[match.text]} beside {row.lookup.context}: {quote!r}"


def made(folder: Path, megabytes: int) -> list[Row]:
    """The rows, and the corpus in which some of them are planted."""
    rng = Random(0)
    rows = [row for name in (*THERE, *ABSENT) for row in rows_of(name, rng)]
    folder.mkdir()
    Corpus(folder, rows, megabytes, rng)
    return rows


def in_one_line(folder: Path, megabytes: int, rows: Sequence[Row]) -> list[Row]:
    """A file of one line, and the rows that stand in it, a hundred megabytes apart."""
    rng, planted = Random(1), [row for row in rows if row.times == 1]
    folder.mkdir()
    chunks = [chunk.replace("\n", " ").replace('"', "'") for chunk in prose(rng)[:20]]
    with (folder / "line.jsonl").open("w", encoding="utf-8") as file:
        file.write('{"text": "')
        for number in range(megabytes):
            file.write(rng.choice(chunks))
            if number % 100 == 50:
                row = planted[number // 100]
                file.write(f" {as_csv(row.columns, row.cells)} ")
        file.write('"}\n')
    return planted[: (megabytes + 49) // 100]


def in_the_line(folder: Path, rows: Sequence[Row]) -> str:
    """What the search of one line took."""
    answers, told = searched(folder, rows)
    return f"one line: {told}; {sum(bool(answer.counts[0]) for answer in answers)} of {len(rows)} plants found"


def main() -> None:
    """Make the corpus, search it, and let grep do what it can: each in a process of its own, with its own memory."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    fresh = multiprocessing.get_context("spawn")

    def alone(work: Callable[..., Any], *given: object) -> Any:
        with fresh.Pool(1) as pool:
            return pool.apply(work, given)

    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as place:
        folder, line = Path(place) / "corpus", Path(place) / "line"
        rows = alone(made, folder, megabytes)
        answers, told = alone(searched, folder, rows)
        print(told, flush=True)
        print(grepped(folder, rows), flush=True)
        for found in judged(rows, answers):
            print(found)
        shutil.rmtree(folder)
        print(alone(in_the_line, line, alone(in_one_line, line, megabytes, rows)))


if __name__ == "__main__":
    main()
