"""From a name or folder to vLLM's engine, in this process: no code of a repository is run, and an error is one line.

Weights are read from safetensors alone. The engine computes in processes of its own. Their output and errors are kept
from the terminal: the cause of a failure is looked up in the output and reported in one line.
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

from tabcontam.errors import UsageError, one_line, option
from tabcontam.models.hf.decoding import end_tokens
from tabcontam.models.hf.loading import configuration, files_version, find, load_tokenizer, report_loading_errors
from tabcontam.models.hf.model_tokenizer import ModelTokenizer

INSTALL = "pip install 'tabcontam[vllm]'"
# Nothing is reported, and standard output is the report's, unless the user sets these variables.
USUAL = {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "ERROR", "VLLM_LOGGING_STREAM": "ext://sys.stderr"}
CAUSE = re.compile(r"(?:\b[\w.]*(?:Error|Exception): |Value error, )(\S.*)")
_STARTING = Lock()  # one engine at a time: each takes the memory that it finds free


@dataclass(frozen=True)
class ModelFiles:
    """The files of the model `name`, as far as they are read before the engine starts."""

    name: str
    folder: Path
    config: Any
    tokenizer: Any
    generation_config: Any

    @property
    def chat(self) -> bool:
        """Return whether the tokenizer has a chat template."""
        return bool(getattr(self.tokenizer, "chat_template", None))


@dataclass(frozen=True)
class EngineParts:
    """An engine with its tokenizer, the tokens that end an answer, sizes and the version.

    `context` is how many tokens it takes, the answer's among them.
    """

    engine: Any
    text: ModelTokenizer
    eos: frozenset[int]
    vocabulary: int
    context: int
    version: str


def files_of(name: str) -> ModelFiles:
    """Return the files of the model `name`, after a check that vLLM can be used here. Raises `UsageError`."""
    spec = f"vllm:{name}"
    _check_at_hand(name)
    folder = find(name, "vllm", pickled=False)
    if not any(folder.glob("*.safetensors")):
        raise UsageError(f"{spec} has its weights in .bin, which only hf: can read; write hf:{name}")
    config = configuration(spec, folder)
    if config.is_encoder_decoder:
        raise UsageError(f"{spec} is a sequence-to-sequence model, which only hf: can ask; write hf:{name}")
    return ModelFiles(name, folder, config, load_tokenizer(spec, folder), _generation_config(spec, folder, config))


def start(files: ModelFiles) -> EngineParts:
    """Start an engine for a model. Raises `UsageError`."""
    gpus = _gpus(files.config)
    return _started(files, gpus, _engine(files, gpus))  # vLLM keeps this frame, which must not keep the engine


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
    """Raise `UsageError` if there is no vLLM, or no GPU that it knows."""
    otherwise = (
        f"write hf:{name}, which needs none, or, for a vLLM server that runs already, "
        "vllm:NAME@http://127.0.0.1:8000/v1"
    )
    if not find_spec("vllm"):
        raise UsageError(f"vllm:{name} needs the package vllm and a GPU; type {INSTALL}, or {otherwise}")
    os.environ.update({variable: value for variable, value in USUAL.items() if variable not in os.environ})
    try:
        device = _device()
    except Exception as error:  # libraries of a GPU that are not there
        raise UsageError(f"vllm: cannot be used here ({one_line(error)}); type {INSTALL}, or {otherwise}") from error
    if not device:
        raise UsageError(
            f"vllm:{name} needs a GPU, and vLLM finds none on this machine; use a machine with a GPU, {otherwise}"
        )


def _device() -> str:
    """Return the device: "cuda", "cpu" for a vLLM that is built for processors, or "" if there is none."""
    from vllm.platforms import current_platform

    return str(current_platform.device_type)


def _gpus(config: Any) -> int:
    """Return over how many GPUs the model is spread: as many as its attention heads can be shared out to."""
    import torch

    heads = getattr(config.get_text_config(), "num_attention_heads", 1)
    return max(number for number in range(1, max(1, torch.cuda.device_count()) + 1) if heads % number == 0)


def _generation_config(spec: str, folder: Path, config: Any) -> Any:
    from transformers import GenerationConfig

    if not (folder / "generation_config.json").is_file():
        return GenerationConfig.from_model_config(config)
    with report_loading_errors(spec):
        return GenerationConfig.from_pretrained(folder, local_files_only=True)


def _engine(files: ModelFiles, gpus: int) -> Any:
    """Return the engine, which decodes nothing and takes nothing but token ids."""
    with tempfile.TemporaryFile() as log:  # the engine's processes write into it as long as they live
        try:
            with _STARTING, _apart(log):
                return _begun(files, gpus)
        except Exception as error:  # of any kind, by what the engine cannot do
            why = _cause(log, error)
            full = f"; only one vllm: model fits at a time: {option('engine', 'ray')} loads one after the other"
            raise UsageError(
                f"vllm:{files.name} cannot be loaded: {why}{full if 'memory' in why.lower() else ''}; "
                f"or write hf:{files.name}, which transformers computes"
            ) from error


# largest_that_fits: the most tokens of context that the memory has room for
def _begun(files: ModelFiles, gpus: int, *, largest_that_fits: int = -1) -> Any:
    from vllm import AsyncEngineArgs
    from vllm.v1.engine.async_llm import AsyncLLM

    arguments = AsyncEngineArgs(
        model=str(files.folder),
        skip_tokenizer_init=True,
        trust_remote_code=False,
        load_format="safetensors",
        # The checkpoint's own numbers, as with hf:. By default vLLM would halve those of 32 bits.
        dtype=str(files.config.get_text_config().dtype or "auto").removeprefix("torch."),
        max_model_len=largest_that_fits,
        tensor_parallel_size=gpus,
        distributed_executor_backend="mp" if gpus > 1 else None,  # within a replica on Ray, too
        enable_prefix_caching=True,
        generation_config="vllm",  # the checkpoint's sampling and penalties would not be greedy decoding
        seed=0,
        disable_log_stats=True,
    )
    return AsyncLLM.from_engine_args(arguments)


@contextmanager
def _apart(log: IO[bytes]) -> Iterator[None]:
    """Send all output within the context into a file, also that of processes that are started within it.

    These do not get Ctrl-C either, by which the user asks this process to finish what is under way.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    kept = {number: os.dup(number) for number in (1, 2)}
    ensure_running()  # to start it later would let Ctrl-C through again
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


def _cause(log: IO[bytes], error: Exception) -> str:
    """Return why an engine did not start: the first error that its processes printed, else the one raised here."""
    log.seek(0)
    match = CAUSE.search(log.read().decode("utf-8", "replace")) or CAUSE.search(str(error))
    return match[1][:300].strip() if match else one_line(error)
