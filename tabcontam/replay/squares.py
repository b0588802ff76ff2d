"""Recorded answers as the squares of a heatmap."""

from collections.abc import Sequence

from tabcontam.evidence.base import Verdict
from tabcontam.verdicts.judge import Result


def one_cell_a_square(cells: Sequence[Result]) -> list[Result]:
    """Recorded cells as a heatmap shows them: the files of a main run as one, a serializer study as an LLM of its own.

    Of several files that hold the same test, the one that found something is shown, as in the paper's figures.
    """
    shown: dict[tuple[str, ...], Result] = {}
    for cell in cells:
        study = f" [{cell['serializer'].strip()}]" if cell.get("serializer") else ""
        square = cell | {"llm": cell["llm"] + study, "serializer": None, "source": None}
        key = (square["llm"], cell["dataset"], cell["test"])
        if key not in shown or cell.get("verdict") == Verdict.CONTAMINATED:
            shown[key] = square
    return list(shown.values())
