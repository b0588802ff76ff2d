"""What each paper's method says beside the calibrated verdict, and how far methods agree."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tabcontam.extensions.publish import latex_tables
from tabcontam.report.paper_methods import AgreementMatrix, format_agreement, kappa, mark, matrices, papers, papers_text
from tabcontam.report.standings import Titles
from tabcontam.verdicts.document import parse_results
from tests.extensions.publish.test_latex_tables import EVIL as EVIL_IN_LATEX
from tests.extensions.publish.test_latex_tables import check_source
from tests.extensions.publish.test_latex_tables import run as ended_well
from tests.extensions.publish.test_markdown import EVIL, HARMLESS, rows, tokens
from tests.report.chromium import opened
from tests.report.rendered import print_report, render_html, render_latex, render_markdown, render_pages
from tests.report.synthetic import HOSTILE, cell, document, table

C, N = "contaminated", "not detected"
TABLES = ("iris", "wine", "adult", "bank")
OTHERS = {"recited": "golchin2023", "matched": "golchin2023", "picked": "somebody2030"}


def facts(test: str, source: str, **changes: Any) -> dict[str, Any]:
    """What a run states of a test that is not installed here."""
    return {
        "id": test,
        "title": test.capitalize(),
        "number": None,
        "kind": "memorization",
        "family": "rows",
        "row_test": True,
        "decides": True,
        "shows_rows": True,
        "measure": "",
        "source": source,
        "marks": [],
    } | changes


def usual(title: str = "Full completion") -> dict[str, Any]:
    return facts("full_completion", "ronval2024", number=8, title=title)


def run(said: dict[str, str], llms: tuple[str, ...] = ("m",), **changes: Any) -> dict[str, Any]:
    """A run whose tests say of each table C, N or, by another letter, nothing; the calibrated verdict is `rows`."""
    words = {"C": C, "N": N}
    cells, lines = [], []
    for llm in llms:
        for number, dataset in enumerate(TABLES[: len(said["rows"])]):
            rows = words[said["rows"][number]]
            lines.append(table(llm, dataset, rows))
            for test, signs in said.items():
                if test != "rows":
                    verdict = words.get(signs[number])
                    control = llm.startswith("control:")
                    cells.append(cell(llm, dataset, test, rows, paper_verdict=verdict, q_value=0.5, control=control))
    tests = [usual(), *(facts(test, source) for test, source in OTHERS.items())]
    stated = {"tests": [one for one in tests if one["id"] in said]} | changes
    return document(cells, lines, **stated)


def matrix(of: dict[str, Any]) -> AgreementMatrix:
    view = parse_results(of)
    return matrices(view, Titles(view))[0]


ALL = {"rows": "CNNN", "full_completion": "CCNN", "recited": "CNN-", "matched": "NCCC", "picked": "CCCC"}


def test_tests_are_grouped_by_paper_in_the_order_of_the_report() -> None:
    assert papers(parse_results(run(ALL))) == {
        "Ronval et al. 2024": ("full_completion",),
        "Golchin and Surdeanu 2024 (Time Travel)": ("recited", "matched"),
        "somebody2030": ("picked",),
    }


@pytest.mark.parametrize("shown", [["full_completion"], ["recited"], []])
def test_of_one_paper_alone_nothing_is_shown(shown: list[str]) -> None:
    of = run({name: signs for name, signs in ALL.items() if name in ("rows", *shown)})
    assert papers(parse_results(of)) == {}
    assert "Paper by paper" not in render_html(of, [])
    assert list(papers_text(parse_results(of))) == []


def test_several_methods_of_another_paper_than_the_usual_one_are_shown() -> None:
    of = run({name: ALL[name] for name in ("rows", "recited", "matched")})
    assert list(papers(parse_results(of))) == ["Golchin and Surdeanu 2024 (Time Travel)"]


def test_a_mark_says_what_the_published_rule_says() -> None:
    cells = parse_results(run({"rows": "CNC", "full_completion": "CN-", "recited": "CNN"})).results
    assert [mark(one).sign for one in cells if one.test == "full_completion"] == [
        "●",
        "\N{MULTIPLICATION SIGN}",
        "\N{EN DASH}",
    ]
    assert mark(cells[0]).words == "contaminated by the published rule"


def test_there_are_letters_for_more_methods_than_there_are_letters() -> None:
    several = {f"t{number}": "CN" for number in range(29)}
    tests = [facts(test, "golchin2023") for test in several]
    found = matrix(run({"rows": "CN", **several}, tests=tests))
    assert [method.letter for method in found.methods][25:] == ["Z", "AA", "AB", "AC", "AD"]


def test_what_has_only_a_score_has_no_row() -> None:
    tests = [facts(test, source) for test, source in OTHERS.items()]
    of = run({"rows": "CN", "recited": "CN", "matched": "CN"}, tests=tests)
    scores = cell("m", "iris", "picked", None, score=0.7, queries=10)
    of = {**of, "results": [*of["results"], scores]}
    assert "picked" not in str(papers(parse_results(of)))


def test_agreement_is_over_the_tables_that_both_decided() -> None:
    found = matrix(run(ALL))
    titles = [method.title for method in found.methods]
    assert titles == ["Calibrated: the row tests together", "8 Full completion", "Recited", "Matched", "Picked"]
    assert "".join(method.letter for method in found.methods) == "ABCDE"
    told = {(row, column): one for row, ones in enumerate(found.rows) for column, one in enumerate(ones)}
    assert format_agreement(told[1, 0]) == "3 of 4"
    assert (format_agreement(told[2, 0]), kappa(told[2, 0])) == ("3 of 3", "1.00")
    assert (format_agreement(told[3, 0]), kappa(told[3, 0])) == ("0 of 4", "\N{MINUS SIGN}0.60")
    assert kappa(told[4, 1]) == "0.00"
    assert [method.found for method in found.methods] == [1, 2, 1, 3, 4]


def test_where_both_say_one_word_there_is_no_kappa() -> None:
    found = matrix(run({"rows": "CC", "full_completion": "CC", "recited": "CC"}))
    assert {(format_agreement(one), kappa(one)) for row in found.rows for one in row} == {("2 of 2", "\N{EN DASH}")}


def test_one_table_of_one_llm_is_compared_with_nothing() -> None:
    of = run({"rows": "C", "full_completion": "C", "recited": "N"})
    view = parse_results(of)
    assert matrices(view, Titles(view)) == []
    page = render_html(of, [])
    assert "Paper by paper" in page
    assert "Method against method" not in page


def test_a_few_llms_are_compared_one_by_one_too_and_controls_have_no_part() -> None:
    view = parse_results(run(ALL, ("a", "b", "control:exposed")))
    found = matrices(view, Titles(view))
    assert [one.llm for one in found] == ["", "a", "b"]
    assert format_agreement(found[0].rows[1][0]) == "6 of 8"
    many = parse_results(run(ALL, tuple("abcdef")))
    assert [one.llm for one in matrices(many, Titles(many))] == [""]


def test_the_published_rules_alone_have_no_calibrated_verdict_beside_them() -> None:
    found = matrix(run(ALL, rules="paper"))
    assert "Calibrated: the row tests together" not in [method.title for method in found.methods]


def test_a_terminal_is_told_each_method_beside_the_calibrated_verdict() -> None:
    lines = list(papers_text(parse_results(run(ALL))))
    assert "    8 Full completion: 2 of 4; 3 of 4 as calibrated, kappa 0.50" in lines
    assert "  somebody2030" in lines


def test_every_mark_of_the_page_leads_to_its_cell_and_is_named() -> None:
    page = render_html(run(ALL, ("a", "b")), [])
    section = page[page.index('<section class="papers"') : page.index("Method against method")]
    places = re.findall(r'href="#(cell-[\d-]+)" aria-label="([^"]*)"', section)
    assert len(places) == 2 * 4 * 4
    assert all(f'id="{place}"' in page for place, _ in places)
    assert "a, iris, Recited: contaminated by the published rule, calibrated: contaminated" in dict(places).values()
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_names_are_only_text() -> None:
    of = run(ALL, (HOSTILE,), tests=[usual(HOSTILE), *(facts(test, HOSTILE, title=HOSTILE) for test in OTHERS)])
    page = render_html(of, [])
    assert "Paper by paper" in page
    assert "<script>alert" not in page


def made_of(words: str) -> dict[str, Any]:
    """A run whose LLM, table, tests and papers all have names that are made of these words."""
    of = run(ALL, (words,), tests=[usual(words), *(facts(test, words or "x", title=words) for test in OTHERS)])
    for part in ("results", "tables"):
        for one in of[part]:
            one["dataset"] += words
    return of


@pytest.mark.parametrize("words", EVIL)
def test_names_are_only_text_in_markdown(words: str) -> None:
    source = render_markdown(made_of(words))
    part = source[source.index("## Paper by paper") : source.index("## Ranking")]
    assert {token.type for token in tokens(part)} <= HARMLESS
    assert len([token for token in tokens(part) if token.type == "table_open"]) == 2
    marks, agreements = rows(part)[:6], rows(part)[6:]
    assert {len(row) for row in marks} == {6}
    assert {len(row) for row in agreements} == {8}
    for token in tokens(part):
        if token.type == "text":
            assert not any(sign in token.content for sign in ("@", "#", "$", "://", "www.", ":tada:", "GH-", "~5"))


@pytest.mark.parametrize("words", [*EVIL, EVIL_IN_LATEX])
def test_names_are_only_text_in_latex(words: str) -> None:
    source = render_latex(made_of(words))
    check_source(source)
    assert source.count("% == paper by paper, ") == 1
    assert source.count("% == method against method\n") == 1


def test_markdown_says_what_the_page_says() -> None:
    source = render_markdown(run(ALL, ("a", "b", "control:exposed")))
    part = source[source.index("## Paper by paper") : source.index("## Ranking")]
    of_a, _, against, *_ = re.split("^##", part[2:], flags=re.MULTILINE)[1:]
    yes, no, none, minus = "●", "\N{MULTIPLICATION SIGN}", "\N{EN DASH}", "\N{MINUS SIGN}"
    assert rows(f"##{of_a}") == [
        ["Paper", "Test", "iris", "wine", "adult", "bank"],
        ["Ronval et al. 2024", "8 Full completion", f"{yes} C", f"{yes} .", f"{no} .", f"{no} ."],
        ["Golchin and Surdeanu 2024 (Time Travel)", "Recited", f"{yes} C", f"{no} .", f"{no} .", f"{none} ."],
        ["", "Matched", f"{no} C", f"{yes} .", f"{yes} .", f"{yes} ."],
        ["somebody2030", "Picked", f"{yes} C", f"{yes} .", f"{yes} .", f"{yes} ."],
        ["", "The row tests together, calibrated", "C", ".", ".", "."],
    ]
    found = rows(f"##{against}")
    assert found[0] == ["", "Method", "Paper", "Contaminated", "A", "B", "C", "D"]
    assert found[2] == ["B", "8 Full completion", "Ronval et al. 2024", "4 of 8", "6/8 (0.50)", "", "", ""]
    assert found[4][4:6] == [f"0/8 ({minus}0.60)", f"2/8 ({minus}0.50)"]
    assert part.count("### ") == 2 + 2, "both LLMs, and each alone"
    assert "control:exposed" not in part


def test_latex_says_what_the_page_says() -> None:
    source = render_latex(run(ALL, ("a", "b", "control:exposed")))
    check_source(source)
    titles = re.findall("% == (paper by paper.*|method against.*)", source)
    assert titles == [
        "paper by paper, a",
        "paper by paper, b",
        "method against method",
        "method against method, a alone",
        "method against method, b alone",
    ]
    found = r"\cellcolor{tabcontamfound}\textcolor{white}{\(\times\) \textbf{C}}"
    clean = r"\cellcolor{tabcontamclean}\(\bullet\) \(\cdot\)"
    assert f"Matched & {found} & {clean} & {clean} & {clean} \\\\\n" in source
    assert r"D & Matched {\footnotesize Golchin and Surdeanu 2024 (Time Travel)} & 6 of 8 & " in source
    assert r"0/8 {\footnotesize \(-\)0.60} & " in source


@pytest.mark.parametrize("shown", [["full_completion"], ["recited"]])
def test_of_one_paper_alone_no_form_has_it(shown: list[str]) -> None:
    of = run({name: signs for name, signs in ALL.items() if name in ("rows", *shown)})
    for source in (render_markdown(of), render_latex(of)):
        assert "aper by paper" not in source
        assert "ethod against method" not in source


@pytest.mark.slow
@pytest.mark.skipif("TABCONTAM_TEX" not in os.environ, reason="TABCONTAM_TEX names no TeX engine")
@pytest.mark.parametrize("columns", [1, 2])
def test_names_of_any_kind_compile(columns: int, tmp_path: Path) -> None:
    (tmp_path / "report.tex").write_text(latex_tables.render_latex(parse_results(made_of(EVIL_IN_LATEX)), columns))
    body = r"\begin{document}\input{report}\end{document}"
    paper = rf"\documentclass[twocolumn]{{article}}{latex_tables.PACKAGES}{body}"
    (tmp_path / "paper.tex").write_text(paper)
    said = ended_well(
        [os.environ["TABCONTAM_TEX"], "-halt-on-error", "-interaction=nonstopmode", "paper.tex"], tmp_path
    )
    assert "Overfull" not in said


def test_many_methods_and_tables_go_on_in_further_floats() -> None:
    several = {f"t{number}": "CNCN" for number in range(30)}
    tests = [facts(test, "golchin2023" if number % 2 else "bordt2024") for number, test in enumerate(several)]
    source = render_latex(run({"rows": "CNNN", **several}, ("a",), tests=tests))
    check_source(source)
    labels = re.findall(r"\\label\{tab:tabcontam-(methods[^}]*)\}", source)
    assert labels == ["methods-0-1", "methods-0-2", "methods-0-3"]
    last = source[source.index("methods-0-3") :]
    assert " & Y & Z & AA & AB & AC & AD \\\\\n" in last


def test_of_many_llms_each_page_has_its_marks_and_the_summary_the_agreement() -> None:
    pages = render_pages(run(ALL, tuple(f"m{number}" for number in range(31))), [])
    assert "Method against method" in pages["index.html"]
    assert 'class="paper-by-paper"' not in pages["index.html"]
    assert pages["llm-1.html"].count('class="paper-by-paper"') == 1
    assert "Method against method" not in pages["llm-1.html"]


def test_the_terminal_has_a_part_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(width=200)
    print_report(console, run(ALL), [])
    said = capsys.readouterr().out
    assert " paper by paper " in said
    assert "    Recited: 1 of 3; 3 of 3 as calibrated, kappa 1.00" in said
    print_report(console, run({name: ALL[name] for name in ("rows", "full_completion")}), [])
    assert " paper by paper " not in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1200])
def test_thirty_methods_fit_a_telephone_and_a_screen(browser: Any, tmp_path: Path, width: int) -> None:
    several = {f"t{number}": "CNCN" for number in range(30)}
    tests = [facts(test, "golchin2023" if number % 2 else "bordt2024") for number, test in enumerate(several)]
    of = run({"rows": "CNNN", **several}, ("a", "b"), tests=tests)
    page, complaints = opened(
        browser, tmp_path / "index.html", render_html(of, []), viewport={"width": width, "height": 900}
    )
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("section.papers .says.said").count() == 2 * 2 * 30 + 1  # and one that is explained
    assert page.locator("table.agreeing").first.locator("tbody tr").count() == 31
    assert page.locator("table.agreeing td.with").first.is_visible()
