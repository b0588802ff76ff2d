"""The page in real Chromium: it fits, it is quiet, it is filtered, sorted, printed, and used by keyboard alone."""

import io
import itertools
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tabcontam.report.environment import asset
from tabcontam.report.evidence import PackedEvidence
from tabcontam.report.html import MOST_LLMS
from tests.needed import needed
from tests.report.chromium import opened
from tests.report.rendered import render_html, render_pages
from tests.report.synthetic import HOSTILE, KINDS, cell, document, results, table, trial, trials, weighed, with_facts

playwright = needed("playwright.sync_api")
pytestmark = pytest.mark.slow
SHOWN = (
    "[...document.querySelectorAll('.heatmap a.cell')].filter(link => link.checkVisibility({visibilityProperty: true}))"
)
COLUMNS = "block => [...block.querySelectorAll('th.dataset')].map(header => header.textContent)"
CONTRAST = """element => {
  const brightness = colour => {
    const channels = colour.match(/[\\d.]+/g).slice(0, 3).map(Number).map(part => part / 255);
    const [red, green, blue] = channels.map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  let ground = element;
  while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
  const pair = [getComputedStyle(element).color, getComputedStyle(ground).backgroundColor].map(brightness).sort();
  return (pair[1] + 0.05) / (pair[0] + 0.05);
}"""
Visit = Callable[..., Any]


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Visit]:
    """Opens a page's text; at the end the browser must have had nothing to complain of."""
    visited: list[tuple[Any, list[str]]] = []

    def visit_page(source: str, at: str = "", **options: Any) -> Any:
        visited.append(opened(browser, tmp_path / "index.html", source, at, **options))
        return visited[-1][0]

    yield visit_page
    for page, _ in visited:
        page.close()
    assert [complaint for _, complaints in visited for complaint in complaints] == []


def hostile_run() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A run with every verdict, and an LLM, a dataset and an answer that attack the page."""
    of = results(["control:exposed", "gpt-4o"], ["iris", "wine", "adult"])
    attack = cell(HOSTILE + "x" * 200, "y" * 200, "full_completion", "contaminated", sentence=HOSTILE + "z" * 500)
    of = document([*of["results"], attack])
    return of, [*trials(of), trial(attack, "1", reply=HOSTILE + "w" * 5_000)]


def small() -> str:
    return render_html(results(["control:exposed", "llm-b", "llm-a"], ["iris", "wine", "adult"]), [])


def active(page: Any) -> str:
    """The id of what has the focus."""
    return str(page.evaluate("document.activeElement.id"))


def focused(page: Any, name: str) -> None:
    """Waits until what has this id has the focus: by a locator, as a page's policy lets no expression be polled."""
    playwright.expect(page.locator(f"#{name}")).to_be_focused(timeout=20_000)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280, 1800])
def test_the_page_fits_and_is_quiet(visit: Visit, width: int, scheme: str) -> None:
    page = visit(render_html(*hostile_run()), viewport={"width": width, "height": 800}, color_scheme=scheme)
    for details in page.locator("details").all():
        details.evaluate("details => { details.open = true }")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for block in page.locator(".block").all():
        box = block.bounding_box()
        assert box["x"] + box["width"] <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_written_can_be_read(visit: Visit, scheme: str) -> None:
    bits = (1, 20, 100, 300, 3000)
    cells = [
        weighed("m", f"d{n}", "full_completion", "contaminated", recalled_bits=value) for n, value in enumerate(bits)
    ]
    cells += results(["m"], ["a", "b", "c", "d", "e"])["results"]
    page = visit(render_html(document(cells), []), color_scheme=scheme)
    kinds = ["s1", "s2", "s3", "s4", "s5", "contaminated", "not-detected", "no-answer", "skipped", "scored"]
    for selector in [
        *(f".heatmap .{kind}" for kind in kinds),
        ".quiet",
        ".heatmap th[scope=row] a",
        "#reset",
        "main a",
    ]:
        assert page.locator(selector).first.evaluate(CONTRAST) >= 4.5, selector


