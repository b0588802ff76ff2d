"""Rules for API keys: in a run, a key goes to one scheme, host and port only."""

import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import urlsplit

from tabcontam.errors import UsageError
from tabcontam.models.openai.address import is_loopback

OTHER_KEY = "TABCONTAM_API_KEY"  # for the only server of a run that has no variable of its own
NO_KEY = "none"  # in place of a variable: no key is sent
HOW_TO_NAME = "add #NAME_OF_A_VARIABLE after its address"
# Variables are in capitals. Keys contain small letters or dashes, so no key is mistaken for a variable.
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,99}")
PORTS = {"http": 80, "https": 443}


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
    """Split `NAME@https://host/v1#MY_KEY` into the part before the # and the variable after it.

    `rest`: the text after `PROVIDER:`, or the address of a feed. The variable is "" if none is named. Raises
    `UsageError`, with a message that repeats nothing that could be a key.
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


class KeyHolder(Protocol):
    """A model that sends the key in an environment variable to `host`. The user may have named this variable for it."""

    @property
    def host(self) -> Host:
        """The host that the key goes to."""
        ...

    @property
    def key_variable(self) -> str:
        """The variable that contains the key; "" if no key is sent."""
        ...

    @property
    def names_variable(self) -> bool:
        """Return whether the user named the variable for this host."""
        ...


class KeyRing:
    """The keys of one run, each with the host that it goes to. Every model claims its key before anything is sent."""

    def __init__(self) -> None:
        self._hosts: dict[str, Host] = {}

    def claim(self, model: KeyHolder, usual: Mapping[str, Collection[Host]]) -> None:
        """Note which host a model's key goes to. `usual`: the hosts of each variable that belongs to a provider.

        Raises `UsageError`, in one line, if the key would go to two hosts, to another host than its provider's, or over
        a network unencrypted.
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
