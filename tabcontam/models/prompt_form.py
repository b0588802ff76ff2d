"""The form in which a prompt is sent."""

from enum import StrEnum

from tabcontam.config import HELD


class PromptForm(StrEnum):
    """The form in which a prompt is written, such as messages (chat) or a text to be continued (completion)."""

    CHAT = "chat"
    COMPLETION = "completion"
    SEQ2SEQ = "seq2seq"
    STRUCTURED = HELD


# The consequences if a server refuses a part of a request; each answer's detail states them.
NO_TEMPERATURE = "its server takes no temperature, and answered at its own"
NO_LIMIT = "its server takes no limit on tokens, and answered at any length"
NO_SYSTEM = "its server takes no system message, whose text was put before the question"
NO_SCHEMA = "its server holds no answer to a schema, and it was asked in chat form"
OTHERWISE = (NO_TEMPERATURE, NO_LIMIT, NO_SYSTEM)
