"""Loading of a model by its name or folder. No code of a repository or file is run. Each error is one line.

Weights are read from safetensors, or from an older `pytorch_model.bin` by torch's `weights_only` reader.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from tabcontam.errors import UsageError

PACKAGES = ("torch", "transformers")
INSTALL = 'pip install "tabcontam[hf]"'
# All files that determine the answers. Only these are fetched, without second copies of the weights.
FILES = ("*.safetensors", "*.safetensors.index.json", "*.json", "*.jinja", "*.model", "*.tiktoken", "*.txt")
COPIES = ("*/*", "consolidated*", "*.fp16.*", "*.bf16.*")
# The only pickles that are fetched or read, and only if FILES has no weights.
BIN = ("pytorch_model.bin", "pytorch_model-*.bin")
SAFE_TORCH = "2.6"  # older weights_only readers could be made to run code (CVE-2025-32434)
OTHERS = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack")
COMMIT = re.compile(r"[0-9a-f]{40}")
SAFELY: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
OUT_OF_MEMORY = re.compile(r"out of memory|can't allocate memory|not enough memory", re.IGNORECASE)
SMALL = 50_000_000  # parameters; computations of smaller models are too short for several threads
REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)?", re.ASCII)


@dataclass(frozen=True)
class ModelWithTokenizer:
    """A model with its tokenizer. `version` identifies model, tokenizer, number format and device."""

    model: Any
    tokenizer: Any
    version: str
    seq2seq: bool

    @property
    def chat(self) -> bool:
        return bool(getattr(self.tokenizer, "chat_template", None))


def load(name: str, device: str = "") -> ModelWithTokenizer:
    """Return the model `name` on this device, by default on the fastest available one. Raises `UsageError`."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise UsageError(f"hf: needs torch and transformers ({error}); type: {INSTALL}") from error
    transformers.utils.logging.set_verbosity_error()  # its warnings concern code that the user does not see
    transformers.utils.logging.disable_progress_bar()
    spec = f"hf:{name}"
    folder = folder_of(name, "hf")
    safe = _check(folder, spec)
    if not safe and torch.__version__ < SAFE_TORCH:  # a TorchVersion compares by numbers
        raise UsageError(f"{spec} has its weights in .bin, which needs torch {SAFE_TORCH}; type: {INSTALL} --upgrade")
    best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    with report_loading_errors(spec):
        return _loaded(spec, folder, safe, device or best)


def find(name: str, provider: str = "hf", pickled: bool = True) -> Path:
    """Return the folder of a model's files, fetched from the hub if need be. Raises `UsageError`."""
    folder = folder_of(name, provider, pickled=pickled)
    _check(folder, f"{provider}:{name}")
    return folder


def configuration(spec: str, folder: Path) -> Any:
    """Return the configuration in a folder. `spec` names the model in errors. Raises `UsageError`."""
    with report_loading_errors(spec):
        from transformers import AutoConfig

        return AutoConfig.from_pretrained(folder, **SAFELY)


def load_tokenizer(spec: str, folder: Path) -> Any:
    """Return the tokenizer in a folder. `spec` names the model in errors. Raises `UsageError`."""
    with report_loading_errors(spec):
        from transformers import AutoTokenizer

        # Clean-up would remove the space from "is ?,", and so change the text that answers are compared with.
        return AutoTokenizer.from_pretrained(folder, clean_up_tokenization_spaces=False, **SAFELY)


def weights_digest(folder: Path) -> str:
    """Return the SHA-256 of a folder's weights: of the single file, or of the names and digests of several files."""
    files = sorted(folder.glob("*.safetensors")) or _pickled(folder)
    digests = [digest_of(path) for path in files]
    if len(files) == 1:
        return digests[0]
    lines = "".join(f"{path.name} {digest}\n" for path, digest in zip(files, digests, strict=True))
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


@contextmanager
def report_loading_errors(spec: str) -> Iterator[None]:
    """Convert errors while the model `spec` is loaded into a `UsageError` of one line."""
    try:
        yield
    except ImportError as error:  # a library that a tokenizer or quantization needs
        raise UsageError(f"{spec} needs another package: {_first_line(error)}") from error
    except UnpicklingError as error:
        raise UsageError(
            f"{spec} holds a .bin that is broken or holds more than weights; none of its code ran; "
            "name a model with safetensors weights"
        ) from error
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        if "trust_remote_code" in str(error):
            why = "needs code from its repository, which is never run; choose a model of transformers' own"
        else:
            why = f"cannot be loaded: {_first_line(error)}"
        raise UsageError(f"{spec} {why}") from error


def folder_of(name: str, provider: str, files: Sequence[str] = FILES, pickled: bool = True) -> Path:
    """Return the folder `name`, or the folder into which these files of the hub's model `name` were fetched."""
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    if path.exists() or not REPOSITORY.fullmatch(name) or name.startswith("."):
        raise UsageError(
            f"no folder {name!r}; type {provider}:FOLDER for a saved model, or {provider}:OWNER/NAME for one on the hub"
        )
    return _fetched(name, provider, files, pickled and files == FILES)


