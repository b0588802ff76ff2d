"""`vllm:` an LLM on this machine's GPUs, through vLLM, or on a server of vLLM (`vllm:NAME@http://HOST:PORT/v1`)."""

import asyncio
from dataclasses import replace

from tabcontam.evidence.questions import Capability
from tabcontam.models.base import Model
from tabcontam.models.hf.saved_model import SavedModel
from tabcontam.models.keys import parse_address, split_variable
from tabcontam.models.openai.service_providers import provider_of
from tabcontam.models.provider_record import ModelSettings
from tabcontam.models.services import load_services
from tabcontam.models.vllm.engine import Engine
from tabcontam.models.vllm.engine_start import files_of

AT_ONCE = 256  # simultaneous requests: vLLM computes together as many as fit in memory


class VLLMModel(SavedModel):
    """The LLM `name` of the hub, or in the folder `name`. `connect` loads it on this machine's GPUs.

    Answers end where answers of `hf:` end. Moments would need the log-probabilities of the whole vocabulary.
    """

    provider = "vllm"
    connections = AT_ONCE
    capabilities = SavedModel.capabilities | {Capability.SAMPLE, Capability.SEED}

    async def connect(self) -> None:
        if self._engine is not None:
            return
        self.check_at_hand()
        files = await asyncio.to_thread(files_of, self._name)
        if files.chat:
            self.capabilities |= {Capability.CHAT}
        self._take_form(files.chat)
        self._engine = engine = await Engine.of(files)
        self.version = engine.parts.version


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
