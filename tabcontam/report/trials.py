"""The trials of each cell: all of them, and as the terminal shows them."""

from collections.abc import Iterable, Mapping
from typing import Any

from tabcontam.verdicts.cells import Result, place_of
from tabcontam.verdicts.wording import text

Trial = Mapping[str, Any]


def by_cell(cells: Iterable[Result], trials: Iterable[Trial]) -> dict[tuple[str, ...], dict[str, Trial]]:
    """The trials of each cell, by the cell's place and then by query. Of a query asked again the last trial counts."""
    found: dict[tuple[str, ...], dict[str, Trial]] = {cell.place: {} for cell in cells}
    for number, trial in enumerate(trials):
        if (place := place_of(trial)) in found:
            found[place][text(trial.get("query")) or str(number)] = trial
    return found


def telling(cells: Iterable[Result], trials: Iterable[Trial]) -> dict[tuple[str, ...], list[Trial]]:
    """The trials of each cell, by its place: hits before the others, the paper's own before further ones, no decoys."""
    return {
        place: sorted(
            (trial for trial in of_query.values() if not trial.get("decoy_of")),
            key=lambda trial: (not trial.get("hit"), not trial.get("paper")),
        )
        for place, of_query in by_cell(cells, trials).items()
    }
