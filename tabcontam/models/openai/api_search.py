"""The search for an API that is not at the typed address. Only that host is searched; most often it is at …/v1."""

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from tabcontam.models.base import TransientError
from tabcontam.models.keys import host_of
from tabcontam.models.openai.connection import ClientPool, NoAnswer, listing
from tabcontam.models.openai.replies import json_at
from tabcontam.models.services import service_at

# The end of an address that was copied from a curl command.
ENDPOINT = re.compile(r"/(chat/completions|completions|responses|embeddings|models)$")
WANTS_KEY = (401, 403)


def without_endpoint(address: str) -> str:
    """Return the address without the name of an endpoint at its end."""
    return ENDPOINT.sub("", address)


def other_places(address: str) -> tuple[str, ...]:
    """Return other addresses of this host where its API may be, the likeliest first."""
    base, parts = without_endpoint(address), urlsplit(address)
    service = service_at(address)
    places = (*((service.address,) if service else ()), base, f"{base}/v1", f"{parts.scheme}://{parts.netloc}/v1")
    return tuple(place for place in dict.fromkeys(places) if place != address and not place.endswith("/v1/v1"))


async def find_api_elsewhere(address: str, clients_at: Callable[[str], ClientPool]) -> tuple[ClientPool, object] | None:
    """Return the connections to the API's address, with its list of models or its demand for a key (`NoAnswer`).

    Return None if no other address of this host has an API. In that case no new connection stays open.
    """
    for place in other_places(address):
        if host_of(place) != host_of(address):
            continue  # a key goes only to its own host
        clients = clients_at(place)
        found: object = None
        try:
            with suppress(TransientError):
                found = await listing(clients)
        except NoAnswer as error:
            found = error if error.problem.status in WANTS_KEY else None
        if isinstance(found, NoAnswer) or isinstance(json_at(found, "data"), list):
            print(f"tabcontam: no API at {address}; asking {place}", file=sys.stderr)
            return clients, found
        await clients.close()
    return None


def nowhere(address: str, what: str) -> str:
    """Return the message that a host has no API. `what` says what is wrong at the address."""
    others = other_places(address)
    return f"{what}{f', and there is no API at {phrase(others)} either' if others else ''}; correct the address"


def phrase(places: tuple[str, ...]) -> str:
    """Return the addresses as a phrase, with "or" before the last."""
    return " or ".join(filter(None, (", ".join(places[:-1]), places[-1])))
