"""What the pages of the docs need of the command `expose`: models so small that they are made in seconds."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import pytest

from tabcontam.extensions.exposed.model_sizes import SIZES, ModelSize, StepSettings

SMALLEST = ModelSize(16, 32, 1, 1, 512, 1024, StepSettings(512, 8, 2.5e-3))  # nothing is measured in such a model


@contextmanager
def documented(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the smallest model for `tiny`."""
    monkeypatch.setitem(cast("dict[str, ModelSize]", SIZES), "tiny", SMALLEST)
    yield
