"""The plots of outputs generated exactly against accuracy, and what is said of them."""

from tabcontam.extensions.dates.generation_plots import generation_sentences
from tabcontam.report.formats import format_names, render_form
from tabcontam.verdicts.results import RunResults
from tests.extensions.dates.test_generation_accuracy import FOUR, results
from tests.report.rendered import pages_of

HOSTILE = "<script>alert('t')</script>"


def test_three_points_are_shown_and_nothing_is_said_of_them() -> None:
    view = results({llm: FOUR[llm] for llm in ("one", "two", "three")})
    (said,) = generation_sentences(view)
    assert said.endswith("three points lie near a line by chance, so no correlation is given.")
    assert '<polyline class="steps"' not in section(view)


def test_equal_shares_and_points_on_a_line_are_said() -> None:
    alike = results(dict.fromkeys(FOUR, (3, 50)))
    assert "nothing to correlate" in generation_sentences(alike)[0]
    line = results({llm: (10 * place, 50 + 10 * place) for place, llm in enumerate(FOUR)})
    assert (
        "Pearson's r = 1.00 (no interval, for all points lie on one line), R² = 1.00, p = 0.083."
        in (generation_sentences(line)[0])
    )


def test_page_and_markdown_have_it() -> None:
    view = results({**FOUR, HOSTILE: (5, 55)})
    assert "r = 0.99 (95% interval 0." in section(view)
    assert '<polyline class="steps"' in section(view)
    assert HOSTILE not in section(view)
    if "markdown" in format_names():
        assert b"Pearson's r = 0.99" in render_form(view, "markdown")


def section(view: RunResults) -> str:
    page = pages_of(view, [])["index.html"]
    return page[page.index('id="generation"') :].partition("</section>")[0]
