"""`hf:` an LLM on this machine, through transformers: a name on the Hugging Face hub, or a folder."""

import asyncio
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

from tabcontam.errors import UsageError, option
from tabcontam.evidence.questions import Capability
from tabcontam.models.base import Model
from tabcontam.models.catalogue import CatalogueEntry
from tabcontam.models.hf.decoding import Decoder
from tabcontam.models.hf.loading import INSTALL, PACKAGES, load
from tabcontam.models.hf.saved_model import SavedModel
from tabcontam.models.provider_record import Offer, Provider


class HFModel(SavedModel):
    """The LLM `name` of the hub, or in the folder `name`. Raises `UsageError` for a bad form or a batch size below 1.

    `version` is the commit of the hub's repository, or a SHA-256 over a folder's files; number format and device
    follow.
    """

    provider = "hf"
    capabilities = SavedModel.capabilities | {Capability.MOMENTS}

    def __init__(self, name: str, *, form: str = "auto", batch_size: int = 16, spec: str = "") -> None:
        super().__init__(name, form=form, spec=spec)
        if batch_size < 1:
            raise UsageError(
                f"a batch holds at least one prompt, not {batch_size}; type {option('batch_size', 1)} or more"
            )
        self.connections = 2 * batch_size  # a batch is chosen among twice as many requests
        self._batch_size = batch_size

    @property
    def elsewhere(self) -> Callable[[], Model]:
        return partial(HFModel, self._place, form=self._wanted, batch_size=self._batch_size, spec=self.spec)

    async def connect(self) -> None:
        if self._engine is not None:
            return
        self.check_at_hand()
        loaded = await asyncio.to_thread(load, self._name)
        if loaded.seq2seq:
            # Such a model scores a text only as the answer to another text.
            self.capabilities -= {Capability.SCORE, Capability.MOMENTS, Capability.COMPLETION}
        if loaded.chat:
            self.capabilities |= {Capability.CHAT}
        self._take_form(loaded.chat, loaded.seq2seq)
        self.version = loaded.version
        self._engine = Decoder(loaded, self._batch_size)


def _offer(entry: CatalogueEntry) -> Offer:
    if entry.hf and all(map(find_spec, PACKAGES)):
        return Offer(entry.hf)
    return Offer(ways=(f"{INSTALL} to load {entry.hf} here",) if entry.hf else ())


PROVIDER = Provider(
    "hf",
    {"hf:REPO_OR_FOLDER": "a model of the Hugging Face hub or a folder, loaded here with transformers"},
    lambda model, settings: HFModel(model, form=settings.form, batch_size=settings.batch_size, spec=settings.spec),
    _offer,
    words=("transformers", "local"),
    log_probabilities="yes",
)
