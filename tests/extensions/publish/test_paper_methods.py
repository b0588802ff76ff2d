"""Paper by paper and method against method in Markdown and LaTeX."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tabcontam.extensions.publish import latex_tables
from tabcontam.verdicts.document import parse_results
from tests.extensions.publish.rendered_publications import render_latex, render_markdown
from tests.extensions.publish.test_latex_tables import EVIL as EVIL_IN_LATEX
from tests.extensions.publish.test_latex_tables import check_source
from tests.extensions.publish.test_latex_tables import run as ended_well
from tests.extensions.publish.test_markdown import EVIL, HARMLESS, rows, tokens
from tests.report.test_paper_methods import ALL, OTHERS, facts, run, usual


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
