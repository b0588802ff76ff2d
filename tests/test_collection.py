"""Tests are collected in each worker, and again for each run: that has to be quick."""

import pytest

from tests.conftest import COLLECTED

HEAVY = {
    "anthropic", "duckdb", "fastapi", "google.genai", "matplotlib", "nltk", "peft", "polars", "ray", "sklearn", "torch",
    "transformers",
}  # fmt: skip


def test_nothing_heavy_is_imported_to_collect_tests(pytestconfig: pytest.Config) -> None:
    collected = pytestconfig.stash[COLLECTED]
    assert HEAVY & collected == set(), "import it within a test, or name it by tests.needed"
