"""The page: whole, self-contained, and deaf to what models and tables say."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest

from tabcontam.report import html
from tabcontam.report.evidence import PackedEvidence
from tabcontam.report.html import MOST_LLMS, MOST_RESULTS, MOST_SENTENCES
from tabcontam.report.published_marks import PublishedMark, PublishedSource, SourceAgreement
from tests.report.rendered import render_html, render_pages
from tests.report.synthetic import HOSTILE, KINDS, ROW_TESTS, cell, document, results, table, trial, trials, weighed

VOID = {"meta", "link", "br", "img", "input", "hr", "wbr"}


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
        if not {"style", "script"} & set(self.open):
            self.text += data

    def all(self, tag: str, **attributes: str) -> list[dict[str, str]]:
        """The attributes of every such element."""
        return [found for name, found in self.elements if name == tag and attributes.items() <= found.items()]

    def squares(self) -> list[dict[str, str]]:
        """The cells of the heatmap."""
        return [found for name, found in self.elements if name == "a" and found.get("class", "").startswith("cell ")]


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
    words = {"sentence": HOSTILE, "reason": HOSTILE, **figures}
    cells = [cell(HOSTILE, f"{number}{HOSTILE}", HOSTILE, verdict, **words) for number, verdict in enumerate(verdicts)]
    tables = [table(HOSTILE, HOSTILE, "contaminated", reason=HOSTILE, serializer=HOSTILE)]
    of = document(cells, tables, command=HOSTILE, dictionary=HOSTILE, version=HOSTILE, versions={HOSTILE: HOSTILE})
    return of, [trial(cells[0], "1", reply=HOSTILE, prompt=HOSTILE, expected=[HOSTILE], asked=[HOSTILE])]


@pytest.mark.slow
@pytest.mark.parametrize(("llms", "datasets"), [(1, 1), (2, 15), (30, 2)])
def test_every_cell_has_its_square_and_its_entry(llms: int, datasets: int) -> None:
    found = page(results([f"m{n}" for n in range(llms)], [f"d{n}" for n in range(datasets)]))
    assert found.open == []
    squares = found.squares()
    assert len(squares) == llms * datasets * len(KINDS)
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {square["href"][1:] for square in squares} <= set(ids)
    assert all(square["aria-label"] for square in squares)


def test_the_outcomes_are_told_apart_by_word_and_class() -> None:
    squares = page(results(["m"], ["a", "b", "c", "d", "e"])).squares()
    classes = {
        square["aria-label"].rsplit(": ")[-1].split(", ")[0]: square["class"].split(" s3")[0] for square in squares
    }
    assert classes == {
        "contaminated": "cell contaminated",
        "not detected": "cell not-detected",
        "uninformative": "cell uninformative",
        "no answer": "cell no-answer",
        "skipped": "cell skipped",
        "scored": "cell scored",
    }


def test_blocks_are_llms_with_controls_first_and_knowledge_above_memorization() -> None:
    source = render_html(results(["gpt-4o", "control:exposed"], ["iris", "wine"]), []).replace("<wbr>", "")
    tables = re.findall(r'<table class="heatmap">.*?</table>', source, re.DOTALL)
    assert [re.search(r"<caption>([\w:-]+)", one).group(1) for one in tables] == ["control:exposed", "gpt-4o"]  # type: ignore[union-attr]
    for one in tables:
        assert re.findall(r'<tbody class="(\w+)"', one) == ["knowledge", "memorization", "membership", "classification"]
        assert re.findall(r'<th scope="col".*?<span>(\w+)</span>', one) == ["iris", "wine"]


def test_what_a_row_test_recalled_is_the_strength_of_its_square() -> None:
    bits = {15.9: "s1", 16: "s2", 255: "s3", 1023: "s4", 5000: "s5"}
    cells = [
        weighed("m", f"d{number}", "full_completion", "contaminated", recalled_bits=value)
        for number, value in enumerate(bits)
    ]
    knowledge = cell("m", "d0", "feature_list_informed", "contaminated", recalled_bits=99)
    clean = weighed("m", "d0", "feature_completion", "not detected", recalled_bits=99)
    found = page(document([*cells, knowledge, clean]), [])
    strengths = {square["aria-label"]: square["class"] for square in found.squares()}
    assert [name for name in strengths.values() if " s" in name] == [
        f"cell contaminated {level}" for level in bits.values()
    ]
    assert "m, d0, 8 Full completion: contaminated, 16 bits recalled" in strengths
    assert "each step four times the one before" in found.text
    assert "each step four times" not in page(document([knowledge]), []).text


def test_a_cell_that_was_not_run_is_an_empty_square() -> None:
    cells = [cell("m", "iris", "full_completion", "not detected"), cell("m", "wine", "membership", None)]
    assert len(page(document(cells)).squares()) == 2


def test_a_cell_says_how_much_of_its_evidence_the_page_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = PackedEvidence({1: "QUJD", 2: "REVG"}, {"1-1-1": 10, "2-1-1": 3}, {"1-1-1": 35})
    monkeypatch.setattr("tabcontam.report.evidence.EvidencePacker.packed", lambda packing, llm=None: packed)
    of = document(
        [cell(llm, "iris", test, "contaminated") for llm in "ab" for test in ("full_completion", "membership")]
    )
    found = page(of, [])
    assert [details["data-cell"] for details in found.all("details", **{"class": "evidence"})] == ["1-1-1", "2-1-1"]
    assert "Evidence: 10 of 45 queries" in found.text
    assert "Evidence: 3 of 3 queries" in found.text
    assert found.text.count("No query of this result is stored.") == 2
    assert [blob["id"] for blob in found.all("script", type="text/plain")] == ["evidence-1", "evidence-2"]
    assert 'id="evidence-2">REVG</script>' in render_html(of, [])
    assert found.all("noscript") == [{}]


def test_a_page_without_trials_says_so_once() -> None:
    found = page(results(["m"], ["iris"]), [])
    assert "This page holds no queries or answers" in found.text
    assert "No query of this result is stored" not in found.text
    assert found.all("details", **{"class": "evidence"}) == []


def test_a_cell_has_its_figures_and_the_papers_verdict_beside_it() -> None:
    of = document([weighed("m", "bank", "incomplete_completion", "not detected", paper_verdict="contaminated")])
    found = page(of, [])
    text = " ".join(found.text.split())
    for figure in (
        "1 of 45 cut rows is right, and 0.7 are expected of the baseline; "
        "a model that remembers 12% of the rows would have been detected",
        "hits 1 of 45 (0.7 expected by chance)", "p 0.57; q 0.81", "detectable share 12%",
        "recalled bits 8.2 (9.1 expected by chance)", "rows remembered: 0 to 0.11 (95% interval)",
        "Null: the hidden cells drawn anew", "(≠ the paper's rules: contaminated)",
    ):  # fmt: skip
        assert figure in text
    assert len(found.all("span", **{"class": "differs"})) == 1


def test_a_cell_that_was_not_asked_has_no_figures() -> None:
    figures = {"hits": 0, "answered": 0, "queries": 0}
    found = page(document([cell("m", "iris", "full_completion", "skipped", **figures)]), [])
    assert found.all("p", **{"class": "numbers"}) == []


def test_the_papers_verdict_is_marked_only_where_it_is_another() -> None:
    found = page(document([weighed("m", "iris", "full_completion", "contaminated")]), [])
    assert "(the paper's rules: contaminated)" in found.text
    assert found.all("span", **{"class": "differs"}) == []
    assert "the paper's rules" not in page(document([cell("m", "iris", "membership", None)]), []).text


def test_each_table_has_what_the_gate_says_of_it_and_why_it_doubts() -> None:
    found, control = (weighed(llm, "iris", "full_completion", "contaminated") for llm in ("m", "control:unexposed"))
    tables = [table(llm, "iris", "contaminated") for llm in ("m", "control:unexposed")]
    of = document([found, control | {"control": True}], tables)
    assert "; gate: the model may only write plausible values: control:unexposed" in page(of, []).text
    recorded = render_html(document([found], tables, recorded=True), [])
    assert ">Gate<" not in recorded


def test_the_page_of_an_llm_has_what_controls_show_and_the_summary_what_the_gate_doubts() -> None:
    llms = ["control:unexposed", *(f"m{number}" for number in range(MOST_LLMS))]
    cells = [weighed(llm, "iris", "full_completion", "contaminated", control=llm[0] == "c") for llm in llms]
    pages = render_pages(document(cells, [table(llm, "iris", "contaminated") for llm in llms]), [])
    own = Page(pages["llm-2.html"]).text
    assert "control:unexposed (control) is flagged on The iris data" in own
    assert "before: control:unexposed, next: m1" in own
    assert 'm0, iris: contaminated, the gate reaches no conclusion">C?</a>' in pages["index.html"]


def test_each_table_has_its_verdict_line_controls_last() -> None:
    source = render_html(results(["control:exposed", "gpt-4o"], ["iris", "wine"]), [])
    lines = source[source.index('class="tables"') : source.index("</table>", source.index('class="tables"'))]
    rows = [
        " | ".join(Page(part).text.strip() for part in re.findall(r"<t[hd].*?</t[hd]>", row))
        for row in re.findall(r"<tr.*?</tr>", lines)[1:]
    ]
    assert rows == [
        "gpt-4o | iris | · not detected | contaminated | 0.95 | 8.2 | "
        "a model that remembers 12% of the rows would have been detected; gate: "
        "detected by full_completion, feature_completion",
        f"gpt-4o | wine | u uninformative | cannot tell |  |  | nothing could be learned from {', '.join(ROW_TESTS)}",
        "control:exposed (control) | iris | C contaminated |  | 2.4e-40 | 424.6 | the row tests together: p = 1.2e-40",
        "control:exposed (control) | wine | · not detected |  | 0.95 | 8.2 | "
        "a model that remembers 12% of the rows would have been detected",
    ]
    assert "q is corrected over all tables of the LLM" in source
    assert "q is over" not in render_html(document([], [table("m", "iris", "contaminated")]), [])
    assert 'class="tables"' not in render_html(document([cell("m", "iris", "membership", None)]), [])


def test_the_page_says_first_what_was_tested_and_what_was_found() -> None:
    of = results(["control:exposed", "gpt-4o"], ["iris"])
    text = " ".join(page(of).text.split())
    assert "1 LLM, 1 table, 13 tests, 385 queries, plus 1 control; 2 January 2026; calibrated rules" in text
    assert text.index("gpt-4o recalls rows of The iris data.") < text.index("control:exposed (control) recalls rows")
    assert text.index("control:exposed (control) recalls") < text.index("A block is an LLM")


@pytest.mark.parametrize(("llms", "folded"), [(MOST_SENTENCES, 0), (MOST_SENTENCES + 1, 1)])
def test_many_sentences_are_folded(llms: int, folded: int) -> None:
    source = render_html(results([f"m{number}" for number in range(llms)], ["iris"]), [])
    assert source.count(f"<summary>A sentence on each of {llms} LLMs</summary>") == folded
    assert all(f"<strong>m{number}</strong>" in source for number in range(llms))


def test_the_catalogues_title_names_an_llm_and_its_name_in_the_run_stays() -> None:
    of = results(["openai:gpt-4o-2024"], ["iris"])
    of["run"]["catalogue"] = {"openai:gpt-4o-2024": {"name": "gpt-4o", "title": "GPT-4o", "family": "gpt", "order": 3}}
    found = page(of)
    assert "GPT-4o, iris, 1 Feature list, informed: " in found.squares()[0]["aria-label"]
    source = render_html(of, []).replace("<wbr>", "")
    assert "<h3>GPT-4o</h3>" in source
    assert "<code>openai:gpt-4o-2024</code>" in source


def test_published_results_are_small_marks_with_their_source_and_their_agreement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paper, others = (
        PublishedSource(name, f"{name} 2024", "https://example.org", "like to like") for name in ("A", "B")
    )
    laid = {
        "iris": (PublishedMark(paper, True, "m-0125"), PublishedMark(others, False, "")),
        "wine": (PublishedMark(paper, False, ""),),
    }
    monkeypatch.setattr("tabcontam.report.published_marks.marks", lambda entry, dataset, *_: laid[dataset])
    monkeypatch.setattr("tabcontam.report.heatmap_squares.sources", lambda: (paper, others))
    monkeypatch.setattr(html, "agreements", lambda view: {paper: [SourceAgreement("m", 7, 9)]})
    of = document([cell("m", dataset, "full_completion", "contaminated") for dataset in ("iris", "wine")])
    assert page(of, []).all("span", **{"class": "mark was-found from-1"}) == []  # not of the catalogue
    of["run"]["catalogue"] = {"m": {"name": "m", "title": "M", "family": "", "order": 1}}
    found = page(of, [])
    names = [square["aria-label"].split(": contaminated, ", 1)[-1] for square in found.squares()]
    assert names == ["A: contaminated, B: not detected", "A: not detected"]
    marks = [span["class"] for _, span in found.elements if span.get("class", "").startswith("mark ")]
    assert marks[:3] == ["mark was-found from-1", "mark was-not-found from-2", "mark was-not-found from-1"]
    text = " ".join(found.text.split())
    assert "A: 7 of 9 results that both decided agree like to like M: 7 of 9" in text
    assert "Published by A: contaminated, of m-0125" in text
    assert "as published by B (B 2024)" in text


def test_each_test_leads_to_what_it_asks() -> None:
    found = page(document([cell("m", "iris", test, "not detected") for test in ("full_completion", "of_my_own")]), [])
    ids = {attributes["id"] for _, attributes in found.elements if "id" in attributes}
    assert "test-full_completion" in ids
    assert "test-of_my_own" not in ids
    assert len(found.all("a", href="#test-full_completion")) == 3
    assert "the model must write the next row" in found.text


def test_the_meanings_follow_the_rules() -> None:
    calibrated = page(document([weighed("m", "iris", "full_completion", "contaminated")]), []).text
    assert "at most a share of 0.01 of each family's findings is expected to be false" in calibrated
    paper = page(document([cell("m", "iris", "full_completion", "contaminated")], rules="paper"), []).text
    assert "no known error rate" in paper
    assert "expected to be false" not in paper


def test_the_choices_are_those_that_the_page_has() -> None:
    found = page(results(["control:exposed", "gpt-4o"], ["iris", "wine"]), [])
    boxes = found.all("input", type="checkbox")
    assert [box["value"] for box in boxes if box["name"] == "llm"] == ["control:exposed", "gpt-4o"]
    assert [box["value"] for box in boxes if box["name"] == "dataset"] == ["iris", "wine"]
    assert len([box for box in boxes if box["name"] == "test"]) == len(KINDS)
    assert "hidden" in found.all("div", id="filters")[0]  # until the script has taken them over
    assert page(results(["m"], ["iris"]), []).all("input", name="llm") == []  # nothing to choose


def test_a_large_run_is_a_summary_with_a_page_an_llm() -> None:
    llms = [f"m{number}" for number in range(MOST_LLMS)]
    assert set(render_pages(results(llms, ["iris"]), [])) == {"index.html"}
    pages = render_pages(results([*llms, "../../etc"], ["iris", "wine"]), [])
    assert list(pages) == ["index.html", *(f"llm-{number}.html" for number in range(1, MOST_LLMS + 2))]
    index = Page(pages["index.html"])
    assert {square["href"] for square in index.squares()} == set(pages) - {"index.html"}
    assert len(index.squares()) == 2 * (MOST_LLMS + 1)
    assert index.all("div", **{"class": "entry"}) == []
    leaf = Page(pages["llm-31.html"])
    assert len(leaf.squares()) == 2 * len(KINDS)
    assert {"href": "index.html"} in leaf.all("a")
    assert "../../etc recalls rows of The iris data and The wine data" in " ".join(leaf.text.split())


def test_the_pages_of_a_large_run_hold_their_own_evidence_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = PackedEvidence({1: "QUJD", 2: "REVG"}, {}, {})
    monkeypatch.setattr("tabcontam.report.evidence.EvidencePacker.packed", lambda packing, llm=None: packed)
    pages = render_pages(results([f"m{number}" for number in range(MOST_LLMS + 1)], ["iris"]), [])
    blobs = {name: re.findall(r'id="(evidence-\d+)"', text) for name, text in pages.items()}
    assert (blobs["index.html"], blobs["llm-1.html"], blobs["llm-2.html"]) == ([], ["evidence-1"], ["evidence-2"])


@pytest.mark.slow
def test_many_cells_of_few_llms_are_a_page_each_too() -> None:
    one = document([cell("m", f"d{number}", "full_completion", "not detected") for number in range(MOST_RESULTS + 1)])
    assert set(render_pages(one, [])) == {"index.html", "llm-1.html"}


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


def test_the_page_loads_nothing_and_runs_its_own_scripts_alone() -> None:
    found = page(*hostile())
    assert not {"link", "img", "iframe", "object", "form"} & {tag for tag, _ in found.elements}
    assert len(found.all("script")) == len(found.all("script", type="text/plain")) + 2  # ours, and the evidence's
    for _, attributes in found.elements:
        assert not {"src", "style"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#").startswith("#")


def test_the_policy_allows_our_style_and_scripts_by_their_hashes() -> None:
    source = render_html(*hostile())

    def hashes(tag: str) -> str:
        inlined = re.findall(rf"<{tag}>(.*?)</{tag}>", source, re.DOTALL)
        return " ".join(f"'sha256-{b64encode(sha256(one.encode()).digest()).decode()}'" for one in inlined)

    (policy,) = Page(source).all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["content"] == (
        f"default-src 'none'; style-src {hashes('style')}; script-src {hashes('script')}; "
        "base-uri 'none'; form-action 'none'"
    )
    assert hashes("script").count("sha256") == 2


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
    for one in of["results"]:
        one |= {"reason": "r" * 10**5, "sentence": "s" * 10**5}
    source = render_html(of, [])
    assert len(source.encode()) < 300_000
    assert "(+99400 characters)" in source


@pytest.mark.slow
def test_the_largest_single_page_is_a_few_megabytes() -> None:
    of = results([f"m{number}" for number in range(30)], [f"d{number}" for number in range(15)])
    assert len(render_html(of, []).encode()) < 6_000_000


def test_the_same_results_write_the_same_page() -> None:
    of = results(["a", "b"], ["iris", "wine"])
    assert render_html(of, trials(of)) == render_html(of, trials(of))


def test_a_run_without_cells_is_a_page() -> None:
    assert "No test was run" in page(document([])).text
