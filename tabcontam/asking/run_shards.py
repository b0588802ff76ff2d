"""A run in parts, for several machines without a cluster: the cells of the plan that each of them asks.

All queries to an LLM about a dataset stay together, in every edition, split, serializer and prompt set: tests of one
pool are weighed together, tables are asked in turns across tests, and a control is built once for a table. With a
reference all LLMs on a dataset stay together, since its answers count for nothing in any of their cells.

The parts are neighbours in the plan, LLM by LLM, so that a machine opens few LLMs and holds few tables in memory; the
cuts follow from the numbers of queries alone, as whole numbers, and are equal on every machine.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from tabcontam.asking.query_plan import PlannedResult
from tabcontam.errors import UsageError, option
from tabcontam.groups import grouped


@dataclass(frozen=True)
class RunShard:
    """One part of a run: its `number`, from 1, `of` so many."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def read(cls, text: str) -> "RunShard":
        """Return the part that is written as `3/8`. Raises ValueError for any other text."""
        first, slash, last = text.partition("/")
        if not (slash and first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
            raise ValueError(f"{text!r} is not a part of a run; write for example 3/8, the third of eight parts")
        return cls(int(first), int(last))


def part_of(plan: Sequence[PlannedResult], shard: RunShard) -> list[PlannedResult]:
    """Return the cells of one part, in the plan's order. Raises `UsageError` if there are fewer units than parts."""
    together = any(planned.subject.reference for planned in plan)
    units = list(grouped(plan, lambda planned: ("" if together else planned.name.llm, planned.name.dataset)).values())
    if len(units) < shard.of:
        what = "tables, whose models a reference keeps together" if together else "pairs of LLM and table"
        raise UsageError(
            f"{option('shard', shard)}: the run has {len(units)} {what}, and so at most {len(units)} parts; "
            f"write {option('shard', f'{min(shard.number, len(units))}/{len(units)}')}"
        )
    loads = [sum(1 + len(planned.queries) for planned in unit) for unit in units]
    first, last = spans(loads, shard.of)[shard.number - 1]
    own = {id(planned) for unit in units[first:last] for planned in unit}
    return [planned for planned in plan if id(planned) in own]


def spans(loads: Sequence[int], parts: int) -> list[tuple[int, int]]:
    """Divide loads, in order, into `parts` spans whose largest sum is as small as it can be; none is empty.

    There are at least as many loads as parts. Returns each span's first place, and the place after its last.
    """
    low, high = max(loads), sum(loads)
    while low < high:
        middle = (low + high) // 2
        if len(_filled(loads, middle, 1)) <= parts:
            high = middle
        else:
            low = middle + 1
    return _filled(loads, low, parts)


def _filled(loads: Sequence[int], most: int, least: int) -> list[tuple[int, int]]:
    """Return spans in order, each with a sum of at most `most`, or shorter if there would be fewer than `least`."""
    found: list[tuple[int, int]] = []
    first, load = 0, 0
    for place, own in enumerate(loads):
        each_one = len(loads) - place <= least - len(found) - 1
        if place > first and (load + own > most or each_one):
            found.append((first, place))
            first, load = place, 0
        load += own
    return [*found, (first, len(loads))]


def digest(plan: Sequence[PlannedResult]) -> str:
    """Return the SHA-256 of a whole plan, in hexadecimal digits: of its cells and their queries, in order.

    All queries written for a cell count, asked or not: what an LLM lacks can show once it is reached, and each machine
    reaches the LLMs of its own part alone.
    """
    whole = hashlib.sha256()
    known: dict[int, str] = {}  # LLMs share the queries of a sheet
    for planned in plan:
        queries = planned.written
        if id(queries) not in known:
            asked = (repr((query.id, query.asked, query.expected, query.row)) for query in queries)
            known[id(queries)] = hashlib.sha256("\n".join(asked).encode()).hexdigest()
        whole.update(repr((*planned.name, known[id(queries)])).encode())
    return whole.hexdigest()
