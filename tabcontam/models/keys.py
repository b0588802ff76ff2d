"""Addresses of servers, and rules for API keys: in a run, a key goes to one scheme, host and port only."""

import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tabcontam.errors import UsageError

if TYPE_CHECKING:
    from tabcontam.models.served_model import ServedModel

OTHER_KEY = "TABCONTAM_API_KEY"  # for the only server of a run that has no variable of its own
NO_KEY = "none"  # in place of a variable: no key is sent
HOW_TO_NAME = "add #NAME_OF_A_VARIABLE after its address"
# Variables are in capitals. Keys contain small letters or dashes, so no key is mistaken for a variable.
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,99}")
PORTS = {"http": 80, "https": 443}
KEY_BELONGS = "put a key into an environment variable, and add the variable's name after the address: #MY_KEY"
OPENAI = "https://api.openai.com/v1"

# Strict, so that two readers of a URL cannot find different hosts in it.
URL = re.compile(r"https?://([\w.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?(/[\w.~%:+/-]*)?", re.ASCII | re.IGNORECASE)
# A server's address without http:// would be read as a model of OpenAI, and the prompts would go there.
NO_SCHEME = re.compile(r"@(localhost|[\w.-]+:\d+|\d+\.\d+\.\d+\.\d+|[^@]*/v\d+)", re.ASCII | re.IGNORECASE)


def parse_address(rest: str, provider: str = "openai") -> tuple[str, str | None]:
    """Return the model's name and the server's address (None: the provider's) from the text after `PROVIDER:`.

    Names may contain "/", ":" and "@". No message repeats an address that could contain a password.
    """
    parts = re.fullmatch(r"(.*)@(https?://.*)", rest, re.DOTALL | re.IGNORECASE)
    name, url = (parts[1], parts[2]) if parts else (rest, None)
    if "://" in name:
        raise UsageError(f"bad address after {provider}:; type {provider}:NAME@http://host:port/v1")
    if url is None and NO_SCHEME.search(name):
        raise UsageError(f"bad address in {provider}:{name[:100]}; type {provider}:NAME@http://host:port/v1")
    if not name.strip():
        written = f"{provider}:NAME or {provider}:NAME@http://host:port/v1"
        raise UsageError(f"{provider}: lacks the model's name; type {written}")
    return name, None if url is None else validate_address(url)


def validate_address(url: str) -> str:
    """Return the address if it is valid. Raises `UsageError` if not: a key could otherwise go to another host."""
    if "@" in url:
        raise UsageError(f"an address must hold no user name or password; {KEY_BELONGS}")
    if "?" in url or "#" in url:
        raise UsageError(f"an address must hold no ?, and no # except before a variable's name; {KEY_BELONGS}")
    with suppress(ValueError):  # of a port that does not exist
        if URL.fullmatch(url) and urlsplit(url).port != 0:
            return url
    raise UsageError(f"bad address {url[:100]!r}; type http://host:port/v1")


def is_loopback(url: str) -> bool:
    """Return whether an address is written as this machine's: localhost, 127.0.0.0/8 or ::1. No name is looked up."""
    host = urlsplit(url).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback and (address.version == 4 or address == ip_address("::1"))


@dataclass(frozen=True)
class Host:
    """A server that may get a key. Another scheme, name or port is another server."""

    scheme: str
    name: str
    port: int

    def __str__(self) -> str:
        shown = f"[{self.name}]" if ":" in self.name else self.name
        return f"{self.scheme}://{shown}" + ("" if self.port == PORTS.get(self.scheme) else f":{self.port}")


def host_of(address: str) -> Host:
    """Return the host of an address. Capitals, the usual port and a last dot make no difference."""
    parts = urlsplit(address)
    name = (parts.hostname or "").rstrip(".")
    with suppress(ValueError):  # the host has a name and no IP address
        name = ip_address(name).compressed
    return Host(parts.scheme.lower(), name, parts.port or PORTS.get(parts.scheme.lower(), 0))


def split_variable(rest: str) -> tuple[str, str]:
    """Split `NAME@https://host/v1#MY_KEY` into the part before the # and the variable after it, "" if none is named.

    Raises `UsageError`, with a message that repeats nothing that could be a key.
    """
    before, mark, variable = rest.rpartition("#")
    if not mark or not (VARIABLE.fullmatch(variable) or variable == NO_KEY):
        address = re.search(r"(^|@)https?://.*#", rest, re.IGNORECASE | re.DOTALL)
        if address:
            raise UsageError(
                "what follows # behind an address is the name of the environment variable that holds the key, in "
                f"capitals, for example #MY_KEY, or #{NO_KEY}; never the key itself"
            )
        return rest, ""
    return before, variable


def read_variable(variable: str) -> str:
    """Return the value of an environment variable, without blanks around it; "" if it is not set."""
    return os.environ.get(variable, "").strip() if variable else ""


@dataclass(frozen=True)
class HostKey:
    """The key in a variable that the user named for a host that serves no models, such as a feed's."""

    host: Host
    key_variable: str
    names_variable: bool = True


class KeyRing:
    """The keys of one run, each with the host that it goes to. Every model claims its key before anything is sent."""

    def __init__(self) -> None:
        self._hosts: dict[str, Host] = {}

    def claim(self, model: "HostKey | ServedModel", usual: Mapping[str, Collection[Host]]) -> None:
        """Note which host a model's key goes to. `usual`: the hosts of each variable that belongs to a provider.

        Raises `UsageError` for a second host, another host than the provider's, or a network without
        encryption.
        """
        variable, host = model.key_variable, model.host
        if not variable or not (model.names_variable or read_variable(variable)):
            return
        owners = usual.get(variable, (host,))
        if model.names_variable and host not in owners:
            raise UsageError(
                f"{variable} goes to {' and '.join(map(str, owners)) or 'its provider'} alone, not to {host}; put the "
                f"key for {host} into another variable, and its name after the #"
            )
        before = self._hosts.setdefault(variable, host)
        if before != host:
            raise UsageError(
                f"{variable} would go to two servers, {before} and {host}, and a key goes to one only; {HOW_TO_NAME}: "
                f"@{host}/v1#NAME_OF_A_VARIABLE, or #{NO_KEY} where no key is wanted"
            )
        if host.scheme == "http" and not is_loopback(str(host)):
            raise UsageError(
                f"{variable} would go to {host} unencrypted; write https://, reach the server through this machine "
                f"(ssh -L {host.port}:localhost:{host.port} {host.name}, and http://127.0.0.1:{host.port}), or write "
                f"#{NO_KEY} after its address to send no key"
            )
