"""The page and the picture: whole, self-contained, and deaf to what models and tables say."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

from tabcontam.report.html import render_html, render_svg
from tests.report.synthetic import HOSTILE, KINDS, ROW_TESTS, cell, document, results, table, trial, trials, weighed

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Elements with their attributes, the text outside of the style, and whether tags close in order."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def all(self, tag: str, **attributes: str) -> list[dict[str, str]]:
        """The attributes of every such element."""
        return [found for name, found in self.elements if name == tag and attributes.items() <= found.items()]

    def squares(self) -> list[dict[str, str]]:
        """The cells of the heatmap."""
        return [found for name, found in self.elements if name == "a" and found["class"].startswith("cell ")]


def page(of: dict[str, Any], lines: list[dict[str, Any]] | None = None) -> Page:
    return Page(render_html(of, trials(of) if lines is None else lines))


def hostile() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    verdicts = ("contaminated", "not detected", "uninformative", "no answer", "skipped", None)
    figures = {
        "statistic": {"name": HOSTILE, "value": 1.0},
        "interval": [0, 1],
        "interval_of": HOSTILE,
        "null": HOSTILE,
    }
    words = {"sentence": HOSTILE, "reason": HOSTILE, "kind": HOSTILE, **figures}
    cells = [cell(HOSTILE, f"{number}{HOSTILE}", HOSTILE, verdict, **words) for number, verdict in enumerate(verdicts)]
    tables = [table(HOSTILE, HOSTILE, "contaminated", reason=HOSTILE, serializer=HOSTILE)]
    of = document(cells, tables, command=HOSTILE, dictionary=HOSTILE, version=HOSTILE, versions={HOSTILE: HOSTILE})
    return of, [trial(cells[0], "1", reply=HOSTILE, prompt=HOSTILE, expected=[HOSTILE], asked=[HOSTILE])]


@pytest.mark.parametrize(("llms", "datasets"), [(1, 1), (2, 2), (30, 15)])
def test_every_cell_has_its_square_and_its_entry(llms: int, datasets: int) -> None:
    found = page(results([f"m{n}" for n in range(llms)], [f"d{n}" for n in range(datasets)]))
    assert found.open == []
    squares = found.squares()
    assert len(squares) == llms * datasets * len(KINDS)
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {square["href"][1:] for square in squares} <= set(ids)
    assert all(square["title"] and square["aria-label"] for square in squares)


def test_the_outcomes_are_told_apart_by_word_and_class() -> None:
    squares = page(results(["m"], ["a", "b", "c", "d", "e"])).squares()
    classes = {square["aria-label"].rsplit(": ")[-1]: square["class"] for square in squares}
    assert classes == {
        "contaminated": "cell contaminated",
        "not detected": "cell not-detected",
        "uninformative": "cell uninformative",
        "no answer": "cell no-answer",
        "skipped": "cell skipped",
        "scored": "cell scored",
    }


def test_blocks_are_llms_with_controls_first_and_knowledge_above_memorization() -> None:
    source = render_html(results(["gpt-4o", "control:exposed"], ["iris", "wine"]), [])
    table = source[source.index("<thead>") : source.index("</table>")]
    assert table.index("control:exposed") < table.index("gpt-4o")
    assert re.findall(r'<tbody class="(\w+)">', table) == ["knowledge", "memorization", "membership", "classification"]
    assert table.count('colspan="2" class="llm first"') == 2


def test_a_cell_that_was_not_run_is_an_empty_square() -> None:
    cells = [
        cell("m", "iris", "full_completion", "not detected"),
        cell("m", "wine", "membership", None),
    ]
    assert len(page(document(cells)).squares()) == 2


def test_the_evidence_shows_three_queries_and_says_how_many_it_leaves_out() -> None:
    of = document([cell("m", "iris", "full_completion", "contaminated")])
    found = page(of)
    assert len(found.all("div", **{"class": "trial"})) == 3
    assert "2 more in trials.jsonl" in found.text
    assert "No trial of this cell was kept" in page(of, []).text


def test_an_answer_that_is_no_hit_says_so() -> None:
    of = document([cell("m", "iris", "full_completion", "contaminated")])
    found = page(of, [trial(of["cells"][0], "1"), trial(of["cells"][0], "2", hit=False)])
    assert found.text.count("Answer, no hit") == 1
    assert len(found.all("pre", **{"class": "answer"})) == 1


def test_a_cell_has_its_figures_and_the_papers_verdict_beside_it() -> None:
    of = document([weighed("m", "bank", "incomplete_completion", "not detected", paper_verdict="contaminated")])
    found = page(of, [])
    text = " ".join(found.text.split())
    for figure in (
        "1 of 45 cut rows is right, where guessing gets 0.7; 12% of the rows would have been seen",
        "hits 1, hits expected of a guesser 0.7, answered 45", "p 0.57, q 0.81", "detectable share 12%",
        "recalled bits 8.2 (9.1 expected of a guesser)", "95% interval 0 to 0.11 (rows remembered)",
        "Null: the hidden cells drawn anew", "(≠ the paper's rules: contaminated)",
    ):  # fmt: skip
        assert figure in text
    assert len(found.all("span", **{"class": "differs"})) == 1


def test_the_papers_verdict_is_marked_only_where_it_is_another() -> None:
    found = page(document([weighed("m", "iris", "full_completion", "contaminated")]), [])
    assert "(the paper's rules: contaminated)" in found.text
    assert found.all("span", **{"class": "differs"}) == []
    assert "the paper's rules" not in page(document([cell("m", "iris", "membership", None)]), []).text


def test_each_table_has_its_verdict_line_controls_last() -> None:
    source = render_html(results(["control:exposed", "gpt-4o"], ["iris", "wine"]), [])
    lines = source[source.index('class="tables"') : source.index("</table>", source.index('class="tables"'))]
    rows = [
        " | ".join(Page(part).text.strip() for part in re.findall(r"<t[hd].*?</t[hd]>", row))
        for row in re.findall(r"<tr.*?</tr>", lines)[1:]
    ]
    assert rows == [
        "gpt-4o | iris | · not detected | 0.95 | 8.2 | 12% of the rows would have been seen",
        f"gpt-4o | wine | u uninformative |  |  | nothing could be told by {', '.join(ROW_TESTS)}",
        "control:exposed (control) | iris | C contaminated | 2.4e-40 | 424.6 | the row tests together: p = 1.2e-40",
        "control:exposed (control) | wine | · not detected | 0.95 | 8.2 | 12% of the rows would have been seen",
    ]
    assert "q is over all tables of the LLM" in source
    assert "q is over" not in render_html(document([], [table("m", "iris", "contaminated")]), [])
    assert 'class="tables"' not in render_html(document([cell("m", "iris", "membership", None)]), [])


def test_the_sentence_tells_seen_rows_from_mere_knowledge() -> None:
    cells = [
        cell("m", "iris", "full_completion", "contaminated"),
        cell("m", "wine", "feature_list_informed", "contaminated"),
        cell("m", "adult", "full_completion", "not detected"),
        cell("m", "bank", "full_completion", "no answer"),
    ]
    assert (
        "Contaminated in 2 of 3 decided cells. Flagged by a row test: iris. Flagged only by tests that a page about "
        "the dataset is enough to pass: wine. Nothing detected: adult. Nothing could be decided: bank."
    ) in page(document(cells)).text
    assert "m: No cell could be decided." in page(document(cells[3:])).text


def test_the_page_states_the_run() -> None:
    text = page(results(["gpt-4o"], ["iris"])).text
    for fact in ("gpt-4o, version v1", "iris@uci", "3f2a91bc" * 8, "portable en_US", "pandas 2.3.3", "calibrated"):
        assert fact in text


def test_controls_are_not_ranked() -> None:
    source = render_html(results(["control:exposed", "gpt-4o"], ["iris"]), [])
    ranking = source[source.index('class="ranking"') :]
    assert "control:exposed" not in ranking[: ranking.index("</table>")]


def test_an_interrupted_run_says_so() -> None:
    assert "not every query was asked" in page(results(["m"], ["iris"], interrupted=True)).text


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    found = page(*hostile())
    assert not {"script", "link", "img", "iframe", "object", "form"} & {tag for tag, _ in found.elements}
    for _, attributes in found.elements:
        assert not {"src", "style"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#").startswith("#")


def test_the_policy_allows_the_one_style_by_its_hash() -> None:
    source = render_html(*hostile())
    style = source[source.index("<style>") + len("<style>") : source.index("</style>")]
    digest = b64encode(sha256(style.encode()).digest()).decode()
    (policy,) = Page(source).all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["content"].startswith(f"default-src 'none'; style-src 'sha256-{digest}';")


def test_hostile_text_is_shown_as_text() -> None:
    source = render_html(*hostile())
    source.encode()
    assert not any(character in source for character in "\x1b\x00\x9b\u202e\ud800")
    found = Page(source)
    assert found.open == []
    assert "<script>alert(1)</script> [red]red[/red] ␛[31m ]]> ␀" in found.text
    assert "{{ 7 * 7 }}" in found.text


def test_the_page_stays_small_however_long_the_texts_are() -> None:
    of = results(["a", "b"], ["iris", "wine"])
    for one in of["cells"]:
        one["verdict"] = "contaminated"
    lines = trials(of, 5, reply="r" * 10**5, prompt="p" * 10**5, expected=["e" * 10**5], asked=["a" * 10**5])
    source = render_html(of, lines)
    assert len(source.encode()) < 330_000
    assert "(+99400 characters)" in source


def test_the_same_results_write_the_same_page() -> None:
    of = results(["a", "b"], ["iris", "wine"])
    assert render_html(of, trials(of)) == render_html(of, trials(of))


def test_a_run_without_cells_is_a_page() -> None:
    assert "No cell was run" in page(document([])).text


@pytest.mark.parametrize(
    "of", [results(["m"], ["iris"]), results(["control:exposed", "m"], ["iris", "wine"]), document([]), hostile()[0]]
)
def test_the_picture_is_valid_and_names_its_cells(of: dict[str, Any]) -> None:
    root = ElementTree.fromstring(render_svg(of))
    names = [title.text or "" for group in root.iter("{http://www.w3.org/2000/svg}g") for title in group]
    assert len([name for name in names if name.strip()]) >= len(of["cells"])
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
    assert "href" not in render_svg(of)


def test_the_picture_is_the_same_each_time() -> None:
    assert render_svg(results(["m"], ["iris"])) == render_svg(results(["m"], ["iris"]))
