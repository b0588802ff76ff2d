"""The text that `evaluate` prints: for each LLM and table, the accuracies of LLM and learners by number of shots."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tabcontam.extensions.evaluate.evaluation_page import (
    NONE,
    by_name,
    interval,
    number,
    published,
    sentences,
    spread,
    titled,
)
from tabcontam.extensions.evaluate.evaluation_results import Evaluation, published_auc
from tabcontam.extensions.evaluate.shot_results import ClassifierScore, Interval
from tabcontam.report.terminal_writer import TerminalWriter

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def print_evaluations(console: "Console", found: Sequence[Evaluation], page: Path) -> None:
    """Print the table of each evaluation, its remarks, and the path of the page."""
    paper = TerminalWriter(console)
    for one in found:
        paper.line(titled(one), "bold")
        if one.shots:
            _print_llm(console, one)
            if one.learners:
                paper.line("the same rows, by models that learned from the same shots:")
                _print_learners(console, one)
        for sentence in sentences(one):
            paper.entry([("- ", "")], sentence)
        if mark := published_auc(one.dataset):
            paper.entry(
                [("- ", "")],
                f"{mark.name} published an AUC of {mark.auc:.2f} at 0 shots ({mark.llm}, template {mark.template}).",
            )
        paper.line()
    for mark in published(found)[:1]:
        paper.entry([], f"The published AUCs are from {mark.citation}. {mark.compares}", "dim")
    paper.line(f"report: {page}")


def _print_llm(console: "Console", found: Evaluation) -> None:
    table = _table("shots", "rows", "accuracy", "as read", "AUC", "memory's share")
    for at in found.shots:
        memory = at.memory if at.memory and at.memory.pairs else None
        table.add_row(
            str(at.shots),
            str(at.asked),
            _value(at.own.accuracy, at.own.interval, at.own.spread) if at.asked else NONE,
            f"{number(at.read.accuracy)} of {at.read.rows}" if at.read else NONE,
            _value(at.own.auc, at.own.auc_interval, at.own.auc_spread),
            _value(memory.share, memory.interval, None) if memory else NONE,
        )
    console.print(table)


def _print_learners(console: "Console", found: Evaluation) -> None:
    table = _table("shots", "largest class", *found.learners)
    for at in found.shots:
        own = by_name(at)
        table.add_row(
            str(at.shots),
            number(at.majority),
            *(_learner(own[name]) if name in own else NONE for name in found.learners),
        )
    console.print(table)


def _learner(one: ClassifierScore) -> str:
    auc = f", AUC {number(one.auc)}" if one.auc is not None else ""
    return f"{_value(one.accuracy, one.interval, one.spread)}{auc}"


def _value(value: float | None, reach: Interval | None, over: float | None) -> str:
    """Return `value` as text, followed by its interval (`reach`) and its spread over draws (`over`) if known."""
    if value is None:
        return NONE
    ends = f" [{interval(reach).replace(' to ', ', ')}]" if reach else ""
    return f"{number(value)}{ends} {spread(over)}".rstrip()


def _table(*heads: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for head in heads:
        table.add_column(head, justify="right", overflow="fold")
    return table
