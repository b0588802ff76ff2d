"""`vllm:` an LLM on this machine's GPUs, through vLLM: a name on the Hugging Face hub, or a folder.

Waiting requests are computed together, and a common beginning of prompts is computed once. With an address,
`vllm:NAME@http://HOST:PORT/v1` is a server of vLLM, which uses OpenAI's protocol.
"""

import asyncio
from dataclasses import replace
from math import isfinite

from tabcontam.evidence.questions import Capability, Likelihoods, Reply, ReplyState, Scores, Token
from tabcontam.models.base import Model, ModelRequest, common_prefix_length, failed
from tabcontam.models.hf.decoding import reply_of, room_of
from tabcontam.models.hf.endings import MERGED, joins
from tabcontam.models.hf.passage_scorer import NOT_NUMBERS, beyond
from tabcontam.models.hf.saved_model import SavedModel
from tabcontam.models.keys import split_variable
from tabcontam.models.openai.address import parse_address
from tabcontam.models.openai.service_providers import provider_of
from tabcontam.models.provider_record import ModelSettings
from tabcontam.models.services import load_services
from tabcontam.models.vllm.engine import Engine, describe_engine_error
from tabcontam.models.vllm.engine_start import files_of

AT_ONCE = 256  # simultaneous requests: vLLM computes together as many as fit in memory


class VLLMModel(SavedModel):
    """The LLM `name` of the hub, or in the folder `name`. `connect` loads it on this machine's GPUs.

    Answers end where answers of `hf:` end. Tokens have the same scores without the moments, which would need the
    log-probabilities of the whole vocabulary. `version` has the same form as in `hf:`. Stored replies of both providers
    are separate, because their numbers differ slightly.
    """

    provider = "vllm"
    connections = AT_ONCE
    capabilities = frozenset(
        {
            Capability.GENERATE,
            Capability.COMPLETION,
            Capability.SCORE,
            Capability.SAMPLE,
            Capability.SEED,
            Capability.INSTRUCTIONS,
        }
    )

    def __init__(self, name: str, *, form: str = "auto", spec: str = "") -> None:
        super().__init__(name, form=form, spec=spec)
        self._engine: Engine | None = None

    async def connect(self) -> None:
        """Load the model. Raises `UsageError` with one line if loading fails."""
        if self._engine is not None:
            return
        self.check_at_hand()
        files = await asyncio.to_thread(files_of, self._name)
        if files.chat:
            self.capabilities |= {Capability.CHAT}
        self._take_form(files.chat)
        self._engine = await Engine.of(files)
        self.version = self._engine.version

    async def generate(self, request: ModelRequest) -> Reply:
        """Return the greedy answer, or a sample that its number seeds. Raises `FatalError` if the engine is lost."""
        engine = self._engine
        if engine is None:
            return failed(self._unconnected())
        row = self._fitting_row(engine.text, request, engine.context, lambda row: room_of(row, engine.context))
        if isinstance(row, Reply):
            return row
        try:
            ids = await engine.answer(row, request.prompt)
        except Exception as error:
            return failed(describe_engine_error(error))
        return reply_of(row, ids, engine.text, engine.eos)

    async def score(self, request: ModelRequest) -> Scores:
        """Return the log-probability of each token of a passage, after the tokenizer's first special token."""
        engine, text = self._engine, request.passage.text
        if engine is None:
            return Scores((), ReplyState.FAILED, self._unconnected())
        if not text:
            return Scores((), ReplyState.EMPTY, "no text")
        pieces = engine.text.pieces(text)
        begin = engine.text.begin
        ids = (*begin, *(token for token, _ in pieces))
        if (most := engine.context - 1) < len(ids):  # the engine writes one token after each text
            return Scores((), ReplyState.FAILED, beyond(len(ids), most))
        try:
            values = await engine.values(ids)
        except Exception as error:
            return Scores((), ReplyState.FAILED, describe_engine_error(error))
        if not all(map(isfinite, values)):
            return Scores((), ReplyState.FAILED, NOT_NUMBERS)
        own = zip(pieces, values[len(begin) :], strict=True)
        return Scores(tuple(Token(piece, value) for (_, piece), value in own), ReplyState.OK)

    async def compare(self, request: ModelRequest) -> Likelihoods:
        """Return how likely each ending of a text is, by its tokens after the common beginning of all texts."""
        engine, asked = self._engine, request.endings
        if engine is None:
            return Likelihoods((), ReplyState.FAILED, self._unconnected())
        endings = list(dict.fromkeys(asked.endings))
        read = engine.text.plain([asked.beginning + ending for ending in endings])
        texts = [(*engine.text.begin, *own) for own in read]
        longest = max(map(len, texts), default=0)
        if (most := engine.context - 1) < longest:
            return Likelihoods((), ReplyState.FAILED, beyond(longest, most))
        if joins(engine.text, asked.beginning, texts):
            return Likelihoods((), ReplyState.FAILED, MERGED)
        try:
            found = await asyncio.gather(*(engine.values(ids) for ids in texts))
        except Exception as error:
            return Likelihoods((), ReplyState.FAILED, describe_engine_error(error))
        head = common_prefix_length(texts)
        sums = {ending: sum(values[head:]) for ending, values in zip(endings, found, strict=True)}
        if not all(map(isfinite, sums.values())):
            return Likelihoods((), ReplyState.FAILED, NOT_NUMBERS)
        return Likelihoods(tuple(sums[ending] for ending in asked.endings), ReplyState.OK)

    async def close(self) -> None:
        """End the engine's processes, and free the memory."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()

    def _unconnected(self) -> str:
        return f"{self.spec} was asked before it was connected"


def _open(rest: str, settings: ModelSettings) -> Model:
    named, variable = split_variable(rest)
    if parse_address(named, SERVER.name)[1] or variable:  # only a server needs a key
        return SERVER.open(rest, settings)
    return VLLMModel(rest, form=settings.form, spec=settings.spec)


SERVER = provider_of(load_services()["vllm"])
PROVIDER = replace(
    SERVER,
    spellings={
        "vllm:REPO_OR_FOLDER": "a model of the Hugging Face hub or a folder, loaded here with vLLM, on GPUs",
        "vllm:NAME@http://HOST:PORT/v1": "a vLLM server of your own; add #VLLM_API_KEY if it wants that key",
    },
    open=_open,
)
