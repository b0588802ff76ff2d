"""`ollama:` Ollama on this machine, or at OLLAMA_HOST, spoken to as any server of OpenAI's protocol."""

from tabcontam.subjects.base import Model
from tabcontam.subjects.catalogue import Entry
from tabcontam.subjects.openai import open_server
from tabcontam.subjects.openai.address import is_loopback
from tabcontam.subjects.provider import Offer, Provider, Settings


def _open(model: str, settings: Settings) -> Model:
    from tabcontam.subjects.ollama.server import address

    return open_server(model, address(), settings)


def _offer(entry: Entry) -> Offer:
    """The first of its tags that a running Ollama has."""
    if not entry.ollama:
        return Offer()
    from tabcontam.subjects.ollama.server import address, tags

    present = tags()
    for tag in entry.ollama:
        if present and tag in present:
            other = entry.ollama_variant if entry.ollama_variant != entry.variant else None
            return Offer(tag, f"the {other} model" if other else "")
    if not is_loopback(address()):  # rows would leave this machine, so it has to be written out
        return Offer(ways=(f"write ollama:{entry.ollama[0]} to ask the Ollama at OLLAMA_HOST",))
    return Offer(ways=(f"{'' if present is not None else 'start Ollama and '}run ollama pull {entry.ollama[0]}",))


PROVIDER = Provider("ollama", {"ollama:NAME": "Ollama on this machine, or at OLLAMA_HOST"}, _open, _offer)
