"""What the LLMs behind an address share: the key, which goes to that address alone and into no message."""

import os
import re
from collections.abc import Iterable, Mapping

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Usage
from tabcontam.subjects.base import Model
from tabcontam.subjects.openai.address import is_loopback

OTHER_KEY = "TABCONTAM_API_KEY"  # for a server that is not the maker's own
PLACEHOLDER = "no-key"  # the SDKs do not start without one
SHORTEST_SECRET = 8  # a shorter key is a dummy such as "EMPTY", and may be a word of any text
SHORTEST_PREFIX = 12  # of a key that a server repeats in part; less of it is the same for many keys
LONGEST_DETAIL = 300
MASKED = re.compile(r"[\w-]*\*{3,}[\w-]*")  # a key as a server masks it, with some signs of it left


class ServedModel(Model):
    """An LLM behind an address. Only the maker's own address sees a key of `keys`, and there it is needed.

    `provider` is the name before the colon; `maker` and `service` are how messages call the maker and its server.
    """

    provider: str
    maker: str
    service: str
    keys: tuple[str, ...]
    _secret = ""

    def __init__(self, spec: str, model: str, address: str, own: str) -> None:
        self.spec = spec
        self.model = model
        self.address = address
        self.local = is_loopback(address)
        self._own = address == own
        self._variables = self.keys if self._own else (OTHER_KEY,)

    @property
    def identity(self) -> Mapping[str, str]:
        """Provider, address and model, under which replies are stored."""
        return {"provider": self.provider, "address": self.address, "model": self.model}

    @property
    def _who(self) -> str:
        return self.maker if self._own else f"the server at {self.address}"

    @property
    def _variable(self) -> str:
        """The environment variable that holds the key; the first that could, where none does."""
        return next((name for name in self._variables if _stated(name)), self._variables[0])

    def _has_key(self) -> bool:
        return bool(_stated(self._variable))

    def _key(self) -> str:
        """The key for this address, and no other. Raises `UsageError` for what is no key, or where one is needed."""
        key = _stated(self._variable)
        if not key and self._own:
            raise UsageError(f"no key for {self.service}; set the environment variable {' or '.join(self._variables)}")
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise UsageError(f"{self._variable} holds characters that no key has; set it to the key alone")
        self._secret = key if len(key) >= SHORTEST_SECRET else ""
        return key or PLACEHOLDER

    def _mistake(self, text: str) -> UsageError:
        return UsageError(self._line(text, longest=2 * LONGEST_DETAIL))

    def _without_key(self, text: str) -> str:
        """An answer without the key, which a server may have repeated in it."""
        return text.replace(self._secret, "***") if self._secret else text

    def _line(self, text: str, longest: int = LONGEST_DETAIL) -> str:
        """What a server said, as one printable line without the key."""
        if self._secret:
            text = self._without_key(text)
            text = re.sub(re.escape(self._secret[:SHORTEST_PREFIX]) + r"[\w*-]*", "***", text)
        text = MASKED.sub("***", text)
        line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
        return line if len(line) <= longest else line[: longest - 1] + "…"


def charged(usages: Iterable[Usage | None]) -> Usage | None:
    """What the requests for one reply cost together, as far as the server says."""
    stated = [usage for usage in usages if usage]
    return Usage(sum(usage.prompt for usage in stated), sum(usage.written for usage in stated)) if stated else None


def _stated(variable: str) -> str:
    return os.environ.get(variable, "").strip()
