"""A run's folder in publishable form: pages, results and trials, without the cells of tables that may not be shown.

A trial of such a table keeps its outcome. Its prompt, its expected cells and its reply are replaced by keyed hashes:
HMAC-SHA-256 under a new random key, in a file next to the folder that only the owner can read. A plain hash would
reveal cells: in a column with few values, anyone can try them all. With the key and the text, the owner can prove what
a published trial contained. The hashed message names the query, so equal cells of two queries have different hashes.
"""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tabcontam.asking.trial_file import RESULTS, TRIALS, UNREAD, Journal, Line, as_lines, open_folder
from tabcontam.errors import UsageError, option
from tabcontam.extensions.publish.redaction import Redaction, redact_results
from tabcontam.paths import ESCAPED, replace_file
from tabcontam.report.lookup_places import is_lookup
from tabcontam.runs.folder import merge, write_report, written_together
from tabcontam.runs.stored_trials import StoredTrials, shown_lines
from tabcontam.verdicts.document import read_results
from tabcontam.verdicts.result_types import ResultKey
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.rules import Over

KEY = ".key.json"  # the ending of the key's file after the folder's name; the file is not published
HASHED = ("prompt", "expected", "reply")
NAMES = ("llm", "dataset", "edition", "split", "serializer", "prompts", "test", "query")
# Fields of a trial of a redacted table.
KEPT = (*NAMES, "paper", "state", "hit", "readable", UNREAD, "turn", "decoy_of", "cached")


def redact(
    folders: Sequence[Path], out: Path, everything: bool = False, over: Over | None = None, incomplete: bool = False
) -> RunResults:
    """Write one publishable report of these runs to `out`, and its key to `out`.key.json; return the report's results.

    Raises `UsageError` if `out` contains a run, or is one of the folders.
    """
    key_file = out.with_name(f"{out.name}{KEY}")
    if out.resolve() in {folder.resolve() for folder in folders} or _holds_a_run(out):
        raise UsageError(f"{out} holds a run with its prompts and answers; choose another folder with {option('out')}")
    with TemporaryDirectory() as merged:
        whole = Path(merged)
        found = merge(folders, whole, over, incomplete)
        published, done = redact_results(found, everything)
        key = secrets.token_bytes(32)
        open_folder(out)
        _write_private(key_file, _owners(key, done))
        with written_together(out) as new:
            with (new / TRIALS).open("w", encoding="utf-8", errors=ESCAPED, newline="") as file:
                file.writelines(as_lines([_line(line, done, key)]) for line in Journal(whole).lines())
            names = {after.key: before.key for before, after in zip(found.results, published.results, strict=True)}
            write_report(new, published, published, _PublishedTrials(shown_lines(whole, found.results), names, done))
    return published


@dataclass(frozen=True)
class _PublishedTrials:
    """The trials that may be shown, by their results' published keys. `names` maps these keys to those of the run."""

    trials: StoredTrials
    names: Mapping[ResultKey, ResultKey]
    done: Redaction

    def trials_of(self, name: ResultKey) -> list[Line]:
        """Return the trials of a result; none for a table that may not be shown."""
        own = self.names[name]
        if self.done.hides(own.dataset, own.edition):
            return []
        return [_renamed(line, self.done) for line in self.trials.trials_of(own)]

    def __iter__(self) -> Iterator[Line]:
        for name in self.names:
            yield from self.trials_of(name)


def proof(key: bytes, line: Mapping[str, Any], what: str, content: object) -> str:
    """Return the hash of a published trial's "prompt", "expected" or "reply" (`what`), from the original `content`.

    `line` is the published trial. Prompts and expected cells have the same hash for all LLMs of a run.
    """
    names = [name for name in NAMES if name != "llm" or what == "reply"]
    message = json.dumps([what, *(line[name] for name in names), content], separators=(",", ":"))
    return hmac.new(key, message.encode(), hashlib.sha256).hexdigest()


def _holds_a_run(out: Path) -> bool:
    return (out / TRIALS).exists() and not ((out / RESULTS).exists() and read_results(out).run.redacted is not None)


def _line(line: Line, done: Redaction, key: bytes) -> Line:
    named = _renamed(line, done)
    if not done.hides(line["dataset"], line["edition"]):
        return named
    kept = {name: named.get(name) for name in KEPT}
    return kept | {"hashes": {what: proof(key, kept, what, line[what]) for what in HASHED}}


def _renamed(line: Line, done: Redaction) -> Line:
    """Return a trial with the published names, without the server's error message, which may name accounts."""
    edition = done.edition(line["dataset"], line["edition"]) or ""
    split = done.split(line["dataset"], line["edition"], line["split"])
    judged = [[done.judge(by), word.partition(":")[0]] for by, word in line.get("judged", ())]
    fields: Line = {"judged": judged} if judged else {}
    if is_lookup(line):  # a document's name is its file, and its quotes contain text around the rows
        fields |= {"reply": "", "found": []}
    return line | {"llm": done.llm(line["llm"]), "edition": edition, "split": split, "detail": ""} | fields


def _owners(key: bytes, done: Redaction) -> str:
    """Return the content of the owner's file: the key that proves a trial, and the original names."""
    numbered = {name: done.columns((name, edition), ()) for name, edition in sorted(done.tables)}
    held = {
        "about": "keep this file secret: a reader of it can find out the cells of the redacted tables",
        "key": key.hex(),
        "columns": {name: {place: column for column, place in columns.items()} for name, columns in numbered.items()},
        "llms": {published: name for name, published in done.llms.items() if published != name},
    }
    return json.dumps(held, ensure_ascii=False, indent=1) + "\n"


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read. Raises `UsageError`."""
    try:
        replace_file(path, "")
        path.chmod(0o600)
        with path.open("r+", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UsageError(f"cannot write the key to {path}: {error.strerror}") from error
