"""Prices of LLMs, from the shipped `prices.toml` or the user's file, and an upper bound on a prompt's tokens."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from pathlib import Path

from tabcontam.errors import UsageError, one_line
from tabcontam.models.provider_registry import BUILT_IN
from tabcontam.paths import read_regular
from tabcontam.tables.toml_files import check_fields

FILE = Path(__file__).with_name("prices.toml")
NAME = re.compile(r"[^\s:]+:\S+")
RESOURCE = "models/"  # Google's models may be written models/NAME
MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens: for prompts, and for all written tokens, thinking included; in a batch half."""

    input: float
    output: float
    batch_input: float | None = None
    batch_output: float | None = None

    @property
    def in_batch(self) -> "Price":
        return Price(
            self.input / 2 if self.batch_input is None else self.batch_input,
            self.output / 2 if self.batch_output is None else self.batch_output,
        )

    def cost(self, prompt: int, written: int) -> Decimal:
        """Return the US dollars for this many tokens, never rounded down."""
        with localcontext(rounding=ROUND_CEILING):
            return (prompt * Decimal(str(self.input)) + written * Decimal(str(self.output))) / MILLION


FREE = Price(0.0, 0.0)


def load_prices(path: Path | None = None, *, longest_detail: int = 200) -> Mapping[str, Price]:
    """Return the prices of the user's file `path`, or the shipped prices. Raises `UsageError` in one line."""
    file = path or FILE
    try:
        document = tomllib.loads(read_regular(file).decode("utf-8"))
        return {name.rstrip("/"): _price(name, about) for name, about in document.items()}
    except OSError as error:
        raise UsageError(f"price file {str(file)!r} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError and a UnicodeDecodeError are ValueErrors
        raise UsageError(f"price file {str(file)!r} cannot be read: {one_line(error, longest_detail)}") from error


def price_of(identity: Mapping[str, str], local: bool, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of the LLM with this identity; None if it is not known.

    An LLM on this machine, or of a provider without charges, is free unless `prices` has an entry for it. Entries
    are named `provider:model` at a provider's own address, `provider:model@address` at another server, or
    `service:model`. The model must equal the entry's: a dated name may cost more. Only Google's `models/` before a
    name is ignored.
    """
    provider, address, model = (identity.get(key, "") for key in ("provider", "address", "model"))
    maker = BUILT_IN.get(provider)
    if address in ("", maker and maker.address):
        names = [f"{provider}:{model.removeprefix(RESOURCE) if provider == 'gemini' else model}"]
    else:  # a service that speaks another's protocol has its own name
        services = [each.name for each in BUILT_IN.values() if each.address == address]
        services += [maker.name] if maker and not maker.address else []  # a cloud's address depends on its user
        names = [f"{provider}:{model}@{address}", *(f"{name}:{model}" for name in services)]
    free = local or (maker is not None and maker.free)
    return next((prices[name] for name in names if name in prices), FREE if free else None)


# The tokens of a chat template, one a byte: the marks around a message and its role (57 bytes in Llama
# 3's), and once for each prompt, the preamble and the cue to answer (271 bytes in gpt-oss's).
def prompt_bound(
    prompt_text_bytes: int, messages: int, *, tokens_per_message: int = 64, tokens_per_prompt: int = 320
) -> int:
    """Return the most tokens that a prompt of `messages` messages can have, from the bytes of its text in UTF-8.

    In a byte-level tokenizer each token is at least one byte. For one that makes the text longer (T5's), this is no
    bound.
    """
    return prompt_text_bytes + messages * tokens_per_message + tokens_per_prompt


def _price(name: str, about: object) -> Price:
    where = f"[{name!r}]"
    if not NAME.fullmatch(name) or not isinstance(about, dict):
        raise ValueError(f'{where} is not a model; write for example ["openai:gpt-4o"]')
    for key, value in about.items():
        # To Python a true is an int. Over a dollar a token, the decimal point is wrong or the number infinite.
        if type(value) not in (int, float) or not 0 <= value <= MILLION:
            raise ValueError(f"{where} {key} cannot be {value!r}; write US dollars per million tokens")
    return Price(**check_fields(Price, {key: float(value) for key, value in about.items()}, where))
