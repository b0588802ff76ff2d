"""LaTeX: tables that compile, and texts that no engine takes for commands."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.extensions.publish import latex_tables
from tabcontam.extensions.publish.citations import render_bibtex
from tabcontam.extensions.publish.latex_tables import PACKAGES, ROWS
from tabcontam.extensions.publish.methods_text import latex_methods
from tabcontam.extensions.publish.tex import escaped
from tabcontam.verdicts.document import parse_results
from tests.extensions.publish.rendered_publications import render_latex
from tests.report.synthetic import HOSTILE, cell, document, results, table, weighed

EVIL = HOSTILE + (
    r"\input{/etc/passwd} \end{tabular} \\[3cm] \\* $x^2_1$ %gone #1 ~ & {}{ }} ^^M ^^5c | @ "
    r"' '' ` `` ,, -- --- ?` !` <<>> é ñ ß ł ǅ Ω — … → ⏎ [x] *y*"
    "\u2013 \u2018 \u2019\u2019 \u201c\u201d \u00d7 \u00a0"
)
COMMANDS = re.compile(r"\\([A-Za-z]+|.)", re.DOTALL)
KNOWN = {
    "\\", "(", ")", "{", "}", "$", "&", "#", "%", "_", "'", "`", "^", '"', "~", "=", ".", "u", "r", "H", "v", "c", "o",
    "O", "l", "L", "ss", "ae", "AE", "allowbreak", "begin", "end", "toprule", "midrule", "bottomrule", "textbf",
    "cellcolor", "textcolor", "rotatebox", "footnotesize", "providecolor", "par", "medskip", "noindent", "begingroup",
    "endgroup", "setlength", "tabcolsep", "cdot", "pm", "times", "rightarrow", "leq", "geq", "hookleftarrow", "char",
    "heavyrulewidth", "linewidth", "raggedright", "arraybackslash", "textbackslash", "textasciicircum",
    "textasciitilde", "textless", "textgreater", "textbar", "ldots", "textendash", "textemdash", "textquoteleft",
    "textquoteright", "textquotedblleft", "textquotedblright", "centering", "small", "caption", "label", "resizebox",
    "ifdim", "width", "else", "fi", "clearpage", "texttt", "cite", "bullet",
}  # fmt: skip


def evil() -> dict[str, Any]:
    verdicts = ("contaminated", "not detected", "uninformative", "no answer", "skipped", None)
    texts = {"sentence": EVIL, "reason": EVIL, "edition": EVIL}
    cells = [cell(EVIL, f"{number}{EVIL}", EVIL, verdict, **texts) for number, verdict in enumerate(verdicts)]
    tables = [table(f"{number}{EVIL}", EVIL, verdict, reason=EVIL) for number, verdict in enumerate(verdicts[:-1])]
    return document(cells, tables, version=f"{EVIL}\n\\gone")


def tall() -> dict[str, Any]:
    """More tables than LaTeX keeps waiting."""
    return results([f"m{number}" for number in range(60)], ["iris"])


def code(source: str) -> str:
    """The source without its comments."""
    return re.sub(r"(?<!\\)%.*", "", source)


def check_source(source: str) -> None:
    """ASCII; braces and environments close; each row has the cells of its table; no command but ours."""
    assert source.isascii()
    depth = 0
    for brace in re.findall(r"(?<!\\)(?:\\\\)*([{}])", code(source)):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0
    assert {found.group(1) for found in COMMANDS.finditer(code(source))} <= KNOWN
    assert code(source).count(r"\begin{tabular}") == code(source).count(r"\end{tabular}")
    for body in re.findall(r"\\toprule\n(.*?)\\bottomrule", source, re.DOTALL):
        cells = {len(re.findall(r"(?<!\\)&", line)) for line in body.splitlines() if not line.startswith(r"\midrule")}
        assert len(cells) == 1


@pytest.mark.parametrize("of", [results(["a", "control:exposed"], ["iris", "wine"]), evil(), document([])])
def test_the_source_is_whole(of: dict[str, Any]) -> None:
    check_source(render_latex(of))


def test_the_packages_that_it_needs_are_named() -> None:
    source = render_latex(results(["a"], ["iris"]))
    assert f"%   {PACKAGES}\n" in source
    assert "documentclass" not in source
    assert "usepackage" not in code(source)


@given(st.text())
def test_a_text_is_escaped_whatever_it_is(text: str) -> None:
    shown = escaped(text)
    assert shown.isascii()
    assert "\n" not in shown
    check_source(shown)
    plain = shown.replace(r"\allowbreak", "").replace(r"\%", "").replace(r"\#", "").replace(r"\&", "")
    plain = plain.replace(r"\$", "").replace(r"\_", "").replace(r"\^{", "").replace(r"\~{", "")
    assert not set("%#&$_^~\t") & set(plain.replace("~", "", text.count("\xa0")))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a--b", "a-{}-b"),
        ("''", "'{}'"),
        ("?`", "?{`}"),
        ("[0.1]", "{[}0.1{]}"),
        ("café", r"caf\'{e}"),
        ("x_1", r"x\_\allowbreak{}1"),
        ("汉", "{[}U+6C49{]}"),
        ("\u202e", r"\textbackslash{}u202e"),
    ],
)
def test_what_a_text_becomes(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_a_comment_ends_with_its_line() -> None:
    source = render_latex(evil())
    assert all(line.startswith("%") for line in source.splitlines() if "gone" in line and "&" not in line)


def test_a_small_probability_has_its_power_of_ten() -> None:
    of = document([], [table("a", "iris", "contaminated")])
    assert r"$<10^{-6}$ & 424.6 & 12\% & the row tests together: p = $1.2\times10^{-40}$ \\" in render_latex(of)
    of = document([], [table("a", "iris", "contaminated", q_value=3.2e-4)])
    assert r"$3.2\times10^{-4}$ & 424.6" in render_latex(of)


def test_tables_are_floats_with_captions_and_labels_as_wide_as_asked_for() -> None:
    view = parse_results(results(["a", "b"], ["iris"]))
    wide, narrow = latex_tables.render_latex(view), latex_tables.render_latex(view, 1)
    labels = re.findall(r"\\label\{([^}]*)\}", wide)
    assert labels == [f"tab:tabcontam-{name}" for name in ("ranking", "verdicts", "heatmap-1-1", "heatmap-2-1")]
    assert wide.count(r"\caption{") == wide.count(r"\begin{table*}[htbp]") == wide.count(r"\toprule") == 4
    assert narrow == wide.replace("table*", "table")


def test_the_ranking_has_its_intervals_and_majorities() -> None:
    of = results(["a", "b"], ["iris"])
    of["ranking"][0] |= {"score_interval": [0.31, 0.78], "zero_shot_majority": 0.6}
    source = render_latex(of)
    assert r"a & 0.50 {\footnotesize {[}0.31, 0.78{]}} & 0.52 & 0.61 {\footnotesize m 0.60} & -- \\" in source
    assert "m is the accuracy of always naming the largest class.}\n" in source


def test_the_heatmap_has_symbols_colours_and_a_bold_line_below_knowledge() -> None:
    of = document([
        cell("a", "iris", "feature_list_informed", "not detected"),
        weighed("a", "iris", "full_completion", "contaminated"),
        cell("a", "iris", "membership", None),
    ])  # fmt: skip
    source = render_latex(of).split("% == heatmap of a")[1]
    lines = source[source.index(r"\midrule") :].splitlines()
    assert lines[1:7] == [
        r"1 Feature list, informed & \cellcolor{tabcontamclean}\(\cdot\) \\",
        r"\midrule[\heavyrulewidth]",
        r"8 Full completion & \cellcolor{tabcontamfound}\textcolor{white}{\textbf{C} 212} \\",
        r"\midrule",
        r"Membership & 0.52 \\",
        r"\bottomrule",
    ]


def test_long_and_wide_tables_go_on_in_further_ones() -> None:
    source = render_latex(results([f"m{number}" for number in range(ROWS + 1)], ["iris"]))
    assert source.count("% == ranking") == 2
    assert r"\caption{Ranking (continued).}" in source
    assert r"\label{tab:tabcontam-ranking-2}" in source
    wide = render_latex(results(["a"], [f"d{number}" for number in range(30)]))
    assert wide.count("% == heatmap of a\n") == 3
    check_source(source)
    check_source(wide)


@pytest.mark.slow
@pytest.mark.skipif("TABCONTAM_TEX" not in os.environ, reason="TABCONTAM_TEX names no TeX engine")
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("of", [results(["a", "control:exposed"], ["iris", "wine"]), evil(), tall()])
def test_it_compiles_with_its_methods_and_references(of: dict[str, Any], columns: int, tmp_path: Path) -> None:
    view = parse_results(of)
    (tmp_path / "report.tex").write_text(latex_tables.render_latex(view, columns))
    (tmp_path / "methods.tex").write_text(latex_methods(view))
    (tmp_path / "works.bib").write_text(render_bibtex(view))
    body = r"\input{methods}\input{report}\bibliographystyle{plain}\bibliography{works}"
    paper = rf"\documentclass[twocolumn]{{article}}{PACKAGES}\begin{{document}}{body}\end{{document}}"
    (tmp_path / "paper.tex").write_text(paper)
    engine = [os.environ["TABCONTAM_TEX"], "-draftmode", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    said = [run(engine, tmp_path), run(["bibtex", "paper"], tmp_path), run(engine, tmp_path), run(engine, tmp_path)]
    assert "Warning" not in said[1]
    assert "undefined references" not in said[3]
    assert "Citation" not in said[3]
    assert "Too many" not in said[3]


def run(command: list[str], folder: Path) -> str:
    """What a program says that ends well."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout
