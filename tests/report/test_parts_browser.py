"""The ranking and the comparisons in real Chromium: they fit, and the page's policy has nothing to refuse."""

from pathlib import Path
from typing import Any

import pytest

from tabcontam.report import comparisons, ranking
from tests.report.chromium import opened
from tests.report.partials import page_of, part
from tests.report.synthetic import HOSTILE, with_facts
from tests.report.test_comparisons import APPEARED, VANISHED, comparison
from tests.report.test_ranking import ranked

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def source() -> str:
    """Both parts, with long and hostile names, more datasets than fit, and everything that can be opened."""
    of = ranked(14, llm=HOSTILE + "x" * 200)
    lines = [comparison(dataset=f"dataset {n}", test=t, **APPEARED) for n in range(20) for t in ("membership", "x")]
    lines += [comparison(kind="runs", llm=HOSTILE + "y" * 200, dataset="z" * 200, **VANISHED), comparison(kind="runs")]
    of = with_facts(of | {"comparisons": lines})
    parts = [part("ranking", of, ranking.context), part("comparisons", of, comparisons.context)]
    return page_of(*parts, styles=("ranking", "comparisons"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_parts_fit_and_are_quiet(browser: Any, tmp_path: Path, source: str, scheme: str, width: int) -> None:
    page, complaints = opened(
        browser, tmp_path / "part.html", source, viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    for details in page.locator("details").all():
        details.evaluate("details => { details.open = true }")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    plot = page.get_by_role("img", name="Contamination against 0-shot accuracy").bounding_box()
    assert 200 < plot["width"] <= width
    assert complaints == []
    page.close()


def test_a_label_can_be_read_in_both_schemes(browser: Any, tmp_path: Path, source: str) -> None:
    found = []
    for scheme in ("light", "dark"):
        page, _ = opened(browser, tmp_path / "part.html", source, color_scheme=scheme)
        found.append(page.locator(".plot .label").first.evaluate("label => getComputedStyle(label).fill"))
        page.close()
    assert found == ["rgb(27, 31, 36)", "rgb(230, 234, 239)"]
