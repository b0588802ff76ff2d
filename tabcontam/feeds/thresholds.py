"""Numbers that decide verdicts, for all modules of `feeds`, each with its source."""

DEFAULT_TEXTS = 50  # texts that are collected unless the user asks for more; by hand
