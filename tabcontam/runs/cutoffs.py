"""`DATASET#after-cutoff`: the month of the LLMs' training cut-off, from the catalogue."""

from collections.abc import Sequence
from typing import Any

from tabcontam.errors import UsageError, option
from tabcontam.models.catalogue import find_entry_of_spec, split_label
from tabcontam.tables.splits_by_date import OF_CUTOFF


def at_cutoff(datasets: Sequence[Any], llms: Sequence[str]) -> tuple[Any, ...]:
    """Return the datasets with the LLMs' training cut-off in place: `#after-cutoff` becomes `#after-2023-10`.

    All LLMs of a run are asked about the same rows, so they need one cut-off. Raises `UsageError` if the catalogue
    states no cut-off for an LLM, or if the cut-offs differ.
    """
    wanted = [spec for spec in datasets if isinstance(spec, str) and OF_CUTOFF.fullmatch(_split(spec))]
    if not wanted:
        return tuple(datasets)
    if not llms:
        raise UsageError(f"{wanted[0]} needs an LLM with a known training cut-off; name one with {option('llm')}")
    months: dict[str, str] = {}
    for spec in llms:
        entry = find_entry_of_spec(split_label(spec)[1])
        if entry is None or not entry.cutoff:
            month = f"{_before_cutoff(wanted[0])}YYYY-MM"
            raise UsageError(f"the catalogue states no training cut-off of {spec}; write the month: {month}")
        months.setdefault(entry.cutoff, spec)
    if len(months) > 1:
        cutoffs = ", ".join(f"{spec} {month}" for month, spec in months.items())
        raise UsageError(f"the LLMs have different training cut-offs ({cutoffs}); make one run for each cut-off")
    (month,) = months
    return tuple(f"{_before_cutoff(spec)}{month}" if spec in wanted else spec for spec in datasets)


def _split(spec: str) -> str:
    return spec.rpartition("#")[2].casefold()


def _before_cutoff(spec: str) -> str:
    """Return `DATASET#after-` of `DATASET#After-Cutoff`."""
    return f"{spec.rpartition('#')[0]}#{_split(spec).partition('-')[0]}-"
