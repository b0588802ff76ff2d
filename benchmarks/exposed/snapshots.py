"""The models of a study, each with what it has read, and their training by `expose`."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.exposed.tables import BEHIND, CLASS, OTHER, READ, TABLES, write

TABCONTAM = (sys.executable, "-m", "tabcontam")
PROVIDER = "hf:"  # of models that `expose` makes
MODEL = "model-0"  # the folder that expose saves a model in


@dataclass(frozen=True)
class Snapshot:
    """A model that goes on from `start`, and has then read `part` of each table `copies` times in all."""

    name: str
    start: str
    part: str
    copies: int
    lora: bool = False

    @property
    def more(self) -> int:
        """The copies that its own training adds."""
        return self.copies - sum(one.copies for one in SNAPSHOTS if (one.name, one.part) == (self.start, self.part))


BASE, FORM, FORM_LORA, NONE, FORGETS = "base", "form", "form-lora", "none", "forgets"
READERS = (
    Snapshot("1", FORM, READ, 1),
    Snapshot("4", "1", READ, 4),
    Snapshot("16", "4", READ, 16),
    Snapshot("64", "16", READ, 64),
    Snapshot("16-lora", FORM_LORA, READ, 16, lora=True),
    Snapshot("64-lora", "16-lora", READ, 64, lora=True),
)
LAST = "64"  # the snapshot that has read most
SNAPSHOTS = (
    Snapshot(BASE, "", READ, 0),
    *READERS,
    Snapshot(NONE, FORM, BEHIND, 64),
    Snapshot(FORGETS, "16", BEHIND, 16),
)


def train(out: Path, llm: str, rows: int) -> dict[str, str]:
    """Make every snapshot that is not there, in a folder of its own in `out`, and return how each is named to `--llm`.

    First of all the LLM reads shuffled twins of all that is asked about, and none of its rows, so that every trained
    snapshot knows the form of the tables.
    """
    files = {table: write(out / "tables", table, rows) for table in TABLES}
    read = {part: [files[table][part] for table in TABLES] for part in (READ, OTHER, BEHIND)}
    made = {BASE: llm}
    for name, lora in ((FORM, False), (FORM_LORA, True)):
        made[name] = _exposed(out / name, llm, 0, [*read[READ], *read[OTHER]], lora)
    for one in SNAPSHOTS:
        if one.start:
            made[one.name] = _exposed(out / one.name, made[one.start], one.more, read[one.part], one.lora)
    return {one.name: made[one.name] for one in SNAPSHOTS}


def _exposed(folder: Path, llm: str, copies: int, tables: Sequence[Path], lora: bool) -> str:
    began = perf_counter()
    what = ["--llm", llm, "--copies", str(copies), "--rendering", "csv", "--target", CLASS, "--out", str(folder)]
    named = [word for path in tables for word in ("--dataset", str(path))]
    command = [*TABCONTAM, "expose", *what, *(["--lora"] if lora else []), *named]
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(done.returncode)
    print(f"{folder.name}: there after {perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return f"{PROVIDER}{folder / MODEL}"
