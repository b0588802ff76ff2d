"""A model of vLLM on a machine of a cluster."""

import asyncio
from pathlib import Path

import pytest

from tabcontam.extensions.cluster.replica import Replica, ReplicaFacts, SentAnswer
from tabcontam.models.base import PromptForm
from tabcontam.models.hf.provider import HFModel
from tabcontam.models.vllm.provider import VLLMModel
from tabcontam.version import __version__
from tests.models.vllm import test_provider
from tests.models.vllm.stand_in import AsyncLLM
from tests.models.vllm.test_provider import TEXTS, answers, prompt

pytestmark = pytest.mark.slow  # imports torch
engines, llama = test_provider.engines, test_provider.llama  # fixtures


def test_a_replica_on_a_cluster_is_an_engine(llama: Path, engines: type[AsyncLLM]) -> None:
    replica = Replica(VLLMModel(str(llama)).elsewhere)

    async def asked() -> tuple[ReplicaFacts | str, list[SentAnswer]]:
        about = await replica.about(__version__)
        try:
            return about, await replica.answers([(7, prompt(TEXTS[0]), 8)])
        finally:
            await replica._model.close()

    about, said = asyncio.run(asked())
    assert isinstance(about, ReplicaFacts)
    assert (about.form, about.connections) == (PromptForm.COMPLETION, 256)
    assert said == [(7, answers(HFModel(str(llama)), [prompt(TEXTS[0])], 8)[0])]
    assert len(engines.started) == 1
