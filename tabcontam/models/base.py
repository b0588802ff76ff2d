"""The one seam to every LLM: `generate(request) -> reply`.

An LLM is told the rendering of a query that fits its form, and nothing about the test behind it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from tabcontam.suite.base import Capability, Prompt, Query, Reply

if TYPE_CHECKING:
    from tabcontam.datasets import Table


class Form(StrEnum):
    """The form of a request."""

    CHAT = "chat"
    COMPLETION = "completion"
    SEQ2SEQ = "seq2seq"


@dataclass(frozen=True)
class Request:
    """One query as it goes to an LLM: greedy decoding of at most `max_tokens` answer tokens."""

    prompt: Prompt
    max_tokens: int


class Model(Protocol):
    """One LLM. `spec` is how it was named on the command line; `capabilities` is what tests may need of it."""

    spec: str
    control: bool
    local: bool  # nothing leaves this machine
    capabilities: frozenset[Capability]
    version: str  # what the server states: a version or digest; "" where it states none

    @property
    def form(self) -> Form:
        """The rendering this model is sent."""
        ...

    async def connect(self) -> None:
        """Reach the LLM before anything is planned. Raises `UsageError` with one line where that cannot work."""
        ...

    def prepare(self, table: "Table", queries: Sequence[Query]) -> "Model":
        """The model that answers for this table: itself, but for controls and simulations, which are made for one.

        Raises `Skip` where none can be made.
        """
        ...

    async def generate(self, request: Request) -> Reply:
        """Ask once. Never raises for what the LLM or its server does: that becomes the reply's state."""
        ...

    async def close(self) -> None:
        """Give back connections and memory."""
        ...


class Scorer(Protocol):
    """The capability `SCORE`: natural-log probabilities of given text."""

    def score(self, text: str) -> "Sequence[tuple[str, float]]":
        """The (token, log-probability in nats given everything before it) pairs of `text`, in order."""
        ...
