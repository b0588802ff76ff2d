"""An LLM as named on the command line to a `Model`: the providers, built in and of other packages."""

import sys
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import EntryPoint
from typing import Any

from tabcontam.errors import UsageError
from tabcontam.subjects.base import Model
from tabcontam.subjects.plugins import GROUP, load, open_plugin, plugins
from tabcontam.subjects.provider import Provider, Settings
from tabcontam.subjects.resolution import Found, find

__all__ = ["BUILT_IN", "CONTROLS", "Resolved", "Settings", "loaded", "open_model", "others", "resolve", "spellings"]

# The providers of this package, a line each, as an entry point names one of another package.
LINES = (
    "tabcontam.subjects.known:CONTROL",
    "tabcontam.subjects.openai:PROVIDER",
    "tabcontam.subjects.ollama:PROVIDER",
    "tabcontam.subjects.gemini:PROVIDER",
    "tabcontam.subjects.hf:PROVIDER",
    "tabcontam.subjects.known:SIMULATED",
)
CONTROLS = ("control:exposed", "control:unexposed")


def _built_in() -> dict[str, Provider]:
    found: list[Provider] = [EntryPoint("", line, GROUP).load() for line in LINES]
    return {provider.name: provider for provider in found}


BUILT_IN = _built_in()


@dataclass(frozen=True)
class Resolved:
    """An LLM that was found, and its provider."""

    found: Found
    provider: Provider

    def open(self, settings: Settings) -> Model:
        """The LLM. Raises `UsageError`."""
        return self.provider.open(self.found.model, replace(settings, spec=self.found.spec))


def others() -> dict[str, EntryPoint]:
    """The providers of other packages, none of which is imported by this. One left out is a line on standard error."""
    found, complaints = plugins(BUILT_IN)
    for complaint in complaints:
        print(f"tabcontam: {complaint}", file=sys.stderr)
    return found


def loaded() -> list[tuple[EntryPoint, Any]]:
    """Those that can be imported. One that cannot is a line on standard error."""
    there: list[tuple[EntryPoint, Any]] = []
    for point in others().values():
        try:
            there.append((point, load(point)))
        except UsageError as error:
            print(f"tabcontam: {error}", file=sys.stderr)
    return there


def spellings() -> dict[str, str]:
    """How an LLM is written with its provider, and what that is."""
    return {spelling: about for provider in BUILT_IN.values() for spelling, about in provider.spellings.items()}


def resolve(spec: str) -> Resolved:
    """Who is asked for what. Raises `UsageError`."""
    known = dict(BUILT_IN)
    provider, colon, _ = spec.partition(":")
    if colon and provider not in known:
        known |= {name: Provider(name, {}, partial(open_plugin, point)) for name, point in others().items()}
    found = find(spec, known)
    return Resolved(found, known[found.provider])


def open_model(spec: str, settings: Settings) -> Model:
    """The LLM that `spec` names. Raises `UsageError`."""
    return resolve(spec).open(settings)
