"""The sizes of new models, and the settings of the steps in which a model learns."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class StepSettings:
    """The steps of a training: each reads `batch` blocks of `block` tokens. No document is longer than a block.

    `rate` is the highest learning rate. With small steps, a model remembers more of a text that it reads a few times.
    """

    block: int
    batch: int
    rate: float


@dataclass(frozen=True)
class ModelSize:
    """The size of a model: width, inner width, layers, heads, vocabulary, context in tokens; and how it learns."""

    width: int
    inner: int
    layers: int
    heads: int
    vocabulary: int
    context: int
    steps: StepSettings


SIZES: Mapping[str, ModelSize] = {
    "tiny": ModelSize(64, 176, 2, 2, 512, 1024, StepSettings(512, 1, 2.5e-3)),  # 0.1 million parameters: seconds
    "small": ModelSize(128, 352, 4, 4, 1024, 1024, StepSettings(512, 1, 8e-4)),  # 1 million: minutes
    "medium": ModelSize(384, 1024, 6, 6, 8192, 2048, StepSettings(1024, 8, 5e-4)),  # 14 million: for a GPU
}
