"""The picture: valid, self-contained, and deaf to what models and tables say."""

from typing import Any
from xml.etree import ElementTree

import pytest

from tabcontam.report.published_marks import PublishedMark, PublishedSource
from tests.report.rendered import render_svg
from tests.report.synthetic import document, results, weighed
from tests.report.test_html import hostile

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    "of", [results(["m"], ["iris"]), results(["control:exposed", "m"], ["iris", "wine"]), document([]), hostile()[0]]
)
def test_the_picture_is_valid_and_names_its_cells(of: dict[str, Any]) -> None:
    root = ElementTree.fromstring(render_svg(of))
    names = [title.text or "" for group in root.iter(f"{SVG}g") for title in group.iter(f"{SVG}title")]
    assert len([name for name in names if name.strip()]) == len(of["results"])
    assert not list(root.iter(f"{SVG}script"))
    assert "href" not in render_svg(of)


def test_the_picture_is_the_same_each_time() -> None:
    assert render_svg(results(["m"], ["iris"])) == render_svg(results(["m"], ["iris"]))


def test_everything_is_drawn_inside_of_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    source = PublishedSource("A", "A 2024", "https://example.org", "like to like")
    monkeypatch.setattr(
        "tabcontam.report.published_marks.marks", lambda entry, dataset, *_: (PublishedMark(source, True, ""),)
    )
    monkeypatch.setattr("tabcontam.report.heatmap_squares.sources", lambda: (source,))
    of = document([weighed("m", "iris", "full_completion", "contaminated")])
    of["run"]["catalogue"] = {"m": {"name": "m", "title": "M", "family": "", "order": 1}}
    root = ElementTree.fromstring(render_svg(of))
    width, height = (float(root.attrib[name]) for name in ("width", "height"))
    drawn = [(float(one.get("x", 0)), float(one.get("y", 0))) for one in root.iter(f"{SVG}text")]
    assert all(0 <= x < width and 0 <= y < height for x, y in drawn)
    assert "published by A" in render_svg(of)
    assert "1,024 and more" in render_svg(of)


def test_stronger_findings_are_darker_and_have_longer_bars() -> None:
    def square(bits: float) -> tuple[str, float]:
        of = document([weighed("m", "iris", "full_completion", "contaminated", recalled_bits=bits)])
        group = next(iter(ElementTree.fromstring(render_svg(of)).iter(f"{SVG}g")))
        ground, bar = group.findall(f"{SVG}rect")
        return ground.attrib["fill"], float(bar.attrib["width"])

    squares = [square(bits) for bits in (1, 20, 100, 300, 3000)]
    brightness = [sum(int(fill[at : at + 2], 16) for at in (1, 3, 5)) for fill, _ in squares]
    assert brightness == sorted(brightness, reverse=True)
    assert [width for _, width in squares] == sorted({width for _, width in squares})
