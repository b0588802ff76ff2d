"""A run in parts, for several machines without a cluster: the choice of the results that each machine asks for.

All queries to an LLM about a dataset stay in one part, in every edition, split, serializer and prompt set. This is
because some tests share their evidence, asking in turns goes from test to test, and a control is built once for a
table. With a reference, all queries about a dataset stay in one part, since the reference affects all its results; so
do they if a control is asked only what an undecided LLM is asked.

A part consists of neighbouring results of the plan, LLM by LLM. So a machine opens few LLMs and keeps few tables in
memory. The cuts depend only on the numbers of queries, as whole numbers, and are equal on every machine.
"""

import hashlib
from collections.abc import Sequence

from tabcontam.asking.query_plan import PlannedResult
from tabcontam.config import RunShard
from tabcontam.errors import UsageError, option
from tabcontam.groups import grouped


def part_of(plan: Sequence[PlannedResult], shard: RunShard) -> list[PlannedResult]:
    """Return the planned results of one part, in the plan's order. Raises `UsageError` if there are too many parts."""
    waits = (planned.subject.joined and planned.deferred and planned.queries for planned in plan)
    together = any(waits) or any(planned.subject.reference for planned in plan)
    units = list(grouped(plan, lambda planned: ("" if together else planned.name.llm, planned.name.dataset)).values())
    if len(units) < shard.of:
        what = "tables, whose models are asked together" if together else "pairs of LLM and table"
        raise UsageError(
            f"{option('shard', shard)}: the run has {len(units)} {what}, and so at most {len(units)} parts; "
            f"write {option('shard', f'{min(shard.number, len(units))}/{len(units)}')}"
        )
    loads = [sum(1 + len(planned.queries) for planned in unit) for unit in units]
    first, last = spans(loads, shard.of)[shard.number - 1]
    own = {id(planned) for unit in units[first:last] for planned in unit}
    return [planned for planned in plan if id(planned) in own]


def spans(loads: Sequence[int], parts: int) -> list[tuple[int, int]]:
    """Divide `loads`, in order, into `parts` spans, none of them empty, with the smallest possible largest sum.

    Needs at least as many loads as parts. Returns for each span its first index, and the index after its last.
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
    """Return at least `least` spans, in order. Each has a sum of at most `most`, or a single load."""
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
    """Return the SHA-256, in hexadecimal digits, of a plan's results and their queries, in order.

    Queries count even if they are not asked: an LLM may turn out to lack something once it is reached, and each machine
    reaches only the LLMs of its own part.
    """
    whole = hashlib.sha256()
    known: dict[int, str] = {}  # all LLMs have the same queries of a sheet
    for planned in plan:
        queries = planned.written
        if id(queries) not in known:
            asked = (repr((query.id, query.asked, query.expected, query.row)) for query in queries)
            known[id(queries)] = hashlib.sha256("\n".join(asked).encode()).hexdigest()
        whole.update(repr((*planned.name, known[id(queries)])).encode())
    return whole.hexdigest()
