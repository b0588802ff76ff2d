"""What a provider says of itself. It stands in the provider's folder; the registry has the list of folders."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tabcontam.evidence.base import Capability
from tabcontam.subjects.base import Model
from tabcontam.subjects.catalogue import Entry
from tabcontam.subjects.keys import KeyRing
from tabcontam.tables.serializers import Serializer


@dataclass(frozen=True)
class Settings:
    """What the models of a run need to know of it."""

    connections: int = 256  # requests at a time, at most
    serializers: tuple[Serializer, ...] = ()  # those besides the shipped ones
    batch_size: int = 16  # texts that a model which is loaded here computes at a time
    form: str = "auto"  # of a request: "auto", "chat" or "completion"
    needs: frozenset[Capability] = frozenset()  # of the run's tests
    spec: str = ""  # how the user named the model, which is to be its `spec`
    seed: int = 0
    keyring: KeyRing = field(default_factory=KeyRing, compare=False)  # whom the keys of the run's models go to


@dataclass(frozen=True)
class Offer:
    """How a provider serves an LLM of the catalogue: as `model`, with a note where that is not quite what was named.

    Without a model it does not serve it here; `ways` are what the user can do so that it would.
    """

    model: str = ""
    note: str = ""
    ways: tuple[str, ...] = ()


@dataclass(frozen=True)
class Provider:
    """A way to reach LLMs, called `name`. To make one imports nothing heavy; to open a model may.

    `spellings` are how an LLM is written behind `--llm`, and what that is. `open` gives the model of what follows the
    colon and of the run's settings. `offer` says how it serves an entry of the catalogue; `details` what `list llms -v`
    says besides. `address` is that of its maker, for which the price table has plain names; the keys that the
    environment variables `keys` hold, the first that is set, go to its host and to no other. `words` are other words
    that people write for the name. `log_probabilities` says whether it gives those of a text that it is sent ("yes",
    "no"), `seed` whether it is told a seed; "" where that is not known. `free` says that nobody is charged for it.
    """

    name: str
    spellings: Mapping[str, str]
    open: Callable[[str, Settings], Model]
    offer: Callable[[Entry], Offer] = field(default=lambda entry: Offer())
    details: str = ""
    address: str = ""
    keys: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    log_probabilities: str = ""
    seed: str = ""
    free: bool = False
