"""The address of a server: the part after the @ of `openai:NAME@http://host:port/v1`."""

import re
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from tabcontam.errors import UsageError

KEY_BELONGS = "put a key into an environment variable, and add the variable's name after the address: #MY_KEY"
OPENAI = "https://api.openai.com/v1"

# Strict, so that two readers of a URL cannot find different hosts in it.
URL = re.compile(r"https?://([\w.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?(/[\w.~%:+/-]*)?", re.ASCII | re.IGNORECASE)
# A server's address without http:// would be read as a model of OpenAI, and the prompts would go there.
NO_SCHEME = re.compile(r"@(localhost|[\w.-]+:\d+|\d+\.\d+\.\d+\.\d+|[^@]*/v\d+)", re.ASCII | re.IGNORECASE)


def parse_address(rest: str, provider: str = "openai") -> tuple[str, str | None]:
    """Return the model's name and the server's address from the text after `PROVIDER:`. The address None is the
    provider's.

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
    if not URL.fullmatch(url) or not _port_exists(url):
        raise UsageError(f"bad address {url[:100]!r}; type http://host:port/v1")
    return url


def _port_exists(url: str) -> bool:
    with suppress(ValueError):
        return urlsplit(url).port != 0
    return False


def is_loopback(url: str) -> bool:
    """Return whether an address is written as this machine's: localhost, 127.0.0.0/8 or ::1. No name is looked up."""
    host = urlsplit(url).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback and (address.version == 4 or address == ip_address("::1"))
