"""Models whose exposure is known: `control:` are built-in language models, `simulated:` answer by a program."""

from tabcontam.models.known.control import open_control
from tabcontam.models.known.simulated import KINDS, SimulatedModel
from tabcontam.models.provider_record import Provider

CONTROL = Provider(
    "control",
    {
        "control:exposed": "a built-in language model that has read the table",
        "control:unexposed": "a built-in language model that has read a shuffled twin of the table",
    },
    lambda kind, settings: open_control(kind, settings.serializers),
)
SIMULATED = Provider(
    "simulated",
    {"simulated:KIND": "a model of known behaviour, on which a report or a gate can be tried"},
    lambda kind, settings: SimulatedModel(kind, settings.seed),
    details=f"kinds: {', '.join(KINDS)}",
)
