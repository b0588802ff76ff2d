"""From the text after `--llm`, `PROVIDER:MODEL` or a name of the catalogue, to a `Model`.

The providers are those of this package, and the entry points of the group `tabcontam.providers` in other packages:
functions from the text after the colon and the run's `ModelSettings` to a `Model`. A broken package stops only itself.
"""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

from tabcontam.entry_points import OWN, EntryPoint, describe_entry_point, find_entry_points, own, raise_as_usage_error
from tabcontam.errors import Unavailable, UsageError, near, option, several, unknown_one_or_several
from tabcontam.models.base import Model
from tabcontam.models.catalogue import find_entry, is_tag_of_ollama, load_catalogue, plain, split_label, successor
from tabcontam.models.keys import Host, host_of, is_loopback
from tabcontam.models.provider_record import ModelSettings as ModelSettings
from tabcontam.models.provider_record import Provider
from tabcontam.models.served_model import ServedModel

GROUP = "tabcontam.providers"
# The providers of this package, one a line. Another package's entry point names just a function that opens LLMs.
LINES = (
    "tabcontam.models.known.control:CONTROL",
    "tabcontam.models.openai.provider:PROVIDER",
    "tabcontam.models.gguf.provider:PROVIDER",
    "tabcontam.models.ollama.provider:PROVIDER",
    "tabcontam.models.gemini.provider:PROVIDER",
    "tabcontam.models.gemini.provider:VERTEX",
    "tabcontam.models.anthropic.provider:PROVIDER",
    "tabcontam.models.azure.provider:PROVIDER",
    "tabcontam.models.bedrock.provider:PROVIDER",
    "tabcontam.models.hf.provider:PROVIDER",
    "tabcontam.models.known.simulated:SIMULATED",
)
SERVICES = "tabcontam.models.openai.service_providers:PROVIDERS"  # the providers that a TOML entry defines
BOTH = "tabcontam.models.vllm.provider:PROVIDER"  # a service, and models that are loaded here
AT_SERVER = re.compile(r"[^:@]@(https?://|localhost\b|[\w.-]+:\d)", re.IGNORECASE)  # NAME@ADDRESS, as after openai:
CONTROLS = ("control:exposed", "control:unexposed")

_PROVIDERS: list[Provider] = [EntryPoint("", line, OWN).load() for line in LINES]
_PROVIDERS += [*EntryPoint("", SERVICES, OWN).load(), EntryPoint("", BOTH, OWN).load(), *own(GROUP)]
BUILT_IN = {provider.name: provider for provider in _PROVIDERS}


@dataclass(frozen=True)
class LlmResolution:
    """An LLM as the user typed it (`spec`), and the provider and model that it means."""

    spec: str
    provider: Provider
    model: str
    note: str = ""  # how these differ from the text
    label: str = ""  # the user's own name for it
    otherwise: str = ""  # how an earlier provider in the list could serve it

    def __str__(self) -> str:
        return self.stands_for + (f" ({self.note})" if self.note else "")

    @property
    def stands_for(self) -> str:
        return f"{self.provider.name}:{self.model}"

    def open(self, settings: ModelSettings) -> Model:
        model = self.provider.open(self.model, replace(settings, spec=self.spec))
        if self.label:  # set last, so that what the model derives from its name has no label
            try:
                model.stands_for, model.spec = self.stands_for, self.label
            except AttributeError:  # another package's model, which computes its name
                raise UsageError(f"{self.provider.name}: takes no label; leave {self.label}= out") from None
        if self.otherwise:
            model.otherwise = self.otherwise
        if isinstance(model, ServedModel):
            settings.keyring.claim(model, key_owners(model.provider))
        return model


def key_owners(asked: str = "") -> Mapping[str, tuple[Host, ...]]:
    """Return the variables of each provider but `asked`, with the hosts that a key may go to (no address: none)."""
    owners: dict[str, tuple[Host, ...]] = {}
    for provider in BUILT_IN.values():
        if provider.name == asked and not provider.address:
            continue
        if not (provider.address and is_loopback(provider.address)):  # on a server of the user's, the key is the user's
            own = (host_of(provider.address),) if provider.address else ()
            for variable in provider.keys:
                owners[variable] = (*owners.get(variable, ()), *own)
    return owners


def resolve(spec: str) -> LlmResolution:
    """Return the LLM that `spec` means, among all providers. Raises as `find` does, and if a control has a label."""
    known, typed = dict(BUILT_IN), spec
    label, spec = split_label(spec)
    provider, colon, _ = spec.partition(":")
    if label or (colon and provider not in known):
        known |= {name: Provider(name, {}, partial(_open_plugin, point)) for name, point in plugin_providers().items()}
    if not label:
        return find(spec, known)
    head = typed.partition(",")[0]  # if the label itself has a comma, no equals sign precedes it
    if "=" in head and (error := several("llm", typed, lambda name: name != head and _is_llm(name, known))):
        raise error
    found = find(spec, known)
    if found.provider.name == "control":
        raise UsageError(f"{spec} is a control, which has no other name; leave {label}= out")
    return replace(found, label=label)


