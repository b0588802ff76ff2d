"""What the user typed behind `--llm` to a provider and its model: `PROVIDER:MODEL`, or a name of the catalogue."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from tabcontam.errors import Unavailable, UsageError, near
from tabcontam.subjects.catalogue import Entry, find_entry, load_catalogue, plain, successor
from tabcontam.subjects.provider import Provider


@dataclass(frozen=True)
class Found:
    """An LLM as it was typed, and who is asked for what. `note` says where that is not quite what was named."""

    spec: str
    provider: str
    model: str
    note: str = ""

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}" + (f" ({self.note})" if self.note else "")


def find(spec: str, providers: Mapping[str, Provider], today: date | None = None) -> Found:
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


def _named(name: str, providers: Mapping[str, Provider], today: date) -> Found:
    """By the first provider that serves the entry here."""
    entry = find_entry(name)
    if entry is None:
        raise _unknown_name(name)
    if entry.gone(today):
        raise _retired(entry, today)
    ways: list[str] = []
    for provider in providers.values():
        offer = provider.offer(entry)
        if offer.model:
            return Found(name, provider.name, offer.model, offer.note)
        ways += offer.ways
    if entry.hf:
        ways.append(f"serve it and write openai:{entry.hf}@http://HOST:PORT/v1")
    raise Unavailable(f"nothing here serves {entry.title}: {'; or '.join(ways)}")


def _retired(entry: Entry, today: date) -> Unavailable:
    after = successor(entry, today).name
    return Unavailable(
        f"{entry.title} was retired on {entry.retired}; its successor is {after}: write --llm {after} "
        f"(or {entry.served[0]} to ask for it all the same)"
    )


def _unknown_name(name: str) -> UsageError:
    """With the nearest names; else how any LLM is written."""
    owners = {plain(known): entry.name for entry in load_catalogue().values() for known in entry.names}
    if found := list(dict.fromkeys(owners[key] for key in near(plain(name), owners, limit=12)))[:3]:
        return UsageError(f"unknown LLM {name!r}; did you mean {' or '.join(found)}?")
    return UsageError(
        f"unknown LLM {name!r}; see list llms, or write PROVIDER:MODEL, for example "
        f"openai:{name}@http://127.0.0.1:11434/v1 for a server"
    )


def _unknown_provider(spec: str, provider: str, providers: Mapping[str, Provider]) -> UsageError:
    """`llama3:8b` is how Ollama writes a model, and no provider."""
    entry = find_entry(provider)
    if entry is not None and entry.ollama:
        return UsageError(f"unknown provider {provider!r}; did you mean ollama:{spec}?")
    found = near(provider, providers)
    advice = f"did you mean {' or '.join(found)}?" if found else f"known: {', '.join(providers)}"
    return UsageError(f"unknown provider {provider!r}; {advice}")
