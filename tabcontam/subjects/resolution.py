"""What the user typed behind `--llm` to a provider and its model: `PROVIDER:MODEL`, or a name of the catalogue."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib.util import find_spec

from tabcontam.errors import Unavailable, UsageError, near
from tabcontam.subjects import ollama
from tabcontam.subjects.catalogue import Entry, find_entry, load_catalogue, plain, successor
from tabcontam.subjects.openai.provider import is_loopback

HF_PACKAGES = ("torch", "transformers")


@dataclass(frozen=True)
class Found:
    """An LLM as it was typed, and who is asked for what. `note` says where that is not quite what was named."""

    spec: str
    provider: str
    model: str
    note: str = ""

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}" + (f" ({self.note})" if self.note else "")


def find(spec: str, providers: Collection[str], today: date | None = None) -> Found:
    """Who is asked for what. Raises `Unavailable` with one line that says what is missing and how to get it.

    A name that means nothing is a plain `UsageError`.
    """
    provider, colon, model = spec.partition(":")
    if not colon and provider in providers:
        raise UsageError(f"{spec!r} names no model; write for example {provider}:NAME")
    if not colon:
        return _named(spec, providers, today or datetime.now(UTC).date())
    if provider not in providers:
        raise _unknown_provider(spec, provider, providers)
    if not model:
        raise UsageError(f"{spec!r} names no model; write for example {provider}:NAME")
    return Found(spec, provider, model)


def _named(name: str, providers: Collection[str], today: date) -> Found:
    entry = find_entry(name)
    if entry is None:
        raise _unknown_name(name)
    if entry.gone(today):
        raise _retired(entry, today)
    for provider, model in (("openai", entry.openai), ("gemini", entry.gemini)):
        if model and provider in providers:
            return Found(name, provider, model)
    return _open_weights(name, entry, providers)


def _open_weights(name: str, entry: Entry, providers: Collection[str]) -> Found:
    """A running Ollama that has it, else transformers."""
    present = ollama.tags() if entry.ollama else None
    for tag in entry.ollama:
        if present and tag in present:
            other = entry.ollama_variant if entry.ollama_variant != entry.variant else None
            return Found(name, "ollama", tag, f"the {other} model" if other else "")
    if entry.hf and "hf" in providers and all(map(find_spec, HF_PACKAGES)):
        return Found(name, "hf", entry.hf)
    ways = _ways(entry, providers, present is not None)
    raise Unavailable(f"nothing here serves {entry.title}: {'; or '.join(ways)}")


def _retired(entry: Entry, today: date) -> Unavailable:
    after = successor(entry, today).name
    return Unavailable(
        f"{entry.title} was retired on {entry.retired}; its successor is {after}: write --llm {after} "
        f"(or {entry.served[0]} to ask for it all the same)"
    )


def _ways(entry: Entry, providers: Collection[str], running: bool) -> list[str]:
    """Everything that would serve it, as things to do."""
    ways = []
    if entry.ollama and is_loopback(ollama.address()):
        ways.append(f"{'' if running else 'start Ollama and '}run ollama pull {entry.ollama[0]}")
    elif entry.ollama:  # rows would leave this machine, so it has to be written out
        ways.append(f"write ollama:{entry.ollama[0]} to ask the Ollama at OLLAMA_HOST")
    if entry.hf and "hf" in providers:
        ways.append(f"pip install 'tabcontam[hf]' to load {entry.hf} here")
    if entry.hf:
        ways.append(f"serve it and write openai:{entry.hf}@http://HOST:PORT/v1")
    if entry.gemini:
        ways.append(f"install a tabcontam that has the provider gemini, to ask for {entry.gemini}")
    return ways


def _unknown_name(name: str) -> UsageError:
    """With the nearest names; else how any LLM is written."""
    owners = {plain(known): entry.name for entry in load_catalogue().values() for known in entry.names}
    if found := list(dict.fromkeys(owners[key] for key in near(plain(name), owners, limit=12)))[:3]:
        return UsageError(f"unknown LLM {name!r}; did you mean {' or '.join(found)}?")
    return UsageError(
        f"unknown LLM {name!r}; see list llms, or write PROVIDER:MODEL, for example "
        f"openai:{name}@http://127.0.0.1:11434/v1 for a server"
    )


def _unknown_provider(spec: str, provider: str, providers: Collection[str]) -> UsageError:
    """`llama3:8b` is how Ollama writes a model, and no provider."""
    entry = find_entry(provider)
    if entry is not None and entry.ollama:
        return UsageError(f"unknown provider {provider!r}; did you mean ollama:{spec}?")
    found = near(provider, providers)
    advice = f"did you mean {' or '.join(found)}?" if found else f"known: {', '.join(providers)}"
    return UsageError(f"unknown provider {provider!r}; {advice}")
