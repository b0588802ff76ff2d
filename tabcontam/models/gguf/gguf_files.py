"""The search for the weights file of a `gguf:` model, and the facts in the file's header."""

import mmap
import re
from collections.abc import Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path

from tabcontam.errors import UsageError, one_line

ENDING = ".gguf"
HUB = re.compile(r"(\w[\w.-]*/[\w.-]+)/([\w./-]+\.gguf)", re.ASCII)
PACKAGE = re.compile(r"[\w.-]+", re.ASCII)
# Keys of the file's head, each after its length in eight bytes. The package `gguf` would first read the whole
# vocabulary, which takes 3.5 seconds for SmolLM2 and 10 for Qwen2.5.
TEMPLATE = (23).to_bytes(8, "little") + b"tokenizer.chat_template"
CONTEXT = re.compile(rb"\.context_length\x04\x00\x00\x00(.{4})", re.DOTALL)  # an unsigned number of four bytes


def find(name: str) -> Path:
    """Return the GGUF file that `FILE`, `PACKAGE` or `REPO/FILE` (on the hub) names. Raises `UsageError`."""
    path = Path(name).expanduser()
    if path.is_file():
        return _checked(path)
    if name.endswith(ENDING):
        if match := HUB.fullmatch(name):
            return _checked(_fetched(*match.groups()))
        raise UsageError(f"no file {name!r}; type gguf:FILE, gguf:PACKAGE, or gguf:OWNER/NAME/FILE{ENDING} for the hub")
    if not PACKAGE.fullmatch(name):
        raise UsageError(f"no file {name!r}")
    try:
        files = _files(distribution(name))
    except PackageNotFoundError:
        raise UsageError(
            f"no file {name!r}, and no such package is installed; type gguf:FILE, or install the package"
        ) from None
    if len(files) != 1:
        several = f"several GGUF files; type gguf:FILE with one of {', '.join(map(str, files))}"
        raise UsageError(f"the package {name} carries {several if files else 'no GGUF file'}")
    return _checked(files[0])


def carried() -> Mapping[str, Path]:
    """Return, by package name, the GGUF file of each installed package that contains exactly one."""
    lists = ((each, each.read_text("RECORD") or "") for each in distributions())
    found = {each.name: _files(each) for each, files in lists if ENDING in files}
    return {name: files[0] for name, files in sorted(found.items()) if len(files) == 1}


# head: bytes in which the head of any file ends: a vocabulary of 262,000 words needs eight million
def facts(path: Path, *, head: int = 64 << 20) -> tuple[bool, int | None]:
    """Return whether the file has a chat template, and the model's context in tokens, None if not stated."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
        context = CONTEXT.search(held, 0, head)
        return held.find(TEMPLATE, 0, head) >= 0, int.from_bytes(context[1], "little") if context else None


def _files(package: Distribution) -> list[Path]:
    own = (Path(str(file.locate())) for file in package.files or () if file.suffix == ENDING)
    return sorted(path for path in own if path.is_file())


def _checked(path: Path) -> Path:
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise UsageError(f"{path} is not a GGUF file")
    return path


def _fetched(repository: str, file: str) -> Path:
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise UsageError('a file of the hub needs huggingface_hub; type: pip install "tabcontam[hf]"') from None
    try:
        return Path(hf_hub_download(repository, file))
    except Exception as error:  # any error of the hub, the network or the cache
        raise UsageError(f"{file} of {repository} cannot be fetched from the hub: {one_line(error)}") from None
