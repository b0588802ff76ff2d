"""results.json as earlier versions wrote it, lifted to what it is now.

Schema 1 had no facts of the tests, and what its notes and reasons were about stood in their words alone. Here, and
nowhere else, they are taken from these words. Neither it nor the first files of schema 2 said what a control has read,
which the names of the two that there were tell, nor what an LLM lacks for a test, which the reason tells.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tabcontam.evidence.base import Facts, Family, Kind, Verdict
from tabcontam.tables.cards import first_split
from tabcontam.verdicts.facts import in_order, known_tests
from tabcontam.verdicts.notes import Note, NoteKind

ENDED = "the run ended after"  # how the reason began of a cell that was not asked to the end
UNASKED = (Verdict.SKIPPED, Verdict.NO_ANSWER)
OF_NOTES = {"the runs have different seeds": NoteKind.SEEDS, "the runs have different versions": NoteKind.VERSIONS}
KNOWING = (Kind.KNOWLEDGE, Kind.MEMORIZATION)
CANNOT = " cannot take part: the test needs "  # how the reason went on of a cell that its LLM could not take
NEEDED = {"instructions": "an LLM that understands a question", "score": "log-probabilities"}
CONTROLS = {"control:exposed": 1, "control:unexposed": 0}  # with the copies that they have read, at the least


def lifted(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document of schema 1 as one of today's; what is foreign in it stays, to be complained of."""
    run, cells, tables = (document.get(name) for name in ("run", "cells", "tables"))
    known = known_tests()
    cells = _each(cells, lambda cell: _cell(cell, known))
    tables = _each(tables, lambda table: {"reason": ""} | _known(table))
    if isinstance(run, Mapping):
        parts = [*(cells or ()), *(document.get("comparisons") or ())] if isinstance(cells, list) else []
        run = _run(run, [part for part in parts if isinstance(part, Mapping)])
    changed = {"schema": 2, "run": run, "cells": cells, "tables": tables}
    return _known({**document, **changed})


def with_controls(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A document whose controls say what they have read, also where it is of a version that did not write it down."""
    run, cells = document.get("run"), document.get("cells")
    if not isinstance(run, Mapping) or not isinstance(llms := run.get("llms"), list | tuple):
        return document
    if any("checks" in llm for llm in llms if isinstance(llm, Mapping)):
        return document

    def read(cell: Mapping[str, Any]) -> dict[str, Any]:
        _, cannot, needed = str(cell.get("reason")).partition(CANNOT)
        lacks = NEEDED.get(needed, needed) if cannot and cell.get("verdict") == Verdict.SKIPPED else None
        return {"exposure": CONTROLS.get(str(cell.get("llm"))), "lacks": lacks, **cell}

    def checking(llm: Mapping[str, Any]) -> dict[str, Any]:
        return {"checks": llm.get("spec") in CONTROLS, **llm}

    return {**document, "run": {**run, "llms": _each(llms, checking)}, "cells": _each(cells, read)}


def _each(parts: Any, lift: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Any:
    if not isinstance(parts, list | tuple):
        return parts
    return [lift(part) if isinstance(part, Mapping) else part for part in parts]


def with_splits(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The document of a version that knew no splits: of a card that has some it asked about the first."""

    run = document.get("run")
    lists = {
        name: each_with_splits(document[name], "dataset")
        for name in ("cells", "tables", "comparisons")
        if name in document
    }
    if isinstance(run, Mapping):
        of_run = {"datasets": "name", "durations": "dataset"}
        lists["run"] = {
            **run,
            **{part: each_with_splits(run[part], name) for part, name in of_run.items() if part in run},
        }
    return {**document, **lists}


def each_with_splits(parts: object, name: str) -> Any:
    """The same of one list of parts, each of which has the dataset under `name`."""

    def named(part: Any) -> Any:
        if not isinstance(part, Mapping) or "split" in part or not isinstance(part.get(name), str):
            return part
        return {**part, "split": first_split(part[name], part.get("edition")) or None}

    return list(map(named, parts)) if isinstance(parts, list | tuple) else parts


def _known(part: Mapping[str, Any]) -> dict[str, Any]:
    """What is not null, which some fields may not be any more."""
    return {name: value for name, value in part.items() if value is not None}


def _cell(cell: Mapping[str, Any], tests: Mapping[str, Facts]) -> dict[str, Any]:
    verdict, reason = cell.get("verdict"), cell.get("reason")
    ended = isinstance(reason, str) and reason.startswith(ENDED)
    unasked = verdict in UNASKED and cell.get("statistic") is None
    known = tests.get(str(cell.get("test")))
    kind = known.kind if known else Kind.MEMORIZATION
    queries = cell.get("queries") or 0
    return {"kind": kind, **cell, "queries": queries, "cut_short": bool(queries) and (ended or unasked)}


def _run(run: Mapping[str, Any], cells: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    found = {test: cell.get("kind") for cell in cells if isinstance(test := cell.get("test"), str)}
    tests = in_order(known_tests().get(test) or _foreign(test, kind) for test, kind in found.items())
    changed: dict[str, Any] = {"recorded": "llms" not in run, "tests": tests}
    if isinstance(notes := run.get("notes"), list):
        changed["notes"] = [_note(note) for note in notes]
    if isinstance(llms := run.get("llms"), list):
        changed["llms"] = _each(llms, _llm)
    return {**_known(run), **changed}


def _foreign(test: str, kind: object) -> Facts:
    """What can be said of a test that this version does not know: no more than that a page may be enough for it."""
    of = next((one for one in Kind if one == kind), Kind.MEMORIZATION)
    return Facts(
        id=test,
        title=test,
        number=None,
        kind=of,
        family=Family.KNOWLEDGE if of in KNOWING else Family.SCORE,
        row_test=False,
        decides=True,
        shows_rows=False,
        measure="",
    )


def _note(note: object) -> object:
    if not isinstance(note, str):
        return note
    return Note(next((kind for start, kind in OF_NOTES.items() if note.startswith(start)), NoteKind.EDITIONS), note)


def _llm(llm: Mapping[str, Any]) -> dict[str, Any]:
    resolved = llm.get("resolved")  # behind what a name stands for there may be a note
    stands_for = resolved.partition(" (")[0] if isinstance(resolved, str) else ""
    return {"stands_for": stands_for, **_known(llm)}
