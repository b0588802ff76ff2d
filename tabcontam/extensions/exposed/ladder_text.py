"""The text that `ladder` prints: a line for each test, and a final summary of the verdicts on tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tabcontam.calibration.dose import Dose, amount
from tabcontam.extensions.exposed.ladder_page import called, copies_of, sentences, share
from tabcontam.report.terminal_writer import TerminalWriter, open_table
from tabcontam.verdicts.wording import visible

if TYPE_CHECKING:
    from rich.console import Console


def print_ladder(console: "Console", found: Sequence[Dose], titles: Mapping[str, str], page: Path) -> None:
    """Print each test's detected share by copies read, and a summary of the verdicts on tables."""
    from rich.text import Text

    paper = TerminalWriter(console)
    paper.line("detected, by copies of a row that were read", "bold")
    copies = copies_of(found)
    table = open_table("test", (*map(amount, copies), "half from", "95% from"))
    for dose in found:
        by_copies = {rung.copies: share(rung) for rung in dose.rungs}
        reached = ["-" if number is None else amount(number) for number in (dose.half, dose.nearly_all)]
        name = Text(visible(called(dose, titles), line=True))
        table.add_row(name, *(by_copies.get(number, "") for number in copies), *reached)
    console.print(table)
    for dose in found[:1]:
        paper.line()
        paper.line(f"{called(dose, titles)}:", "bold")
        for sentence in sentences(dose):
            paper.indented(sentence)
    paper.line(f"report: {page}")
