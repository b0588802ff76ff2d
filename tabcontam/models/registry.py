"""A specification on the command line to an LLM: `PROVIDER:MODEL`."""

from collections.abc import Callable
from dataclasses import dataclass

from tabcontam.errors import UsageError, unknown
from tabcontam.models.base import Model
from tabcontam.serializers import Serializer

FORMS = {
    "control:exposed": "an embedded language model that has the table",
    "control:unexposed": "the same, with a shuffled twin of the table",
    "openai:NAME": "OpenAI's own models; the key is in OPENAI_API_KEY",
    "openai:NAME@http://HOST:PORT/v1": "any OpenAI-compatible server; its key, if it wants one, in TABCONTAM_API_KEY",
    "simulated:KIND": "an answerer of known behaviour, to try a report or a gate on",
}
CONTROLS = ("control:exposed", "control:unexposed")


@dataclass(frozen=True)
class Settings:
    """What of a run its models need to know: requests at a time, and serializers besides the shipped ones."""

    connections: int = 8
    serializers: tuple[Serializer, ...] = ()


def _control(rest: str, settings: Settings) -> Model:
    from tabcontam.models.control import open_control

    return open_control(rest, settings.serializers)


def _openai(rest: str, settings: Settings) -> Model:
    from tabcontam.models.openai import open_openai, parse_address

    name, address = parse_address(rest)
    return open_openai(name, address, max_connections=settings.connections)


def _simulated(rest: str, settings: Settings) -> Model:
    from tabcontam.models.simulated import open_simulated

    return open_simulated(rest)


PROVIDERS: dict[str, Callable[[str, Settings], Model]] = {
    "control": _control,
    "openai": _openai,
    "simulated": _simulated,
}


def open_model(spec: str, settings: Settings) -> Model:
    """The LLM that `spec` names. Raises `UsageError`."""
    provider, colon, rest = spec.partition(":")
    if not colon:
        raise UsageError(
            f"unknown LLM {spec!r}; write PROVIDER:MODEL, for example openai:{spec}@http://127.0.0.1:11434/v1 "
            f"for a server, or {CONTROLS[0]}"
        )
    if provider not in PROVIDERS:
        raise unknown("provider", provider, PROVIDERS)
    if not rest:
        raise UsageError(f"{spec!r} names no model; write for example {provider}:NAME")
    return PROVIDERS[provider](rest, settings)
