"""What a simulated answerer says to a single query."""

import asyncio

from tabcontam.evidence.base import Query, Reply
from tabcontam.models.base import ModelRequest
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.tables.table import Table


def reply_of(kind: str, query: Query, table: Table, seed: int = 0) -> Reply:
    """The reply of an answerer of this kind that knows of no other query."""
    model = SimulatedModel(kind, seed).prepare(table, [query])
    return asyncio.run(model.generate(ModelRequest(query.prompt, query.max_tokens)))
