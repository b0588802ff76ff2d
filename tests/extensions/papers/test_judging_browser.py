"""The page on which a person judges, in real Chromium: nothing loads, hostile text is text, the file is whole."""

import json
from pathlib import Path
from typing import Any

import pytest

from tabcontam.evidence.completion_pairs import Likeness
from tabcontam.extensions.papers.human_judges import FORM, JudgingItem, JudgingSheet, render_judging
from tests.report.chromium import opened
from tests.report.synthetic import HOSTILE

pytestmark = pytest.mark.slow
PAIRS = [
    (("0a", "It began", "and it ended.", "and it ended"), None),
    (("1b", HOSTILE, HOSTILE, f"{HOSTILE}</pre><script>document.title = 'taken'</script>"), None),
    (("2c", "", "of a row", "of a table\nof two lines"), Likeness.NONE),
]
NAME = 'Ida "<b>" Berg'
SHEET = JudgingSheet(Path(), NAME, tuple(JudgingItem(*texts, (), word) for texts, word in PAIRS))


def saved(page: Any) -> dict[str, Any]:
    """What the page saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Save").click()
    held: dict[str, Any] = json.loads(Path(download.value.path()).read_text("utf-8"))
    return held


def test_what_is_clicked_or_typed_is_saved(browser: Any, tmp_path: Path) -> None:
    page, complaints = opened(browser, tmp_path / "judge.html", render_judging(SHEET))
    assert page.title() == "Which completions match?"
    assert page.locator("#progress").inner_text() == "1 of 3 judged"
    page.keyboard.press("1")  # of the first pair without a word
    page.keyboard.press("2")
    assert page.locator("#progress").inner_text() == "3 of 3 judged"
    page.locator("article").nth(2).get_by_label("near-exact").check()
    assert saved(page) == {"form": FORM, "by": NAME, "words": {"0a": "exact", "1b": "near-exact", "2c": "near-exact"}}
    assert complaints == []
    page.close()


def test_hostile_text_is_shown_as_text(browser: Any, tmp_path: Path) -> None:
    page, complaints = opened(browser, tmp_path / "judge.html", render_judging(SHEET))
    assert "<script>" in page.locator("article").nth(1).inner_text()
    assert page.locator("article script").count() == 0
    assert page.title() == "Which completions match?"
    assert complaints == []
    page.close()


def test_it_goes_on_where_it_stopped(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "judge.html"
    context = browser.new_context()
    page, _ = opened(context, file, render_judging(SHEET))
    page.keyboard.press("3")
    page.close()
    page, _ = opened(context, file, render_judging(SHEET))
    assert page.locator("#progress").inner_text() == "2 of 3 judged"
    assert saved(page)["words"] == {"0a": "no match", "2c": "no match"}
    context.close()
