"""Recorded cells judged by their p-values, and where that differs from the published rules, with the reason."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tabcontam.cards import find_card
from tabcontam.decide.dictionary import Dictionary
from tabcontam.records import MEMBERSHIP, NAME_TESTS, ROW_TESTS, Record
from tabcontam.replays.null import Known, known_edition
from tabcontam.replays.rows import PREAMBLE, weigh_rows
from tabcontam.replays.weighing import Weighed
from tabcontam.replays.words import weigh_names, weigh_words
from tabcontam.suite.base import Verdict
from tabcontam.suite.verdicts import ALPHA, ENOUGH, found, level

GUESSED = "guessing explains it"
TOO_FEW = "too little was asked to tell memory from guessing"
SILENT = "no readable answer"
PARTLY = "cells that guessing does not explain are right, if not the whole row"
SAID = "words are said that no other dataset's answers hold"

Cell = dict[str, Any]
Group = Sequence[Record]  # the records of one cell
Editions = dict[tuple[str, tuple[str, ...]], Known | str]


@dataclass(frozen=True)
class Judged:
    """A calibrated verdict, what a results file holds of it, and how the answers were read otherwise."""

    verdict: Verdict
    fields: Cell
    notes: tuple[str, ...] = ()


def judge(groups: Sequence[Group], dictionary: Dictionary) -> list[Judged | None]:
    """The calibrated verdict of each cell, None where there is only a score.

    The cells of one LLM are one family; those of a serializer study are another than those of its main runs.
    """
    editions: Editions = {}
    weighed = [_weighed(group, groups, editions, dictionary) for group in groups]
    families: dict[tuple[str, bool], list[int]] = {}
    for number, group in enumerate(groups):
        families.setdefault((group[0].llm, group[0].serializer is None), []).append(number)
    judged: list[Judged | None] = [None] * len(groups)
    for family in families.values():
        for number, own in zip(family, _family([weighed[number] for number in family]), strict=True):
            judged[number] = own
    return judged


def _weighed(group: Group, groups: Iterable[Group], editions: Editions, dictionary: Dictionary) -> Weighed | str | None:
    first = group[0]
    if first.test == MEMBERSHIP:
        return None
    if first.test in ROW_TESTS:
        columns = tuple(first.values or ())
        if (first.dataset, columns) not in editions:
            editions[first.dataset, columns] = known_edition(first.dataset, columns)
        known = editions[first.dataset, columns]
        return known if isinstance(known, str) else weigh_rows(group, known, dictionary)
    card = find_card(first.dataset)
    if card is None:
        return "not recorded: no card tells the dataset's names"
    decoys = _decoys(first, groups)
    return weigh_names(group, decoys, card) if first.test in NAME_TESTS else weigh_words(group, decoys)


def _decoys(first: Record, groups: Iterable[Group]) -> dict[str, list[str]]:
    """The answers of the same LLM to the same test in the same serializer, by the other datasets."""
    decoys: dict[str, list[str]] = {}
    for group in groups:
        other = group[0]
        same = (other.llm, other.serializer, other.test) == (first.llm, first.serializer, first.test)
        if same and other.dataset != first.dataset:
            decoys.setdefault(other.dataset, []).extend(record.output for record in group)
    return decoys


def _family(cells: Sequence[Weighed | str | None]) -> list[Judged | None]:
    """The verdicts of cells that share one error rate; a cell that could not have told is no part of it."""
    at = level(ALPHA, sum(isinstance(cell, Weighed) for cell in cells))
    blunt = [cell.blunt(at) if isinstance(cell, Weighed) else None for cell in cells]
    counted = {
        number: cell.evidence.p_value
        for number, cell in enumerate(cells)
        if isinstance(cell, Weighed)
        and not blunt[number]
        and cell.evidence.answered
        and cell.evidence.p_value is not None
    }
    findings = dict(zip(counted, found(list(counted.values()), ALPHA), strict=True))
    return [_judged(cell, blunt[number], findings.get(number)) for number, cell in enumerate(cells)]


def _judged(cell: Weighed | str | None, blunt: str | None, finding: tuple[float, bool] | None) -> Judged | None:
    """The verdict of one cell, given its q-value and whether it is a finding."""
    if cell is None:
        return None
    if isinstance(cell, str):
        return Judged(Verdict.UNINFORMATIVE, {"reason": cell, "sentence": cell})
    q_value, is_found = finding or (None, False)
    verdict, reason = _verdict(cell, blunt, is_found)
    evidence = cell.evidence
    fields = {
        "reason": reason,
        "queries": cell.queries,
        "answered": evidence.answered,
        "hits": evidence.hits,
        "expected_hits": evidence.expected_hits,
        "score": round(evidence.hits / evidence.asked, 4),
        "statistic": {"name": evidence.statistic, "value": evidence.value, "expected": evidence.expected},
        "null": evidence.null,
        "p_value": evidence.p_value,
        "q_value": q_value,
        "interval": evidence.interval and list(evidence.interval),
        "interval_of": evidence.interval_of if evidence.interval else None,
        "recalled_bits": evidence.recalled_bits,
        "sentence": evidence.sentence,
    }
    return Judged(verdict, fields, cell.notes)


def _verdict(cell: Weighed, blunt: str | None, is_found: bool) -> tuple[Verdict, str | None]:
    if blunt:
        return Verdict.UNINFORMATIVE, blunt
    if is_found:
        return Verdict.CONTAMINATED, None
    if cell.evidence.answered < ENOUGH * cell.queries or not cell.evidence.answered:
        silent = cell.queries - cell.evidence.answered
        return Verdict.NO_ANSWER, f"no readable answer to {silent} of {cell.queries} queries"
    return Verdict.NOT_DETECTED, None


def contrast(cell: Cell, judged: Judged) -> list[Cell]:
    """The line of a cell whose calibrated verdict is another than the published one, with the reason; else none."""
    if cell["paper_verdict"] == judged.verdict:
        return []
    reason = judged.fields["reason"] or judged.fields["sentence"]
    places = {key: cell[key] for key in ("llm", "dataset", "serializer", "test", "source")}
    verdicts = {"paper": cell["paper_verdict"], "calibrated": str(judged.verdict)}
    return [{**places, **verdicts, "group": _cause(cell, judged), "explanation": reason}]


def _cause(cell: Cell, judged: Judged) -> str:
    """Why the rule sets differ, in words that cells share."""
    reason, first = judged.fields["reason"], next(iter(judged.notes), None)
    if judged.verdict is Verdict.CONTAMINATED:
        if cell["test"] not in ROW_TESTS:
            return SAID
        return PREAMBLE if PREAMBLE in judged.notes else PARTLY
    if judged.verdict is Verdict.NO_ANSWER:
        return SILENT
    if "p_value" not in judged.fields:
        return str(reason)
    cause = GUESSED if judged.verdict is Verdict.NOT_DETECTED else TOO_FEW
    return f"{cause}: {first}" if first and cell["paper_verdict"] == Verdict.CONTAMINATED else cause
