"""All tests of this folder are slow: to import torch and transformers alone takes seconds, in every worker."""

import pytest


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Where slow tests are left out, these modules are not even imported."""
    return True if config.option.markexpr == "not slow" else None
