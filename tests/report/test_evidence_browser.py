"""The evidence in real Chromium: it opens under a strict policy, says what it shows, and shows hostile text as text."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import pytest

from tabcontam.report.environment import asset
from tabcontam.report.evidence import PackedEvidence
from tabcontam.verdicts.document import parse_results
from tests.report.chromium import opened
from tests.report.rendered import pack_evidence
from tests.report.synthetic import HOSTILE, cell, document, trial

pytestmark = pytest.mark.slow
COLOURS = """
:root { color-scheme: light dark; --ground: #ffffff; --card: #f6f7f9; --ink: #1b1f24; --quiet: #57606a;
  --rule: #d0d7de; --bold: #3d444d; --link: #0b57b0; --hit: #b42318; --hit-ink: #ffffff; --clean: #ffffff;
  --clean-edge: #b9c1ca; --unknown: #f2c94c; --warn: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --ground: #0f1318; --card: #181d24; --ink: #e6eaef; --quiet: #9aa5b1;
  --rule: #303841; --bold: #aab4bf; --link: #79b8ff; --hit: #ff7b6b; --hit-ink: #14080a; --clean: #0f1318;
  --clean-edge: #4a545f; --unknown: #d9a92c; --warn: #e3b341; } }
body { background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; margin: 1rem; }
"""


def page_of(of: Mapping[str, Any], lines: Iterable[Mapping[str, Any]], blobs: Mapping[int, str] | None = None) -> str:
    """A page with nothing but the evidence, under the policy of the report's page."""
    view = parse_results(of)
    found: PackedEvidence = pack_evidence(view, lines)
    cells = "".join(
        f'<details class="evidence" id="cell-{place}" data-cell="{place}"><summary>{escape(one.test)}</summary>'
        "<div></div></details>"
        for place, one in view.placed.items()
    )
    held = found.blobs if blobs is None else blobs
    texts = "".join(f'<script type="text/plain" id="evidence-{block}">{blob}</script>' for block, blob in held.items())
    sheet = COLOURS + asset("evidence.css")
    script = asset("evidence.js")
    policy = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(sheet)}'; base-uri 'none'"
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Evidence</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{sheet}</style></head>'
        f"<body><main>{cells}</main>{texts}<script>{script}</script></body></html>"
    )


def _hash(source: str) -> str:
    return f"sha256-{b64encode(sha256(source.encode()).digest()).decode()}"


def opens(page: Any, place: str = "1-1-1") -> Any:
    """The cell's evidence, once it is written."""
    page.evaluate("place => { document.getElementById(place).open = true }", f"cell-{place}")
    found = page.locator(f"#cell-{place} > div")
    found.locator("p").first.wait_for()
    return found


CELL = cell("gpt-4o", "titanic", "incomplete_completion", "contaminated")
GUESSES = {
    "Fare": {"values": {"27.9": 0.125}, "rest": 0.01, "missing": 0.0},
    "Embarked": {"values": {"S": 0.5}, "rest": 0.01, "missing": 0.0},
}
ROW = {
    "expected": {"Fare": "27.9", "Cabin": "C22", "Embarked": "S", "Boat": None},
    "parsed": {"Fare": "27.9", "Cabin": "E101", "Boat": None},
    "reply": "The Fare is 27.9, The Cabin is E101",
    "chance": GUESSES,
    "line": 412,
}
ONE = [trial(CELL, "1", **ROW)]


def test_a_cell_opens_its_queries_and_says_so(browser: Any, tmp_path: Path) -> None:
    page, complaints = opened(browser, tmp_path / "page.html", page_of(document([CELL]), ONE))
    found = opens(page)
    assert found.locator("> p").first.inner_text() == "1 query: 1 hit."
    assert found.locator(".title").inner_text() == "1. hit, 3.0 bits, the paper's own query, line 412 of trials.jsonl"
    assert found.get_by_role("article", name="1. hit").count() == 1
    assert found.locator("pre.prompt").count() == 2
    assert found.locator(".role").all_inner_texts() == ["system", "user"]
    page.locator("p[role=status]", has_text="Evidence shown: 1 query: 1 hit.").wait_for(state="attached")
    assert complaints == []
    page.close()


