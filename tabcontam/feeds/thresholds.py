"""Numbers that decide verdicts, for all modules of this room, each with its source."""

DEFAULT_TEXTS = 50  # texts that are collected unless the user asks for more; by hand
