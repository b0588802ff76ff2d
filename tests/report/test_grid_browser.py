"""The first page of a large run in real Chromium: its letters are found, filtered, sorted, walked through, followed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tabcontam.report import heatmap_squares, html
from tests.needed import needed
from tests.report.chromium import opened
from tests.report.rendered import render_pages
from tests.report.synthetic import results

playwright = needed("playwright.sync_api")
pytestmark = pytest.mark.slow
LLMS, TABLES = ["alpha-1", "alpha-2", "beta-1", "beta-10", "beta-2"], ["iris", "wine", "adult", "bank"]
LETTERS = "[...document.querySelectorAll('#grid tbody tr:not([hidden]) td:not([hidden])')]"


@pytest.fixture
def page(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The first page of a run for which a few squares are too many, opened from disk; nothing may be complained of."""
    monkeypatch.setattr(html, "MOST_LLMS", 3)
    monkeypatch.setattr(heatmap_squares, "CROWDED", 3)
    pages = render_pages(results(LLMS, TABLES), [])
    for name, source in pages.items():
        (tmp_path / name).write_text(source, encoding="utf-8")
    page, complaints = opened(browser, tmp_path / "index.html", pages["index.html"])
    page.set_default_timeout(20_000)
    yield page
    page.close()
    assert complaints == []


def shows(page: Any, text: str) -> None:
    """Waits until the page says how many squares are shown."""
    playwright.expect(page.locator("#grid-filters output")).to_have_text(text)


def test_what_is_looked_for_is_shown_alone(page: Any) -> None:
    shows(page, "20 of 20 squares shown")
    page.locator("[name=llm]").fill("BETA")
    shows(page, "12 of 20 squares shown")
    page.locator("[name=table]").fill("i")
    shows(page, "6 of 20 squares shown")
    assert page.evaluate(f"{LETTERS}.length") == 6
    page.get_by_role("button", name="Reset").click()
    shows(page, "20 of 20 squares shown")
    found = page.evaluate(f"{LETTERS}.filter(cell => cell.textContent === 'C').length")
    page.locator("[name=verdict]").select_option("contaminated")
    shows(page, f"{found} of 20 squares shown")
    assert 0 < found < 20


def test_llms_are_sorted_by_name_as_people_count(page: Any) -> None:
    page.locator("[name=llms-by]").select_option("name")
    playwright.expect(page.locator("#grid tbody th").last).to_have_text("beta-10")


def test_a_square_leads_to_its_table_on_the_page_of_its_llm(page: Any) -> None:
    square = page.locator("#grid tbody tr").nth(2).locator("td").nth(1)
    square.hover()
    playwright.expect(page.locator("#grid-here")).to_contain_text("beta-1, wine: ")
    square.click()
    page.wait_for_url("**/llm-3.html?dataset=wine")
    assert page.locator("h1").text_content() == "beta-1"
    assert page.locator("#shown").text_content() == "13 of 52 results shown"


def test_the_keyboard_alone_goes_from_square_to_square_and_on(page: Any) -> None:
    page.locator("#grid tbody td").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    playwright.expect(page.locator("#grid-here")).to_contain_text("alpha-2, wine: ")
    page.keyboard.press("Enter")
    page.wait_for_url("**/llm-2.html?dataset=wine")
