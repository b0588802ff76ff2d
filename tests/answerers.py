"""What a simulated answerer says to a single query."""

import asyncio

from tabcontam.evidence.base import Query, Reply
from tabcontam.subjects.base import Request
from tabcontam.subjects.known.simulated import SimulatedModel
from tabcontam.tables.table import Table


def reply_of(kind: str, query: Query, table: Table, seed: int = 0) -> Reply:
    """The reply of an answerer of this kind that knows of no other query."""
    model = SimulatedModel(kind, seed).prepare(table, [query])
    return asyncio.run(model.generate(Request(query.prompt, query.max_tokens)))
