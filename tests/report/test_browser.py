"""The page in real Chromium: it fits, it is quiet, each square has a name and is reached by keyboard."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tabcontam.report.html import render_html
from tests.report.synthetic import HOSTILE, cell, document, results, trial, trials

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def run() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A run with every verdict, and an LLM, a dataset and an answer that attack the page."""
    of = results(["control:exposed", "gpt-4o"], ["iris", "wine", "adult"])
    attack = cell(HOSTILE + "x" * 200, "y" * 200, "full_completion", "contaminated", sentence=HOSTILE + "z" * 500)
    of = document([*of["cells"], attack])
    return of, [*trials(of), trial(attack, "1", reply=HOSTILE + "w" * 5_000)]


def opened(browser: Any, path: Path, source: str, **options: Any) -> tuple[Any, list[str]]:
    """The page opened from disk, and whatever the browser complains of."""
    path.write_text(source, encoding="utf-8")
    page = browser.new_page(**options)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.extend([request.url] * (not request.url.startswith("file:"))))
    page.goto(path.as_uri())
    return page, complaints


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_and_is_quiet(
    browser: Any, tmp_path: Path, run: tuple[dict[str, Any], list[dict[str, Any]]], scheme: str, width: int
) -> None:
    viewport = {"width": width, "height": 800}
    page, complaints = opened(
        browser, tmp_path / "index.html", render_html(*run), viewport=viewport, color_scheme=scheme
    )
    for details in page.locator("details").all():
        details.evaluate("details => { details.open = true }")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    heatmap = page.locator("table.heatmap")
    assert heatmap.is_visible()
    assert heatmap.bounding_box()["height"] > 300
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    page.screenshot(path=str(tmp_path / "page.png"))
    assert complaints == []
    page.close()


def test_each_square_has_a_name_and_is_reached_by_keyboard(
    browser: Any, tmp_path: Path, run: tuple[dict[str, Any], list[dict[str, Any]]]
) -> None:
    page, _ = opened(browser, tmp_path / "index.html", render_html(*run))
    for outcome in ("contaminated", "not detected", "uninformative", "no answer", "skipped", "scored"):
        assert page.get_by_role("link", name=outcome).count() > 0
    assert page.get_by_role("link").count() == len(run[0]["cells"])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "scroll"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector('.entry:target') !== null")
    page.close()


def test_row_headers_stay_while_the_heatmap_scrolls(browser: Any, tmp_path: Path) -> None:
    wide = results([f"llm-{number}" for number in range(10)], [f"dataset{number}" for number in range(9)])
    page, _ = opened(browser, tmp_path / "index.html", render_html(wide, []), viewport={"width": 700, "height": 800})
    page.locator(".scroll").first.evaluate("region => { region.scrollLeft = 1500 }")
    header = page.locator(".heatmap th[scope=row]").first.bounding_box()
    assert 0 <= header["x"] < 60
    page.close()
