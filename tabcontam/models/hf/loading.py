"""From a name or folder to a model in memory: no code of a repository or file is run, and an error is one line.

Weights are read from safetensors. If there are only transformers' older `pytorch_model.bin`, which are pickles, they
are read by torch's `weights_only` reader, which knows tensors and plain containers and calls nothing else.
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
# All that determines the answers, and all that is fetched: no second copies of the weights.
FILES = ("*.safetensors", "*.safetensors.index.json", "*.json", "*.jinja", "*.model", "*.tiktoken", "*.txt")
COPIES = ("*/*", "consolidated*", "*.fp16.*", "*.bf16.*")
# The only pickles that are fetched or read, and only without FILES' weights.
BIN = ("pytorch_model.bin", "pytorch_model-*.bin")
SAFE_TORCH = "2.6"  # before it, the weights_only reader could be made to run code (CVE-2025-32434)
OTHERS = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack")
COMMIT = re.compile(r"[0-9a-f]{40}")
SAFELY: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
OUT_OF_MEMORY = re.compile(r"out of memory|can't allocate memory|not enough memory", re.IGNORECASE)
REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)?", re.ASCII)


@dataclass(frozen=True)
class ModelWithTokenizer:
    """A model with its tokenizer; `version` identifies both, their number format and device."""

    model: Any
    tokenizer: Any
    version: str
    seq2seq: bool

    @property
    def chat(self) -> bool:
        """Return whether the tokenizer has a chat template."""
        return bool(getattr(self.tokenizer, "chat_template", None))


def load(name: str, device: str = "") -> ModelWithTokenizer:
    """Return the model `name`, on this device or on the fastest available one. Raises `UsageError`."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise UsageError(f"hf: needs torch and transformers ({error}); type: {INSTALL}") from error
    transformers.utils.logging.set_verbosity_error()  # its advice is about code that the user does not see
    transformers.utils.logging.disable_progress_bar()
    spec = f"hf:{name}"
    folder = folder_of(name, "hf")
    safe = _check(folder, spec)
    if not safe and torch.__version__ < SAFE_TORCH:  # a TorchVersion, which compares by its numbers
        raise UsageError(f"{spec} has its weights in .bin, which needs torch {SAFE_TORCH}; type: {INSTALL} --upgrade")
    with report_loading_errors(spec):
        return _loaded(spec, folder, safe, device or _best_device())


def find(name: str, provider: str = "hf", pickled: bool = True) -> Path:
    """Return the folder of a model's files, fetched if it is on the hub; a `.bin` only if `pickled` allows it.

    Raises `UsageError`, which names the model as one of this provider.
    """
    folder = folder_of(name, provider, pickled=pickled)
    _check(folder, f"{provider}:{name}")
    return folder


def configuration(spec: str, folder: Path) -> Any:
    """Return the configuration in a folder, of a model named PROVIDER:NAME. Raises `UsageError`."""
    with report_loading_errors(spec):
        from transformers import AutoConfig

        return AutoConfig.from_pretrained(folder, **SAFELY)


def load_tokenizer(spec: str, folder: Path) -> Any:
    """Return the tokenizer in a folder, of a model named PROVIDER:NAME. Raises `UsageError`."""
    with report_loading_errors(spec):
        from transformers import AutoTokenizer

        # Clean-up would take the space out of "is ?," and so out of the text that the answers are compared with.
        return AutoTokenizer.from_pretrained(folder, clean_up_tokenization_spaces=False, **SAFELY)


def weights_digest(folder: Path) -> str:
    """Return the SHA-256 of the weights in a folder: of the file, or of the names and digests of several."""
    files = sorted(folder.glob("*.safetensors")) or _pickled(folder)
    digests = [digest_of(path) for path in files]
    if len(files) == 1:
        return digests[0]
    lines = "".join(f"{path.name} {digest}\n" for path, digest in zip(files, digests, strict=True))
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


@contextmanager
def report_loading_errors(spec: str) -> Iterator[None]:
    """Turn errors while a model named PROVIDER:NAME loads into a `UsageError` of one line."""
    try:
        yield
    except ImportError as error:  # a tokenizer's or quantization's own library
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
    """Return the folder itself, or the one that these files of the hub were fetched into."""
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    if path.exists() or not REPOSITORY.fullmatch(name) or name.startswith("."):
        raise UsageError(
            f"no folder {name!r}; type {provider}:FOLDER for a saved model, or {provider}:OWNER/NAME for one on the hub"
        )
    return _fetched(name, provider, files, pickled and files == FILES)


def _fetched(name: str, provider: str, files: Sequence[str], pickled: bool) -> Path:
    """Return the folder of the hub's current files, or, without a network, of those fetched before."""
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
    except Exception as error:  # timeouts, proxies, full disks: what the hub's client lets through
        raise UsageError(f"cannot fetch {provider}:{name}: {_first_line(error)}") from error


def _check(folder: Path, spec: str) -> bool:
    """Return whether the weights are safetensors; else they are a `.bin`. Raises `UsageError` if there are none."""
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
    # accelerate can spread a model over several GPUs
    placed = {"device_map": "auto"} if device == "cuda" and find_spec("accelerate") else {}
    model = kind.from_pretrained(
        folder, config=config, dtype="auto", use_safetensors=safe, weights_only=True, **placed, **SAFELY
    )
    model = model if placed else model.to(device)
    # The same weights answer differently in another number format or on another device.
    arithmetic = f"dtype={str(model.dtype).removeprefix('torch.')} device={model.device.type}"
    read = "" if safe else f" weights={_pickled(folder)[0].name}, of which torch's weights_only reader ran no code"
    return ModelWithTokenizer(model.eval(), tokenizer, f"{files_version(folder, safe)} {arithmetic}{read}", seq2seq)


def _best_device() -> str:
    """Return the fastest device there is."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def files_version(folder: Path, safe: bool = True) -> str:
    """Return the hub's commit, the folder's name in its cache; else a digest of all that determines the answers."""
    if commit := _commit(folder):
        return commit
    digest = hashlib.sha256()
    for path in sorted({path for pattern in (*FILES, *(() if safe else BIN)) for path in folder.glob(pattern)}):
        digest.update(f"{path.name} {digest_of(path)}\n".encode("utf-8", "surrogateescape"))
    return f"sha256:{digest.hexdigest()[:32]}"


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _commit(folder: Path) -> str | None:
    return folder.name if folder.parent.name == "snapshots" and COMMIT.fullmatch(folder.name) else None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:300]


def out_of_memory(error: Exception) -> bool:
    """Return whether a smaller batch could help."""
    return isinstance(error, MemoryError) or bool(OUT_OF_MEMORY.search(str(error)))


def release() -> None:
    """Give back the memory of objects that nothing refers to any more."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
