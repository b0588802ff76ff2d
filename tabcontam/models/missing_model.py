"""A model that was named but cannot be asked here. The run shows it with the reason, and asks the other models."""

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Reply
from tabcontam.models.base import FatalError, Model, ModelRequest, PromptForm


class MissingModel(Model):
    """A model, named `spec`, that lacks something. `error` says what is missing and how to get it. Nothing is sent."""

    local = True
    capabilities = frozenset({Capability.GENERATE, Capability.SAMPLE, Capability.INSTRUCTIONS})
    form = PromptForm.CHAT
    identity = None

    def __init__(self, spec: str, error: UsageError) -> None:
        self.spec = spec
        self._error = error

    def check_at_hand(self) -> None:
        """Raise the error about what is missing."""
        raise self._error

    async def connect(self) -> None:
        """Raise the error about what is missing."""
        raise self._error

    async def generate(self, request: ModelRequest) -> Reply:
        """Raise `FatalError`. Never called, since the model does not connect."""
        raise FatalError(str(self._error))
