"""The figures for papers: what they show, that names do no harm, and that the same results give the same bytes."""

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tabcontam.errors import UsageError
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.llm_ranking import COLUMNS, OTHER_SCORES
from tests.extensions.publish.rendered_publications import render_figure
from tests.needed import needed
from tests.report.synthetic import HOSTILE, VERDICTS, cell, document, results, with_facts

matplotlib = needed("matplotlib")

SVG = "{http://www.w3.org/2000/svg}"
FORMULA = "$\\frac{1}{$ 100% & _x^ #1 ~ \\input{/etc/passwd} -->"
GPT4 = {"gpt-4": {"name": "gpt-4", "title": "GPT-4", "family": "gpt", "order": 2}}


def texts(of: dict[str, Any]) -> list[str]:
    root = ElementTree.fromstring(render_figure(of, "svg"))
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def ranked(of: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Results with a ranking that has intervals and majorities."""
    lines = [
        {
            "llm": llm,
            "score": max(0.5 - 0.02 * place, 0.0),
            "score_interval": [0.1, 0.6],
            "membership": 0.55,
            "zero_shot": min(0.3 + 0.02 * place, 1.0),
            "zero_shot_interval": [0.2, 0.8],
            "zero_shot_majority": 0.6,
            "one_shot": None,
        }
        for place, llm in enumerate(dict.fromkeys(one["llm"] for one in of["results"]))
    ]
    return of | {"ranking": lines} | changes


@pytest.fixture
def plain() -> Iterator[None]:
    """matplotlib's own settings around what a test draws itself."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        yield


@pytest.mark.slow
def test_a_picture_names_its_llms_datasets_tests_and_verdicts() -> None:
    shown = texts(results(["control:exposed", "llama3"], ["iris", "wine"]))
    assert {"control:exposed", "llama3", "iris", "wine", "7 Incomplete completion", *VERDICTS} <= set(shown)
    assert ".52" in shown  # a score
    assert not any("published" in text for text in shown)


def test_blocks_are_llms_or_tables_whichever_is_narrower() -> None:
    names = [f"datas-{number}" for number in range(9)]
    by_llm = texts(results(["llama3", "gpt-4"], names))
    assert (by_llm.count("llama3"), by_llm.count("datas-1")) == (1, 2)
    by_table = texts(results(["simulated:memoriser:0.5", "control:exposed"], ["iris", "wine"]))
    assert (by_table.count("simulated:memoriser:0.5"), by_table.count("iris")) == (2, 1)


def test_an_llm_of_the_catalogue_has_its_title_and_published_marks() -> None:
    cells = [cell("gpt-4", "titanic", test, "not detected") for test in ("full_completion", "feature_completion")]
    shown = texts(document(cells, catalogue=GPT4))
    assert "GPT-4" in shown
    assert "gpt-4" not in shown
    assert "published: not detected (left corner: Ronval et al. 2024, right corner: Bordt et al. 2024)" in shown
    unpublished = document([cell("gpt-4", "penguins", "full_completion", "skipped")], catalogue=GPT4)
    assert not any("published" in text for text in texts(unpublished))


def test_llms_of_one_title_keep_the_names_that_tell_them_apart() -> None:
    twice = dict.fromkeys(("gpt-4", "openai:gpt-4"), GPT4["gpt-4"])
    cells = [cell(llm, "iris", "full_completion", "skipped") for llm in twice]
    assert {"gpt-4", "openai:gpt-4"} <= set(texts(document(cells, catalogue=twice)))


def test_names_that_are_cut_to_the_same_are_numbered() -> None:
    cells = [cell("x" * 20 + middle + "y" * 20, "iris", "full_completion", "skipped") for middle in "ab"]
    shown = [text for text in texts(document(cells)) if text.startswith("x")]
    assert shown == ["xxxxxxxxxxxxx…yyyyyyyyyyyy", "xxxxxxxxxxxxx…yyyyyyyyyyyy #2"]


@pytest.mark.slow
def test_text_stays_text_in_both() -> None:
    of = ranked(results(["llama3"], ["iris"]))
    assert b"<text" in render_figure(of, "svg")
    pdf = render_figure(of, "pdf")
    assert b"/FontFile2" in pdf  # a TrueType font, embedded
    assert b"/Type3" not in pdf


@pytest.mark.parametrize("kind", ["svg", "pdf"])
@pytest.mark.slow
def test_names_do_no_harm(kind: str) -> None:
    names = [HOSTILE, FORMULA, "$", "a\nb\tc", "\u202e", "汉字 🦙", "", "x" * 400]
    of = results(names, [name + "1" for name in names])
    of["results"] += [cell("llama3", "iris", name, "contaminated") for name in names]
    written = render_figure(with_facts(ranked(of)), kind)
    if kind == "svg":
        root = ElementTree.fromstring(written)
        assert not list(root.iter(f"{SVG}script"))
        assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", written.decode())


def test_a_dollar_begins_no_formula() -> None:
    assert "$x^2$" in texts(results(["$x^2$"], ["iris"]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_the_same_results_give_the_same_bytes(kind: str) -> None:
    of = ranked(results(["control:exposed", "gpt-4"], ["iris", "titanic"], catalogue=GPT4))
    first = render_figure(of, kind)
    with matplotlib.rc_context({"text.usetex": True, "font.family": "serif", "svg.fonttype": "path"}):
        assert render_figure(of, kind) == first
        assert matplotlib.rcParams["text.usetex"]
    assert b"Date" not in first
    assert b"20" + b"26-" not in first


@pytest.mark.slow
def test_another_process_gives_the_same_bytes_and_needs_no_pyplot() -> None:
    script = (
        "import sys; from hashlib import sha256; from tabcontam.extensions.publish.figures import render_figure;"
        "from tests.extensions.publish.test_figures import *;"
        "of = ranked(results(['a', 'gpt-4'], ['iris', 'titanic'], catalogue=GPT4));"
        "print([sha256(render_figure(of, kind)).hexdigest() for kind in ('svg', 'pdf')]);"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ".", "HOME": str(Path.home())},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert told[0].splitlines()[1] == "False"


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("room", [7.0, 3.35])
@pytest.mark.parametrize(
    "of",
    [
        results(["control:exposed", "control:unexposed", "simulated:memoriser:0.5"], ["iris", "titanic"]),
        results([f"llm-{number}" for number in range(11)], [f"dataset-{number}" for number in range(9)]),
        results(["W" * 100, "i"], ["M" * 60, "i"]),
        results(["one"], [f"dataset-{number}" for number in range(70)]),
        results(["one"], ["iris"]),
    ],
    ids=["controls", "many", "long", "wide", "small"],
)
@pytest.mark.slow
def test_no_text_covers_another_or_leaves_the_page(of: dict[str, Any], room: float) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from tabcontam.extensions.publish.figures.heatmap import heatmap

    (figure,) = heatmap(parse_results(of), room=room)
    assert figure.get_figwidth() <= room
    figure.set_dpi(600)  # where letters are not widened to whole dots
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    boxes = [text.get_window_extent(renderer).shrunk(0.98, 0.9) for text in figure.axes[0].texts if text.get_text()]
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
    assert all(figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1 for box in boxes)
    assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]


@pytest.mark.slow
@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("room", [7.0, 3.35])
@pytest.mark.parametrize("llms", [["one"], ["openai:NAME@http://127.0.0.1:8000/v1"], ["one", "two", "three"]])
def test_a_small_run_leaves_no_gap(llms: list[str], room: float) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from tabcontam.extensions.publish.figures.heatmap import heatmap
    from tabcontam.extensions.publish.figures.ranking_figures import against_accuracy, ranking

    view = parse_results(ranked(results(llms, ["iris"])))
    (figure,) = heatmap(view, room=room)
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    drawn = [text.get_window_extent(renderer).x1 for text in figure.axes[0].texts if text.get_text()]
    assert figure.bbox.x1 - max(drawn) < 0.3 * figure.dpi
    for other in (*ranking(view, room), *against_accuracy(view, room)):
        assert other.get_figwidth() <= room
        assert min(axes.get_position().width * other.get_figwidth() for axes in other.axes) > 0.6


def test_verdicts_are_told_apart_without_red_and_green_and_without_colour() -> None:
    import numpy as np
    from matplotlib.colors import to_rgb

    from tabcontam.extensions.publish.figures.heatmap import LOOKS
    from tabcontam.extensions.publish.latex_tables import COLORS

    # deuteranopia after Machado, Oliveira and Fernandes 2009, on linear light
    seen = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]])

    def light(color: str) -> Any:
        values = np.array(to_rgb(color))
        return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)

    def luminance(linear: Any) -> float:
        return float(np.clip(linear, 0, 1) @ [0.2126, 0.7152, 0.0722])

    for fills in (
        [look["facecolors"] for name, (_, _, look) in LOOKS.items() if name in VERDICTS and "facecolors" in look],
        [f"#{color}" for _, color in COLORS.values()],
    ):
        found, *others = fills
        for view in (np.eye(3), seen):
            dark = luminance(view @ light(found))
            # the contrast that the accessibility guidelines ask of parts of a picture
            assert all((luminance(view @ light(other)) + 0.05) / (dark + 0.05) >= 2.9 for other in others)
    shapes = {name: (str(LOOKS[name][0]), name == "uninformative") for name in VERDICTS}  # one has stripes
    assert (
        len({*shapes.values()} - {shapes["contaminated"]}) == 3
    )  # the found one is dark, of the others each is another


