"""New tables of a plan, prepared on other machines while this one prepares the others.

A machine gets as JSON all that a table's preparation needs, makes all stored facts about the table, and sends them
back. This machine writes them to its cache, and the run reads them there. The other machine stores nothing. The run
waits for a table that another machine prepares, as preparing it here would not be faster. If the machine is lost, its
table is offered again.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, suppress

from tabcontam.asking.preparation_jobs import fill_cache, made_with, table_from
from tabcontam.asking.work_division import PreparationQueue, StoredFactRegistry
from tabcontam.baseline.stored_facts import collect_stored_facts, folder_of, store_facts
from tabcontam.extensions.cluster.machines import ClusterMachines, LostWorkError
from tabcontam.garbage_collection import disable_garbage_collector
from tabcontam.tables.table import Table

# Bytes that are sent at once. A piece of over 100 kB would stay on the other machine until it is fetched; if the
# head is lost just then, Ray ends this process.
PIECE = 65_536


async def prepare_remotely(
    machines: ClusterMachines, left: PreparationQueue, found: StoredFactRegistry, job: Callable[[Table], bytes]
) -> None:
    """Have tables prepared on `machines` until no table is left, the machines are lost, or this is cancelled."""
    with suppress(asyncio.CancelledError):
        await machines.visited(_prepared(machines, left, found, job))


async def _prepared(
    machines: ClusterMachines, left: PreparationQueue, found: StoredFactRegistry, job: Callable[[Table], bytes]
) -> None:
    at_once = min(machines.places(), left.untouched)
    await asyncio.gather(*(_one_after_another(machines, left, found, job) for _ in range(at_once)))


async def _one_after_another(
    machines: ClusterMachines, left: PreparationQueue, found: StoredFactRegistry, job: Callable[[Table], bytes]
) -> None:
    while table := left.offer():
        try:
            async with aclosing(machines.doing(stored_facts, job(table))) as messages:
                if why_not := (await anext(messages)).decode():
                    machines.lines.add(why_not)
                    return
                await _claimed(table, messages, left, found)
        except LostWorkError:
            pass  # the table can be offered again
        finally:
            left.withdraw(table)


async def _claimed(
    table: Table, messages: AsyncGenerator[bytes], left: PreparationQueue, found: StoredFactRegistry
) -> None:
    """Store another machine's stored facts about a table, unless a process of this machine has begun the table."""
    folder = folder_of(table)
    if folder is None:
        return
    found.prepare(folder)
    made: list[str] = []
    lacking = left.claim(table)
    try:
        if lacking:
            pieces = [piece async for piece in messages]
            made = await asyncio.to_thread(_store_facts, table, b"".join(pieces))
            lacking = False
    finally:
        if lacking:
            left.give_back(table)
        found.prepared(folder, made)


def _store_facts(table: Table, message: bytes) -> list[str]:
    try:
        return store_facts(table, json.loads(message))
    except (ValueError, TypeError, AttributeError) as error:
        raise LostWorkError(str(error)) from error


def stored_facts(job: bytes) -> Iterator[bytes]:
    """Yield, on another machine, why it cannot do the job ("" if it can), then the stored facts in pieces."""
    known = json.loads(job)
    if known["made_with"] != made_with():
        yield f"a machine has {_listed(made_with())}, and this one {_listed(known['made_with'])}".encode()
        return
    yield b""
    table = table_from(known["table"])
    with disable_garbage_collector(), collect_stored_facts() as found:
        fill_cache(known, table)
    whole = json.dumps(found).encode()
    for start in range(0, len(whole), PIECE):
        yield whole[start : start + PIECE]


def _listed(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
