"""`hf:` an LLM on this machine, through transformers: a name on the Hugging Face hub, or a folder.

The model is causal or sequence-to-sequence. No code from a repository or its weights is run.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

from tabcontam.errors import UsageError, one_line, option
from tabcontam.evidence.questions import Capability, Likelihoods, Reply, ReplyState, Scores
from tabcontam.models.base import Model, ModelRequest, failed
from tabcontam.models.catalogue import CatalogueEntry
from tabcontam.models.hf.decoding import Decoder
from tabcontam.models.hf.endings import Comparer
from tabcontam.models.hf.loading import INSTALL, PACKAGES, load, release
from tabcontam.models.hf.passage_scorer import Scorer
from tabcontam.models.hf.saved_model import SavedModel
from tabcontam.models.provider_record import Offer, Provider


class HFModel(SavedModel):
    """The LLM `name` of the hub, or in the folder `name`. `connect` loads it into this process.

    Raises `UsageError` for an unknown form or a batch size below 1.

    `version` is the commit of the hub's repository, or a SHA-256 over the names and contents of a folder's weights,
    configuration and tokenizer. The number format and the device follow, because answers depend on them.
    """

    provider = "hf"

    def __init__(self, name: str, *, form: str = "auto", batch_size: int = 16, spec: str = "") -> None:
        super().__init__(name, form=form, spec=spec)
        if batch_size < 1:
            raise UsageError(
                f"a batch holds at least one prompt, not {batch_size}; type {option('batch_size', 1)} or more"
            )
        self.capabilities = frozenset(
            {Capability.GENERATE, Capability.COMPLETION, Capability.SCORE, Capability.MOMENTS, Capability.INSTRUCTIONS}
        )
        self.connections = 2 * batch_size  # a batch is chosen among twice as many requests
        self._batch_size = batch_size
        self._decoder: Decoder | None = None
        self._scorer: Scorer | None = None

    @property
    def elsewhere(self) -> Callable[[], Model]:
        """The function that creates this model in another process."""
        return partial(HFModel, self._place, form=self._wanted, batch_size=self._batch_size, spec=self.spec)

    async def connect(self) -> None:
        """Load the model. Raises `UsageError` with one line if loading fails."""
        if self._decoder is not None:
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
        self._decoder = Decoder(loaded, self._batch_size)
        self._scorer = Scorer(self._decoder, self._batch_size)

    async def generate(self, request: ModelRequest) -> Reply:
        """Return the greedy answer, computed in a batch with other waiting requests."""
        decoder = self._decoder
        if decoder is None:
            return failed(f"{self.spec} was asked before it was connected")
        row = self._fitting_row(decoder.text, request, decoder.context, decoder.room)
        if isinstance(row, Reply):
            return row
        try:
            return await decoder.batcher.ask(row)
        except Exception as error:  # one bad batch must not end the run
            return failed(f"{type(error).__name__}: {one_line(error)}")

    async def score(self, request: ModelRequest) -> Scores:
        """Return the tokens of a passage with their log-probabilities and moments, computed in a batch with others."""
        scorer, text = self._scorer, request.passage.text
        if scorer is None or Capability.SCORE not in self.capabilities:
            return Scores((), ReplyState.FAILED, self._unscored())
        if not text:
            return Scores((), ReplyState.EMPTY, "no text")
        try:
            return await scorer.score(text)
        except Exception as error:  # one bad batch must not end the run
            return Scores((), ReplyState.FAILED, f"{type(error).__name__}: {one_line(error)}")

    async def compare(self, request: ModelRequest) -> Likelihoods:
        """Return how likely each ending of a text is. The common beginning is computed once."""
        decoder = self._decoder
        if decoder is None or Capability.SCORE not in self.capabilities:
            return Likelihoods((), ReplyState.FAILED, self._unscored())
        try:
            return await Comparer(decoder).compare(request.endings)
        except Exception as error:  # one bad pass must not end the run
            return Likelihoods((), ReplyState.FAILED, f"{type(error).__name__}: {one_line(error)}")

    async def close(self) -> None:
        """End the current batch and free the memory."""
        decoder, self._decoder = self._decoder, None
        scorer, self._scorer = self._scorer, None
        if decoder is not None and scorer is not None:
            decoder.stopping = True
            await decoder.batcher.close()
            await scorer.batcher.close()
            decoder.thread.shutdown()
            del decoder, scorer
            release()

    def _unscored(self) -> str:
        """Return the reason why the model scores no text."""
        seq2seq = "is a sequence-to-sequence model, which scores no text"
        return f"{self.spec} {'was asked before it was connected' if self._decoder is None else seq2seq}"


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
    seed="no",
)
