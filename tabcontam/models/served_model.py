"""The common base of LLMs at an address. Their key goes only to that address and into no message."""

import re
from collections.abc import Iterable, Mapping

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Usage
from tabcontam.models.base import Model
from tabcontam.models.keys import HOW_TO_NAME, NO_KEY, OTHER_KEY, Host, host_of, is_loopback, read_variable
from tabcontam.tables.sources.web_files import key_in

PLACEHOLDER = "no-key"  # the SDKs do not start without a key
LONGEST_DETAIL = 300
MASKED = re.compile(r"[\w-]*\*{3,}[\w-]*")  # a key that a server has masked, with some of its signs left


class ServedModel(Model):
    """An LLM at an address. Only the maker's own host gets a key of `keys`, and that host needs one."""

    provider: str  # the name before the colon
    maker: str  # in messages, as `service`
    service: str  # of the maker
    keys: tuple[str, ...]
    learns = True
    _secret = ""

    def __init__(self, spec: str, model: str, address: str, own: str, variable: str = "") -> None:
        """Take the variable that the user named for the key: `none` for no key, "" for the usual one."""
        self.spec = spec
        self.model = model
        self.address = address
        self.local = is_loopback(address)
        self._own = self.host == host_of(own)
        usual = self._usual(self._own)
        self.names_variable = variable not in ("", NO_KEY)  # True if the user named it for this host
        self._variables = () if variable == NO_KEY else (variable,) if variable else usual

    @property
    def identity(self) -> Mapping[str, str]:
        return {"provider": self.provider, "address": self.address, "model": self.model}

    @property
    def host(self) -> Host:
        return host_of(self.address)

    @property
    def key_variable(self) -> str:
        """The environment variable with the key; if none is set, the first possible one; "" if no key is sent."""
        return next((name for name in self._variables if read_variable(name)), next(iter(self._variables), ""))

    def check_at_hand(self) -> None:
        self._key()

    async def look(self) -> None:
        await self.connect()

    def _usual(self, own: bool) -> tuple[str, ...]:
        return self.keys if own else (OTHER_KEY,)

    @property
    def _needs_key(self) -> bool:
        return self._own

    @property
    def _who(self) -> str:
        return self.maker if self._own else f"the server at {self.address}"

    def _has_key(self) -> bool:
        return bool(read_variable(self.key_variable))

    def _wants_key(self) -> str:
        if not self.key_variable:
            return f"{self._who} wants a key, and #{NO_KEY} sends none; {HOW_TO_NAME}"
        other = f", or {HOW_TO_NAME}" if self.key_variable == OTHER_KEY else ""
        return f"{self._who} wants a key; set the environment variable {self.key_variable}{other}"

    def _key(self) -> str:
        """Return the key for this address. Raises `UsageError` for a bad key, or for a missing key that is needed."""
        shortest_secret = 8  # characters; a shorter key is a dummy such as "EMPTY", and may occur in any text
        key = key_in(self.key_variable)
        if not key and self.names_variable:
            raise UsageError(f"no key for {self._who}; set the environment variable {self.key_variable}")
        if not key and self._needs_key and self._variables:
            usual = " or ".join(name for name in self._variables if name != OTHER_KEY)
            raise UsageError(f"no key for {self.service}; set the environment variable {usual}")
        self._secret = key if len(key) >= shortest_secret else ""
        return key or PLACEHOLDER

    def _mistake(self, text: str) -> UsageError:
        return UsageError(self._line(text, longest=2 * LONGEST_DETAIL))

    def _without_key(self, text: str) -> str:
        """Return a server's text with the key masked, because the server may have repeated the key."""
        return text.replace(self._secret, "***") if self._secret else text

    def _line(self, text: str, longest: int = LONGEST_DETAIL) -> str:
        """Return a server's text as one printable line in which the key is masked."""
        shortest_prefix = 12  # characters of a key that a server repeats in part; many keys share fewer
        if self._secret:
            text = self._without_key(text)
            text = re.sub(re.escape(self._secret[:shortest_prefix]) + r"[\w*-]*", "***", text)
        text = MASKED.sub("***", text)
        line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
        return line if len(line) <= longest else line[: longest - 1] + "…"


def sum_known_charges(usages: Iterable[Usage | None]) -> Usage | None:
    """Return the sum of the tokens charged for one reply's requests; None if no charge is known."""
    stated = [usage for usage in usages if usage]
    return Usage(sum(usage.prompt for usage in stated), sum(usage.written for usage in stated)) if stated else None
