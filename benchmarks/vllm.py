"""`vllm:` where vLLM is installed, on a GPU or built for processors: `python -m benchmarks.vllm [PART]...`

Each part prints lines of Markdown; without a name all parts run.

- `protocol`: whether the names that the tests' stand-in for vLLM has are those of the installed one. It needs no GPU.
- `answers`: the same questions to tiny models of several makes through `hf:` and through `vllm:`: how many replies are
  equal, and how far any log-probability and any likelihood of an ending is from its peer, in nats.

On a processor vLLM takes as much memory as the environment variable VLLM_CPU_KVCACHE_SPACE says, in gigabytes.
"""

import argparse
import asyncio
import inspect
import os
import tempfile
from collections.abc import Callable, Collection, Sequence
from importlib import metadata
from pathlib import Path
from random import Random
from typing import Any

from tabcontam.evidence.questions import Answer, Endings, Message, Passage, Prompt, Question
from tabcontam.models.base import Model, ModelRequest
from tabcontam.models.hf.provider import HFModel
from tabcontam.models.vllm.provider import VLLMModel
from tabcontam.tables.serializers import load_serializer
from tests.made_tables import ships
from tests.models.hf import tiny
from tests.models.vllm import stand_in

SIZES: dict[str, Any] = {"hidden_size": 128}  # heads of 32: vLLM computes no narrower ones on a processor
ROWS = tiny.rows_of(ships(12), load_serializer("is"))
THOUGHT = "<think>\nlet me see, the crew, the crew\n</think>\n\n"
LIMIT = 24


def protocol() -> None:
    """The stand-in beside the package."""
    from vllm import AsyncEngineArgs, SamplingParams, TokensPrompt
    from vllm.config import ModelConfig
    from vllm.logprobs import Logprob
    from vllm.outputs import CompletionOutput, RequestOutput
    from vllm.platforms.interface import Platform
    from vllm.sampling_params import RequestOutputKind
    from vllm.v1.engine.async_llm import AsyncLLM
    from vllm.v1.engine.exceptions import EngineDeadError

    pairs = {
        stand_in.AsyncEngineArgs: AsyncEngineArgs,
        stand_in.SamplingParams: SamplingParams,
        stand_in.TokensPrompt: TokensPrompt,
        stand_in.ModelConfig: ModelConfig,
        stand_in.Logprob: Logprob,
        stand_in.CompletionOutput: CompletionOutput,
        stand_in.RequestOutput: RequestOutput,
        stand_in.Platform: Platform,
        stand_in.RequestOutputKind: RequestOutputKind,
    }
    lacking = [f"{own.__name__}.{name}" for own, real in pairs.items() for name in sorted(names(own) - names(real))]
    for method in ("from_engine_args", "generate", "shutdown"):
        own, real = (
            list(inspect.signature(getattr(kind, method)).parameters) for kind in (stand_in.AsyncLLM, AsyncLLM)
        )
        if real[: len(own)] != own:
            lacking.append(f"AsyncLLM.{method}({', '.join(own)})")
    if not inspect.isasyncgenfunction(AsyncLLM.generate):
        lacking.append("AsyncLLM.generate as an asynchronous generator")
    if not issubclass(EngineDeadError, Exception):
        lacking.append("EngineDeadError as an exception")
    count = sum(len(names(own)) for own in pairs)
    print(f"Of {count} names and 3 signatures the installed vLLM lacks: {', '.join(lacking) or 'none'}.")
    if lacking:
        raise SystemExit(1)


def names(kind: Any) -> set[str]:
    """The names of a class's fields, members or keys."""
    members: Collection[str] = getattr(kind, "__members__", getattr(kind, "__struct_fields__", ()))
    stated = [name for each in kind.__mro__ for name in getattr(each, "__annotations__", {})]
    return {*members, *stated, *inspect.signature(kind.__init__).parameters} - {"self", "args", "kwargs"}


