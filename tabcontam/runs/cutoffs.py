"""`--split after-cutoff`: the month of the LLMs' training cut-off, from the catalogue."""

from collections.abc import Sequence
from dataclasses import replace

from tabcontam.errors import UsageError, option
from tabcontam.models.catalogue import find_entry_of_spec
from tabcontam.models.labels import split_label
from tabcontam.tables.dataset_splits import SplitChoice
from tabcontam.tables.splits_by_date import OF_CUTOFF


def at_cutoff(splits: SplitChoice, llms: Sequence[str]) -> SplitChoice:
    """Return the splits with the LLMs' training cut-off in place: `after-cutoff` becomes `after-2023-10`.

    All LLMs of a run are asked about the same rows, so they need one cut-off. Raises `UsageError` if the catalogue
    states no cut-off for an LLM, or if the cut-offs differ.
    """
    wanted = [name for name in splits.names if OF_CUTOFF.fullmatch(name.casefold())]
    if not wanted:
        return splits
    if not llms:
        raise UsageError(f"{wanted[0]} needs an LLM with a known training cut-off; name one with {option('llm')}")
    months: dict[str, str] = {}
    for spec in llms:
        entry = find_entry_of_spec(split_label(spec)[1])
        if entry is None or not entry.cutoff:
            month = option("split", f"{wanted[0].partition('-')[0]}-YYYY-MM")
            raise UsageError(f"the catalogue states no training cut-off of {spec}; write the month: {month}")
        months.setdefault(entry.cutoff, spec)
    if len(months) > 1:
        cutoffs = ", ".join(f"{spec} {month}" for month, spec in months.items())
        raise UsageError(f"the LLMs have different training cut-offs ({cutoffs}); make one run for each cut-off")
    (month,) = months
    names = (f"{name.casefold().partition('-')[0]}-{month}" if name in wanted else name for name in splits.names)
    return replace(splits, names=tuple(dict.fromkeys(names)))
