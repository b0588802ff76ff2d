"""`batches.jsonl` in a run's folder: what was put into which batch, so that none is sent twice and none is lost.

A line says what is about to be sent, the next what id the provider gave it, the last that its answers are in the
folder. Each is on the disk before the run goes on. A batch without an id may have been sent or not: its mark tells.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tabcontam.paths import cut_off
from tabcontam.subjects.batches import NAME, Sent
from tabcontam.subjects.form import Form

BATCHES = "batches.jsonl"
INTENDED, SUBMITTED, SETTLED = "intended", "submitted", "settled"


@dataclass(frozen=True)
class Noted:
    """A batch: the mark that it is sent under, whose it is, when it was sent and how its requests are written.

    `names` are those of its requests: the keys under which their replies are stored. `again` says that all of them were
    sent before, and are not sent a third time. `id` is the provider's; "" where it is not known.
    """

    mark: str
    llm: str
    since: float
    sent: Sent
    names: tuple[str, ...]
    again: bool = False
    id: str = ""


class BatchNotes:
    """The batches of a run's folder. It holds no prompt, no answer and no key."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / BATCHES

    def open(self, llm: str) -> list[Noted]:
        """The batches of an LLM whose answers are not in the folder yet, oldest first."""
        found: dict[str, Noted] = {}
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

    def intend(self, noted: Noted) -> None:
        """Note what is about to be sent. Raises OSError; then it must not be sent."""
        facts = asdict(noted)
        del facts["id"]
        self._add({"batch": INTENDED, **facts})

    def submitted(self, mark: str, batch: str) -> None:
        """Note the id of a batch. Raises OSError; then the mark is enough to find it."""
        self._add({"batch": SUBMITTED, "mark": mark, "id": batch})

    def settled(self, mark: str) -> None:
        """Note that nothing more is to be had of a batch. Raises OSError; then it is looked at once more."""
        self._add({"batch": SETTLED, "mark": mark})

    def _lines(self) -> Iterator[Mapping[str, Any]]:
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for text in file:
                with suppress(ValueError, RecursionError):  # cut off by a crash
                    if isinstance(line := json.loads(text), dict):
                        yield line

    def _add(self, line: Mapping[str, Any]) -> None:
        new, end = not self.path.exists(), b"\n" * cut_off(self.path)
        with self.path.open("ab") as file:
            file.write(end + json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        if new:
            _to_disk(self.path.parent)


def on_disk(path: Path) -> bool:
    """Whether all that was written to a file is on the disk now."""
    try:
        with path.open("ab") as file:
            os.fsync(file.fileno())
    except OSError:
        return False
    return True


def _to_disk(folder: Path) -> None:
    """Have a folder's list of files on the disk, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _noted(line: Mapping[str, Any]) -> Noted | None:
    """The batch that a line tells of; None where it is damaged."""
    names, sent = line.get("names"), line.get("sent")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not isinstance(sent, dict):
        return None
    try:
        how = Sent(Form(sent["form"]), int(sent["allowance"]))
        return Noted(line["mark"], str(line["llm"]), float(line["since"]), how, tuple(names), line["again"] is True)
    except (KeyError, TypeError, ValueError):
        return None
