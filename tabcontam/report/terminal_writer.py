"""A writer of plain lines to a terminal or a pipe. It respects the output's width and encoding.

`visible` removes control characters from every text, and the text is printed as `rich.text.Text`, never as markup. So
text of a model or a table cannot colour, move or forge a line.
"""

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from tabcontam.verdicts.wording import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NARROWEST = 30  # least width of a column of text next to a head; a narrower text is printed below its head
INDENT = 4  # indentation of a text below its head


class TerminalWriter:
    """A console for plain lines that fit the output's width and encoding."""

    def __init__(self, console: "Console") -> None:
        self.console = console
        self.width = console.width

    def line(self, line: str = "", style: str = "") -> None:
        """Print one line without cutting it. A terminal folds a long line; a pipe gets it whole."""
        self.parts([(line, style)])

    def parts(self, parts: Sequence[tuple[str, str]], last: str = "") -> None:
        """Print one line of parts with different styles. `last` is flush right, at least one blank after the parts."""
        from rich.text import Text

        whole = Text()
        for part, style in parts:
            whole.append(self.printable(part), style)
        if last:
            whole.append(last.rjust(max(self.width - whole.cell_len, len(last) + 1)), "cyan")
        self.console.print(whole, soft_wrap=not self.console.is_terminal)

    def indented(self, sentence: str, width: int = 80) -> None:
        """Print a sentence, indented below its heading and folded at `width` characters."""
        for line in wrap(sentence, width, initial_indent="  ", subsequent_indent="    "):
            self.line(line)

    def rule(self, title: str, style: str = "", fill: str = "=") -> None:
        """Print a title, centred in a rule of the full width, as pytest does."""
        from rich.cells import cell_len

        title = f" {self.printable(title)} "
        side = max(self.width - cell_len(title), 2) // 2
        rest = max(self.width - cell_len(title) - 2 * side, 0)
        self.line(f"{fill * side}{title}{fill * (side + rest)}", style)

    def block(self, label: str, value: str, style: str = "") -> None:
        """Print a label and a longer text. The text keeps its line breaks and is folded in its own column."""
        label_width = 10  # width of the labels of a block
        for number, shown in enumerate(self._folded(self.printable(value, line=False), self.width - label_width)):
            head = "" if number else label
            self.parts([(head.ljust(label_width if shown else 0), "bold"), (shown, style)])

    def entry(self, head: Sequence[tuple[str, str]], value: str, style: str = "") -> None:
        """Print a heading and a text, folded in a column next to the heading or, if that is narrow, below it."""
        from rich.cells import cell_len

        if not self.console.is_terminal:
            self.parts([*head, (value, style)])
            return
        start = sum(cell_len(self.printable(part)) for part, _ in head)
        if start > INDENT and self.width - start < NARROWEST:
            self.parts(head)
            head, start = [(" " * INDENT, "")], INDENT
        for number, shown in enumerate(self._folded(self.printable(value), self.width - start)):
            self.parts([*(head if not number else [(" " * start, "")]), (shown, style)])

    def aligned(self, names: Iterable[str], gap: int = 0) -> list[str]:
        """Return the names as they are printed, filled with blanks to one width: that of the widest and `gap` more."""
        from rich.cells import cell_len, set_cell_size

        shown = list(map(self.printable, names))
        width = max(map(cell_len, shown), default=0) + gap
        return [set_cell_size(name, width) for name in shown]

    def _folded(self, value: str, width: int) -> list[str]:
        from rich.text import Text

        lines = Text(value).wrap(self.console, max(width, 1), overflow="fold", tab_size=4)
        return [line.plain.rstrip() for line in lines] or [""]

    def printable(self, value: str, *, line: bool = True) -> str:
        """Return `value` without control characters. Characters that the output's encoding lacks are escaped."""
        encoding = self.console.encoding
        return visible(value, line=line).encode(encoding, "backslashreplace").decode(encoding)


def open_table(first: str, heads: Iterable[str], gap: int = 1, least_width: int | None = None) -> "Table":
    """Return a table without lines, with `gap` blanks between columns. Long text in the column `first` is folded."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0))
    table.add_column(first, overflow="fold", min_width=least_width)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    return table
