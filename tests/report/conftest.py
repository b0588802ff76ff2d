"""A browser for the tests of the page."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.report.chromium import ARGUMENTS, CHROMIUM


@pytest.fixture(scope="module")  # not longer: its event loop is in the way of others
def browser() -> Iterator[Any]:
    """Chromium, without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()
