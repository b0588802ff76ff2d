"""The progress display's row for each LLM that is being asked. A narrow terminal hides less important columns.

By hand, because the columns of rich's `Progress` do not give way in an order.
"""

from collections.abc import Sequence
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
    state: int = 0  # index of a text in `ProgressRow.states`


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


@dataclass(frozen=True)
class ProgressRow:
    """The parts of one LLM's row. `states` are texts on why the LLM is waiting, from the longest to the shortest."""

    name: str
    dataset: str
    share: float
    count: str
    rate: str
    left: str
    retries: str
    states: Sequence[str]

    @classmethod
    def of(cls, asked: LlmProgress, name: str, now: float, encoding: str) -> "ProgressRow":
        """Return the row of an LLM as known at `now`, in characters that the output's encoding contains."""
        left = asked.left(now)
        news, wait = state(asked, now, " → "), state(asked, now, " → ", short=True)
        settled, news = state(asked, now, " → ", settled=True), news.replace(" connections", " conn.")
        return cls(
            name=printable(name, encoding),
            dataset=printable(asked.dataset, encoding),
            share=asked.done / asked.planned,
            count=f"{asked.done}/{asked.planned}",
            rate=speed(asked.rate(now)),
            left="" if left is None else f"ETA {duration(left)}",
            retries=retries(asked),
            states=[printable(words, encoding) for words in (settled, news, wait)],
        )

    def around_bar(self, layout: _RowLayout) -> tuple[list[str], list[str]]:
        """Return the parts before the bar, and the numbers after the bar."""
        before = [_cut(self.name, layout.name), *([_cut(self.dataset, layout.dataset)] if layout.dataset else [])]
        shown = {"rate": layout.rate, "left": layout.left, "retries": layout.retries}
        return before, [self.count, *(getattr(self, name) for name, yes in shown.items() if yes)]


# widest: most characters of a bar
def draw_rows(rows: Sequence[ProgressRow], width: int, encoding: str, *, widest: int = 30) -> "list[Text]":
    """Return the rows as lines, in the first layout in which they all fit into `width`."""
    if not rows:
        return []
    for layout in _LAYOUTS:
        parts = [row.around_bar(layout) for row in rows]
        before = [printable(part, encoding) for part in _columns([before for before, _ in parts])]
        after = _columns([after for _, after in parts], right=True)
        after = [f"{part}  {row.states[layout.state]}".rstrip() for part, row in zip(after, rows, strict=True)]
        room = width - max(_cells(f"{a}  {b}") for a, b in zip(before, after, strict=True))
        if room >= (layout.bar + 2 if layout.bar else 0):
            break
    bar = min(room - 2, widest) if layout.bar else 0
    return [_line(*row, bar, encoding) for row in zip(before, rows, after, strict=True)]


def _line(before: str, row: ProgressRow, after: str, bar: int, encoding: str) -> "Text":
    from rich.text import Text

    full = int(bar * min(row.share, 1))
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
