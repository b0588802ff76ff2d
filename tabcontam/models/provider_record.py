"""The record of a provider, which each provider's folder defines, and what stands for a model that cannot be asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Reply
from tabcontam.models.base import FatalError, Model, ModelRequest, PromptForm
from tabcontam.models.catalogue import CatalogueEntry
from tabcontam.models.keys import KeyRing
from tabcontam.tables.serializers import Serializer


@dataclass(frozen=True)
class ModelSettings:
    """The settings of a run that its models need to know."""

    connections: int = 256  # the most requests at a time
    serializers: tuple[Serializer, ...] = ()  # those that are not shipped
    batch_size: int = 16  # texts that a model loaded here processes at a time
    form: str = "auto"  # of a request: "auto", "chat" or "completion"
    needs: frozenset[Capability] = frozenset()  # the needs of the run's tests
    spec: str = ""  # the user's name for the model, which becomes its `spec`
    seed: int = 0
    keyring: KeyRing = field(default_factory=KeyRing, compare=False)  # the hosts that the run's keys go to


@dataclass(frozen=True)
class Offer:
    """The way in which a provider serves an LLM of the catalogue: as `model`, or once the user does one of `ways`."""

    model: str = ""
    note: str = ""
    ways: tuple[str, ...] = ()


@dataclass(frozen=True)
class Provider:
    """A way to reach LLMs, called `name`. Its import loads nothing heavy; opening a model may."""

    name: str
    spellings: Mapping[str, str]  # how its LLMs are written after `--llm`, each with an explanation
    open: Callable[[str, ModelSettings], Model]  # from the text after the colon
    offer: Callable[[CatalogueEntry], Offer] = field(default=lambda entry: Offer())
    details: str = ""  # more lines for `list llms -v`
    address: str = ""  # its maker's, for which the price table has plain names
    keys: tuple[str, ...] = ()  # environment variables; the first that is set goes only to the host of `address`
    words: tuple[str, ...] = ()  # other words for the name
    log_probabilities: str = "no"  # whether it returns those of a given text; "" if not known
    seed: str = "no"  # whether it accepts one, in the same way
    free: bool = False
    state: Callable[[str], object] = lambda model: None  # returns a value that changes when a file of the model changes


class MissingModel(Model):
    """A model, named `spec`, that lacks something. `error` names it and the way to get it. Nothing is sent."""

    local = True
    capabilities = frozenset({Capability.GENERATE, Capability.SAMPLE, Capability.INSTRUCTIONS})
    form = PromptForm.CHAT
    identity = None

    def __init__(self, spec: str, error: UsageError) -> None:
        self.spec = spec
        self._error = error

    def check_at_hand(self) -> None:
        raise self._error

    async def connect(self) -> None:
        raise self._error

    async def generate(self, request: ModelRequest) -> Reply:
        raise FatalError(str(self._error))
