"""The text that `chronology` prints: sentences for each test, a line for each LLM, and a list of omitted results."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tabcontam.extensions.dates.chronological_analysis import Chronology
from tabcontam.extensions.dates.chronology_sentences import published_words, sentences, side_words, signed
from tabcontam.extensions.dates.task_contamination import published_for_tests
from tabcontam.report.terminal_writer import TerminalWriter, open_table
from tabcontam.verdicts.wording import visible

if TYPE_CHECKING:
    from rich.console import Console


# named: most lines on omitted results
def print_chronology(
    console: "Console", found: Sequence[Chronology], left_out: Sequence[str], page: Path, *, named: int = 12
) -> None:
    """Print each test's accuracies on tables from before and after the LLMs' cut-offs."""
    least_width = 18  # least width of the column of LLMs' names
    from rich.text import Text

    paper = TerminalWriter(console)
    for one in found:
        paper.line(one.title, "bold")
        for sentence in sentences(one):
            paper.indented(sentence)
        if not one.pairs:
            continue
        paper.line("  tables above the majority class, of all, and in brackets those significantly above", "bold")
        table = open_table("  LLM", ("cut-off", "before", "lift", "after", "lift", "a year"), 2, least_width)
        for llm in one.llms:
            sides = [text for side in (llm.before, llm.after) for text in (side_words(side), signed(side.lift))]
            name = Text(f"  {visible(llm.title, line=True)}")
            table.add_row(name, llm.cutoff, *sides, signed(llm.trend.slope if llm.trend else None))
        console.print(table)
        paper.line()
    for published in published_for_tests([one.test for one in found if one.pairs]):
        paper.line(f"as published by Li and Flanigan (2024), {published.title}", "bold")
        for sentence in published_words(published)[:2]:
            paper.indented(sentence)
    if left_out:
        paper.line("left out", "bold")
        for line in left_out[:named]:
            paper.line(f"  {visible(line, line=True)}")
        if len(left_out) > named:
            paper.line(f"  and {len(left_out) - named} more, which --json lists")
    paper.line(f"report: {page}")
