"""A check before a report is written into a folder: no answer may be lost that exists nowhere else."""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from tabcontam.asking.trial_file import TRIALS, UNREAD, line_of
from tabcontam.errors import UsageError, option
from tabcontam.evidence.questions import ReplyState
from tabcontam.runs.folder_part import folder_parts

READ = ("parsed", "hit", "readable", UNREAD)  # the fields of a line that rescoring can change


def check_replaceable(out: Path, folders: Sequence[Path]) -> None:
    """Raise `UsageError` if a report of these runs in `out` would replace one of them, or answers of another run.

    It may replace an older report of the same runs.
    """
    where = f"choose another folder with {option('out')}"
    if out.resolve() in {folder.resolve() for folder in folders}:
        if len(folders) == 1:
            raise UsageError(f"{out} is the run itself: rescore {out} writes its report again; or {where}")
        raise UsageError(f"{out} is one of these runs, and the report of all of them would replace it; {where}")
    for name in (TRIALS, *(part.file for part in folder_parts().values() if part.file)):
        if _lost(out / name, [folder / name for folder in folders]):
            raise UsageError(f"{out} holds answers of another run, which this report would replace; {where}")


def _lost(existing: Path, files: Sequence[Path]) -> bool:
    """Return whether a file has an answer that no other file has. The values that were read in answers are ignored."""
    if not existing.exists():
        return False
    found = {digest for file in files for digest, _ in _lines(file)}
    lacking = {answer for digest, text in _lines(existing) if digest not in found and (answer := _answer(text))}
    if lacking:
        lacking.difference_update(_answer(text) for file in files for _, text in _lines(file))
    return bool(lacking)


def _lines(file: Path) -> Iterator[tuple[bytes, bytes]]:
    if file.exists():
        with file.open("rb") as lines:
            for text in lines:
                text = text.rstrip(b"\r\n")
                yield sha256(text).digest(), text


def _answer(text: bytes) -> bytes:
    """Return a digest of a line's query and answer; empty if the line has no answer."""
    line = line_of(text, whole=False)
    if line is None or line.get("state") == ReplyState.FAILED:
        return b""
    return sha256(json.dumps({name: line[name] for name in sorted(line) if name not in READ}).encode()).digest()