def test_the_verdicts_differ_in_grey(visit: Visit) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    page = visit(render_html(results(["m"], ["a", "b", "c", "d", "e"]), []))
    emulate = page.context.new_cdp_session(page)
    emulate.send("Emulation.setEmulatedVisionDeficiency", {"type": "achromatopsia"})
    squares = []
    for outcome in ("contaminated", "not-detected", "uninformative", "no-answer", "skipped", "scored"):
        shot = page.locator(f".heatmap a.{outcome}").first.screenshot()
        squares.append(image.open(io.BytesIO(shot)).convert("L").resize((24, 20)).tobytes())
    for one, other in itertools.combinations(squares, 2):
        assert sum(abs(first - second) for first, second in zip(one, other, strict=True)) / len(one) > 4


def test_each_square_has_a_name(visit: Visit) -> None:
    run = hostile_run()
    page = visit(render_html(*run))
    for outcome in ("contaminated", "not detected", "uninformative", "no answer", "skipped", "scored"):
        assert page.get_by_role("link", name=outcome).count() > 0
    assert page.locator(".heatmap a.cell").count() == len(run[0]["results"])
    assert page.get_by_role("link", name="llm-b, wine").count() == 0
    assert page.get_by_role("link", name="gpt-4o, wine, 8 Full completion").count() == 1


def test_the_keyboard_alone_goes_everywhere(visit: Visit) -> None:
    page = visit(small())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the heatmap"
    assert page.locator(".skip").bounding_box()["width"] > 100
    page.evaluate("addEventListener('hashchange', () => setTimeout(() => { document.title = 'there' }))")
    page.keyboard.press("Enter")
    playwright.expect(page).to_have_title("there")
    assert active(page) == "map"
    visited = []
    for _ in range(12):
        page.keyboard.press("Tab")
        visited.append(page.evaluate("document.activeElement.tagName + document.activeElement.id"))
    assert visited[:8] == ["SUMMARY"] * 5 + ["SELECT"] * 2 + ["BUTTONreset"]
    assert visited[8:11] == ["Aat-1-1-1", "Aat-2-1-1", "Aat-3-1-1"]  # one stop a block


def test_the_arrow_keys_go_from_square_to_square_and_from_block_to_block(visit: Visit) -> None:
    page = visit(small())
    page.locator("#at-1-1-1").focus()
    went = []
    keys = ["Right", "Down", "Right", "Right", "Up", "Left", "Left", "Up", "Left"]
    for key in keys:
        page.keyboard.press(f"Arrow{key}")
        went.append(active(page))
    right_and_down = ["at-1-2-1", "at-1-2-2", "at-1-3-2", "at-2-1-2"]
    assert went == [*right_and_down, "at-2-1-1", "", "at-1-3-1", "at-1-3-1", "at-1-2-1"]  # past a row's own link
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    focused(page, "cell-1-2-1")


def test_a_square_opens_its_cell_and_its_cell_leads_back(visit: Visit) -> None:
    page = visit(render_html(results([f"m{n}" for n in range(5)], ["iris", "wine"]), []))
    assert not page.locator("#cell-4-2-8").is_visible()  # of many, each LLM and dataset is opened by itself
    page.locator("#at-4-2-8").focus()
    page.keyboard.press("Enter")
    focused(page, "cell-4-2-8")
    assert page.locator("#cell-4-2-8").is_visible()
    assert 0 <= page.locator("#cell-4-2-8").bounding_box()["y"] < 100
    page.locator("#cell-4-2-8 .back a").focus()
    page.keyboard.press("Enter")
    focused(page, "at-4-2-8")
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = false })")
    page.go_back()
    focused(page, "cell-4-2-8")


def test_an_address_opens_its_cell(visit: Visit) -> None:
    source = render_html(results([f"m{n}" for n in range(5)], ["iris", "wine"]), [])
    page = visit(source, "#cell-5-1-9")
    assert active(page) == "cell-5-1-9"
    page = visit(source, "?llm=nobody&llms-by=%00&test=#%E0%A4%A")
    assert page.locator("#shown").text_content() == "130 of 130 results shown"
    page = visit(source, "?llm=m1#cell-3-1-9")  # of an LLM that the filter hides
    assert page.locator("#cell-3-1-9").is_visible()
    page = visit(source, "?llm=m1#at-3-1-9")
    assert active(page) == "map"


