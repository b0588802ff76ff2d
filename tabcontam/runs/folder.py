"""A run's folder read and written: record a document, judge a past run again, merge several runs."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby, islice
from pathlib import Path

from tabcontam.asking.trials import (
    JUNIT,
    NUMBER,
    RESULTS,
    TRIALS,
    Journal,
    Key,
    Line,
    as_lines,
    judged,
    line_key,
    open_folder,
    trial_of,
)
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Trial
from tabcontam.evidence.registry import BY_ID
from tabcontam.paths import replace_file
from tabcontam.reading.words import Dictionary, english
from tabcontam.replay.squares import one_cell_a_square
from tabcontam.subjects.catalogue import catalogued
from tabcontam.tables.serializers import Serializer
from tabcontam.verdicts.comparison import Pair, comparisons, facts_apart, of_runs
from tabcontam.verdicts.judge import SCHEMA, CellName, Result, correlations, ranking, read_trial, result, results
from tabcontam.verdicts.rules import PAPER
from tabcontam.version import __version__

ANEW = "delete that file and run the same command again: the answers are in trials.jsonl"
Fields = Mapping[str, type | tuple[type, ...]]
RUN_FIELDS: Fields = {
    "version": str, "command": str, "seconds": (int, float), "rules": str, "alpha": (int, float),
    "level": (int, float), "llms": list, "datasets": list, "serializers": list,
}  # fmt: skip
CELL_FIELDS: Fields = {
    "llm": str, "dataset": str, "edition": str, "serializer": str, "test": str, "control": bool, "queries": int,
}  # fmt: skip


def new_folder(moment: datetime) -> Path:
    """Where a run goes that was given no folder: `reports/<time>`, by the clock on the wall; no other run's."""
    first = folder = Path("reports") / moment.astimezone().strftime("%Y-%m-%dT%H-%M-%S")
    number = 1
    while folder.exists():
        number += 1
        folder = first.with_name(f"{first.name}-{number}")
    return folder


