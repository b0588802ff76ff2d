"""Starting of vLLM's engine for a model's name or folder. No code of a repository is run. Each error is one line.

The engine computes in its own processes. Their output is not shown; after a failure, its cause is searched for there.
"""

import os
import re
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.resource_tracker import ensure_running
from pathlib import Path
from threading import Lock
from typing import IO, Any

from tabcontam.errors import UsageError, one_line, option_name
from tabcontam.models.hf.decoding import end_tokens
from tabcontam.models.hf.loading import configuration, files_version, find, load_tokenizer, report_loading_errors
from tabcontam.models.hf.model_tokenizer import ModelTokenizer

INSTALL = "pip install 'tabcontam[vllm]'"
# Unless the user sets these variables, nothing is sent about usage, and standard output has only the report.
USUAL = {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "ERROR", "VLLM_LOGGING_STREAM": "ext://sys.stderr"}
CAUSE = re.compile(r"(?:\b[\w.]*(?:Error|Exception): |Value error, )(\S.*)")
_STARTING = Lock()  # one start at a time: each engine reserves the free memory


@dataclass(frozen=True)
class ModelFiles:
    """The files of the model `name`, as read before the engine starts."""

    name: str
    folder: Path
    config: Any
    tokenizer: Any
    generation_config: Any

    @property
    def chat(self) -> bool:
        return bool(getattr(self.tokenizer, "chat_template", None))


@dataclass(frozen=True)
class EngineParts:
    """An engine with all that its answers depend on. `context`: the most tokens of a prompt and its answer together."""

    engine: Any
    text: ModelTokenizer
    eos: frozenset[int]
    vocabulary: int
    context: int
    version: str


def files_of(name: str) -> ModelFiles:
    """Return the files of the model `name`. Raises `UsageError`, also if vLLM cannot run here."""
    spec = f"vllm:{name}"
    _check_at_hand(name)
    folder = find(name, "vllm", pickled=False)
    if not any(folder.glob("*.safetensors")):
        raise UsageError(f"{spec} has its weights in .bin, which only hf: can read; write hf:{name}")
    config = configuration(spec, folder)
    if config.is_encoder_decoder:
        raise UsageError(f"{spec} is a sequence-to-sequence model, which only hf: can ask; write hf:{name}")
    tokenizer = load_tokenizer(spec, folder)
    with report_loading_errors(spec):
        from transformers import GenerationConfig

        stated = (folder / "generation_config.json").is_file()
        own = GenerationConfig.from_pretrained(folder, local_files_only=True) if stated else None
        return ModelFiles(name, folder, config, tokenizer, own or GenerationConfig.from_model_config(config))


def start(files: ModelFiles) -> EngineParts:
    # The number of GPUs: the most among which the attention heads can be divided equally.
    import torch

    heads = getattr(files.config.get_text_config(), "num_attention_heads", 1)
    gpus = max(number for number in range(1, max(1, torch.cuda.device_count()) + 1) if heads % number == 0)
    return _started(files, gpus, _engine(files, gpus))  # vLLM keeps this frame, which must not refer to the engine


def _started(files: ModelFiles, gpus: int, engine: Any) -> EngineParts:
    own = engine.model_config
    arithmetic = f"dtype={str(own.dtype).removeprefix('torch.')} device={_device()}" + f" gpus={gpus}" * (gpus > 1)
    return EngineParts(
        engine=engine,
        text=ModelTokenizer(files.tokenizer),
        eos=end_tokens(files.generation_config, files.tokenizer),
        vocabulary=files.config.get_text_config().vocab_size,
        context=own.max_model_len,
        version=f"{files_version(files.folder)} {arithmetic}",
    )


def _check_at_hand(name: str) -> None:
    otherwise = (
        f"write hf:{name}, which needs none, or, for a vLLM server that runs already, "
        "vllm:NAME@http://127.0.0.1:8000/v1"
    )
    if not find_spec("vllm"):
        raise UsageError(f"vllm:{name} needs the package vllm and a GPU; type {INSTALL}, or {otherwise}")
    os.environ.update({variable: value for variable, value in USUAL.items() if variable not in os.environ})
    try:
        device = _device()
    except Exception as error:  # missing libraries of a GPU
        raise UsageError(f"vllm: cannot be used here ({one_line(error)}); type {INSTALL}, or {otherwise}") from error
    if not device:
        raise UsageError(
            f"vllm:{name} needs a GPU, and vLLM finds none on this machine; use a machine with a GPU, {otherwise}"
        )


def _device() -> str:
    """Return the device: "cuda"; "cpu" for a vLLM that is built for processors; or "" if vLLM finds none."""
    from vllm.platforms import current_platform

    return str(current_platform.device_type)


def _engine(files: ModelFiles, gpus: int) -> Any:
    with tempfile.TemporaryFile() as log:  # the engine's processes write to it until they end
        try:
            with _STARTING, _apart(log):
                return _begun(files, gpus)
        except Exception as error:  # any kind of error
            log.seek(0)
            # The first error that its processes printed, else this one.
            match = CAUSE.search(log.read().decode("utf-8", "replace")) or CAUSE.search(str(error))
            why = match[1][:300].strip() if match else one_line(error)
            full = f"; only one vllm: model fits at a time: {option_name('ray')} loads one after the other"
            raise UsageError(
                f"vllm:{files.name} cannot be loaded: {why}{full if 'memory' in why.lower() else ''}; "
                f"or write hf:{files.name}, which transformers computes"
            ) from error


# largest_that_fits: the value for the longest context that fits in memory
def _begun(files: ModelFiles, gpus: int, *, largest_that_fits: int = -1) -> Any:
    from vllm import AsyncEngineArgs
    from vllm.v1.engine.async_llm import AsyncLLM

    arguments = AsyncEngineArgs(
        model=str(files.folder),
        skip_tokenizer_init=True,
        trust_remote_code=False,
        load_format="safetensors",
        # The checkpoint's number format, as in hf:. By default vLLM would halve 32-bit numbers.
        dtype=str(files.config.get_text_config().dtype or "auto").removeprefix("torch."),
        max_model_len=largest_that_fits,
        tensor_parallel_size=gpus,
        distributed_executor_backend="mp" if gpus > 1 else None,  # also within a replica on Ray
        enable_prefix_caching=True,
        generation_config="vllm",  # the checkpoint's sampling and penalties would prevent greedy decoding
        seed=0,
        disable_log_stats=True,
    )
    return AsyncLLM.from_engine_args(arguments)


@contextmanager
def _apart(log: IO[bytes]) -> Iterator[None]:
    """Redirect the output of this process and of those started here into a file. The latter ignore Ctrl-C."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = {number: os.dup(number) for number in (1, 2)}
    ensure_running()  # a later start would restore Ctrl-C
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # of this thread, and what it starts
    try:
        for number in kept:
            os.dup2(log.fileno(), number)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for number, copy in kept.items():
            os.dup2(copy, number)
            os.close(copy)
