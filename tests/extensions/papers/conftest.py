"""The browser of the page's tests, for the page on which a person judges."""

from tests.report.conftest import browser as browser
