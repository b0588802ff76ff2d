"""Trials to results: cells, tables, ranking. `run`, `rescore` and `report` share it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from tabcontam.decide.words import Dictionary
from tabcontam.serializers import Serializer
from tabcontam.suite.base import Kind, Measurement, Test, Trial, Verdict
from tabcontam.suite.registry import BY_ID
from tabcontam.suite.verdicts import PAPER, Decision, decide, published, texts

SCHEMA = 1
ROW_TESTS = ("incomplete_completion", "full_completion", "feature_completion")
DECIDED = (Verdict.CONTAMINATED, Verdict.NOT_DETECTED)
Result = dict[str, Any]
UNKNOWN: Result = {  # what is measured and concluded of a cell, before it is
    "verdict": None,
    "paper_verdict": None,
    "score": None,
    "hits": 0,
    "expected_hits": None,
    "answered": 0,
    "queries": 0,
    "null": None,
    "p_value": None,
    "q_value": None,
    "interval": None,
    "recalled_bits": None,
    "detectable_share": None,
    "reason": None,
    "sentence": None,
}


@dataclass(frozen=True)
class CellName:
    """What tells one cell from another; `control` says that it is a control that joined the run."""

    llm: str
    dataset: str
    edition: str
    serializer: str
    test: str
    control: bool = False

    @property
    def key(self) -> tuple[str, ...]:
        """The values of `fields`."""
        return tuple(self.fields().values())

    def fields(self) -> dict[str, str]:
        """The fields as they stand in trials.jsonl."""
        names = ("llm", "dataset", "edition", "serializer", "test")
        return {name: getattr(self, name) for name in names}


def read_trial(test: Test, trial: Trial, serializer: Serializer, dictionary: Dictionary) -> Trial:
    """The trial with its reading."""
    return replace(trial, reading=test.read(trial.query, trial.reply, serializer, dictionary))


def result(name: CellName, trials: Sequence[Trial], planned: int, rules: str, ended: str = "") -> Result:
    """The result of a cell from its read trials; a cell with fewer than were planned is never called clean.

    `ended` says why no more were asked, if something is known.
    """
    measurement = BY_ID[name.test].judge(trials, planned)
    decision = _whole(decide(measurement, rules), trials, planned, ended)
    of_paper = all(trial.query.paper for trial in trials)
    paper = _whole(published(measurement), trials, planned, ended).verdict if of_paper else None
    return _fields(
        name,
        verdict=decision.verdict,
        paper_verdict=paper,
        queries=planned,
        reason=decision.reason,
        **counts(measurement, rules),
    )


def _whole(decision: Decision, trials: Sequence[Trial], planned: int, ended: str) -> Decision:
    """The decision, unless it calls a cell clean that was not asked to the end."""
    if len(trials) == planned or decision.verdict is Verdict.CONTAMINATED:
        return decision
    return Decision(
        Verdict.NO_ANSWER, f"the run ended after {len(trials)} of {planned} queries{ended and f': {ended}'}"
    )


def counts(measurement: Measurement, rules: str) -> Result:
    """What was counted under the rules, and the sentence that says so."""
    asked = len(measurement.trials)
    if rules == PAPER:
        hits, answered = measurement.paper_hits, texts(measurement)
    else:
        hits, answered = measurement.hits, measurement.answered
    unread = f"; {asked - answered} of {asked} answers could not be read" if answered < asked else ""
    sentence = f"{hits} of {asked} {measurement.claim}{unread}"
    return {"hits": hits, "answered": answered, "score": round(hits / asked, 4), "sentence": sentence}


def unjudged(name: CellName, verdict: Verdict, reason: str, queries: int = 0) -> Result:
    """The result of a cell that has no trials: skipped, or not answered."""
    return _fields(name, verdict=verdict, queries=queries, reason=reason, sentence=reason)


def _fields(name: CellName, **known: object) -> Result:
    fields = {**name.fields(), "kind": str(BY_ID[name.test].kind), "control": name.control, **UNKNOWN}
    fields |= {key: str(value) if isinstance(value, Verdict) else value for key, value in known.items()}
    return fields


def results(run: Mapping[str, object], cells: Sequence[Result], rules: str) -> Result:
    """results.json: the run, its cells, a line for each table and the ranking of the LLMs under test."""
    return {
        "schema": SCHEMA,
        "run": dict(run),
        "cells": list(cells),
        "tables": tables(cells),
        "ranking": ranking(cells, rules),
    }


def tables(cells: Iterable[Result]) -> list[Result]:
    """One line for each (LLM, dataset, serializer): what its row tests say."""
    grouped: dict[tuple[str, ...], list[Result]] = {}
    for cell in cells:
        key = tuple(str(cell[name]) for name in ("llm", "dataset", "edition", "serializer"))
        if cell["test"] in ROW_TESTS:
            grouped.setdefault(key, []).append(cell)
    return [_table(key, rows) for key, rows in grouped.items()]


def _table(key: tuple[str, ...], cells: Sequence[Result]) -> Result:
    verdicts = [cell["verdict"] for cell in cells]
    order = (Verdict.CONTAMINATED, Verdict.NOT_DETECTED, Verdict.NO_ANSWER, Verdict.UNINFORMATIVE, Verdict.SKIPPED)
    verdict = next((word for word in order if word in verdicts), Verdict.SKIPPED)
    tests = ", ".join(cell["test"] for cell in cells if cell["verdict"] == verdict)
    return {
        **dict(zip(("llm", "dataset", "edition", "serializer"), key, strict=True)),
        "verdict": str(verdict),
        "p_value": None,
        "q_value": None,
        "recalled_bits": None,
        "detectable_share": None,
        "reason": f"{verdict}: {tests}",
    }


def ranking(cells: Iterable[Result], rules: str) -> list[Result]:
    """Table 2 of the paper: the LLMs under test by contamination score, highest first.

    The score is contaminated over decided cells of tests 1 to 9, and under the paper's rules over all of them.
    """
    by_llm: dict[str, list[Result]] = {}
    for cell in cells:
        if not cell["control"]:
            by_llm.setdefault(cell["llm"], []).append(cell)
    lines = [_ranked(llm, group, rules) for llm, group in by_llm.items()]
    return sorted(lines, key=lambda line: -(line["score"] if line["score"] is not None else -1))


def _ranked(llm: str, cells: Sequence[Result], rules: str) -> Result:
    numbered = [cell for cell in cells if BY_ID[cell["test"]].number is not None]
    counted = numbered if rules == PAPER else [cell for cell in numbered if cell["verdict"] in DECIDED]
    found = sum(cell["verdict"] == Verdict.CONTAMINATED for cell in counted)
    return {
        "llm": llm,
        "score": round(found / len(counted), 4) if counted else None,
        "membership": _mean(cells, "membership"),
        "zero_shot": _mean(cells, "classification_0shot"),
        "one_shot": _mean(cells, "classification_1shot"),
    }


def _mean(cells: Iterable[Result], test: str) -> float | None:
    kinds = (Kind.MEMBERSHIP, Kind.CLASSIFICATION)
    scores = [
        cell["score"]
        for cell in cells
        if cell["test"] == test and cell["kind"] in kinds and cell["verdict"] is None and cell["score"] is not None
    ]
    return round(fmean(scores), 4) if scores else None