def models(folder: Path) -> dict[str, Callable[[], Path]]:
    """What makes each tiny model."""
    head = "Rows of the ships:\n"

    def untrained(name: str, kind: str = "llama", begin: bool = True, dtype: str = "float32") -> Path:
        import torch

        reader = tiny.tokenizer([head, *ROWS])
        if not begin:
            reader.bos_token = reader.eos_token = None
        return tiny.saved(tiny.causal(kind=kind, **SIZES).to(getattr(torch, dtype)), reader, folder / name)

    def knowing() -> Path:
        reader, model = tiny.tokenizer([head, *ROWS]), tiny.causal(**SIZES)

        def sample(rng: Random) -> tuple[list[int], list[int]]:
            ids = reader(head + "".join(f"{row}\n" for row in rng.sample(ROWS, 5)))["input_ids"]
            return ids, ids

        tiny.learn(model, sample, steps=350)
        return tiny.saved(model, reader, folder / "knowing")

    def thinking() -> Path:
        reader, model = tiny.tokenizer([THOUGHT, *ROWS], tiny.CHAT + "{# <think> #}"), tiny.causal(**SIZES)
        asked = "<|system|>\nBe brief.</s>\n<|user|>\nWho?</s>\n<|assistant|>\n"
        ids = [*reader(asked, add_special_tokens=False)["input_ids"], *reader(THOUGHT + "yes")["input_ids"][1:], 2]
        tiny.learn(model, lambda rng: (ids, ids), 60)
        return tiny.saved(model, reader, folder / "thinking")

    return {
        "Llama that has learned rows by heart": knowing,
        "Llama that thinks before it answers": thinking,
        "Llama, untrained": lambda: untrained("llama"),
        "Llama whose texts begin with no special token": lambda: untrained("without", begin=False),
        "GPT-2, untrained": lambda: untrained("gpt2", kind="gpt2"),
        "Llama in bfloat16": lambda: untrained("half", dtype="bfloat16"),
    }


def questions() -> list[Question]:
    """Prompts with stop strings and without, passages, endings."""
    asked: list[Question] = []
    for row in ROWS:
        for text in (row[:9], row[: len(row) // 2], f"Rows of the ships:\n{row[:-20]}", "Who?"):
            turns = (Message("system", "Be brief."), Message("user", text))
            asked += [Prompt(turns, text, text, stop) for stop in ((), ("\n",), (", The crew",))]
        asked += [Passage(row), Passage(row[:5])]
        asked.append(Endings(row[:40], tuple(other[40:] for other in ROWS)))
    return asked


def asked(model: Model, questions: Sequence[Question]) -> list[Any]:
    """What a model answers, as many at a time as a session asks."""

    async def whole() -> list[Answer]:
        await model.connect()
        places = asyncio.Semaphore(model.connections or 1)

        async def one(question: Question) -> Answer:
            async with places:
                return await model.answer(ModelRequest(question, LIMIT))

        try:
            return await asyncio.gather(*map(one, questions))
        finally:
            await model.close()

    return asyncio.run(whole())


def answers() -> None:
    """Both ways beside each other."""
    print("| model | replies equal | … with their states | tokens scored | furthest apart | endings | furthest apart |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        for title, make in models(Path(name)).items():
            folder = str(make())
            ours, theirs = (asked(kind(folder), questions()) for kind in (VLLMModel, HFModel))
            pairs = list(zip(questions(), ours, theirs, strict=True))
            prompts = [(own, other) for question, own, other in pairs if isinstance(question, Prompt)]
            alike = sum(own.text == other.text for own, other in prompts)
            whole = sum(own == other for own, other in prompts)
            tokens = [
                abs(one.log_probability - two.log_probability)
                for question, own, other in pairs
                if isinstance(question, Passage)
                for one, two in zip(own.tokens, other.tokens, strict=True)
            ]
            endings = [
                abs(one - two)
                for question, own, other in pairs
                if isinstance(question, Endings)
                for one, two in zip(own.values, other.values, strict=True)
            ]
            numbers = f"{len(tokens)} | {max(tokens):.0e} | {len(endings)} | {max(endings):.0e}"
            print(f"| {title} | {alike} of {len(prompts)} | {whole} | {numbers} |", flush=True)


PARTS = {"protocol": protocol, "answers": answers}


def main() -> None:
    """The named parts, or all."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition(":")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS])
    own = [f"{name} {metadata.version(name)}" for name in sorted({"torch", "transformers"})]
    own += [f"{each} {metadata.version(each)}" for each in metadata.packages_distributions().get("vllm", ())]
    for name in parser.parse_args().parts or PARTS:
        print(f"\nLoad {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {', '.join(own)}.\n", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main()
