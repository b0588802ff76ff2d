"""The column of a table that is an output in free text, and the columns that are its input."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from tabcontam.errors import Skip
from tabcontam.evidence.rows.guided.word_runs import words
from tabcontam.evidence.thresholds import LEAST_DISTINCT_OUTPUTS, LEAST_OUTPUT_WORDS, MOST_OUTPUT_ROWS
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.text_tasks import TextForm, TextTask

ENDS = {TextForm.SUMMARY: "the summary", TextForm.SENTENCE: "the summary", TextForm.PAIR: "the text"}


@dataclass(frozen=True)
class TextOutput:
    """An output that is a text: its column, those of its input, and its name in prompts.

    `free` is whether it does not follow from the input, as a summary's words do not.
    """

    column: str
    inputs: tuple[str, ...]
    words: str
    free: bool
    task: TextTask

    def of_row(self, table: Table, row: int) -> tuple[str, str] | None:
        """Return the input and the output of a row, or None if one of them is missing or has no word."""
        cells = [table.rows[row][table.columns.index(name)] for name in (*self.inputs, self.column)]
        if any(table.is_missing(cell) for cell in cells):
            return None
        *given, output = (" ".join((cell or "").split()) for cell in cells)
        return ("\n".join(given), output) if words(" ".join(given)) and words(output) else None


def output_of(table: Table) -> TextOutput:
    """Return the output of a table. Raises `Skip` if none of its columns is one."""
    found = cached_fact(table, "output", lambda: _find_output(table))
    if found is None:
        raise Skip("no column is a text that belongs to another: a pair, a summary, or a target that is a text")
    return found


def _find_output(table: Table) -> TextOutput | None:
    task = table.text
    if task is not None and task.form in ENDS:
        column = task.texts[-1]
        free = task.form is not TextForm.PAIR
        called = f"{ENDS[task.form]} ({column})"
        return TextOutput(column, task.texts[:-1], called, free, task) if len(task.texts) > 1 else None
    if table.target is None or not _is_text(table, table.target):
        return None
    inputs = tuple(name for name in table.columns if name != table.target and _is_text(table, name))
    made = TextTask(TextForm.CLASSIFICATION, (*inputs, table.target))
    return TextOutput(table.target, inputs, f"the text ({table.target})", False, made) if inputs else None


def _is_text(table: Table, name: str) -> bool:
    """Return whether a column has words, which differ in most rows."""
    cells = _seen(table, name)
    usual = median([len(words(cell or "")) for cell in cells] or [0])
    return usual >= LEAST_OUTPUT_WORDS and len(set(cells)) >= LEAST_DISTINCT_OUTPUTS * len(cells)


def _seen(table: Table, name: str) -> Sequence[Cell]:
    return table.column(name)[:MOST_OUTPUT_ROWS]
