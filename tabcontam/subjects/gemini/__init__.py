"""`gemini:` Google's Gemini and Gemma."""

from tabcontam.subjects.base import Model
from tabcontam.subjects.provider import Offer, Provider, Settings

GOOGLE = "https://generativelanguage.googleapis.com"


def _open(model: str, settings: Settings) -> Model:
    from tabcontam.subjects.gemini.provider import GeminiModel

    return GeminiModel(model, max_connections=settings.connections, spec=settings.spec)


PROVIDER = Provider(
    "gemini",
    {"gemini:NAME": "Google's Gemini API; the key is in GEMINI_API_KEY"},
    _open,
    lambda entry: Offer(entry.gemini or ""),
    address=GOOGLE,
)
