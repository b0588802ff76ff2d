"""The services and servers that speak OpenAI's protocol: the entries of `services.toml`, checked when read."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from tabcontam.config import FORMS
from tabcontam.errors import UsageError
from tabcontam.models.keys import VARIABLE, Host, host_of, is_loopback, validate_address
from tabcontam.tables.toml_files import check_fields

FILE = Path(__file__).with_name("services.toml")
CHOICES = {"log_probabilities": ("yes", "no"), "seed": ("seed", "random_seed"), "form": FORMS[1:]}


@dataclass(frozen=True)
class Service:
    """One service. The head of `services.toml` explains the fields."""

    name: str
    title: str
    about: str
    address: str
    sources: tuple[str, ...]
    as_of: date
    keys: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    log_probabilities: str = ""
    seed: str = ""
    form: str = ""
    quirks: str = ""

    @property
    def host(self) -> Host:
        return host_of(self.address)

    @property
    def own_machine(self) -> bool:
        """Return whether users run it on their own machines. They then choose its address and its key."""
        return is_loopback(self.address)


@cache
def load_services() -> Mapping[str, Service]:
    """Return every service by its name. Raises `UsageError` for a file that breaks the schema."""
    return parse_services(FILE.read_text("utf-8"), FILE.name)


def service_at(address: str) -> Service | None:
    """Return the service at an address's host; None if there is none, or if users run the service themselves."""
    host = host_of(address)
    return next((one for one in load_services().values() if not one.own_machine and one.host == host), None)


def parse_services(text: str, source: str) -> dict[str, Service]:
    """Return the services in the text of a TOML file. Raises `UsageError`, which names `source` and the bad entry."""
    try:
        return {name: _service(name, about) for name, about in tomllib.loads(text).items()}
    except (ValueError, UsageError) as error:  # a TOMLDecodeError is a ValueError
        raise UsageError(f"services {source} cannot be read: {error}") from error


def _service(name: str, about: object) -> Service:
    if not isinstance(about, dict):
        raise ValueError(f"{name!r} is outside any entry")
    where = f"[{name}]"
    service = Service(name=name, **check_fields(Service, about, where, ("name",)))
    validate_address(service.address)
    if service.address.startswith("http://") and not service.own_machine:
        raise ValueError(f"{where} would send its key unencrypted to {service.address}; write https://")
    if wrong := [key for key in service.keys if not VARIABLE.fullmatch(key)]:
        raise ValueError(f"{where} keys has {wrong[0]!r}; write the name of an environment variable, in capitals")
    for key, choices in CHOICES.items():
        if (chosen := getattr(service, key)) not in ("", *choices):
            raise ValueError(f"{where} {key} is {chosen!r}; known: {', '.join(choices)}")
    return service