def as_json(document: Result) -> str:
    """results.json's text."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def record(folder: Path, document: Result, shown: Result | None = None, runs: Sequence[Pair] = ()) -> Result:
    """Write results.json, junit.xml and the pages beside trials.jsonl; the pages show `shown` instead, if given.

    Returns results.json with its comparisons, which need the trials; `runs` are the cells that two of its runs have.
    Raises `UsageError`.
    """
    from tabcontam.report.html import render_pages
    from tabcontam.report.junit import render_junit

    trials = last_lines(folder, document)
    document = document | {"comparisons": comparisons(document, trials, runs)}
    try:
        replace_file(folder / RESULTS, as_json(document))
        replace_file(folder / JUNIT, render_junit(document))
        pages = render_pages(shown or document, trials)
        for name, page in pages.items():
            replace_file(folder / name, page)
        for older in folder.glob("llm-[0-9]*.html"):
            if older.name not in pages:
                older.unlink()
    except OSError as error:
        raise UsageError(
            f"cannot write the report to {folder}: {error.strerror}; the answers are in {folder / TRIALS}: "
            f"make room and run python -m tabcontam rescore {folder}"
        ) from error
    return document


def load(folder: Path) -> Result:
    """The results of a past run. Raises `UsageError`."""
    from tabcontam.verdicts.results import read_results

    document = read_results(folder)
    if "llms" not in document["run"]:
        raise UsageError(f"{folder} holds recorded answers that `replay` judged, not a run")
    _check(folder, "the run", document["run"], RUN_FIELDS)
    for number, cell in enumerate(document["cells"]):
        _check(folder, f"cell {number}", cell, CELL_FIELDS)
        if cell["test"] not in BY_ID:
            raise UsageError(f"{folder / RESULTS}: cell {number} is of an unknown test {cell['test']!r}")
    return document


def _check(folder: Path, what: str, known: Result, wanted: Fields) -> None:
    lacking = [name for name, kind in wanted.items() if not isinstance(known.get(name), kind)]
    if lacking:
        raise UsageError(f"{folder / RESULTS}: {what} lacks {', '.join(lacking)}; {ANEW}")


def last_lines(folder: Path, document: Result) -> list[Line]:
    """The newest trial of every query of the document's cells, in the order of the cells.

    Each has the number of its line in the folder's trials.jsonl, from 1, under "line". What an earlier run in the
    folder asked beyond a cell's own queries is left out.
    """
    order = {cell_key(cell): number for number, cell in enumerate(document["cells"])}
    newest = {line_key(line): line | {NUMBER: number} for number, line in Journal(folder).numbered()}
    known = [line for key, line in newest.items() if key[:-1] in order]
    ordered = sorted(known, key=lambda line: (order[line_key(line)[:-1]], _number(line["query"])))
    by_cell = groupby(ordered, lambda line: order[line_key(line)[:-1]])
    return [line for place, own in by_cell for line in islice(own, document["cells"][place]["queries"] or 0)]


def rescore(folder: Path, rules: str | None) -> Result:
    """Judge a past run again from its trials, and record it. Raises `UsageError`."""
    document = load(folder)
    open_folder(folder)
    rules, alpha = rules or document["run"]["rules"], document["run"]["alpha"]
    at = document["run"]["level"]
    dictionary = english()
    templates = {item["name"]: _serializer(folder, item) for item in document["run"]["serializers"]}
    cells, lines = [], {}
    for cell, own in _by_cell(folder, document):
        name = _name(cell)
        try:
            trials = [_read(name, line, templates[name.serializer], dictionary) for line in own]
            judged_again = result(name, trials, cell["queries"], rules, at) if trials else cell
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise UsageError(f"{folder / TRIALS}: a trial of {name.test} cannot be read: {error!r}") from error
        if cell.get("answered") and not trials:
            raise UsageError(f"{folder / TRIALS} holds no answers to {name.test} on {name.dataset}; it is not whole")
        cells.append(judged_again)
        for line, trial in zip(own, trials, strict=True):
            lines[line_key(line)] = line | judged(trial, rules == PAPER)
    replace_file(folder / TRIALS, _rewritten(folder, lines))
    about = document["run"] | {"rules": rules, "dictionary": dictionary.name, "version": __version__}
    return record(folder, results(about, cells, rules, alpha))


def merge(folders: Sequence[Path], out: Path) -> Result:
    """One report from several runs, recorded in `out`. Raises `UsageError`."""
    document, lines, pairs = _merged(folders)
    open_folder(out)
    replace_file(out / TRIALS, as_lines(lines))
    return record(out, document, runs=pairs)


def load_all(folders: Sequence[Path]) -> Result:
    """The results of a folder, or of several as `merge` would record them; nothing is written. Raises `UsageError`."""
    if len(folders) > 1:
        document, lines, pairs = _merged(folders)
        return document | {"comparisons": comparisons(document, lines, pairs)}
    from tabcontam.verdicts.results import read_results

    return read_results(folders[0])


def _merged(folders: Sequence[Path]) -> tuple[Result, list[Line], list[Pair]]:
    """Several runs as one, its trials, and the cells that two of them have, of which the later run's stands.

    Raises `UsageError`.
    """
    documents = [load(folder) for folder in folders]
    runs = [document["run"] for document in documents]
    cells: dict[Key, Result] = {}
    lines: dict[Key, Line] = {}
    trials = [last_lines(folder, document) for folder, document in zip(folders, documents, strict=True)]
    for document, own in zip(documents, trials, strict=True):
        replaced = {cell_key(cell) for cell in document["cells"]}
        lines = {key: line for key, line in lines.items() if key[:-1] not in replaced}
        lines |= {line_key(line): line for line in own}
        cells |= {cell_key(cell): cell for cell in document["cells"]}
    rules = {run["rules"] for run in runs}
    if len(rules) > 1:
        raise UsageError(f"the runs were judged by different rules ({', '.join(sorted(rules))}); rescore one of them")
    if len(alphas := {run["alpha"] for run in runs}) > 1:
        levels = ", ".join(f"{alpha:g}" for alpha in sorted(alphas))
        raise UsageError(f"the runs were judged at different levels ({levels}); run them again with one --alpha")
    named = {fact["spec"] for run in runs for fact in run["llms"] if not fact["control"]}
    for cell in cells.values():  # a control that one of the runs named is under test in all of them
        cell["control"] = cell["control"] and cell["llm"] not in named
    about = runs[-1] | {name: _union(runs, name) for name in ("llms", "datasets", "serializers")}
    about["llms"] = [fact | {"control": fact["control"] and fact["spec"] not in named} for fact in about["llms"]]
    about["seed"] = ", ".join(dict.fromkeys(str(run["seed"]) for run in runs)) if len(runs) > 1 else runs[0]["seed"]
    about["catalogue"] = {llm: entry for run in runs for llm, entry in run.get("catalogue", {}).items()}
    took = {line_key(line): line for run in runs for line in run.get("durations", [])}
    about["durations"] = list(took.values())
    about["command"] = "; ".join(run["command"] for run in runs)
    about["seconds"] = round(sum(run["seconds"] for run in runs), 2)
    about["level"] = min(run["level"] for run in runs)
    names = [str(folder) for folder in folders]
    about["notes"] = [*_notes(runs), *facts_apart(runs, names)]
    about["runs"] = [part for name, run in zip(names, runs, strict=True) for part in _parts(name, run)]
    document = results(about, list(cells.values()), min(rules), about["alpha"])
    return document, list(lines.values()), of_runs(zip(names, documents, trials, strict=True))


def _parts(name: str, run: Result) -> list[Result]:
    """What was merged: the run itself, or what it was merged from before."""
    own = {"folder": name} | {key: run.get(key) for key in ("version", "seed", "command", "started")}
    return list(run.get("runs") or [own])


def _notes(runs: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(note for run in runs for note in run.get("notes", [])))


def replay_document(
    cells: Sequence[Result],
    differences: Sequence[Result] | None,
    rule_differences: Sequence[Result],
    rules: str,
    dictionary: str,
    command: str,
) -> Result:
    """results.json of recorded answers: their cells, and where asked for the disagreements.

    `differences` are those with the recorded decisions, `rule_differences` those between the two rule sets; both are
    left out where `differences` is None.
    """
    from tabcontam.replay.records import CATALOGUE

    about = {"version": __version__, "command": command, "rules": rules, "dictionary": dictionary, "finished": True}
    llms = dict.fromkeys(cell["llm"] for cell in cells)
    about["catalogue"] = catalogued({llm: CATALOGUE.get(llm, llm) for llm in llms})
    ranked = ranking(one_cell_a_square([cell for cell in cells if not cell["serializer"]]), rules)
    document = {
        "schema": SCHEMA,
        "run": about,
        "cells": list(cells),
        "tables": [],
        "ranking": ranked,
        "correlations": correlations(ranked),
    }
    document["comparisons"] = comparisons(document, ())
    if differences is None:
        return document
    return document | {"differences": list(differences), "rule_differences": list(rule_differences)}


def record_replay(out: Path, document: Result) -> None:
    """Write the judged cells of recorded answers as a folder without trials. Raises `UsageError`."""
    if (open_folder(out) / TRIALS).exists():
        raise UsageError(f"{out} holds a run; choose another folder with --out")
    record(out, document, shown=document | {"cells": one_cell_a_square(document["cells"])})


def _serializer(folder: Path, item: Result) -> Serializer:
    try:
        return Serializer(about="", **item)
    except TypeError as error:
        raise UsageError(f"{folder / RESULTS}: a serializer cannot be read: {error}") from error


def _by_cell(folder: Path, document: Result) -> list[tuple[Result, list[Line]]]:
    own: dict[Key, list[Line]] = {}
    for line in last_lines(folder, document):
        own.setdefault(line_key(line)[:-1], []).append(line)
    return [(cell, own.get(cell_key(cell), [])) for cell in document["cells"]]


def _read(name: CellName, line: Line, serializer: Serializer, dictionary: Dictionary) -> Trial:
    return read_trial(BY_ID[name.test], trial_of(line), serializer, dictionary)


def _rewritten(folder: Path, lines: dict[Key, Line]) -> str:
    """trials.jsonl with its judged fields renewed; no line is dropped."""
    kept = list(Journal(folder).lines())
    newest = {line_key(line): number for number, line in enumerate(kept)}
    for key, line in lines.items():
        kept[newest[key]] = line
    return as_lines(kept)


def _union(runs: Sequence[Result], name: str) -> list[Result]:
    """What the runs list under a name, each thing once, as the last run has it."""
    found = {tuple(item.get(key) for key in ("spec", "name", "edition")): item for run in runs for item in run[name]}
    return list(found.values())


def _name(cell: Result) -> CellName:
    names = ("llm", "dataset", "edition", "serializer", "test", "control")
    return CellName(**{name: cell[name] for name in names})


def cell_key(cell: Result) -> Key:
    """What tells a cell of results.json from another, as in the lines of trials.jsonl."""
    return _name(cell).key


def _number(query: str) -> list[int]:
    """The place of a query in its cell: `-0` before its `-0-decoy-1`, and that before `-1`."""
    return [int(digits) for digits in re.findall(r"-(\d+)", query)]
