"""Memory's share of an accuracy in the report: a line from a dot for the rows to a dot for their unseen twins.

This module measures and decides nothing. The numbers come from the results: `verdicts.memory` and the gate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabcontam.evidence.number_wording import format_signed
from tabcontam.evidence.twin_comparison import TwinComparison
from tabcontam.report.standings import Titles
from tabcontam.verdicts.memory_share_limit import is_share, limits_in_words, share_in_words, unseen_rows
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import LlmBlock, RunResults

TITLE = "Memory's share of the accuracy"
ABOUT = (
    "This compares the accuracy of classification on rows of the table with that on an unseen twin of each row. "
    "Memory's share, with its 95% interval, is the difference, less the loss on the same twins of models that learned "
    "from other rows. A model that recalls rows roughly recalls their twins, too: a small share does not show that no "
    "rows were seen. If fresh rows are given, they take the place of twins."
)
WIDTH = 40  # characters of a line from 0 to 1 on a terminal
ON_ROWS, ON_TWINS, BETWEEN = "*", "o", "-"


@dataclass(frozen=True)
class MemoryComparison:
    """Memory's share of the accuracy of one LLM on one table. `label` is the table's name on the page."""

    llm: str
    label: str
    memory: TwinComparison
    reference: str = ""

    @property
    def share(self) -> str:
        """The share with its interval, in words."""
        return share_in_words(self.memory)

    @property
    def compared(self) -> str:
        """In words, memory's share compared with that of one or several reference LLMs; empty without a reference."""
        other, among = self.memory.single_reference, self.memory.several_references
        if among is not None:
            of = f"an accuracy of {among.expected:.2f}, expected from {len(among.references)} references"
            return f"{format_signed(among.share)} ({limits_in_words(among.interval)}) above {of}"
        if other is None:
            return ""
        return f"{format_signed(other.share)} ({limits_in_words(other.interval)}) compared with {self.reference}"

    @property
    def words(self) -> str:
        """The whole comparison in one line."""
        return in_words(self.memory)

    @property
    def line(self) -> str:
        """The two dots and the line between them as characters: 0 is on the left, 1 on the right."""
        own, twin = (round(accuracy * (WIDTH - 1)) for accuracy in (self.memory.accuracy, self.memory.twin_accuracy))
        low, high = sorted((own, twin))
        signs = [BETWEEN if low < place < high else " " for place in range(WIDTH)]
        signs[twin] = ON_TWINS
        signs[own] = ON_ROWS
        return "".join(signs)


def in_words(memory: TwinComparison, table: str = "") -> str:
    """Return in words the accuracies on rows and twins, and memory's share. `table` is the name to state, if any."""
    own, twin = memory.accuracy, memory.twin_accuracy
    on_both = f"{own:.2f} on {table or 'rows'} and {twin:.2f} on {unseen_rows(memory)}"
    return f"accuracy is {on_both}, memory's share {share_in_words(memory)}"


def unseen(found: Sequence[MemoryComparison]) -> str:
    """Return the name of the rows that no LLM has read: "unseen twins", "fresh rows", or both joined by "or"."""
    return " or ".join(sorted({unseen_rows(one.memory) for one in found}, reverse=True))


def legend(found: Sequence[MemoryComparison], own: str, other: str) -> str:
    """Return an explanation of a line's two dots. `own` and `other` are the signs of the dots."""
    words = unseen(found).replace("unseen", "their unseen")
    return f"{own}: accuracy on rows of the table; {other}: accuracy on {words}"


def on_unseen(memory: TwinComparison) -> str:
    """Return the accuracy on unseen twins or, followed by "(fresh rows)", on fresh rows."""
    return f"{memory.twin_accuracy:.2f}{' (fresh rows)' if memory.fresh else ''}"


def measured_shares(view: RunResults) -> list[MemoryComparison]:
    """Return the measured memory's shares in the page's order, without controls."""
    columns = (column for block in view.blocks if not block.control for column in block.columns)
    return [
        MemoryComparison(column.llm, column.label, result.evidence.memory, result.reference or "")
        for column in columns
        for result in column.results.values()
        if is_measured(result) and result.evidence.memory is not None
    ]


def is_measured(result: Result) -> bool:
    """Return whether a result has memory's share, measured from enough answers."""
    return result.verdict is None and result.evidence.memory is not None


# named: most tables that a sentence on an LLM names
def clauses(titles: Titles, block: LlmBlock, *, named: int = 3) -> Iterator[str]:
    """Yield clauses on memory's share for an LLM's sentence. Tables after the first `named` ones are only counted."""
    own = [result for result in block.results if is_share(titles.view, result)]
    measured = [(_table(titles, result), result.evidence.memory) for result in own if is_measured(result)]
    for table, memory in measured[:named]:
        if memory is not None:
            yield in_words(memory, table)
    if more := len(measured[named:]):
        yield f"memory's share of the accuracy on {more} more {'table' if more == 1 else 'tables'} is shown below"
    for result in own:
        if result.verdict is not None:
            why = f": {result.decision.reason}" if result.decision.reason else ""
            yield f"memory's share of the accuracy on {_table(titles, result)} was not measured ({result.outcome}{why})"


def _table(titles: Titles, result: Result) -> str:
    apart = titles.apart(result)
    return titles.dataset(result.dataset) + (f" ({apart})" if apart else "")
