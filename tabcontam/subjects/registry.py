"""An LLM as named on the command line to a `Model`: the providers, built in and of other packages."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint
from importlib.util import find_spec

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability
from tabcontam.subjects.base import Model
from tabcontam.subjects.plugins import load, open_plugin, plugins
from tabcontam.subjects.resolution import Found, find
from tabcontam.tables.serializers import Serializer

FORMS = {
    "control:exposed": "an embedded language model that has the table",
    "control:unexposed": "the same, with a shuffled twin of the table",
    "openai:NAME": "OpenAI's own models; the key is in OPENAI_API_KEY",
    "openai:NAME@http://HOST:PORT/v1": "any OpenAI-compatible server; its key, if it wants one, in TABCONTAM_API_KEY",
    "ollama:NAME": "Ollama on this machine, or at OLLAMA_HOST",
    "gemini:NAME": "Google's Gemini API; the key is in GEMINI_API_KEY",
    "hf:REPO_OR_FOLDER": "a model of the Hugging Face hub or a folder, loaded here with transformers",
    "simulated:KIND": "an answerer of known behaviour, to try a report or a gate on",
}
CONTROLS = ("control:exposed", "control:unexposed")


@dataclass(frozen=True)
class Settings:
    """What of a run its models need to know.

    The most requests at a time; serializers besides the shipped ones; texts computed at a time by a model loaded
    here; the form of a request, "auto", "chat" or "completion"; what the tests need, so that a model can find out
    whether its server offers it; how the user named the model, which is to be its `spec`; the run's seed.
    """

    connections: int = 256
    serializers: tuple[Serializer, ...] = ()
    batch_size: int = 16
    form: str = "auto"
    needs: frozenset[Capability] = frozenset()
    spec: str = ""
    seed: int = 0


Provider = Callable[[str, Settings], Model]


@dataclass(frozen=True)
class Resolved:
    """An LLM that was found, and its provider."""

    found: Found
    provider: Provider

    def open(self, settings: Settings) -> Model:
        """The LLM. Raises `UsageError`."""
        return self.provider(self.found.model, replace(settings, spec=self.found.spec))


def _control(model: str, settings: Settings) -> Model:
    from tabcontam.subjects.known.control import open_control

    return open_control(model, settings.serializers)


def _openai(model: str, settings: Settings) -> Model:
    from tabcontam.subjects.openai.provider import parse_address

    name, address = parse_address(model)
    return _server(name, address, settings)


def _ollama(model: str, settings: Settings) -> Model:
    from tabcontam.subjects import ollama

    return _server(model, ollama.address(), settings)


def _server(name: str, address: str | None, settings: Settings) -> Model:
    from tabcontam.subjects.openai.provider import open_openai

    return open_openai(
        name,
        address,
        form=settings.form,
        max_connections=settings.connections,
        spec=settings.spec,
        needs=settings.needs,
    )


def _gemini(model: str, settings: Settings) -> Model:
    opened: Model = import_module("tabcontam.subjects.gemini.provider").open_gemini(
        model, max_connections=settings.connections, spec=settings.spec
    )
    return opened


def _hf(model: str, settings: Settings) -> Model:
    opened: Model = import_module("tabcontam.subjects.hf.provider").open_hf(
        model, form=settings.form, batch_size=settings.batch_size, spec=settings.spec
    )
    return opened


def _simulated(model: str, settings: Settings) -> Model:
    from tabcontam.subjects.known.simulated import open_simulated

    return open_simulated(model, settings.seed)


BUILT_IN: dict[str, Provider] = {
    "control": _control,
    "openai": _openai,
    "ollama": _ollama,
    "gemini": _gemini,
    "hf": _hf,
    "simulated": _simulated,
}
MODULES = ("gemini", "hf")  # providers that are files of their own, which a build may lack


def built_in() -> dict[str, Provider]:
    """The providers of this installation."""
    lacking = {name for name in MODULES if find_spec(f"tabcontam.subjects.{name}") is None}
    return {name: provider for name, provider in BUILT_IN.items() if name not in lacking}


def others() -> dict[str, EntryPoint]:
    """The providers of other packages, none of which is imported by this. One left out is a line on standard error."""
    found, complaints = plugins(BUILT_IN)
    for complaint in complaints:
        print(f"tabcontam: {complaint}", file=sys.stderr)
    return found


def loaded() -> list[tuple[EntryPoint, Provider]]:
    """Those that can be imported. One that cannot is a line on standard error."""
    there: list[tuple[EntryPoint, Provider]] = []
    for point in others().values():
        try:
            there.append((point, load(point)))
        except UsageError as error:
            print(f"tabcontam: {error}", file=sys.stderr)
    return there


def forms() -> dict[str, str]:
    """How an LLM is written with its provider, and what that is."""
    there = built_in()
    return {form: about for form, about in FORMS.items() if form.partition(":")[0] in there}


def resolve(spec: str) -> Resolved:
    """Who is asked for what. Raises `UsageError`."""
    known = built_in()
    provider, colon, _ = spec.partition(":")
    if colon and provider not in known:
        known |= {name: partial(open_plugin, point) for name, point in others().items()}
    found = find(spec, known)
    return Resolved(found, known[found.provider])


def open_model(spec: str, settings: Settings) -> Model:
    """The LLM that `spec` names. Raises `UsageError`."""
    return resolve(spec).open(settings)
