"""Memory's share in Markdown, LaTeX and the figure."""

import pytest

from tabcontam.verdicts.document import parse_results
from tests.extensions.publish.rendered_publications import render_latex, render_markdown
from tests.report.synthetic import HOSTILE, cell, shared
from tests.report.test_memory_shares import run_of


def test_papers_have_a_table() -> None:
    of = run_of(shared("m_1", "adult", -0.02, (-0.06, 0.02)))
    assert r"m\_\allowbreak{}1 & adult & 0.84 & 0.71 & \(-0.02\) {\footnotesize \(-0.06\) to 0.02} \\" in render_latex(
        of
    )
    assert "| `m_1` | `adult` | 0.84 | 0.71 | \N{MINUS SIGN}0.02 (\N{MINUS SIGN}0.06 to 0.02) |" in render_markdown(of)


@pytest.mark.parametrize(("room", "pages"), [(7.0, 2), (3.35, 3)])
def test_the_figure_has_a_line_for_each_llm_and_table(room: float, pages: int) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.text import Text

    from tabcontam.extensions.publish.figures.memory_figures import memory_shares

    view = parse_results(run_of(*(shared("$m_1$", f"t{number}", 0.13, (0.05, 0.21)) for number in range(50))))
    figures = memory_shares(view, room)
    texts = [text.get_text() for figure in figures for text in figure.findobj(Text)]
    assert len(figures) == pages
    assert texts.count("0.13 (0.05 to 0.21)") == 50
    assert {f"$m_1$  t{number}" for number in range(50)} <= {*texts}
    assert all(figure.get_figheight() < 10 for figure in figures)
    assert memory_shares(parse_results(run_of()), room) == []


def test_fresh_rows_are_called_so_in_the_column() -> None:
    fresh = shared("gpt-4o", "adult", 0.13, (0.05, 0.21))
    fresh["memory"]["fresh"] = 100
    assert "On fresh rows" in render_markdown(run_of(fresh))
    both = run_of(fresh, shared("gpt-4o", "titanic", 0.13, (0.05, 0.21)))
    assert "On unseen twins or fresh rows" in render_markdown(both)


def test_a_ranking_without_a_number_is_none() -> None:
    silent = run_of(cell("m", "adult", "memory_share", "no answer"))
    assert "## Ranking" not in render_markdown(silent)
    assert "label{tab:tabcontam-ranking}" not in render_latex(silent)


def test_hostile_names_are_ascii_in_latex() -> None:
    render_latex(run_of(shared(HOSTILE, HOSTILE, 0.13, (0.05, 0.21)))).encode("ascii")