def _fetched(name: str, provider: str, files: Sequence[str], pickled: bool) -> Path:
    """Return the folder of the hub's current files; without a network, of the files fetched last."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError, RepositoryNotFoundError

    try:
        folder = Path(snapshot_download(name, allow_patterns=list(files), ignore_patterns=list(COPIES)))
        if pickled and not any(folder.glob("*.safetensors")):
            snapshot_download(name, revision=_commit(folder), allow_patterns=list(BIN), ignore_patterns=list(COPIES))
        return folder
    except GatedRepoError as error:
        terms = f"https://huggingface.co/{name}"
        raise UsageError(
            f"{provider}:{name} is gated; accept its terms at {terms}, then type: hf auth login"
        ) from error
    except RepositoryNotFoundError as error:
        raise UsageError(
            f"no model {name!r} on the Hugging Face hub that you may read, and no such folder; "
            "check the name, or for a private model type: hf auth login"
        ) from error
    except LocalEntryNotFoundError as error:
        raise UsageError(
            f"cannot reach the Hugging Face hub, and {name!r} was not fetched before and is not a folder "
            f"here; check the network, or type {provider}:FOLDER for a saved model"
        ) from error
    except Exception as error:  # timeouts, proxies, full disks: other errors of the hub's client
        raise UsageError(f"cannot fetch {provider}:{name}: {_first_line(error)}") from error


def _check(folder: Path, spec: str) -> bool:
    """Return True if the weights are safetensors, False if they are a `.bin`. Raises `UsageError` if neither exists."""
    if not (folder / "config.json").is_file():
        raise UsageError(f"{spec} holds no config.json; name a model that transformers saved (save_pretrained)")
    if any(folder.glob("*.safetensors")):
        return True
    if _pickled(folder):
        return False
    others = sorted(path.name for pattern in OTHERS for path in folder.glob(pattern))
    found = f" and no pytorch_model.bin, but {others[0]}, which is never read" if others else ""
    raise UsageError(
        f"{spec} holds no safetensors weights{found}; name a model that was saved with save_pretrained(FOLDER)"
    )


def _pickled(folder: Path) -> list[Path]:
    return sorted(path for pattern in BIN for path in folder.glob(pattern))


def _loaded(spec: str, folder: Path, safe: bool, device: str) -> ModelWithTokenizer:
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

    config, tokenizer = configuration(spec, folder), load_tokenizer(spec, folder)
    seq2seq = bool(config.is_encoder_decoder)
    kind = AutoModelForSeq2SeqLM if seq2seq else AutoModelForCausalLM
    # the library accelerate can spread a model over several GPUs
    placed = {"device_map": "auto"} if device == "cuda" and find_spec("accelerate") else {}
    model = kind.from_pretrained(
        folder, config=config, dtype="auto", use_safetensors=safe, weights_only=True, **placed, **SAFELY
    )
    model = model if placed else model.to(device)
    # The same weights give other answers in another number format or on another device.
    arithmetic = f"dtype={str(model.dtype).removeprefix('torch.')} device={model.device.type}"
    read = "" if safe else f" weights={_pickled(folder)[0].name}, of which torch's weights_only reader ran no code"
    return ModelWithTokenizer(model.eval(), tokenizer, f"{files_version(folder, safe)} {arithmetic}{read}", seq2seq)


def files_version(folder: Path, safe: bool = True) -> str:
    """Return the commit of files from the hub, else a digest of all files that determine the answers."""
    if commit := _commit(folder):
        return commit
    digest = hashlib.sha256()
    for path in sorted({path for pattern in (*FILES, *(() if safe else BIN)) for path in folder.glob(pattern)}):
        digest.update(f"{path.name} {digest_of(path)}\n".encode("utf-8", "surrogateescape"))
    return f"sha256:{digest.hexdigest()[:32]}"


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _commit(folder: Path) -> str | None:
    return folder.name if folder.parent.name == "snapshots" and COMMIT.fullmatch(folder.name) else None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:300]


def settle_threads(model: Any) -> None:
    """Make torch use one thread for a small model on processors, when this thread computes it.

    If other work delays one of two threads, both wait: they were measured to be fifteen times as slow as one.
    """
    import torch

    if model.device.type == "cpu" and _small(model):
        torch.set_num_threads(1)  # for this thread only


@contextmanager
def fitting_threads(model: Any) -> Iterator[None]:
    """Compute a small model in one thread within the context. Other models keep their number of threads."""
    import torch

    before = torch.get_num_threads()
    if _small(model):
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _small(model: Any) -> bool:
    return bool(sum(weights.numel() for weights in model.parameters()) < SMALL)


def out_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or bool(OUT_OF_MEMORY.search(str(error)))


def release() -> None:
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
