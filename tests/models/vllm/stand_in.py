"""As much of the package vllm as is used, computed with transformers: its names and types, and what its engine does.

`python -m benchmarks.vllm` holds the names and types against the package, where that is installed, and what the
engine answers against `hf:`.
"""

import os
import sys
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, ClassVar, TypedDict

import pytest

STEPS = (1, 3, 2)  # so many tokens more are in each output than in the one before, in turns


class RequestOutputKind(Enum):
    """What an engine yields while it computes."""

    CUMULATIVE = 0
    DELTA = 1
    FINAL_ONLY = 2


@dataclass
class AsyncEngineArgs:
    """What an engine is started with."""

    model: str
    skip_tokenizer_init: bool = False
    trust_remote_code: bool = False
    load_format: str = "auto"
    dtype: str = "auto"
    max_model_len: int | None = None
    tensor_parallel_size: int = 1
    distributed_executor_backend: str | None = None
    enable_prefix_caching: bool | None = None
    generation_config: str = "auto"
    seed: int = 0
    disable_log_stats: bool = False


@dataclass
class SamplingParams:
    """How an answer is decoded."""

    temperature: float = 1.0
    seed: int | None = None
    max_tokens: int | None = 16
    stop_token_ids: list[int] | None = None
    prompt_logprobs: int | None = None
    detokenize: bool = True
    output_kind: RequestOutputKind = RequestOutputKind.CUMULATIVE


class TokensPrompt(TypedDict):
    """A text as token ids."""

    prompt_token_ids: list[int]


@dataclass
class Logprob:
    """What is said of a token of a text."""

    logprob: float


@dataclass
class CompletionOutput:
    """An answer as far as it is computed."""

    token_ids: list[int]


@dataclass
class RequestOutput:
    """What an engine yields."""

    outputs: list[CompletionOutput]
    prompt_logprobs: list[dict[int, Logprob] | None] | None = None


class EngineDeadError(Exception):
    """The engine's processes are gone."""


@dataclass
class ModelConfig:
    """What an engine says of its model."""

    max_model_len: int
    dtype: Any


@dataclass
class Platform:
    """What vLLM finds on a machine."""

    device_type: str = "cuda"


@dataclass
class AsyncLLM:
    """An engine. `asked` and `left` count answers that were begun, and those that were given up before they ended."""

    arguments: AsyncEngineArgs
    model_config: ModelConfig
    model: Any
    asked: list[SamplingParams] = field(default_factory=list)
    left: int = 0
    ended: bool = False
    dead: bool = False

    started: ClassVar[list["AsyncLLM"]] = []
    fails: ClassVar[str] = ""  # what its processes print where it cannot start

    @classmethod
    def from_engine_args(cls, engine_args: AsyncEngineArgs) -> "AsyncLLM":
        """Start one."""
        if cls.fails:
            os.write(2, f"(Worker pid=7) ERROR {cls.fails}\n".encode())
            raise RuntimeError("Engine core initialization failed. See root cause above.")
        import torch
        from transformers import AutoModelForCausalLM

        os.write(1, b"what a process of the engine prints\n")
        kind = getattr(torch, engine_args.dtype)
        model = AutoModelForCausalLM.from_pretrained(engine_args.model, dtype=kind, local_files_only=True).eval()
        made = cls(engine_args, ModelConfig(model.config.max_position_embeddings, model.dtype), model)
        cls.started.append(made)
        return made

    async def generate(
        self, prompt: TokensPrompt, sampling_params: SamplingParams, request_id: str
    ) -> AsyncGenerator[RequestOutput, None]:
        """Answer, as far as somebody asks for more."""
        if self.dead:
            raise EngineDeadError("EngineCore encountered an issue.")
        self.asked.append(sampling_params)
        given, most = prompt["prompt_token_ids"], sampling_params.max_tokens or 0
        if len(given) + most > self.model_config.max_model_len:
            raise ValueError(f"The prompt (length {len(given)}) and the output are longer than the model takes")
        told = None if sampling_params.prompt_logprobs is None else self._told(given)
        ids: list[int] = []
        try:
            while not self._ends(ids, sampling_params):
                for _ in range(STEPS[len(ids) % len(STEPS)]):
                    if not self._ends(ids, sampling_params):
                        ids.append(self._next([*given, *ids]))
                if sampling_params.output_kind is RequestOutputKind.CUMULATIVE:
                    yield RequestOutput([CompletionOutput(ids)], told)  # the same list, which grows
        except GeneratorExit:
            self.left += 1
            raise
        if sampling_params.output_kind is RequestOutputKind.FINAL_ONLY:
            yield RequestOutput([CompletionOutput(ids)], told)

    def shutdown(self) -> None:
        """End its processes."""
        self.ended = True

    def _ends(self, ids: Sequence[int], asked: SamplingParams) -> bool:
        return len(ids) >= (asked.max_tokens or 0) or (bool(ids) and ids[-1] in (asked.stop_token_ids or ()))

    def _next(self, ids: Sequence[int]) -> int:
        return int(self._logits(ids)[-1].argmax())

    def _told(self, ids: Sequence[int]) -> list[dict[int, Logprob] | None]:
        chances = self._logits(ids).log_softmax(dim=-1)
        own = [float(chances[place, token]) for place, token in enumerate(ids[1:])]
        return [None, *({token: Logprob(value)} for token, value in zip(ids[1:], own, strict=True))]

    def _logits(self, ids: Sequence[int]) -> Any:
        import torch

        with torch.inference_mode():
            return self.model(torch.tensor([ids])).logits[0].float()


# Where each is in the package.
PLACES: dict[str, dict[str, Any]] = {
    "vllm": {"AsyncEngineArgs": AsyncEngineArgs, "SamplingParams": SamplingParams, "TokensPrompt": TokensPrompt},
    "vllm.sampling_params": {"RequestOutputKind": RequestOutputKind},
    "vllm.platforms": {"current_platform": Platform()},
    "vllm.v1": {},
    "vllm.v1.engine": {},
    "vllm.v1.engine.async_llm": {"AsyncLLM": AsyncLLM},
    "vllm.v1.engine.exceptions": {"EngineDeadError": EngineDeadError},
}


def installed(monkeypatch: pytest.MonkeyPatch, device: str = "cuda") -> type[AsyncLLM]:
    """Have `import vllm` find the stand-in, on a machine with such a device."""
    monkeypatch.setattr(AsyncLLM, "started", [])
    for name, held in (PLACES | {"vllm.platforms": {"current_platform": Platform(device)}}).items():
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None, is_package=True)
        module.__dict__.update(held)
        monkeypatch.setitem(sys.modules, name, module)
    return AsyncLLM
