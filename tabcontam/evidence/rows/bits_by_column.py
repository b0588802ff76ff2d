"""The columns in which the recalled bits lie, and the p-value of a result without each of these columns.

Cells that are right in only one column may be public facts: players' birthdays, the states of cities. So row tests also
report the p-value without each column, and contaminated requires a second column. Columns of one entity count as one: a
model that knows a player's name knows the birthday.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tabcontam.baseline.stored_facts import stored_fact
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.entities import entities, entities_and_keys
from tabcontam.tables.table import Table


# version: of the rule for entities: cached results of other versions are not read
def entity_names(table: Table, columns: Iterable[str], *, keys: bool = False, version: int = 1) -> dict[str, str]:
    """Return the joined name of an entity's columns for each of `columns` that belongs to an entity.

    With `keys`, a key that a few rows share forms one entity with the columns that it determines.
    """

    def read(held: Any) -> dict[str, tuple[str, ...]]:
        if not all(name in names and set(names) <= set(table.columns) for name, names in held.items()):
            raise ValueError("no entities of this table")
        return {name: tuple(names) for name, names in held.items()}

    what, find = ("entities and keys", entities_and_keys) if keys else ("entities", entities)
    question = [what, version, sorted(table.missing)]
    known = cached_fact(
        table,
        f"kept {what}",
        lambda: stored_fact(table, question, lambda: dict(find(table)), lambda found: found, read),
    )
    return {name: " and ".join([", ".join(known[name][:-1]), known[name][-1]]) for name in columns if name in known}


def p_values_without(groups: Sequence[str], p_value: Callable[[Sequence[int]], float]) -> dict[str, float]:
    """Return for each group of cells the p-value of all other cells, or 1 if there are no other cells.

    `groups` has the group of each cell, and `p_value` is called with the places of the other cells.
    """
    remaining = {group: [place for place, own in enumerate(groups) if own != group] for group in dict.fromkeys(groups)}
    return {group: p_value(places) if places else 1.0 for group, places in remaining.items()}


def bits_by_group(cells: Iterable[tuple[str, float]]) -> Mapping[str, float]:
    """Return the sum of recalled bits by group; each cell is given by its group and its bits."""
    totals = defaultdict[str, float](float)
    for group, bits in cells:
        totals[group] += bits
    return dict(totals)
