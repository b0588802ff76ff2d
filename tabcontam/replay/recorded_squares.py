"""Recorded answers as the squares of a heatmap."""

from collections.abc import Sequence
from dataclasses import replace

from tabcontam.evidence.base import RONVAL, Verdict
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.run_facts import known_tests


def one_cell_a_square(cells: Sequence[Result]) -> tuple[Result, ...]:
    """Return recorded results as a heatmap shows them: the files of a main run as one, a serializer study as an LLM.

    Of several files with the same test of Table 1 a contaminated one is shown, as in the figures of that paper. Other
    papers' files have squares of their own.
    """
    known = known_tests()
    shown: dict[tuple[str | None, ...], Result] = {}
    for cell in cells:
        llm = f"{cell.llm} [{cell.serializer.strip()}]" if cell.serializer else cell.llm
        source = None if known[cell.test].source in ("", RONVAL) else cell.source
        key = (llm, cell.dataset, cell.split, cell.test, source)
        if key not in shown or cell.verdict is Verdict.CONTAMINATED:
            shown[key] = replace(cell, llm=llm, serializer=None, source=source)
    return tuple(shown.values())
