"""`ollama:` Ollama on this machine, or at OLLAMA_HOST, asked like any server of OpenAI's protocol."""

import json
import os
from dataclasses import replace
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from tabcontam.models.catalogue import CatalogueEntry
from tabcontam.models.keys import NO_KEY, is_loopback, split_variable
from tabcontam.models.openai.provider import OpenAIModel, open_server
from tabcontam.models.openai.replies import json_at, read_listing
from tabcontam.models.provider_record import ModelSettings, Offer, Provider
from tabcontam.tables.timed_connections import limit_time

PORT = 11434
SECONDS = 1.0  # seconds of silence after which no Ollama is assumed to run on this machine
EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104  what a server binds to; a client reaches it on loopback


def address() -> str:
    """Return Ollama's address for OpenAI's protocol, from OLLAMA_HOST as Ollama reads it, or else its usual address."""
    host = os.environ.get("OLLAMA_HOST", "").strip().strip("\"'")
    scheme, mark, rest = host.partition("://")
    if not mark:
        scheme, rest = "http", host
    bare = rest.count(":") > 1 and not rest.startswith("[")  # an IPv6 address without its brackets
    parts = urlsplit(f"//[{rest}]" if bare else f"//{rest}")
    name = parts.hostname or ""
    try:
        port = parts.port
    except ValueError:  # as Ollama does, use the usual port
        port = None
    usual = PORT if not mark else {"http": 80, "https": 443}.get(scheme, PORT)
    shown = "127.0.0.1" if name in EVERYWHERE else f"[{name}]" if ":" in name else name
    return f"{scheme}://{shown}:{port or usual}{parts.path.rstrip('/')}/v1"


def tags(*, whole_seconds: float = 5.0, longest_listing: int = 1 << 20) -> frozenset[str] | None:
    """Return the models of an Ollama on this machine; None if no Ollama runs. No other machine is asked."""
    url = address()
    if not is_loopback(url) or not url.startswith("http://"):
        return None
    parts = urlsplit(url)
    # http.client uses no proxies and follows no redirects, so the question stays on this machine.
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS)
    try:
        connection.request("GET", f"{parts.path}/models")
        with limit_time(connection, whole_seconds):
            response = connection.getresponse()
            listing = json.loads(response.read(longest_listing)) if response.status == 200 else None
    except (OSError, HTTPException, ValueError, RecursionError):
        return None
    finally:
        connection.close()
    if not isinstance(json_at(listing, "data"), list):
        return None
    found = read_listing(listing)  # a model that is listed as NAME:latest can be called NAME
    return frozenset(found.keys() | {name.removesuffix(":latest") for name in found})


def _offer(entry: CatalogueEntry) -> Offer:
    """Return an offer to serve the entry: its first tag that a running Ollama has, or else the ways to get one."""
    if not entry.ollama:
        return Offer()
    present = tags()
    for tag in entry.ollama:
        if present and tag in present:
            other = entry.ollama_variant if entry.ollama_variant != entry.variant else None
            return Offer(tag, f"the {other} model" if other else "")
    if not is_loopback(address()):  # rows would leave this machine, so the user must write it out
        return Offer(ways=(f"write ollama:{entry.ollama[0]} to ask the Ollama at OLLAMA_HOST",))
    return Offer(ways=(f"{'' if present is not None else 'start Ollama and '}run: ollama pull {entry.ollama[0]}",))


def _open(model: str, settings: ModelSettings) -> OpenAIModel:
    """Return the LLM of this name. An Ollama on this machine needs no key, and is sent none."""
    name, variable = split_variable(model)
    url = address()
    # Ollama scores no given text, and would have to load the model just to say so.
    settings = replace(settings, needs=frozenset())
    return open_server(name, url, settings, variable or (NO_KEY if is_loopback(url) else ""))


PROVIDER = Provider(
    "ollama", {"ollama:NAME": "Ollama on this machine, or at OLLAMA_HOST"}, _open, _offer, words=("olama",)
)
