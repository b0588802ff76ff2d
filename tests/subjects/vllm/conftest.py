"""What computes is slow: to import torch and transformers alone takes seconds, in every worker."""

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where slow tests are left out, the module that computes is not even imported."""
    computes = collection_path.name == "test_provider.py"
    return True if computes and config.option.markexpr == "not slow" else None
