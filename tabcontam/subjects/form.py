"""The form in which a prompt is sent."""

from enum import StrEnum

FORMS = ("auto", "chat", "completion")  # what a user may ask for; "auto" is the model's chat form, if it has one
HELD = "structured"  # what a run may ask for, too: chat, with answers to row tests held to a JSON schema


class Form(StrEnum):
    """The form of a request."""

    CHAT = "chat"
    COMPLETION = "completion"
    SEQ2SEQ = "seq2seq"
    STRUCTURED = HELD


# What follows for the answers where a server does not take a part of a request: it stands in the detail of each answer.
NO_TEMPERATURE = "its server takes no temperature, and answered at its own"
NO_LIMIT = "its server takes no limit on tokens, and answered at any length"
NO_SYSTEM = "its server takes no system message, whose text was put before the question"
NO_SCHEMA = "its server holds no answer to a schema, and it was asked in chat form"
OTHERWISE = (NO_TEMPERATURE, NO_LIMIT, NO_SYSTEM)
