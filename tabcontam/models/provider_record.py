"""The description that each provider has in its own folder; the registry lists the folders."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tabcontam.evidence.base import Capability
from tabcontam.models.base import Model
from tabcontam.models.catalogue import CatalogueEntry
from tabcontam.models.keys import KeyRing
from tabcontam.tables.serializers import Serializer


@dataclass(frozen=True)
class ModelSettings:
    """The settings of a run that its models need to know."""

    connections: int = 256  # requests at a time, at most
    serializers: tuple[Serializer, ...] = ()  # those besides the shipped ones
    batch_size: int = 16  # texts that a model loaded here computes at a time
    form: str = "auto"  # of a request: "auto", "chat" or "completion"
    needs: frozenset[Capability] = frozenset()  # of the run's tests
    spec: str = ""  # how the user named the model, which becomes its `spec`
    seed: int = 0
    keyring: KeyRing = field(default_factory=KeyRing, compare=False)  # the hosts that the run's keys go to


@dataclass(frozen=True)
class Offer:
    """The way a provider serves an LLM of the catalogue: as `model`, with a note if that differs from what was named.

    Without a `model` the provider does not serve it here; `ways` are what the user can do so that it would.
    """

    model: str = ""
    note: str = ""
    ways: tuple[str, ...] = ()


@dataclass(frozen=True)
class Provider:
    """A way to reach LLMs, called `name`. Making one imports nothing heavy; opening a model may.

    `spellings` are the ways to write its LLMs after `--llm`, each with an explanation. `open` returns the model for the
    text after the colon and the run's settings. `offer` returns how it serves an entry of the catalogue; `details` are
    further lines for `list llms -v`. `address` is that of its maker, for which the price table has plain names; the key
    in the first of the environment variables `keys` that is set goes to its host and to no other. `words` are other
    words that people write for the name. `log_probabilities` states whether it gives those of a text that it is sent
    ("yes", "no"), `seed` whether it takes a seed; "" if that is not known. `free` means that it costs nothing.
    """

    name: str
    spellings: Mapping[str, str]
    open: Callable[[str, ModelSettings], Model]
    offer: Callable[[CatalogueEntry], Offer] = field(default=lambda entry: Offer())
    details: str = ""
    address: str = ""
    keys: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    log_probabilities: str = ""
    seed: str = ""
    free: bool = False
