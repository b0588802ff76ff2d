"""API keys: read from the environment alone, sent to one address, and never part of a message."""

import os
import re
from collections.abc import Sequence

from tabcontam.errors import UsageError

SHORTEST_SECRET = 8  # a shorter key is a dummy such as "EMPTY", and may be a word of any text
SHORTEST_PREFIX = 12  # of a key that a server repeats in part; less of it is the same for many keys
LONGEST_DETAIL = 300
MASKED = re.compile(r"[\w-]*\*{3,}[\w-]*")  # a key as a server masks it, with some signs of it left


class KeyHolder:
    """What the providers that send a key share."""

    _secret = ""

    def _read_key(self, variables: Sequence[str], needed_by: str | None) -> tuple[str, str]:
        """The variable that holds a key, the first where none does, and the key or "".

        Raises `UsageError` for what is no key, and where `needed_by` cannot do without one.
        """
        found = {name: os.environ.get(name, "").strip() for name in variables}
        variable = next((name for name in variables if found[name]), variables[0])
        key = found[variable]
        if not key and needed_by:
            raise UsageError(f"no key for {needed_by}; set the environment variable {' or '.join(variables)}")
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise UsageError(f"{variable} holds characters that no key has; set it to the key alone")
        self._secret = key if len(key) >= SHORTEST_SECRET else ""
        return variable, key

    def _mistake(self, text: str) -> UsageError:
        return UsageError(self._line(text, longest=2 * LONGEST_DETAIL))

    def _without_key(self, text: str) -> str:
        """An answer, which a server may have made of what it was sent."""
        return text.replace(self._secret, "***") if self._secret else text

    def _line(self, text: str, longest: int = LONGEST_DETAIL) -> str:
        """What a server said, as one printable line without the key."""
        if self._secret:
            text = self._without_key(text)
            text = re.sub(re.escape(self._secret[:SHORTEST_PREFIX]) + r"[\w*-]*", "***", text)
        text = MASKED.sub("***", text)
        line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
        return line if len(line) <= longest else line[: longest - 1] + "…"
