"""An LLM that was named and cannot be asked here. It stands in the run with the reason; the others are asked."""

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Reply
from tabcontam.subjects.base import FatalError, Form, Model, Request


class MissingModel(Model):
    """`spec` is how it was named, `error` what is missing and how to get it. Nothing leaves this machine for it."""

    local = True
    capabilities = frozenset({Capability.GENERATE, Capability.SAMPLE, Capability.INSTRUCTIONS})
    form = Form.CHAT
    identity = None

    def __init__(self, spec: str, error: UsageError) -> None:
        self.spec = spec
        self._error = error

    def check_at_hand(self) -> None:
        """Raise what is missing."""
        raise self._error

    async def connect(self) -> None:
        """Raise what is missing."""
        raise self._error

    async def generate(self, request: Request) -> Reply:
        """Never reached, since it does not connect."""
        raise FatalError(str(self._error))