def test_right_wrong_and_missing_cells_differ_in_shape_and_colour(browser: Any, tmp_path: Path) -> None:
    page, _ = opened(browser, tmp_path / "page.html", page_of(document([CELL]), ONE))
    found = opens(page)
    rows = [row.locator("th, td").all_text_contents() for row in found.locator("tbody tr").all()]
    assert rows == [
        ["Fare", "27.9", "27.9", "✓ right", "12%", "3.0"],
        ["Cabin", "C22", "E101", "✗ wrong", "*", ""],
        ["Embarked", "S", "\u2013", "\u2013 no value given", "", ""],
        ["Boat", "(missing)", "(missing)", "○ nothing to recall", "*", ""],
    ]
    assert found.locator(".note").inner_text() == "* has no prediction and does not count"
    marks = found.locator("pre.answer mark")
    assert marks.all_text_contents() == ["right: 27.9", "wrong: E101"]  # as a screen reader says it
    looks = {(mark.evaluate(LOOK, "color"), mark.evaluate(LOOK, "textDecorationLine")) for mark in marks.all()}
    assert {decoration for _, decoration in looks} == {"underline", "line-through"}
    assert len({colour for colour, _ in looks}) == 2
    page.close()


def test_a_number_that_is_right_in_fewer_digits_is_shown_as_such(browser: Any, tmp_path: Path) -> None:
    coarser = [{"places": 0, "values": {}, "rest": 0.01}]
    held = {"Fare": {"values": {"7.1": 0.1}, "rest": 0.001, "missing": 0.0, "coarser": coarser}}
    of = trial(CELL, "1", expected={"Fare": "27.9"}, parsed={"Fare": "28"}, reply="The Fare is 28", chance=held)
    page, _ = opened(browser, tmp_path / "page.html", page_of(document([CELL]), [of]))
    found = opens(page)
    assert found.locator("tbody tr").locator("th, td").all_text_contents() == [
        "Fare", "27.9", "28", "≈ right in fewer digits", "1%", "3.9",
    ]  # fmt: skip
    mark = found.locator("pre.answer mark")
    assert mark.all_text_contents() == ["right in fewer digits: 28"]
    assert mark.evaluate(LOOK, "textDecorationLine") == "underline"
    assert mark.evaluate(LOOK, "textDecorationStyle") == "dotted"
    page.close()