@pytest.mark.slow
def test_letters_are_embedded_in_the_pdf() -> None:
    written = render_figure(results(["one"], ["iris"]), "pdf")
    assert b"/FontFile2" in written  # TrueType, whole letters: no publisher's check stumbles over Type 3
    assert b"/Type3" not in written


@pytest.mark.slow
@pytest.mark.usefixtures("plain")
def test_blocks_that_do_not_fit_stand_below_and_then_on_further_pages() -> None:
    from tabcontam.extensions.publish.figures.heatmap import heatmap
    from tabcontam.report.figure_style import PAGE, WIDTH

    view = parse_results(
        results([f"llm-{number}" for number in range(30)], [f"dataset-{number}" for number in range(9)])
    )
    (one,) = heatmap(view)
    assert WIDTH - 0.5 < one.get_figwidth() <= WIDTH
    pages = heatmap(view, PAGE)
    assert 2 <= len(pages) <= 4
    assert all(page.get_figheight() <= PAGE for page in pages)
    shown = [text.get_text() for page in pages for text in page.axes[0].texts]
    assert all(shown.count(f"llm-{number}") == 1 for number in range(30))
    assert shown.count("contaminated") == len(pages)  # each page explains itself


@pytest.mark.usefixtures("plain")
def test_the_ranking_shows_what_was_measured() -> None:
    from tabcontam.extensions.publish.figures.ranking_figures import against_accuracy, ranking

    correlation = {"first": "score", "second": "zero_shot", "llms": 2, "value": -0.5, "interval": [-0.9, 0.2]}
    of = ranked(results(["control:exposed", "gpt-4", "other"], ["iris"], catalogue=GPT4), correlations=[correlation])
    (figure,) = ranking(parse_results(of))
    assert [axes.get_title() for axes in figure.axes] == ["contamination", "membership", "0-shot"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["1  GPT-4", "2  other"]
    assert any("always the largest class" in text.get_text() for text in figure.texts)
    (scatter,) = against_accuracy(parse_results(of))
    assert [axes.get_title() for axes in scatter.axes] == ["0-shot: rank correlation -0.50 (-0.90 to 0.20), 2 LLMs"]
    assert [text.get_text() for text in scatter.axes[0].texts] == ["1", "2"]


@pytest.mark.usefixtures("plain")
def test_nothing_ranked_gives_no_ranking() -> None:
    from tabcontam.extensions.publish.figures.ranking_figures import against_accuracy, ranking

    view = parse_results(results(["gpt-4"], ["iris"]) | {"ranking": []})
    assert ranking(view) == against_accuracy(view) == []
    unmeasured = parse_results(results(["gpt-4"], ["iris"]) | {"ranking": [{"llm": "gpt-4"}]})
    assert ranking(unmeasured) == against_accuracy(unmeasured) == []


@pytest.mark.slow
@pytest.mark.usefixtures("plain")
def test_a_long_ranking_takes_several_pages() -> None:
    from tabcontam.extensions.publish.figures.ranking_figures import ranking

    view = parse_results(ranked(results([f"llm-{number}" for number in range(90)], ["iris"])))
    pages = ranking(view)
    labels = [label.get_text() for page in pages for label in page.axes[0].get_yticklabels()]
    assert len(pages) == 3
    assert [label.split()[0] for label in labels] == [str(number) for number in range(1, 91)]


def test_a_run_without_cells_says_so() -> None:
    assert "No test was run." in texts(document([]))
    assert render_figure(document([]), "pdf").startswith(b"%PDF-")


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_without_matplotlib_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=re.escape('pip install "tabcontam[plots]"')):
        render_figure(document([]), kind)


def test_what_is_no_result_is_refused() -> None:
    with pytest.raises(UsageError, match="names no schema"):
        render_figure({}, "svg")


def test_a_long_name_keeps_both_ends() -> None:
    from tabcontam.report.figure_style import cut

    assert cut("openai:meta-llama/Meta-Llama-3-8B", 20) == "openai:met…lama-3-8B"
    assert cut("iris", 4) == "iris"
    assert len(cut("x" * 99, 26)) == 26


def test_every_column_of_the_ranking_has_a_look() -> None:
    from tabcontam.extensions.publish.figures.ranking_figures import LOOKS, OTHER_LOOKS  # it imports matplotlib

    names = [column.name for column in COLUMNS]
    assert sorted([*LOOKS, *OTHER_LOOKS, "memory_share"]) == sorted(names)  # memory's share has a figure of its own
    assert set(OTHER_LOOKS) == set(OTHER_SCORES)
