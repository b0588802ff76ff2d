"""The form in which a prompt is sent."""

from enum import StrEnum

FORMS = ("auto", "chat", "completion")  # a user's choices; "auto" is the model's chat form, if it has one
HELD = "structured"  # one more choice of a run: chat, with answers to row tests held to a JSON schema


class PromptForm(StrEnum):
    """The form of a request."""

    CHAT = "chat"
    COMPLETION = "completion"
    SEQ2SEQ = "seq2seq"
    STRUCTURED = HELD


# The consequence for the answers if a server does not take a part of a request; the detail of each answer holds it.
NO_TEMPERATURE = "its server takes no temperature, and answered at its own"
NO_LIMIT = "its server takes no limit on tokens, and answered at any length"
NO_SYSTEM = "its server takes no system message, whose text was put before the question"
NO_SCHEMA = "its server holds no answer to a schema, and it was asked in chat form"
OTHERWISE = (NO_TEMPERATURE, NO_LIMIT, NO_SYSTEM)
