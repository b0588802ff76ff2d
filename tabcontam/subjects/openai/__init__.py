"""`openai:` OpenAI itself, or any server that speaks its protocol."""

from tabcontam.subjects.base import Model
from tabcontam.subjects.openai.address import OPENAI, parse_address
from tabcontam.subjects.provider import Offer, Provider, Settings


def open_server(name: str, address: str | None, settings: Settings) -> Model:
    """The LLM of this name behind an address, or at OpenAI."""
    from tabcontam.subjects.openai.provider import OpenAIModel

    return OpenAIModel(name, address, settings.form, settings.connections, settings.spec, settings.needs)


def _open(model: str, settings: Settings) -> Model:
    return open_server(*parse_address(model), settings)


PROVIDER = Provider(
    "openai",
    {
        "openai:NAME": "OpenAI's own models; the key is in OPENAI_API_KEY",
        "openai:NAME@http://HOST:PORT/v1": (
            "any OpenAI-compatible server; its key, if it wants one, in TABCONTAM_API_KEY"
        ),
    },
    _open,
    lambda entry: Offer(entry.openai or ""),
    address=OPENAI,
)
