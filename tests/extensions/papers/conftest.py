"""The settings of this extension, and the browser of the page's tests, for the page on which a person judges."""

import pytest

from tabcontam.entry_points import load_settings
from tests.report.conftest import browser as browser


@pytest.fixture(autouse=True)
def papers_settings() -> None:
    """`--judge` and `--overlap` are settings of a run, as on every surface."""
    load_settings()
