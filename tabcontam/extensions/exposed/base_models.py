"""The model that `expose` trains further: its files, the digest of its weights, and what it has read."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tabcontam.errors import UsageError, option
from tabcontam.extensions.exposed.model_sizes import StepSettings
from tabcontam.extensions.exposed.thresholds import ADAPTER_RATE_FACTOR, BASE_BLOCK_TOKENS, BASE_LEARNING_RATE
from tabcontam.models.hf.decoding import context_of
from tabcontam.models.hf.loading import configuration, find, weights_digest
from tabcontam.models.known.exposure_card import ExposureCard, read_card

PROVIDER = "hf:"


@dataclass(frozen=True)
class BaseLlm:
    """A model to train further: the user's name for it, its folder, the digest of its weights, and how it learns.

    `context` is the most tokens that it can read, 0 without a limit. With `lora` an adapter of low rank learns, and the
    weights do not change. `card` lists what the model has read, if `expose` made it.
    """

    name: str
    folder: Path
    weights: str
    context: int
    steps: StepSettings
    lora: bool
    card: ExposureCard | None

    @property
    def facts(self) -> dict[str, object]:
        """The facts for JSON that determine the models made from it. The folder's location is not one of them."""
        return {"weights_sha256": self.weights, "lora": self.lora, "rate": self.steps.rate}

    def holding(self, tokens: int) -> "BaseLlm":
        """Return this base with training blocks of at least `tokens` tokens, or as long as its context allows."""
        block = self.steps.block
        while block < tokens and (not self.context or block < self.context):
            block = min(2 * block, self.context or 2 * block)
        return replace(self, steps=replace(self.steps, block=block))


def base_of(llm: str, lora: bool = False, rate: float | None = None) -> BaseLlm:
    """Return the named model. `rate` is its highest learning rate, by default one that suits the model's width.

    Raises `UsageError`, before weights are loaded, if it is not a causal language model that can learn here.
    """
    example = option("llm", "hf:REPO_OR_FOLDER")
    name = llm.removeprefix(PROVIDER)
    if name == llm or not name:
        raise UsageError(f"{llm!r} cannot be trained on this machine; name a model of transformers with {example}")
    if rate is not None and not 0 < rate < 1:
        raise UsageError(f"--rate is a number between 0 and 1, such as 1e-4; not {rate}")
    folder = find(name)
    config = configuration(llm, folder)
    if config.is_encoder_decoder:
        raise UsageError(f"{llm} is a sequence-to-sequence model; name a causal model, which continues a text")
    if getattr(config, "quantization_config", None):
        raise UsageError(f"{llm} is quantized and cannot learn; name the model that it was made from")
    own = rate or BASE_LEARNING_RATE / _width(config) * (ADAPTER_RATE_FACTOR if lora else 1)
    context = context_of(config)
    steps = StepSettings(min(context or BASE_BLOCK_TOKENS, BASE_BLOCK_TOKENS), 1, float(f"{own:.2g}"))
    stated = read_card(folder) if Path(name).expanduser().is_dir() else None  # a card from the hub is not trusted
    return BaseLlm(llm, folder, weights_digest(folder), context, steps, lora, stated)


def _width(config: Any) -> int:
    found = getattr(config.get_text_config(), "hidden_size", None)
    return found if isinstance(found, int) and found > 0 else 768
