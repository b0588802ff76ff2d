"""Answerers whose exposure is known: `control:` the embedded language models, `simulated:` behaviour written down."""

from tabcontam.subjects.base import Model
from tabcontam.subjects.provider import Provider, Settings


def _control(kind: str, settings: Settings) -> Model:
    from tabcontam.subjects.known.control import open_control

    return open_control(kind, settings.serializers)


def _simulated(kind: str, settings: Settings) -> Model:
    from tabcontam.subjects.known.simulated import open_simulated

    return open_simulated(kind, settings.seed)


def _kinds() -> str:
    from tabcontam.subjects.known.simulated import KINDS

    return f"kinds: {', '.join(KINDS)}"


CONTROL = Provider(
    "control",
    {
        "control:exposed": "an embedded language model that has the table",
        "control:unexposed": "the same, with a shuffled twin of the table",
    },
    _control,
)
SIMULATED = Provider(
    "simulated",
    {"simulated:KIND": "an answerer of known behaviour, to try a report or a gate on"},
    _simulated,
    details=_kinds,
)