def test_the_evidence_has_its_own_script_and_style(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    written = "addEventListener('toggle', event => { event.target.querySelector('div').textContent = "
    written += "document.getElementById('evidence-1').textContent }, true)"
    packed = PackedEvidence({1: "QUJD"}, {"1-1-1": 2}, {})
    monkeypatch.setattr("tabcontam.report.evidence.EvidencePacker.packed", lambda packing, llm=None: packed)
    own = {"evidence.js": written, "evidence.css": ".evidence div { font-style: italic; }"}
    monkeypatch.setattr("tabcontam.report.environment.asset", lambda name: own.get(name) or asset(name))
    page = visit(render_html(document([cell("m", "iris", "full_completion", "contaminated")]), []))
    page.locator("details.evidence summary").click()
    shown = page.locator("details.evidence div")
    shown.filter(has_text="QUJD").wait_for()  # `toggle` comes a moment later
    assert shown.text_content() == "QUJD"
    assert shown.evaluate("one => getComputedStyle(one).fontStyle") == "italic"


def tick(page: Any, name: str, *values: str) -> None:
    for value in values:
        box = page.locator(f"input[name={name}][value='{value}']")
        box.evaluate("box => { box.closest('details').open = true }")
        box.click()


def test_what_is_chosen_is_shown_announced_and_kept_in_the_address(visit: Visit) -> None:
    page = visit(small())
    assert page.locator("#shown").get_attribute("aria-live") == "polite"
    tick(page, "dataset", "iris", "adult")
    tick(page, "kind", "memorization")
    assert page.locator("#shown").text_content() == "36 of 117 results shown"
    assert page.evaluate(f"{SHOWN}.length") == 36
    assert page.locator("tbody.knowledge").first.is_hidden()
    assert page.locator("th.dataset:visible").count() == 6
    assert page.locator(".choice", has_text="Datasets").locator(".chosen").text_content() == "iris, adult"
    assert page.url.endswith("?dataset=iris&dataset=adult&kind=memorization")
    page.reload()
    assert page.locator("#shown").text_content() == "36 of 117 results shown"
    tick(page, "verdict", "contaminated")
    shown = page.evaluate(f"{SHOWN}.map(link => link.getAttribute('aria-label'))")
    assert shown
    assert all(": contaminated" in name for name in shown)
    page.locator("#reset").click()
    assert page.locator("#shown").text_content() == "117 of 117 results shown"
    assert "?" not in page.url


def test_escape_closes_a_filter(visit: Visit) -> None:
    page = visit(small())
    page.locator(".choice summary").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "checkbox"
    page.keyboard.press("Escape")
    assert page.locator(".choice[open]").count() == 0
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_what_is_contaminated_stands_out_in_forced_colours(visit: Visit) -> None:
    """Its squares had neither ground nor border there, and those of the clean ones had."""
    page = visit(
        render_html(document([weighed("m", "iris", "full_completion", "contaminated")]), []), forced_colors="active"
    )
    square = page.locator(".heatmap a.contaminated")
    ground = square.evaluate("one => getComputedStyle(one).backgroundColor")
    assert ground != page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert square.evaluate(CONTRAST) >= 4.5


def test_the_page_lets_no_foreign_script_or_address_in(browser: Any, tmp_path: Path) -> None:
    page, complaints = opened(browser, tmp_path / "index.html", small())
    page.evaluate(
        """() => {
          document.body.insertAdjacentHTML("beforeend", `<img src=x onerror="window.taken = 1"><base href="http://x.invalid/">
            <a id="lure" href="javascript:window.taken = 2">x</a><style>body { display: none }</style>`);
          const script = document.createElement("script");
          script.textContent = "window.taken = 3";
          document.body.append(script);
          document.getElementById("lure").click();
        }"""
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.taken") is None
    assert page.evaluate("document.baseURI").startswith("file:")
    assert page.evaluate("getComputedStyle(document.body).display") == "block"
    assert sum("Content Security Policy" in complaint for complaint in complaints) >= 4
    page.close()


def test_a_filter_leaves_no_empty_block_and_no_stop_for_the_keyboard_on_what_it_hides(visit: Visit) -> None:
    page = visit(small())
    tick(page, "llm", "llm-a")
    assert page.locator(".block:visible").count() == 1
    assert page.locator("details.column:visible").count() == 3
    tick(page, "test", "full_completion")
    assert page.evaluate("document.querySelectorAll('.heatmap a[tabindex=\"0\"]').length") == 1
    page.locator("#at-3-1-8").focus()
    page.keyboard.press("ArrowDown")
    assert active(page) == "at-3-1-8"
    page.keyboard.press("ArrowRight")
    assert active(page) == "at-3-2-8"


def test_llms_and_datasets_are_sorted(visit: Visit) -> None:
    of = results(["control:exposed", "llm-b", "llm-a"], ["iris", "wine", "adult"])
    for one in of["results"]:
        if one["verdict"] is not None:
            found = one["llm"] == "llm-a" and one["dataset"] == "wine"
            one["verdict"] = "contaminated" if found else "not detected"
    page = visit(render_html(of, []))

    def captions() -> list[str]:
        return [text.split()[0] for text in page.locator(".heatmap caption").all_text_contents()]

    assert captions() == ["control:exposed", "llm-b", "llm-a"]
    page.locator("select[name=llms-by]").select_option("name")
    assert captions() == ["control:exposed", "llm-a", "llm-b"]
    page.locator("select[name=datasets-by]").select_option("name")
    assert page.locator(".block").last.evaluate(COLUMNS) == ["adult", "iris", "wine"]
    page.locator("select[name=datasets-by]").select_option("found")
    assert page.locator(".block").last.evaluate(COLUMNS) == ["wine", "iris", "adult"]
    names = (
        page.locator(".block")
        .last.locator("tr[data-test]")
        .first.locator("a.cell")
        .evaluate_all("links => links.map(link => link.getAttribute('aria-label').split(', ')[1])")
    )
    assert names == ["wine", "iris", "adult"]
    assert "llms-by=name&datasets-by=found" in page.url
    page.reload()
    assert captions() == ["control:exposed", "llm-a", "llm-b"]
    page.locator("#reset").click()
    assert captions() == ["control:exposed", "llm-b", "llm-a"]
    assert page.locator(".block").last.evaluate(COLUMNS) == ["iris", "wine", "adult"]


def test_without_scripts_everything_is_shown(visit: Visit) -> None:
    page = visit(small(), "#cell-3-2-8", java_script_enabled=False)
    assert page.locator("#filters").is_hidden()
    assert page.locator(".heatmap a.cell:visible").count() == 3 * 3 * len(KINDS)
    assert page.locator("#cell-3-2-8").is_visible()


def test_nothing_moves(visit: Visit) -> None:
    page = visit(small(), reduced_motion="reduce")
    moving = "[...document.querySelectorAll('*')].some(one => getComputedStyle(one).transitionDuration !== '0s')"
    assert page.evaluate(moving) is False
    assert page.evaluate("document.getAnimations().length") == 0
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


@pytest.mark.parametrize(("llms", "datasets"), [(10, 5), (3, 15), (2, 40)])
def test_the_heatmap_is_printed_whole(visit: Visit, llms: int, datasets: int) -> None:
    width = 703  # of an A4 page between its margins, in pixels
    of = results([f"llm-{n}" for n in range(llms)], [f"dataset{n}" for n in range(datasets)])
    page = visit(render_html(of, []), viewport={"width": width, "height": 1000}, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    edges = page.locator(".heatmap a.cell").evaluate_all(
        "links => links.map(link => link.getBoundingClientRect().right)"
    )
    assert max(edges) <= width
    assert page.locator("#filters").is_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert (
        page.locator(".heatmap .contaminated").first.evaluate("one => getComputedStyle(one).printColorAdjust")
        == "exact"
    )


def test_a_cell_is_printed_with_its_page(visit: Visit) -> None:
    page = visit(small())
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 20


def test_the_largest_single_page_is_usable(visit: Visit) -> None:
    of = results([f"llm-{n}" for n in range(30)], [f"dataset{n}" for n in range(15)])
    extra = [
        one | {"test": f"of_my_own_{n}"} for one in of["results"] for n in (1, 2) if one["test"] == "full_completion"
    ]
    of["results"] += extra
    started = time.monotonic()
    page = visit(render_html(with_facts(of), []))
    assert time.monotonic() - started < 30
    assert page.locator("#shown").text_content() == "6,750 of 6,750 results shown"
    started = time.monotonic()
    tick(page, "verdict", "contaminated")
    assert 1000 < page.evaluate(f"{SHOWN}.length") < 4000
    assert time.monotonic() - started < 10
    started = time.monotonic()
    page.locator("#at-30-15-13").evaluate("link => link.click()")
    focused(page, "cell-30-15-13")
    assert time.monotonic() - started < 5


def test_a_larger_run_has_a_page_an_llm_that_leads_back(visit: Visit, tmp_path: Path) -> None:
    pages = render_pages(results([f"m{n}" for n in range(MOST_LLMS + 1)], ["iris", "wine"]), [])
    for name, source in pages.items():
        (tmp_path / name).write_text(source, encoding="utf-8")
    page = visit(pages["index.html"], viewport={"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("link", name="m7, wine").click()
    page.wait_for_url("**/llm-8.html")
    assert page.locator("h1").text_content() == "m7"
    assert page.locator("#shown").text_content() == "26 of 26 results shown"
    page.get_by_role("link", name="m8", exact=True).click()
    page.wait_for_url("**/llm-9.html")
    page.get_by_role("link", name="All LLMs of this run").click()
    page.wait_for_url("**/index.html")


def test_row_headers_stay_while_the_heatmap_scrolls(visit: Visit) -> None:
    wide = results(["m"], [f"dataset{number}" for number in range(40)])
    page = visit(render_html(wide, []), viewport={"width": 700, "height": 800})
    page.locator(".block .scroll").first.evaluate("region => { region.scrollLeft = 800 }")
    header = page.locator(".heatmap th[scope=row]").first.bounding_box()
    assert 0 <= header["x"] < 60


GUESS = {"values": {"1.2": 0.5}, "rest": 0.01, "missing": 0.0}
BROKEN_WORDS = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange(), broken = [];
  while (walker.nextNode()) {
    const text = walker.currentNode, around = text.parentElement;
    if (around.closest('pre, script, code') || !around.checkVisibility()) continue;
    if (getComputedStyle(around).writingMode !== 'horizontal-tb') continue;
    for (const word of text.data.matchAll(/[\\p{L}\\d]{3,}/gu)) {
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].filter(box => box.width > 1).map(box => Math.round(box.top)));
      if (lines.size > 1) broken.push(`${around.tagName} ${around.className} ${word[0]}`);
    }
  }
  return broken;
}"""


def test_one_click_opens_the_evidence(visit: Visit) -> None:
    of = document([weighed("gpt-4o", "iris", "full_completion", "contaminated")])
    page = visit(render_html(of, trials(of)))
    page.locator("a.cell").click()
    page.locator(".evidence article").first.wait_for()
    assert page.evaluate("document.activeElement.id") == "cell-1-1-1"


def test_names_do_not_break_in_mid_word_on_a_phone(visit: Visit) -> None:
    llms = ["openai:meta-llama/Llama-3.1-8B-Instruct@http://127.0.0.1:8000/v1", "simulated:memoriser:0.5"]
    dataset = "my_very_long_measurements_of_sepals_2024.csv"
    features = {"nonflavanoid_phenols_by_volume": "1.2", "od280/od315_of_diluted_wines": "3"}
    lines = [weighed(llm, dataset, "full_completion", "contaminated") for llm in llms]
    of = document(lines, [table(llm, dataset, "contaminated") for llm in llms])
    page = visit(
        render_html(
            of,
            trials(of, 2, asked=[*features], expected=features, parsed=features, chance=dict.fromkeys(features, GUESS)),
        ),
        viewport={"width": 390, "height": 800},
    )
    page.locator("a.cell").first.click()
    page.locator(".evidence article").first.wait_for()
    assert page.evaluate(BROKEN_WORDS) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_two_llms_use_the_width(visit: Visit) -> None:
    page = visit(render_html(results(["a", "b"], ["iris", "wine"]), []), viewport={"width": 1440, "height": 900})
    first, second = (page.locator(".block .heatmap").nth(number).bounding_box() for number in (0, 1))
    assert first["y"] == second["y"]
    assert first["width"] + second["width"] > 1100


def test_what_a_control_recalls_that_has_the_rows_is_not_red(visit: Visit) -> None:
    of = results(["control:exposed", "gpt-4o"], ["iris", "wine", "adult"])
    page = visit(render_html(of, []))
    grounds = [
        page.locator(f"{block} .heatmap a.contaminated").first.evaluate(
            "cell => getComputedStyle(cell).backgroundColor"
        )
        for block in (".block.known", ".block:not(.known)")
    ]
    assert len(set(grounds)) == 2
    assert page.locator(".block.known").count() == 1
    assert "in a control that has read the rows" in page.locator(".legend").first.inner_text()
