"""Rules for keys: a key belongs to one scheme, host and port, and goes to no other in a run."""

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

OTHER_KEY = "TABCONTAM_API_KEY"  # for the one server of a run that has no variable of its own
NO_KEY = "none"  # written in a variable's place: no key goes there
HOW_TO_NAME = "add #NAME_OF_A_VARIABLE after its address"
# In capitals, as such variables are, so that no key passes for one: keys hold small letters or dashes.
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,99}")
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Host:
    """A server that may get a key: another scheme, name or port is another server."""

    scheme: str
    name: str
    port: int

    def __str__(self) -> str:
        shown = f"[{self.name}]" if ":" in self.name else self.name
        return f"{self.scheme}://{shown}" + ("" if self.port == PORTS.get(self.scheme) else f":{self.port}")


def host_of(address: str) -> Host:
    """Return the host of an address, however it is spelled: in capitals, with its usual port, with a last dot."""
    parts = urlsplit(address)
    name = (parts.hostname or "").rstrip(".")
    with suppress(ValueError):  # a name is itself
        name = ip_address(name).compressed
    return Host(parts.scheme.lower(), name, parts.port or PORTS.get(parts.scheme.lower(), 0))


def split_variable(rest: str) -> tuple[str, str]:
    """Split `NAME@https://host/v1#MY_KEY` into the part before the # and the variable after it.

    `rest` is what follows `PROVIDER:`, or the address of a feed. The variable is "" if none is named. Raises
    `UsageError`, whose message repeats nothing that could be a key.
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
    """Return the value of an environment variable, without spaces around it; "" if there is none."""
    return os.environ.get(variable, "").strip() if variable else ""


@dataclass(frozen=True)
class HostKey:
    """The key in a variable that the user named for a host that serves no model, such as a feed's."""

    host: Host
    key_variable: str
    names_variable: bool = True


class KeyHolder(Protocol):
    """A model that sends a key to `host`, in a variable that the user may have named for this host."""

    @property
    def host(self) -> Host:
        """The host that the key goes to."""
        ...

    @property
    def key_variable(self) -> str:
        """The variable that holds the key; "" if no key is sent."""
        ...

    @property
    def names_variable(self) -> bool:
        """Return whether the user named the variable for this host."""
        ...


class KeyRing:
    """The keys of one run, each with the host that it goes to. Every model is claimed before anything is sent."""

    def __init__(self) -> None:
        self._hosts: dict[str, Host] = {}

    def claim(self, model: KeyHolder, usual: Mapping[str, Collection[Host]]) -> None:
        """Note which host a model's key goes to. `usual` has the hosts of the variables that belong to a provider.

        Raises `UsageError` in one line for a key that would go to two hosts, to another than its provider's, or over a
        network in the clear.
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
