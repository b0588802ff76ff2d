"""What each paper's method says beside the calibrated verdict, and how far methods agree."""

import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tabcontam.report.paper_methods import AgreementMatrix, format_agreement, kappa, mark, matrices, papers, papers_text
from tabcontam.report.standings import Titles
from tabcontam.verdicts.document import parse_results
from tests.report.chromium import opened
from tests.report.rendered import print_report, render_html, render_pages
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
