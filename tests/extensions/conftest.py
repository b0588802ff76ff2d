"""The settings that extensions add, for tests that make a `RunConfig` themselves."""

import pytest

from tabcontam.entry_points import load_settings


@pytest.fixture(autouse=True)
def settings_of_extensions() -> None:
    """Settings such as `--judge` and `--ray` are settings of a run, as on every surface."""
    load_settings()
