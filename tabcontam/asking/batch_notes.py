"""`batches.jsonl` in a run's folder: notes on each batch, so that no batch is sent twice or lost.

A batch has three lines: before it is sent; when the provider has given it an id; when its answers are in the folder.
Each line is on the disk before the run goes on. It is unknown whether a batch without an id was sent: we ask the
provider for a batch with its mark, a name that we gave it.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tabcontam.models.base import PromptForm
from tabcontam.models.batch_api import NAME, RequestStyle
from tabcontam.paths import last_line_is_cut_off

BATCHES = "batches.jsonl"
INTENDED, SUBMITTED, SETTLED = "intended", "submitted", "settled"


@dataclass(frozen=True)
class BatchNote:
    """A batch: our own name for it (`mark`), its LLM, when it was sent, and how its requests are written.

    `since`: seconds since 1970. `names`: the keys under which its replies are stored. `again`: all its requests were
    sent once before, and are not sent a third time. `id`: the provider's id; "" if it is not known.
    """

    mark: str
    llm: str
    since: float
    sent: RequestStyle
    names: tuple[str, ...]
    again: bool = False
    id: str = ""


class BatchNotes:
    """The notes on batches in a run's folder. They contain no prompt, no answer and no API key."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / BATCHES

    def open(self, llm: str) -> list[BatchNote]:
        """Return an LLM's batches, oldest first, without the batches with all their answers in the folder."""
        found: dict[str, BatchNote] = {}
        for line in self._lines():
            mark, what = line.get("mark"), line.get("batch")
            if not isinstance(mark, str):
                continue
            if what == INTENDED and (noted := _noted(line)):
                found[mark] = noted
            elif what == SUBMITTED and mark in found and NAME.fullmatch(str(line.get("id"))):
                found[mark] = replace(found[mark], id=str(line["id"]))
            elif what == SETTLED:
                found.pop(mark, None)
        return [noted for noted in found.values() if noted.llm == llm]

    def intend(self, noted: BatchNote) -> None:
        """Note a batch that is about to be sent. Raises OSError; the batch must not be sent then."""
        facts = asdict(noted)
        del facts["id"]
        self._add({"batch": INTENDED, **facts})

    def submitted(self, mark: str, batch: str) -> None:
        """Note the id of a batch. Raises OSError; a later run can then find the batch by its mark."""
        self._add({"batch": SUBMITTED, "mark": mark, "id": batch})

    def settled(self, mark: str) -> None:
        """Note that all answers of a batch are in the folder. Raises OSError; a later run then looks once more."""
        self._add({"batch": SETTLED, "mark": mark})

    def _lines(self) -> Iterator[Mapping[str, Any]]:
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for text in file:
                with suppress(ValueError, RecursionError):  # a crash cut the line off
                    if isinstance(line := json.loads(text), dict):
                        yield line

    def _add(self, line: Mapping[str, Any]) -> None:
        new, end = not self.path.exists(), b"\n" * last_line_is_cut_off(self.path)
        with self.path.open("ab") as file:
            file.write(end + json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        if new:
            _to_disk(self.path.parent)


def on_disk(path: Path) -> bool:
    """Return whether everything that was written to a file is on the disk now."""
    try:
        with path.open("ab") as file:
            os.fsync(file.fileno())
    except OSError:
        return False
    return True


def _to_disk(folder: Path) -> None:
    """Write a folder's list of files to the disk, if the system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _noted(line: Mapping[str, Any]) -> BatchNote | None:
    names, sent = line.get("names"), line.get("sent")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not isinstance(sent, dict):
        return None
    try:
        how = RequestStyle(PromptForm(sent["form"]), int(sent["allowance"]))
        return BatchNote(line["mark"], str(line["llm"]), float(line["since"]), how, tuple(names), line["again"] is True)
    except (KeyError, TypeError, ValueError):
        return None
