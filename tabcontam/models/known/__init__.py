"""Models whose exposure is known: `control:` the embedded language models, `simulated:` models with coded behaviour."""

from tabcontam.models.known.control import open_control
from tabcontam.models.known.simulated import KINDS, SimulatedModel
from tabcontam.models.provider_record import Provider

CONTROL = Provider(
    "control",
    {
        "control:exposed": "an embedded language model that has the table",
        "control:unexposed": "the same, with a shuffled twin of the table",
    },
    lambda kind, settings: open_control(kind, settings.serializers),
)
SIMULATED = Provider(
    "simulated",
    {"simulated:KIND": "an answerer of known behaviour, to try a report or a gate on"},
    lambda kind, settings: SimulatedModel(kind, settings.seed),
    details=f"kinds: {', '.join(KINDS)}",
)