LOOK = "(element, name) => getComputedStyle(element)[name]"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_hostile_text_shows_as_text_and_fits(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    attack = HOSTILE + "</script><img src=x onerror=alert(2)>" + "w" * 500
    wide = {f"{attack} {number}": attack for number in range(200)}
    cells = [CELL, cell("gpt-4o", "titanic", "recognition_features", "contaminated")]
    lines = [
        trial(CELL, "1", expected=wide, parsed=wide, reply=attack + "a" * 10_000, prompt=attack * 20),
        trial(cells[1], "2", asked=[], expected=[attack], parsed=attack, reply=attack, detail=attack, state="refused"),
    ]
    viewport = {"width": width, "height": 800}
    path = tmp_path / "page.html"
    page, complaints = opened(browser, path, page_of(document(cells), lines), viewport=viewport, color_scheme=scheme)
    first, second = opens(page, "1-1-2"), opens(page, "1-1-1")
    for found in (first, second):
        assert "<script>alert(1)</script>" in found.inner_text()
        assert "</script><img src=x onerror=alert(2)>" in found.inner_text()
        assert found.locator("script, img").count() == 0
    assert not {"\x00", "\x1b", "\x9b", "\u202e"} & set(first.inner_text() + second.inner_text())
    assert first.locator("tbody tr").count() == 200
    assert "more characters are left out here." in first.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []
    page.close()


def test_evidence_is_reached_by_keyboard_by_address_and_where_it_is_open_from_the_start(
    browser: Any, tmp_path: Path
) -> None:
    cells = [cell("gpt-4o", name, "full_completion", "contaminated") for name in ("iris", "wine")]
    lines = [trial(one, str(number), prompt="p\n" * 200) for number, one in enumerate(cells)]
    source = page_of(document(cells), lines).replace('id="cell-1-1-1"', 'id="cell-1-1-1" open')
    page, complaints = opened(browser, tmp_path / "page.html", source)
    assert page.locator("#cell-1-1-1 .query").count() == 1
    assert page.locator("#cell-1-2-1 .query").count() == 0
    page.keyboard.press("Tab")  # the first summary
    page.keyboard.press("Tab")  # its prompt, which scrolls
    assert page.evaluate("document.activeElement.className") == "prompt long"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#cell-1-2-1 .query").wait_for()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_timeout(100)
    assert page.locator("#cell-1-2-1 .query").count() == 1
    assert complaints == []
    page.close()


def test_a_long_prompt_shows_its_end_and_prints_whole(browser: Any, tmp_path: Path) -> None:
    lines = [trial(CELL, "1", **ROW | {"prompt": "row\n" * 200 + "The question"})]
    page, _ = opened(browser, tmp_path / "page.html", page_of(document([CELL]), lines))
    prompt = opens(page).locator("pre.prompt")
    scrolled = "box => box.scrollHeight - box.scrollTop - box.clientHeight"
    assert abs(prompt.evaluate(scrolled)) <= 1
    assert page.locator(".hint").inner_text() == "scroll up for its beginning"
    page.emulate_media(media="print")
    assert prompt.evaluate("box => box.scrollHeight - box.clientHeight") <= 1
    assert not page.locator(".hint").is_visible()
    assert len(page.pdf()) > 10_000
    page.close()


@pytest.mark.parametrize("blob", ["1-1-1:412\nAAAA", "1-1-1:412\n!!", "1-1-1:412\n", "1-1-1:412"])
def test_a_broken_blob_names_the_line(browser: Any, tmp_path: Path, blob: str) -> None:
    page, _ = opened(browser, tmp_path / "page.html", page_of(document([CELL]), ONE, {1: blob}))
    said = "This browser cannot unpack the evidence; the queries of this result begin at line 412 of trials.jsonl."
    assert opens(page).inner_text() == said
    page.close()


def test_an_old_browser_names_the_line_and_a_page_without_blobs_the_file(browser: Any, tmp_path: Path) -> None:
    source = page_of(document([CELL]), ONE)
    page, _ = opened(browser, tmp_path / "page.html", source)
    page.evaluate("delete window.DecompressionStream")
    assert "begin at line 412 of trials.jsonl" in opens(page).inner_text()
    page.close()
    page, _ = opened(browser, tmp_path / "none.html", page_of(document([CELL]), ONE, {}))
    assert opens(page).inner_text() == "This browser cannot unpack the evidence; see trials.jsonl."
    page.close()


def test_a_cell_without_evidence_says_so(browser: Any, tmp_path: Path) -> None:
    other = cell("gpt-4o", "titanic", "feature_completion", "no answer")
    page, complaints = opened(browser, tmp_path / "page.html", page_of(document([CELL, other]), ONE))
    assert opens(page, "1-1-2").inner_text() == "No query of this result is stored."
    assert complaints == []
    page.close()


def test_decoys_and_labels_are_shown_as_such(browser: Any, tmp_path: Path) -> None:
    word = cell("gpt-4o", "iris", "recognition_features", "contaminated")
    label = cell("gpt-4o", "iris", "classification_0shot", None)
    names = {"asked": [], "expected": ["Iris"], "parsed": "Iris", "reply": "Iris"}
    choice = {"asked": ["Yes", "No"], "expected": ["No"], "parsed": "Yes", "reply": "Yes", "hit": False}
    baselines = {"majority": {"values": {"No": 1.0}, "rest": 0.0, "missing": 0.0}}
    lines = [
        trial(word, "q-0", **names),
        trial(word, "q-0-decoy-0", **names, paper=False, decoy_of="q-0"),
        trial(label, "c-0", **choice, readable=True, chance=baselines),
    ]
    page, _ = opened(browser, tmp_path / "page.html", page_of(document([word, label]), lines))
    named, labelled = opens(page, "1-1-1"), opens(page, "1-1-2")
    assert named.locator("ul.words").first.text_content() == "right: Iris (also given for 1 of 1 decoys)"
    assert named.locator(".query .query .title").inner_text().startswith("Decoy: the same query")
    said = labelled.locator("dd").last.locator("p").all_text_contents()
    assert said == ["expected: No", "read as: wrong: Yes", "majority baseline: No"]
    page.close()
