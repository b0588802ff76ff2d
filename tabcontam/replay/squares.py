"""Recorded answers as the squares of a heatmap."""

from collections.abc import Sequence
from dataclasses import replace

from tabcontam.evidence.base import Verdict
from tabcontam.verdicts.cells import Result


def one_cell_a_square(cells: Sequence[Result]) -> tuple[Result, ...]:
    """Recorded cells as a heatmap shows them: the files of a main run as one, a serializer study as an LLM of its own.

    Of several files that hold the same test, the one that found something is shown, as in the paper's figures.
    """
    shown: dict[tuple[str, ...], Result] = {}
    for cell in cells:
        llm = f"{cell.llm} [{cell.serializer.strip()}]" if cell.serializer else cell.llm
        key = (llm, cell.dataset, cell.test)
        if key not in shown or cell.verdict is Verdict.CONTAMINATED:
            shown[key] = replace(cell, llm=llm, serializer=None, source=None)
    return tuple(shown.values())
