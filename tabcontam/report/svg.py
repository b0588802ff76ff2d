"""The heatmap as one SVG picture. It loads no other files and has its own background."""

from functools import partial
from typing import Any

from tabcontam.report.environment import environment
from tabcontam.report.heatmap_squares import context, levels_shown, sources_shown
from tabcontam.report.standings import Titles, titles_of
from tabcontam.verdicts.result_types import OUTCOMES
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import with_ellipsis

SQUARE, LETTER, MARGIN, LEGEND = 26, 7, 16, 54
LEVELS_HEIGHT, LEVELS_WIDTH, SOURCE_HEIGHT = 30, 860, 22
LONGEST_NAME = 30
cut = partial(with_ellipsis, longest=LONGEST_NAME)


def render_svg(view: RunResults) -> str:
    """Return the heatmap as a static picture. Its background makes it readable on light and on dark pages."""
    titles = titles_of(view)
    template = environment().get_template("heatmap.svg.jinja")
    return template.render(context(view, titles), layout=_layout(view, titles), cut=cut)


def _layout(view: RunResults, titles: Titles) -> dict[str, Any]:
    """Return the positions of the picture's parts in pixels. A character is taken as 7 pixels wide."""
    left = MARGIN + LETTER * max((len(view.test_titles[test][:LONGEST_NAME]) for test in view.tests), default=0) + 10
    labels = [len(column.label[:LONGEST_NAME]) for block in view.blocks for column in block.columns]
    top = MARGIN + 22 + LETTER * max(labels, default=0) + 8
    blocks, columns, edge = [], [], left
    for block in view.blocks:
        squares = SQUARE * len(block.columns)
        width = max(squares, LETTER * len(cut(titles.llm(block.llm))) + 12) + 8
        start = edge + (width - squares) // 2
        columns.append(tuple(start + SQUARE * number for number in range(len(block.columns))))
        blocks.append((edge, edge + width))
        edge += width
    rows: dict[str, int] = {}
    lines, height = [top], top
    for tests in view.kinds.values():
        for test in tests:
            rows[test] = height + 3
            height += SQUARE
        height += 6
        lines.append(height)
    legend, levels = _legend(), levels_shown(view)
    last, place = legend[-1]
    width = max(edge, place + SQUARE + LETTER * len(last), LEVELS_WIDTH if levels else 0) + MARGIN
    below = LEGEND + (LEVELS_HEIGHT if levels else 0) + SOURCE_HEIGHT * len(sources_shown(view))
    return {
        "top": top,
        "bottom": height,
        "width": width,
        "height": height + below,
        "columns": columns,
        "blocks": blocks,
        "rows": rows,
        "lines": lines,
        "legend": legend,
    }


def _legend() -> list[tuple[str, int]]:
    """Return each outcome of the legend with the x position of its square."""
    places, edge = [], MARGIN
    for outcome in OUTCOMES:
        places.append((outcome, edge))
        edge += SQUARE + LETTER * len(outcome) + 14
    return places
