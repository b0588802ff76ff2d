"""`gemini:` Google's Gemini and Gemma."""

from typing import TYPE_CHECKING

from tabcontam.subjects.base import Model
from tabcontam.subjects.provider import Offer, Provider, Settings

if TYPE_CHECKING:
    from tabcontam.subjects.catalogue import Entry

GOOGLE = "https://generativelanguage.googleapis.com"


def _open(model: str, settings: Settings) -> Model:
    from tabcontam.subjects.gemini.provider import GeminiModel

    return GeminiModel(model, max_connections=settings.connections, spec=settings.spec)


def _offer(entry: "Entry") -> Offer:
    return Offer(entry.gemini or "")


PROVIDER = Provider(
    "gemini", {"gemini:NAME": "Google's Gemini API; the key is in GEMINI_API_KEY"}, _open, _offer, address=GOOGLE
)
