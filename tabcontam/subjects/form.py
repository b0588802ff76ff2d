"""The form in which a prompt is sent."""

from enum import StrEnum

FORMS = ("auto", "chat", "completion")  # what a user may ask for; "auto" is the model's chat form, if it has one


class Form(StrEnum):
    """The form of a request."""

    CHAT = "chat"
    COMPLETION = "completion"
    SEQ2SEQ = "seq2seq"
