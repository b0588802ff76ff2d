"""The record of a provider, which each provider's folder defines. The registry lists the folders."""

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
    """The way in which a provider serves an LLM of the catalogue: as `model`, with a `note` if that differs from the
    LLM.

    Without a `model` the provider does not serve the LLM here; `ways` says what the user can do to change that.
    """

    model: str = ""
    note: str = ""
    ways: tuple[str, ...] = ()


@dataclass(frozen=True)
class Provider:
    """A way to reach LLMs, called `name`. Its import loads nothing heavy; opening a model may.

    `spellings`: how its LLMs are written after `--llm`, each with an explanation. `open`: returns the model for the
    text after the colon and the run's settings. `offer`: returns how it serves an entry of the catalogue. `details`:
    more lines for `list llms -v`. `address`: its maker's address, for which the price table has plain names. `keys`:
    environment variables; the key in the first that is set goes only to the host of `address`. `words`: other words
    that people write for the name. `log_probabilities`: whether it returns log-probabilities of a given text ("yes",
    "no"; "" if not known). `seed`: whether it accepts a seed, in the same way. `free`: it costs nothing.
    `state`: returns a value that changes when a file of the model changes, for the text after the colon.
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
    state: Callable[[str], object] = lambda model: None
