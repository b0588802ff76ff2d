"""The progress display's row for each LLM that is being asked. A narrow terminal hides less important columns.

By hand, because the columns of rich's `Progress` do not give way in an order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabcontam.report.llm_progress import LlmProgress, duration, printable, retries, speed, state

if TYPE_CHECKING:
    from rich.text import Text


@dataclass(frozen=True)
class _RowLayout:
    """A choice of the parts that a row shows, with the greatest width of each name and the least width of the bar."""

    name: int = 40
    dataset: int = 20
    bar: int = 6
    rate: bool = True
    left: bool = True
    retries: bool = True
    state: int = 0  # 0: all about a wait, 1: with "conn." for connections, 2: without connections


# The layouts in the order in which they are tried until all rows fit. The bar is hidden first: the count repeats it.
_LAYOUTS = (
    _RowLayout(),
    _RowLayout(28, 14),
    _RowLayout(28, 14, state=1),
    _RowLayout(20, 10, state=1),
    _RowLayout(20, 10, state=1, retries=False),
    _RowLayout(20, 10, 0, state=1, retries=False),
    _RowLayout(20, 10, 0, state=2, retries=False),
    _RowLayout(20, 0, 0, state=2, retries=False),
    _RowLayout(16, 0, 0, state=2, retries=False, rate=False),
    _RowLayout(12, 0, 0, state=2, retries=False, rate=False, left=False),
)


# widest: most characters of a bar
def draw_rows(
    llms: Mapping[str, LlmProgress], now: float, width: int, encoding: str, *, widest: int = 30
) -> "list[Text]":
    """Return a line for each LLM, by the name to show, in the first layout in which all lines fit into `width`."""
    if not llms:
        return []
    for layout in _LAYOUTS:
        before = _columns([_names(name, asked, layout, encoding) for name, asked in llms.items()])
        before = [printable(part, encoding) for part in before]
        after = _columns([_numbers(asked, now, layout) for asked in llms.values()], right=True)
        states = [printable(_state(asked, now, layout), encoding) for asked in llms.values()]
        after = [f"{part}  {shown}".rstrip() for part, shown in zip(after, states, strict=True)]
        room = width - max(_cells(f"{a}  {b}") for a, b in zip(before, after, strict=True))
        if room >= (layout.bar + 2 if layout.bar else 0):
            break
    bar = min(room - 2, widest) if layout.bar else 0
    shares = [min(asked.done / asked.planned, 1) for asked in llms.values()]
    return [_line(*row, bar, encoding) for row in zip(before, shares, after, strict=True)]


def _names(name: str, asked: LlmProgress, layout: _RowLayout, encoding: str) -> list[str]:
    dataset = _cut(printable(asked.dataset, encoding), layout.dataset) if layout.dataset else ""
    return [_cut(printable(name, encoding), layout.name), dataset]


def _numbers(asked: LlmProgress, now: float, layout: _RowLayout) -> list[str]:
    left = asked.left(now) if layout.left else None
    return [
        f"{asked.done}/{asked.planned}",
        speed(asked.rate(now)) if layout.rate else "",
        "" if left is None else f"ETA {duration(left)}",
        retries(asked) if layout.retries else "",
    ]


def _state(asked: LlmProgress, now: float, layout: _RowLayout) -> str:
    shown = state(asked, now, " → ", settled=layout.state == 0, short=layout.state == 2)
    return shown.replace(" connections", " conn.") if layout.state == 1 else shown


def _line(before: str, share: float, after: str, bar: int, encoding: str) -> "Text":
    from rich.text import Text

    full = int(bar * share)
    line = Text(before + "  ", no_wrap=True)
    if bar:
        line.append(printable("━" * full, encoding), "green")
        line.append(printable("─" * (bar - full), encoding), "dim").append("  ")
    return line.append(after)


def _columns(rows: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """Return the rows as strings with aligned columns, flush left or `right`. A column without text is left out."""
    from rich.cells import set_cell_size

    columns = []
    for column in zip(*rows, strict=True):
        width = max(map(_cells, column))
        if width:
            columns.append(
                [" " * (width - _cells(part)) + part if right else set_cell_size(part, width) for part in column]
            )
    return ["  ".join(parts) for parts in zip(*columns, strict=True)]


def _cells(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _cut(text: str, width: int) -> str:
    """Return a name cut to `width` characters. The middle is cut, because names often differ at either end."""
    from rich.cells import set_cell_size

    if _cells(text) <= width:
        return text
    tail = (width - 1) // 2
    head = set_cell_size(text, width - 1 - tail).rstrip()
    return head + "…" + set_cell_size(text[::-1], tail)[::-1].lstrip()