def find(spec: str, providers: Mapping[str, Provider], today: date | None = None) -> LlmResolution:
    """Return the LLM that `spec` means. Raises `Unavailable` if something is missing, `UsageError` if it is unknown."""
    provider, colon, model = spec.partition(":")
    if provider in providers and not model and (colon or find_entry(spec) is None):
        raise UsageError(f"{spec!r} names no model; write for example {provider}:NAME")
    if error := _several(spec, providers):
        raise error
    if not colon:
        return _named(spec, providers, today or datetime.now(UTC).date())
    if provider in providers:
        if provider != "ollama" and is_tag_of_ollama(spec):
            raise UsageError(f"{spec} is Ollama's way to write a model; write ollama:{spec}")
        return LlmResolution(spec, providers[provider], model)
    if AT_SERVER.search(spec):
        raise _at_server(spec)
    entry = find_entry(provider)
    if entry is not None and entry.ollama:  # `llama3:8b` is how Ollama writes a model
        raise UsageError(f"unknown provider {provider!r}; did you mean ollama:{spec}?")
    raise _unknown_provider(provider, providers)


def _at_server(spec: str, *, longest: int = 200) -> UsageError:
    name, _, address = spec[:longest].rpartition("@")
    scheme = "" if "://" in address else "http://"
    return UsageError(f"{spec[:longest]!r} names no provider; did you mean openai:{name}@{scheme}{address}?")


def _several(spec: str, providers: Mapping[str, Provider]) -> UsageError | None:
    """Return the error for several LLMs separated by commas. A model's name, or its folder's, may contain a comma."""
    head = spec.partition(",")[0]
    provider, _, model = spec.partition(":")
    if provider not in providers:
        return None if find_entry(spec) else several("llm", spec, lambda name: _is_llm(name, providers))
    error = several("llm", spec, lambda name: name != head and _is_llm(name, providers))
    return None if os.path.exists(model) else error


def _is_llm(typed: str, providers: Mapping[str, Provider]) -> bool:
    _, spec = split_label(typed)
    provider, colon, _ = spec.partition(":")
    return find_entry(spec) is not None or (bool(colon) and provider in providers)


def _unknown_provider(name: str, providers: Mapping[str, Provider]) -> UsageError:
    least_alike = 0.65  # least similarity to a word for this one to count as its misspelling
    from rapidfuzz.distance import OSA

    if name in ("http", "https"):
        return UsageError("an address names no model; put provider and name before it: openai:NAME@ADDRESS")
    owners = {plain(word): each.name for each in providers.values() for word in (each.name, *each.words)}
    likeness = {word: OSA.normalized_similarity(plain(name), word) for word in owners}
    best = max(likeness.values())
    likely = dict.fromkeys(owners[word] for word, alike in likeness.items() if alike == best >= least_alike)
    advice = f"did you mean {' or '.join(likely)}?" if likely else f"known: {', '.join(providers)}"
    return UsageError(f"unknown provider {name!r}; {advice}")


def _named(name: str, providers: Mapping[str, Provider], today: date) -> LlmResolution:
    entry = find_entry(name)
    if entry is None:
        raise _unknown_name(name)
    if entry.gone(today):
        after = successor(entry, today).name
        raise Unavailable(
            f"{entry.title} was retired on {entry.retired}; its successor is {after}: write {option('llm', after)} "
            f"(or {entry.served[0]} to ask for it all the same)"
        )
    ways: list[str] = []
    for provider in providers.values():
        offer = provider.offer(entry)
        if offer.model:
            return LlmResolution(name, provider, offer.model, offer.note, otherwise="; or ".join(ways))
        ways += offer.ways
    if entry.hf:
        ways.append(f"serve it and write openai:{entry.hf}@http://HOST:PORT/v1")
    raise Unavailable(f"{'; or '.join(ways)}; no provider here serves {entry.title}")


def _unknown_name(name: str) -> UsageError:
    owners = {plain(known): entry.name for entry in load_catalogue().values() for known in entry.names}
    if found := list(dict.fromkeys(owners[key] for key in near(plain(name), owners, limit=12)))[:3]:
        return UsageError(f"unknown model {name!r}; did you mean {' or '.join(found)}?")
    if error := unknown_one_or_several("llm", "model", name):
        return error
    if AT_SERVER.search(name):
        return _at_server(name)
    return UsageError(
        f"unknown model {name!r}; see list llms, or write PROVIDER:MODEL, for example "
        f"openai:{name}@http://127.0.0.1:11434/v1 for a server"
    )


def plugin_providers() -> dict[str, EntryPoint]:
    """Return the providers of other packages, not yet imported. Providers left out are reported on standard error."""
    found, complaints = find_entry_points(GROUP, "provider", BUILT_IN)
    for complaint in complaints:
        print(f"tabcontam: {complaint}", file=sys.stderr)
    return found


def load_plugins() -> list[tuple[EntryPoint, Any]]:
    """Return the providers of other packages with their functions. One that fails is a line on standard error."""
    loaded: list[tuple[EntryPoint, Any]] = []
    for point in plugin_providers().values():
        try:
            loaded.append((point, _load(point)))
        except UsageError as error:
            print(f"tabcontam: {error}", file=sys.stderr)
    return loaded


def _load(point: EntryPoint) -> Any:
    with raise_as_usage_error(point, "provider"):
        opener = point.load()
    if not callable(opener):
        raise UsageError(f"{describe_entry_point(point, 'provider')} cannot be loaded: {point.value} is not a function")
    return opener


def _open_plugin(point: EntryPoint, model: str, settings: ModelSettings) -> Any:
    opener = _load(point)
    with raise_as_usage_error(point, "provider", "failed", passing=(UsageError,)):
        opened = opener(model, settings)
    if Model not in type(opened).__mro__:
        why = f"a {type(opened).__name__} is not a tabcontam.models.base.Model"
        raise UsageError(f"{describe_entry_point(point, 'provider')} failed: it returned no model; {why}")
    return opened
